"""Launching a browser process that ends with this one."""

import asyncio
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agentcore.api import ToolError, UrlPolicy
from agentcore_chrome.browser.executable import find_browser
from agentcore_chrome.browser.process import BrowserProcess, Owner
from agentcore_chrome.browser.stealth import SWITCH, apply_stealth, plain_user_agent
from agentcore_chrome.browser.switches import build_switches
from agentcore_chrome.failures import extract_headline
from agentcore_chrome.settings import EngineSettings, Viewport

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

    from agentcore_chrome.browser.driver import Driver
    from agentcore_chrome.browser.guard import Guard
    from agentcore_chrome.browser.profile_folders import ProfileFolders

_TEXT_CHARS = 600
_LINES = 5
_WRITTEN = re.compile(r"^.{0,9}\[pid=\d+\]\[(?:err|out)\] (?P<line>.{1,300})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """Options of a new browser; None: as in the settings."""

    headless: bool | None = None
    viewport: Viewport | None = None
    locale: str | None = None
    user_agent: str | None = None
    session_id: str = ""


class Launcher(Owner, Protocol):
    """The part of the engine that a launch uses."""

    settings: EngineSettings
    policy: UrlPolicy
    driver: "Driver"
    guard: "Guard"
    folders: "ProfileFolders"


async def launch_browser(engine: Launcher, browser_id: str, options: LaunchOptions) -> BrowserProcess:
    """Launch a browser.

    It is connected to the driver by a pipe, and the driver to this process: it ends when this process does, in
    whatever way. Its default context stays empty unless a profile is configured; sessions get their own contexts.

    Raises:
        ToolError: `browser_not_found`, `browser_launch_failed`.
    """
    settings = engine.settings
    executable = find_browser(settings).path
    headless = settings.headless if options.headless is None else options.headless
    if not headless:
        require_display()
    playwright = await engine.driver.get_playwright()
    proxy = await engine.guard.start()
    folder = await asyncio.to_thread(engine.folders.create)
    context_options = build_context_options(settings, options)
    profile = _profile_folder(settings, folder)
    further = [*settings.args, SWITCH] if settings.stealth else settings.args
    try:
        async with asyncio.timeout(settings.launch_timeout):
            context = await playwright.chromium.launch_persistent_context(
                profile,
                executable_path=executable,
                headless=headless,
                args=build_switches(profile, proxy, further, headless=headless, sandbox=settings.sandbox),
                ignore_default_args=True,
                artifacts_dir=folder / "artifacts",
                env={**os.environ, "TMPDIR": str(folder)},
                timeout=settings.launch_timeout * 1000,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                **context_options,
            )
            process = await _create_process(engine, browser_id, context, options, context_options)
    except ToolError:
        await asyncio.to_thread(engine.folders.remove, folder)
        raise
    except Exception as exc:
        await asyncio.to_thread(engine.folders.remove, folder)
        raise _not_launched(exc, executable) from exc
    process.headless = headless

    async def remove() -> None:
        await asyncio.to_thread(engine.folders.remove, folder)

    process.on_over = remove
    return process


def require_display() -> None:
    """Check that a browser can have a window.

    Raises:
        ToolError: `browser_launch_failed`.
    """
    has_display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    if sys.platform.startswith("linux") and not has_display:
        raise ToolError(
            "browser_launch_failed",
            "there is no display here, so the browser can have no window: leave out headless (screenshots show "
            "the page), or start agentcore in a desktop session or with xvfb-run",
            reason="no_display",
        )


def build_context_options(settings: EngineSettings, options: LaunchOptions) -> dict[str, Any]:
    """Return the options that each context of the browser is created with."""
    viewport = options.viewport or settings.viewport
    made: dict[str, Any] = {
        "viewport": {"width": viewport.width, "height": viewport.height},
        "accept_downloads": True,
    }
    if locale := options.locale or settings.locale:
        made["locale"] = locale
    if settings.location is not None:
        made["geolocation"] = settings.location.model_dump()
    if options.user_agent:
        made["user_agent"] = options.user_agent
    return made


async def _create_process(
    engine: Launcher,
    browser_id: str,
    context: "BrowserContext",
    options: LaunchOptions,
    context_options: dict[str, Any],
) -> BrowserProcess:
    browser = context.browser
    assert browser is not None  # noqa: S101 - a launched browser has one
    process = BrowserProcess(browser_id, engine, browser, session_id=options.session_id)
    process.context_options = context_options
    process.permissions = engine.settings.permissions
    if engine.settings.stealth:
        context_options.setdefault("user_agent", await plain_user_agent(browser))
        process.prepare_context = apply_stealth
        await apply_stealth(context)
    process.shares_context = engine.settings.profile is not None
    process.shared_context = context
    await process.subscribe_to_events()
    return process


def _profile_folder(settings: EngineSettings, folder: Path) -> Path:
    if settings.profile is None:
        return folder / "profile"
    return settings.profile.expanduser().absolute()


def _extract_browser_output(text: str) -> str:
    """Return the driver's message without the long command line, and the last lines that the browser wrote."""
    lines = [found["line"] for found in _WRITTEN.finditer(text)]
    before = text.partition("<launching>")[0].removesuffix("- ").strip()
    return "\n".join([before[:_TEXT_CHARS], *lines[-_LINES:]])[: 2 * _TEXT_CHARS]


def _not_launched(exc: Exception, executable: Path) -> ToolError:
    if isinstance(exc, TimeoutError):
        reason = "it did not start in time; raise `launch_timeout`, or look at what the machine is busy with"
    else:
        reason = _extract_browser_output(str(exc))
        if "ProcessSingleton" in reason or "SingletonLock" in reason:
            reason = "its profile is in use by another browser; close that one, or take another `profile`"
        elif "sandbox" in reason.lower():
            headline = extract_headline(exc)[:200]
            reason = f"its sandbox does not work here ({headline}); the setting `sandbox: false` goes without"
    return ToolError(
        "browser_launch_failed", f"{executable} did not start: {reason}", executable=str(executable), retryable=True
    )

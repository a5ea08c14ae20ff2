"""Connecting to a Playwright server, which starts a browser for each connection and closes it afterwards."""

import asyncio
import json
from typing import TYPE_CHECKING, Any

from agentcore.api import ToolError
from agentcore_chrome.browser.launching import Launcher, LaunchOptions, build_context_options
from agentcore_chrome.browser.process import BrowserProcess
from agentcore_chrome.browser.reachability import advice_for, versions_in
from agentcore_chrome.browser.request_policy import RequestFilter
from agentcore_chrome.browser.stealth import SWITCH, apply_stealth, plain_user_agent
from agentcore_chrome.browser.stored_state import StorageStateFile
from agentcore_chrome.endpoint import Endpoint
from agentcore_chrome.failures import extract_headline

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext

_OPTIONS_HEADER = "x-playwright-launch-options"
_REASON_CHARS = 300


async def connect_to_server(
    engine: Launcher, endpoint: Endpoint, browser_id: str, options: LaunchOptions
) -> BrowserProcess:
    """Connect to a browser of the Playwright server in the setting `playwright_endpoint`.

    Raises:
        ToolError: `browser_version_mismatch`; `browser_launch_failed`: nothing answers there, or it starts no Chromium.
    """
    playwright = await engine.driver.get_playwright()
    limit_s = engine.settings.launch_timeout
    headers = endpoint.headers | {_OPTIONS_HEADER: json.dumps(launch_options(engine, options))}
    try:
        async with asyncio.timeout(limit_s):
            browser = await playwright.chromium.connect(endpoint.url, headers=headers, timeout=limit_s * 1000)
            try:
                return await _create_process(engine, browser, browser_id, options)
            except BaseException:
                await browser.close()
                raise
    except ToolError:
        raise
    except Exception as exc:
        raise _not_connected(endpoint, exc) from exc


def launch_options(engine: Launcher, options: LaunchOptions) -> dict[str, Any]:
    """Return the launch options for the server, which ignores some if its browser runs already or it forbids them."""
    settings = engine.settings
    requested: dict[str, Any] = {
        "headless": settings.headless if options.headless is None else options.headless,
        "args": [*settings.args, *([SWITCH] if settings.stealth else [])],
        "channel": settings.channel,
        "executablePath": None if settings.executable is None else str(settings.executable),
        "proxy": None if settings.proxy is None else {"server": settings.proxy},
        "chromiumSandbox": settings.sandbox,
        "timeout": settings.launch_timeout * 1000,
    }
    return {key: value for key, value in requested.items() if value not in (None, [])}


async def _create_process(
    engine: Launcher, browser: "Browser", browser_id: str, options: LaunchOptions
) -> BrowserProcess:
    settings = engine.settings
    process = BrowserProcess(browser_id, engine, browser, session_id=options.session_id)
    process.place = "remote"
    process.headless = settings.headless if options.headless is None else options.headless
    process.judge = judge = RequestFilter(
        engine.policy, process.on_navigation_refused, process.run_in_background, allow_unknown=settings.allow_private
    )
    process.context_options = build_context_options(settings, options)
    process.permissions = settings.permissions
    if settings.stealth:
        process.context_options.setdefault("user_agent", await plain_user_agent(browser))

    async def prepare(context: "BrowserContext") -> None:
        await judge.filter_web_sockets(context)
        if settings.stealth:
            await apply_stealth(context)

    process.prepare_context = prepare
    await process.subscribe_to_events()
    if settings.profile is not None:
        kept = StorageStateFile(settings.profile)
        context = await browser.new_context(**process.context_options, storage_state=await kept.load())  # type: ignore[arg-type]
        await prepare(context)
        process.share_context(context, kept)
    return process


def _not_connected(endpoint: Endpoint, exc: Exception) -> ToolError:
    text = endpoint.mask_secrets(str(exc))
    if (versions := versions_in(text)) is not None:
        theirs, ours = versions
        return ToolError(
            "browser_version_mismatch",
            f"the Playwright server at {endpoint} has version {theirs}, and here is {ours}, which do not go together: "
            f"{advice_for(theirs)}",
            endpoint=str(endpoint),
            serverVersion=theirs,
            clientVersion=ours,
        )
    if isinstance(exc, TimeoutError):
        reason = "it did not answer in time"
    elif "CDP session is only available in Chromium" in text:
        reason = "its browser is not Chromium, which alone is driven"
    else:
        reason = endpoint.mask_secrets(extract_headline(exc))[:_REASON_CHARS].rstrip(".")
    return ToolError(
        "browser_launch_failed",
        f"cannot use a browser at {endpoint}: {reason}; start it with `npx playwright run-server`, and look at address "
        "and token in the setting `playwright_endpoint`",
        retryable=True,
        endpoint=str(endpoint),
    )

"""Installing a browser: Playwright's Chromium into the user's cache, else the distribution's package."""

import os
import re
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path

from agentcore.api import (
    LocalizedText,
    ReportProgress,
    RequirementInfo,
    RequirementStatus,
    ToolError,
    can_install_packages,
    install_packages,
    is_root,
    package_command,
    run_command,
)
from agentcore_chrome.browser.checking import CheckedBrowser, check_browser
from agentcore_chrome.browser.executable import (
    COMMAND,
    REQUIREMENT,
    FoundBrowser,
    browsers_folder,
    find_browser,
    is_replaceable,
)
from agentcore_chrome.settings import EngineSettings

DOWNLOAD_BYTES = 180_000_000
"""Download size of Playwright's Chromium; it needs about 400 MB on disk."""

_PACKAGES = ("chromium",)
_FONT_PACKAGES = ("fonts-liberation", "fonts-noto-color-emoji", "fonts-wqy-zenhei")
_PROGRESS = re.compile(r"\|\s*(\d+)% of ([\d.]+) MiB")
_REASON = re.compile(r"Error: (?!Failed to download)(?!Download failure, code)(.{1,300}?)(?: body '|$)")
_MISSING_LIBRARY = re.compile(r"error while loading shared libraries: (\S+?):")
_LIBRARY_PACKAGES = {"libatomic.so.1": "libatomic1", "libstdc++.so.6": "libstdc++6"}
"""Packages of the libraries that Playwright's own Node.js is linked with, by library name."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_KEPT_LINES = 200
_DOWNLOAD_PART = 0.9
_CHECKING: LocalizedText = {"en": "Checking the browser by opening a page", "zh": "正在打开网页以检查浏览器"}


class BrowserRequirement:
    """The requirement of both modules: a browser that can be started.

    Args:
        settings: Which browser to use.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._driver_starts = False
        self.info = RequirementInfo(
            name=REQUIREMENT,
            title={"en": "Web browser", "zh": "网页浏览器"},
            purpose={
                "en": "The browser tools open pages in Chrome, Chromium or Edge.",
                "zh": "浏览器工具需要在 Chrome、Chromium 或 Edge 中打开网页。",
            },
            command=COMMAND,
            installs=_describe_installation(),
            download_bytes=DOWNLOAD_BYTES,
            is_installable=is_replaceable(settings),
        )

    async def check(self) -> RequirementStatus:
        """Report whether a browser is found and the driver starts."""
        try:
            path = find_browser(self._settings).path
            if not self._driver_starts:
                if reason := await _find_driver_problem():
                    return RequirementStatus(False, f"Playwright, which drives the browser, does not start: {reason}")
                self._driver_starts = True
            return RequirementStatus(True, str(path))
        except ToolError as exc:
            if is_replaceable(self._settings):
                return RequirementStatus(False, {"en": "none was found", "zh": "未找到浏览器"})
            return RequirementStatus(False, exc.message)

    async def install(self, report: ReportProgress) -> None:
        """Install a browser, with its progress sent to `report`."""
        await install_browser(self._settings, report)


def _describe_installation() -> LocalizedText:
    folder = browsers_folder()
    en = f"Downloads Chromium (from the makers of Playwright) into {folder}"
    zh = f"将 Chromium（由 Playwright 提供）下载到 {folder}"
    if can_install_packages():
        en += "; if that is refused, installs the distribution's package with apt-get"
        zh += "；若下载被拒绝，则用 apt-get 安装发行版软件包"
    if is_root():
        en += ". This server runs as root, so Chromium runs without its own sandbox"
        zh += "。此服务器以 root 运行，因此 Chromium 不使用自身的沙箱"
    return {"en": f"{en}.", "zh": f"{zh}。"}


async def install_browser(settings: EngineSettings, report: ReportProgress) -> CheckedBrowser:
    """Install a browser, unless there is one, and check it by opening a page.

    Args:
        report: Receives each step.
    Raises:
        ToolError: `browser_install_failed`, with the reason and what to do; those of `check_browser`.
    """
    await _prepare_driver(report)
    found = _find_browser_or_none(settings)
    has_tried_fonts = False
    if found is None:
        if not is_replaceable(settings):
            message = "config.chrome names a browser that is not there: correct or remove `executable` and `channel`"
            raise ToolError("browser_install_failed", message)
        has_tried_fonts = await _download_or_install_browser(report)
        found = _find_browser_or_none(settings)
        if found is None:
            message = "a browser was installed, and is not on the PATH of this process; name it with `executable`"
            raise ToolError("browser_install_failed", message)
    report(_CHECKING, _DOWNLOAD_PART)
    try:
        checked = await check_browser(found.path, sandbox=settings.sandbox)
    except ToolError as exc:
        if exc.type != "browser_libraries_missing":
            raise
        await _install_libraries(exc, report)
        checked = await check_browser(found.path, sandbox=settings.sandbox)
    if checked.missing_fonts and not has_tried_fonts and can_install_packages():
        with suppress(ToolError):  # pages work without these fonts
            await install_packages(_FONT_PACKAGES, report)
            checked = await check_browser(found.path, sandbox=settings.sandbox)
    report({"en": "The browser is ready", "zh": "浏览器已就绪"}, 1.0)
    return checked


def _find_browser_or_none(settings: EngineSettings) -> FoundBrowser | None:
    try:
        return find_browser(settings)
    except ToolError:
        return None


async def _find_driver_problem() -> str:
    """Return why Playwright's own Node.js does not start on this machine; empty: it does."""
    lines = run_command([sys.executable, "-m", "playwright", "--version"], dict(os.environ))
    last = deque([line async for line in lines], maxlen=1)
    return "" if lines.code == 0 else next(iter(last), f"exit code {lines.code}").strip()


async def _prepare_driver(report: ReportProgress) -> None:
    """Install the system libraries without which Playwright does not start, such as on a minimal Debian.

    Raises:
        ToolError: `browser_install_failed`: this process may not install them, or that did not help.
    """
    reason = await _find_driver_problem()
    if not reason:
        return
    library = _MISSING_LIBRARY.search(reason)
    package = None if library is None else _LIBRARY_PACKAGES.get(library[1])
    message = f"Playwright, which drives the browser, does not start: {reason}"
    if package is None:
        raise ToolError("browser_install_failed", message, reason=reason)
    command = package_command((package,))
    if not can_install_packages():
        raise ToolError("browser_install_failed", f"{message}. Run: {command}", reason=reason, command=command)
    report({"en": "Installing system libraries", "zh": "正在安装系统库"}, None)
    await install_packages((package,), report)
    if reason := await _find_driver_problem():
        message = f"Playwright, which drives the browser, does not start with {package} either: {reason}"
        raise ToolError("browser_install_failed", message, reason=reason)


async def _download_or_install_browser(report: ReportProgress) -> bool:
    """Download Playwright's Chromium, else install the distribution's package with fonts and return True."""
    reason = await download_chromium(report)
    if not reason:
        return False
    if not can_install_packages():
        hint = package_command(_PACKAGES)
        message = (
            f"Chromium could not be downloaded: {reason}. Check the network, name another server in "
            f"PLAYWRIGHT_DOWNLOAD_HOST, or install the distribution's package: {hint}"
        )
        raise ToolError("browser_install_failed", message, reason=reason, command=hint)
    report(
        {
            "en": f"Chromium could not be downloaded ({reason}); installing the distribution's package",
            "zh": f"无法下载 Chromium（{reason}），改为安装发行版软件包",
        },
        None,
    )
    try:
        await install_packages((*_PACKAGES, *_FONT_PACKAGES), report)
    except ToolError as exc:
        message = (
            f"Chromium could not be downloaded: {reason}. The distribution's package failed as well: {exc.message}"
        )
        raise ToolError("browser_install_failed", message, reason=reason) from exc
    return True


async def download_chromium(report: ReportProgress) -> str:
    """Have Playwright's driver download its Chromium into the user's cache.

    `PLAYWRIGHT_DOWNLOAD_HOST`, `PLAYWRIGHT_BROWSERS_PATH` and the proxy variables apply as usual.

    Returns:
        Why it failed; empty: it is installed.
    """
    report({"en": "Downloading Chromium", "zh": "正在下载 Chromium"}, 0.0)
    # The full browser, which can show a window, without the headless shell; keep other revisions.
    lines = run_command(
        [sys.executable, "-m", "playwright", "install", "chromium", "--no-shell", "--no-remove"], dict(os.environ)
    )
    last: deque[str] = deque(maxlen=_KEPT_LINES)
    is_chromium = False
    async for line in lines:
        text = _COLOURS.sub("", line)
        last.append(text)
        if text.startswith("Downloading "):
            is_chromium = "ffmpeg" not in text.lower()
        progress = _PROGRESS.search(text)
        if progress is not None and is_chromium:
            percent = int(progress[1])
            total = float(progress[2])
            done = total * percent / 100
            step = f"{done:.0f} / {total:.0f} MiB"
            report(
                {"en": f"Downloading Chromium: {step}", "zh": f"正在下载 Chromium：{step}"},
                percent / 100 * _DOWNLOAD_PART,
            )
    if lines.code == 0 or _is_downloaded():
        return ""
    reasons = [found[1] for found in map(_REASON.search, last) if found is not None]
    return (reasons[0] if reasons else next(reversed(last), f"exit code {lines.code}")).strip().rstrip(".")


def _is_downloaded() -> bool:
    """True if the browser is there although something beside it could not be downloaded."""
    return any(browsers_folder().glob("chromium-*/INSTALLATION_COMPLETE"))


async def _install_libraries(missing: ToolError, report: ReportProgress) -> None:
    """Install the system libraries that Playwright's Chromium needs.

    Raises:
        ToolError: `browser_libraries_missing`: this process may not, or it failed.
    """
    command = f"sudo {Path(sys.executable)} -m playwright install-deps chromium"
    if not can_install_packages():
        raise ToolError("browser_libraries_missing", f"{missing.message}; run: {command}", command=command)
    report({"en": "Installing system libraries", "zh": "正在安装系统库"}, None)
    lines = run_command([sys.executable, "-m", "playwright", "install-deps", "chromium"], dict(os.environ))
    last = deque([line async for line in lines], maxlen=3)
    if lines.code != 0:
        message = f"{missing.message}, and installing it failed: {' '.join(last)}"
        raise ToolError("browser_libraries_missing", message, command=command)

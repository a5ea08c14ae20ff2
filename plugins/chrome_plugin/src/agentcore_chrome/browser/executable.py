"""Finding the browser to use, by one function for all callers."""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from agentcore.api import ToolError
from agentcore_chrome.settings import EngineSettings

Origin = Literal["setting", "machine", "installed"]
"""Where a browser is from: the setting `executable`, installed on the machine, or installed by agentcore."""

REQUIREMENT = "web_browser"
"""The name of the requirement that both modules declare."""

COMMAND = "agentcore browser install"
"""The terminal command that installs a browser."""

_NAMES = {
    "chromium": ("chromium", "chromium-browser"),
    "chrome": ("google-chrome-stable", "google-chrome"),
    "chrome-beta": ("google-chrome-beta",),
    "chrome-dev": ("google-chrome-unstable",),
    "msedge": ("microsoft-edge-stable", "microsoft-edge"),
    "msedge-beta": ("microsoft-edge-beta",),
    "msedge-dev": ("microsoft-edge-dev",),
}
_MAC_NAMES = {
    "chromium": "Chromium",
    "chrome": "Google Chrome",
    "chrome-beta": "Google Chrome Beta",
    "chrome-dev": "Google Chrome Dev",
    "msedge": "Microsoft Edge",
    "msedge-beta": "Microsoft Edge Beta",
    "msedge-dev": "Microsoft Edge Dev",
}
# Folders that are often missing from the PATH of services, unlike /usr/bin.
_FURTHER_FOLDERS = ("/usr/local/bin", "/opt/homebrew/bin", "/snap/bin")
_INSTALLED_PROGRAMS = (
    "chrome-linux64/chrome",
    "chrome-linux-arm64/chrome",
    "chrome-linux/chrome",
    "chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
    "chrome-mac-x64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
)
_COMPLETE = "INSTALLATION_COMPLETE"
_SNAP_STUB_BYTES = 16 * 1024
INSTALL_HINT = (
    f"run `{COMMAND}`, install Chromium, Google Chrome or Microsoft Edge yourself, or name the program with the "
    "setting `executable` of `chrome`"
)


@dataclass(frozen=True, slots=True)
class FoundBrowser:
    """A browser that can be used.

    Args:
        path: Its program.
        origin: Where it is from.
    """

    path: Path
    origin: Origin


def find_browser(settings: EngineSettings) -> FoundBrowser:
    """Decide which browser is used.

    In this order: the setting `executable`; Chromium, Chrome or Edge on this machine (only the one that the setting
    `channel` names, if it is set); the Chromium that agentcore installed.

    Raises:
        ToolError: `browser_not_found`, with the places that were searched and how to install one.
    """
    searched: list[str] = []
    for candidate in _list_candidates(settings):
        if candidate.path.is_file() and not _is_snap_stub(candidate.path):
            return candidate
        searched.append(str(candidate.path))
    message = f"no browser at {', '.join(searched)}" if settings.executable else "there is no browser on this machine"
    raise ToolError(
        "browser_not_found",
        f"{message}; {INSTALL_HINT}",
        looked=searched,
        hint=INSTALL_HINT,
        requirement=REQUIREMENT,
    )


def is_replaceable(settings: EngineSettings) -> bool:
    """True if a browser that agentcore installs would be used: the settings name no other one."""
    return settings.executable is None and settings.channel in (None, "chromium")


def browsers_folder() -> Path:
    """Return the folder in which Playwright installs browsers, which agentcore uses as well.

    Source: `computeDefaultCacheDirectory` and `registryDirectory` in Playwright 1.65.
    """
    chosen = os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    if chosen == "0":
        return _driver_package() / ".local-browsers"
    if chosen:
        return Path(chosen).absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ms-playwright"
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "ms-playwright"


def _list_candidates(settings: EngineSettings) -> Iterator[FoundBrowser]:
    if settings.executable is not None:
        yield FoundBrowser(settings.executable.expanduser(), "setting")
        return
    for channel in (settings.channel,) if settings.channel else _NAMES:
        for path in _find_on_machine(channel):
            yield FoundBrowser(path, "machine")
    if is_replaceable(settings):
        for path in _find_installed():
            yield FoundBrowser(path, "installed")


def _find_on_machine(channel: str) -> Iterator[Path]:
    for name in _NAMES[channel]:
        found = shutil.which(name)
        if found is not None:
            yield Path(found)
        for folder in _FURTHER_FOLDERS:
            yield Path(folder, name)
    if sys.platform == "darwin":
        name = _MAC_NAMES[channel]
        for base in (Path("/Applications"), Path.home() / "Applications"):
            yield base / f"{name}.app" / "Contents" / "MacOS" / name


def _find_installed() -> Iterator[Path]:
    """Complete installations: the revision of the installed Playwright first, then the newest others."""
    folder = browsers_folder()
    requested = f"chromium-{_read_chromium_revision()}"
    found = [each.parent for each in folder.glob(f"chromium-*/{_COMPLETE}")]
    for each in sorted(found, key=lambda path: (path.name == requested, _parse_revision(path.name)), reverse=True):
        for program in _INSTALLED_PROGRAMS:
            if (each / program).is_file():
                yield each / program
    if not found:
        yield folder / requested


def _read_chromium_revision() -> str:
    try:
        known = json.loads((_driver_package() / "browsers.json").read_text("utf-8"))["browsers"]
    except (OSError, ValueError, KeyError):
        return ""
    return next((str(each["revision"]) for each in known if each["name"] == "chromium"), "")


def _driver_package() -> Path:
    found = find_spec("playwright")
    origin = "" if found is None or found.origin is None else found.origin
    return Path(origin).parent / "driver" / "package"


def _parse_revision(name: str) -> int:
    digits = name.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0


def _is_snap_stub(path: Path) -> bool:
    """True for Ubuntu's `chromium-browser`, a script that only asks for the snap to be installed."""
    if path.name != "chromium-browser" or Path("/snap/bin/chromium").exists():
        return False
    try:
        if path.stat().st_size > _SNAP_STUB_BYTES:
            return False
        return b"snap install chromium" in path.read_bytes()
    except OSError:
        return False

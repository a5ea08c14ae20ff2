"""Finding an installed browser."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from agentcore.api import ToolError
from agentcore_chrome.settings import EngineSettings

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
_SYSTEM_FOLDERS = ("/usr/bin", "/usr/local/bin", "/snap/bin")
INSTALL_HINT = (
    "install Chromium (`apt install chromium`, `brew install --cask chromium`), Google Chrome or Microsoft Edge, "
    "or name the program with the setting `executable` of `chrome`"
)


def find_executable(settings: EngineSettings) -> Path:
    """The program to run: the setting, else the first installed browser.

    Raises:
        ToolError: `browser_not_found`, with where it looked and how to install one.
    """
    looked: list[str] = []
    for candidate in _candidates(settings):
        if candidate.is_file():
            return candidate
        looked.append(str(candidate))
    raise ToolError(
        "browser_not_found", f"no browser at {', '.join(looked)}; {INSTALL_HINT}", looked=looked, hint=INSTALL_HINT
    )


def _candidates(settings: EngineSettings) -> Iterator[Path]:
    if settings.executable is not None:
        yield settings.executable.expanduser()
        return
    for channel in (settings.channel,) if settings.channel else _NAMES:
        for name in _NAMES[channel]:
            found = shutil.which(name)
            if found is not None:
                yield Path(found)
            for folder in _SYSTEM_FOLDERS:
                yield Path(folder, name)
        if sys.platform == "darwin":
            name = _MAC_NAMES[channel]
            for base in (Path("/Applications"), Path.home() / "Applications"):
                yield base / f"{name}.app" / "Contents" / "MacOS" / name

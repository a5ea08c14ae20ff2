"""The programs that some tests need, by the Debian package that provides them. Standard library only.

`python3 -m tests.programs PACKAGE` prints the path of its program, or nothing.
"""

import os
import shutil
import sys
from pathlib import Path

_PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", str(Path(sys.executable).parent)))
"""Debian has servers in folders for root, and ripgrep is also a wheel, beside the interpreter."""

_NAMES = {
    "chromium": ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
    "chromium-headless-shell": ("chromium-headless-shell", "chrome-headless-shell"),
    "xvfb": ("Xvfb",),
    "dbus": ("dbus-daemon",),
    "bubblewrap": ("bwrap",),
    "ripgrep": ("rg",),
    "git": ("git",),
    "nodejs": ("node",),
    "firefox-esr": ("firefox-esr", "firefox"),
    "webkit2gtk-driver": ("WebKitWebDriver",),
    "iproute2": ("ip",),
    "nftables": ("nft",),
    "nginx": ("nginx",),
    "caddy": ("caddy",),
    "openssl": ("openssl",),
    "faketime": ("faketime",),
    "nats-server": ("nats-server",),
}
"""Debian package to the names of its program, one of which is enough."""
_FROM_WHEELS = {"ripgrep"}
"""What is installed beside the interpreter, and need not come from the distribution."""


def find(package: str) -> str | None:
    """Return the path of a package's program, or None if it is not on PATH."""
    found = (shutil.which(name, path=_PATH) for name in _NAMES[package])
    return next(filter(None, found), None)


def missing() -> list[str]:
    """Return the packages whose program is not on PATH."""
    return [package for package in _NAMES if package not in _FROM_WHEELS and find(package) is None]


def program_names() -> list[str]:
    """Return the names of all programs that tests look for."""
    return [name for names in _NAMES.values() for name in names]


if __name__ == "__main__":
    print(*filter(None, map(find, sys.argv[1:])))

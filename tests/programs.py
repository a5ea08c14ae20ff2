"""The programs that some tests need. Run as a script, it prints the packages of those that are missing."""

import os
import shutil

_PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
"""Debian has servers where only root looks."""

_NAMES = {
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "chromium-headless-shell": ("chromium-headless-shell", "chrome-headless-shell"),
    "xvfb": ("Xvfb",),
    "dbus": ("dbus-daemon",),
    "bubblewrap": ("bwrap",),
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
"""Package of Debian to what it brings, one of which is enough."""


def find(package: str) -> str | None:
    """The path of a package's program; None: it is not on PATH."""
    found = (shutil.which(name, path=_PATH) for name in _NAMES[package])
    return next(filter(None, found), None)


def missing() -> list[str]:
    """The packages of which no program is on PATH."""
    return [package for package in _NAMES if find(package) is None]


if __name__ == "__main__":
    print(*missing())

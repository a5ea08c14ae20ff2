"""Links on a terminal: OSC 8 hyperlinks where the terminal supports them, plain addresses elsewhere."""

import os
from collections.abc import Mapping
from typing import TextIO

_PROGRAMS = frozenset(("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio", "mintty", "WarpTerminal"))
_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour")
_VARIABLES = ("WT_SESSION", "KONSOLE_VERSION", "DOMTERM")
_VTE_VERSION = 5000
"""The first version of the VTE library (GNOME Terminal and others) whose hyperlinks work: 0.50."""


def supports_hyperlinks(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """True if a stream is a terminal that is known to show OSC 8 hyperlinks.

    A terminal cannot be asked for this, so it is derived from the environment, as other programs do;
    `FORCE_HYPERLINK` overrides it (https://github.com/chalk/supports-hyperlinks).
    """
    forced = environ.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced != "0"
    if not stream.isatty() or environ.get("TERM", "dumb") == "dumb":
        return False
    version = environ.get("VTE_VERSION", "")
    return (
        environ.get("TERM_PROGRAM") in _PROGRAMS
        or environ["TERM"].startswith(_TERMS)
        or any(environ.get(name) for name in _VARIABLES)
        or (version.isdecimal() and int(version) >= _VTE_VERSION)
    )


def make_hyperlink(address: str, stream: TextIO, environ: Mapping[str, str] = os.environ) -> str:
    """Return the address, as a link if the stream supports it. It is readable and can be copied either way."""
    if not supports_hyperlinks(stream, environ):
        return address
    return f"\x1b]8;;{address}\x1b\\{address}\x1b]8;;\x1b\\"

"""Explains what the sandbox has probably refused to a server, with the setting of its block that allows it."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from agentcore.api import CREDENTIALS, Sandbox

_TAIL_CHARS = 16_000
_PATH = re.compile(r"(?:/[\w.@+-]+)+")
_READ_ONLY = re.compile(r"read-only file system|\bEROFS\b|os error 30\b|\[Errno 30\]", re.IGNORECASE)
_MISSING = re.compile(
    r"no such file|\bENOENT\b|not found|does ?n.t exist|cannot (?:open|access|find)|unable to open", re.IGNORECASE
)
_HIDDEN = ("/tmp/", "/var/tmp/", "/dev/shm/", "/run/", "/var/run/")  # noqa: S108


def explain_denial(said: str, words: Sequence[str], sandbox: Sandbox | None) -> str:
    """Return a sentence on what the sandbox has probably refused and how to allow it; empty if nothing indicates that.

    Args:
        said: What the server wrote, or the error of a tool.
        words: The arguments and variables of the server's block, which may name files.
        sandbox: The server's sandbox.
    """
    if sandbox is None or not sandbox.is_on:
        return ""
    tail = said[-_TAIL_CHARS:]
    paths = [*_PATH.findall(tail), *(path for word in words for path in _PATH.findall(word))]
    if _MISSING.search(tail) and (name := _find_credentials(paths, sandbox)) is not None:
        return _sentence(f"it does not see the log-in of {name} in your home folder", "home")
    if _READ_ONLY.search(tail):
        named = next((path for path in _PATH.findall(tail) if Path(path).is_absolute()), "")
        return _sentence(f"it cannot write {named!r}" if named else "it can write the workspace alone", "writable")
    if (path := _find_hidden(paths, sandbox)) is not None and (_MISSING.search(tail) or not tail):
        return _sentence(f"it has a {Path(path).parts[1]!r} folder of its own, in which {path!r} is not", "readable")
    return ""


def _sentence(reason: str, setting: str) -> str:
    return f"[The sandbox may be why: {reason}; `agentcore.{setting}` in its block allows that.]"


def _find_hidden(paths: Sequence[str], sandbox: Sandbox) -> str | None:
    """Return a path that exists, and that the sandbox hides as it does the folder around it."""
    requested = sandbox.wanted
    own = [requested.caches.folder] if requested.home is None else [requested.caches.folder, requested.home.folder]
    seen = (*requested.readable, *requested.writable, *own)
    return next(
        (
            path
            for path in paths
            if path.startswith(_HIDDEN)
            and os.path.lexists(path)
            and not any(Path(path).is_relative_to(s) for s in seen)
        ),
        None,
    )


def _find_credentials(paths: Sequence[str], sandbox: Sandbox) -> str | None:
    """Return the name of a program whose log-in one of the paths is, in the user's home folder or the server's own."""
    homes = [Path.home()] if sandbox.wanted.home is None else [Path.home(), sandbox.wanted.home.folder]
    kept = {str(home / below): name for home in homes for name, below in CREDENTIALS.items()}
    return next((name for path in paths for folder, name in kept.items() if path.startswith(folder)), None)

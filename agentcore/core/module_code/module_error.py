"""Converts a module's exception into text of limited length, with secrets masked: the only place that does.

An exception is an object of a module, and reading it may raise anything. So each function has one guard, and then says
that the text cannot be read.
"""

import sysconfig
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentcore.errors import AgentcoreError, ToolError
from agentcore.secrets import mask_known_secrets
from agentcore.valid_text import valid_text

TEXT_CHARS = 4_000
"""The text of one exception, in code points."""

_TRACEBACK_CHARS = 32_000
_LINES_STORED = 400  # of a traceback, from its end
_NAME_CHARS = 200
_SECRET_CHARS = 64 * 1024  # the longest text that is stored
_FRAMES = 60
_GROUP_WIDTH = 8
_GROUP_DEPTH = 4
_UNREADABLE = "<exception str() failed>"  # as Python's own tracebacks say

_CORE = str(Path(__file__).resolve().parents[2])
_NOT_MODULES = (_CORE, sysconfig.get_path("stdlib"), "<frozen ")

IsShown = Callable[[str], bool]
"""True if a traceback may begin in this file."""


def type_name(value: object) -> str:
    """Return the name of a value's type."""
    return _clean_text(str(type(value).__name__), _NAME_CHARS)


def text_of(exc: BaseException) -> str:
    """Return `str(exc)` as valid Unicode of at most `TEXT_CHARS`."""
    try:
        return _clean_text(str(exc))
    except BaseException:  # noqa: BLE001 - code of a module, which may even try to end the process
        return _UNREADABLE


def reason_of(exc: BaseException) -> str:
    """Return one line: the type's name, and the text of the exception."""
    text = text_of(exc)
    return f"{type_name(exc)}: {text}" if text else type_name(exc)


def traceback_of(exc: BaseException, begins_in: IsShown | None = None) -> str:
    """Return the traceback as Python writes it, with causes, contexts and groups, starting where `begins_in` is
    true."""
    try:
        rendered = traceback.TracebackException.from_exception(
            exc, compact=True, max_group_width=_GROUP_WIDTH, max_group_depth=_GROUP_DEPTH
        )
        for each in _walk_chain(rendered):
            _cut_frames(each, begins_in)
        text = "".join(rendered.format())
    except BaseException:  # noqa: BLE001 - as above
        return reason_of(exc)
    return mask_known_secrets(valid_text(text[-_TRACEBACK_CHARS:])).rstrip("\n")


def log_failure(log: Any, event: str, exc: BaseException, **fields: object) -> None:
    """Log a module's exception, with its traceback as text, so that no log renderer calls the exception.

    The traceback begins where the module's own code does.
    """
    log.error(event, **fields, traceback=traceback_of(exc, is_of_module))


def end_of_traceback(exc: BaseException) -> str:
    """Return the end of a traceback for the author of a module, without the calls of the core before its code."""
    return "\n".join(traceback_of(exc, is_of_module).splitlines()[-_LINES_STORED:])


def failure_details(exc: BaseException) -> tuple[str, str]:
    """Return the output of the program that failed, and the end of the traceback; each may be empty.

    A failure that was foreseen has no traceback, because the lines of our code would explain nothing. A `ToolError` can
    have the output of the program that it is about: `output` in its context.
    """
    if not isinstance(exc, AgentcoreError):
        return "", end_of_traceback(exc)
    output = exc.context.get("output") if isinstance(exc, ToolError) else None
    return (clean_end(output) if isinstance(output, str) else ""), ""


def failure_text(exc: BaseException) -> str:
    """Return why a module could not be started, in a sentence; the type's name is included only if it is
    informative."""
    names_itself = isinstance(exc, AgentcoreError | RuntimeError | TimeoutError)
    return (text_of(exc) or type_name(exc)) if names_itself else reason_of(exc)


def is_of_module(filename: str) -> bool:
    """True if a file of code belongs neither to the core nor to the standard library."""
    # installed packages are below the standard library, and may be the module's own
    return not filename.startswith(_NOT_MODULES) or "site-packages" in filename.removeprefix(_CORE)


def _walk_chain(rendered: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    """Yield an exception with its causes, contexts and members; the chain has no cycles."""
    waiting = [rendered]
    while waiting:
        each = waiting.pop()
        yield each
        linked = (each.__cause__, each.__context__, *(each.exceptions or ()))
        waiting += [one for one in linked if one is not None]


def _cut_frames(rendered: traceback.TracebackException, begins_in: IsShown | None) -> None:
    """Leave out frames before the first one that is shown, and all but the last ones of many."""
    stack = rendered.stack
    if begins_in is not None:
        first = next((number for number, frame in enumerate(stack) if begins_in(frame.filename)), 0)
        del stack[:first]
    del stack[:-_FRAMES]


def clean_end(text: str) -> str:
    """Return the end of a text, valid and of limited length; only whole lines of a longer one."""
    whole = mask_known_secrets(valid_text(text[-_SECRET_CHARS:])).rstrip("\n")
    if len(whole) <= TEXT_CHARS:
        return whole
    end = whole[-TEXT_CHARS:]
    return end.partition("\n")[2] or end


def _clean_text(text: str, limit_chars: int = TEXT_CHARS) -> str:
    """Return a valid text of limited length."""
    # a secret that the cut splits is recognised only as a whole
    head = mask_known_secrets(valid_text(text[: limit_chars + _SECRET_CHARS]))[:limit_chars]
    cut = len(text) - limit_chars
    return head if cut <= 0 else f"{head}… [{cut:,} more characters]"

"""What the author of a module has to see of a traceback: from where the module's own code begins."""

import sysconfig
from pathlib import Path
from traceback import StackSummary, TracebackException

LINES = 30
"""How much of a traceback is kept; its end says what happened."""

_HOST = str(Path(__file__).resolve().parent.parent)
_NOT_THEIRS = (_HOST, sysconfig.get_path("stdlib"), "<frozen ")


def end_of_traceback(exc: BaseException) -> str:
    """The end of a traceback as text, without the calls by which the host got to the module."""
    told = TracebackException.from_exception(exc)
    _begin_at_the_module(told, set())
    return "\n".join("".join(told.format()).splitlines()[-LINES:])


def _begin_at_the_module(told: TracebackException, seen: set[int]) -> None:
    if id(told) in seen:
        return
    seen.add(id(told))
    first = next((n for n, frame in enumerate(told.stack) if not _is_ours(frame.filename)), 0)
    told.stack = StackSummary.from_list(told.stack[first:])
    for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if other is not None:
            _begin_at_the_module(other, seen)


def _is_ours(filename: str) -> bool:
    # installed packages lie below the standard library, and may be the module's own
    return filename.startswith(_NOT_THEIRS) and "site-packages" not in filename.removeprefix(_HOST)

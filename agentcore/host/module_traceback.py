"""What the author of a module has to see of a traceback: from where the module's own code begins."""

import sysconfig
from pathlib import Path

from agentcore.api.errors import AgentcoreError
from agentcore.host.foreign_error import reason_of, text_of, traceback_of, type_name

LINES = 400
"""How much of a traceback is kept; its end says what happened."""

_HOST = str(Path(__file__).resolve().parent.parent)
_NOT_THEIRS = (_HOST, sysconfig.get_path("stdlib"), "<frozen ")


def end_of_traceback(exc: BaseException) -> str:
    """The end of a traceback as text, without the calls by which the host got to the module."""
    told = traceback_of(exc, lambda filename: not _is_ours(filename))
    return "\n".join(told.splitlines()[-LINES:])


def failure_text(exc: BaseException) -> str:
    """Why a module could not be started, in a sentence: the type's name stands there only where it tells something."""
    is_said = issubclass(type(exc), AgentcoreError | RuntimeError | TimeoutError)
    return (text_of(exc) or type_name(exc)) if is_said else reason_of(exc)


def _is_ours(filename: str) -> bool:
    # installed packages lie below the standard library, and may be the module's own
    return filename.startswith(_NOT_THEIRS) and "site-packages" not in filename.removeprefix(_HOST)

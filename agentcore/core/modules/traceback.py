"""What the author of a module has to see of a traceback: from where the module's own code begins."""

from agentcore.core.containment.foreign_error import is_of_module, reason_of, text_of, traceback_of, type_name
from agentcore.errors import AgentcoreError

LINES = 400
"""How much of a traceback is kept; its end says what happened."""


def end_of_traceback(exc: BaseException) -> str:
    """The end of a traceback as text, without the calls by which the host got to the module."""
    text = traceback_of(exc, is_of_module)
    return "\n".join(text.splitlines()[-LINES:])


def failure_text(exc: BaseException) -> str:
    """Why a module could not be started, in a sentence: the type's name stands there only where it tells something."""
    names_itself = issubclass(type(exc), AgentcoreError | RuntimeError | TimeoutError)
    return (text_of(exc) or type_name(exc)) if names_itself else reason_of(exc)

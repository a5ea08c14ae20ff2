"""The part of a traceback for the author of a module: from the first line of the module's own code."""

from agentcore.core.containment.foreign_error import is_of_module, reason_of, text_of, traceback_of, type_name
from agentcore.errors import AgentcoreError

LINES = 400
"""How many lines of a traceback are stored, from its end."""


def end_of_traceback(exc: BaseException) -> str:
    """Return the end of a traceback as text, without the calls of the core before the module's code."""
    text = traceback_of(exc, is_of_module)
    return "\n".join(text.splitlines()[-LINES:])


def failure_text(exc: BaseException) -> str:
    """Return why a module could not be started, in a sentence; the type's name is included only if it is
    informative."""
    names_itself = isinstance(exc, AgentcoreError | RuntimeError | TimeoutError)
    return (text_of(exc) or type_name(exc)) if names_itself else reason_of(exc)

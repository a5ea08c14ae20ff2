"""What a call says of its work to whoever makes it."""

from typing import Any, get_args

from agentcore.api import LogLevel
from agentcore.bounds import LOG_CHARS, LOGS_PER_CALL
from agentcore.host.calls.call import Call
from agentcore.host.containment.foreign_error import type_name
from agentcore.host.containment.plain_values import plain_text

_LEVELS = frozenset(get_args(LogLevel))


class CallLog:
    """Passes on as many messages as a call may have, and none once it has ended.

    Args:
        call: Whose they are.
    """

    def __init__(self, call: Call) -> None:
        self._call, self._count = call, 0

    def tell(self, message: str, level: LogLevel) -> None:
        """Pass on one; the last one says that no more follow."""
        self._count += 1
        notify = self._call.notify
        if notify is None or self._call.has_ended or self._count > LOGS_PER_CALL:
            return
        if self._count == LOGS_PER_CALL:
            message, level = f"{LOGS_PER_CALL:,} messages were passed on; what else this call says is not", "warning"
        told = {"callId": self._call.id, "tool": self._call.request.tool, "level": level, "message": message}
        notify("log", told)


def log_message(message: Any, level: Any) -> str:
    """A message as it is passed on.

    Raises:
        TypeError: It is no text.
        ValueError: There is no such level.
    """
    if not issubclass(type(message), str):
        raise TypeError(f"log: message must be text, not {type_name(message)}")
    if type(level) is not str or level not in _LEVELS:
        raise ValueError(f"log: level must be one of {', '.join(get_args(LogLevel))}")
    text = message if type(message) is str else str.__str__(message)
    return plain_text(text[:LOG_CHARS])

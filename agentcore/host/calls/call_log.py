"""What a call says of its work to whoever makes it."""

from agentcore.api import LogLevel
from agentcore.bounds import LOGS_PER_CALL
from agentcore.host.calls.call import Call


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

"""What is done with the messages of a host: each is read by its model, and what it wants and cannot have is refused."""

from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from agentcore.host.containment.foreign_error import reason_of
from agentcore.remote.places.messages import M, read, read_answer
from agentcore.remote.wire.frames import LinkError
from agentcore.remote.wire.peer import Message

log = structlog.get_logger(__name__)

_REFUSALS_LOGGED = 100


class Handlers:
    """Makes handlers for one host.

    Args:
        host: Its name, for the log.
    """

    def __init__(self, host: str) -> None:
        self._host, self._refusals = host, 0

    def told(self, model: type[M], act: Callable[[M], None]) -> Callable[[Message], None]:
        """What to do with a message: read it, and act; what it wants and cannot have is refused, and logged."""

        def take(message: Message) -> None:
            told = read(model, message)
            try:
                act(told)
            except LinkError:
                raise
            except Exception as exc:  # noqa: BLE001 - what another process wants may be anything
                self._refusals += 1
                if self._refusals <= _REFUSALS_LOGGED:
                    log.warning("host_message_refused", host=self._host, type=message["type"], reason=reason_of(exc))

        return take

    def asked(self, model: type[M], act: Callable[[M], Awaitable[Any]]) -> Callable[[Message], Awaitable[Any]]:
        """The same of a request, whose refusal is its answer."""

        async def answer(message: Message) -> Any:
            return await act(read_answer(model, message, message["type"]))

        return answer

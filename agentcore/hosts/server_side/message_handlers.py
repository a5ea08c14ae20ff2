"""Handlers of a host's messages: each is validated by its model, and requests that are not allowed are refused."""

import asyncio
from collections.abc import Callable

import structlog

from agentcore.core.module_code.module_error import reason_of
from agentcore.hosts.server_side.host_messages import M, read_host_message
from agentcore.hosts.wire.frames import LinkError
from agentcore.hosts.wire.peer import Message

log = structlog.get_logger(__name__)

_REFUSALS_LOGGED = 100

COSTLY_PER_SECOND = 2_000
"""How many messages a second, averaged over two, a host may send that are stored, published or create something."""

_SECONDS = 2.0


class Handlers:
    """Creates handlers for one host.

    Args:
        host: Its name, for the log.
    """

    def __init__(self, host: str) -> None:
        self._host = host
        self._refusals = 0
        self._loop = asyncio.get_running_loop()
        self._counted, self._counting_since = 0, self._loop.time()

    def message_handler(
        self, model: type[M], act: Callable[[M], None], *, is_cheap: bool = False
    ) -> Callable[[Message], None]:
        """Return a handler that validates a message and acts on it; a request that is not allowed is refused, and
        logged.

        Args:
            is_cheap: True if it only forwards something, at any rate.
        """

        return self.wrap(lambda message: act(read_host_message(model, message)), is_cheap=is_cheap)

    def wrap(self, act: Callable[[Message], None], *, is_cheap: bool = False) -> Callable[[Message], None]:
        """Return a handler of messages that refuses, and logs, those that are not allowed."""

        def handle_message(message: Message) -> None:
            if not is_cheap:
                self._count_costly_message()
            try:
                act(message)
            except LinkError:
                raise
            except Exception as exc:  # noqa: BLE001 - what another process wants may be anything
                self._refusals += 1
                if self._refusals <= _REFUSALS_LOGGED:
                    log.warning("host_message_refused", host=self._host, type=message["type"], reason=reason_of(exc))

        return handle_message

    def _count_costly_message(self) -> None:
        self._counted += 1
        if self._counted <= COSTLY_PER_SECOND * _SECONDS:
            return
        passed_s = self._loop.time() - self._counting_since
        if passed_s < _SECONDS:
            raise LinkError(f"a flood: {self._counted:,} messages that are costly within {passed_s:.1f} s")
        self._counted, self._counting_since = 0, self._loop.time()

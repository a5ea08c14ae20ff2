"""`Link`: a connection to a server, kept by a task of its own from its handshake to its end."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Any, Protocol

import mcp_types as types
from mcp.client.client import Client
from mcp.shared.dispatcher import Dispatcher
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from agentcore.api import ToolError, mask_secrets
from agentcore_mcp_servers.failures import describe_reason, has_ended

START_SECONDS = 120.0
"""How long a server may take to start and to answer; one that is installed at its first start takes a while."""

_WORDS_SECONDS = 1.0
_REASON_CHARS = 4_000


class Carrier(Protocol):
    """What carries messages: a process, or requests to an address."""

    async def __aenter__(self) -> Dispatcher[Any]:
        """Open it, and give what the SDK's session speaks through.

        Raises:
            ToolError: `server_not_started`.
        """
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it, and end what it has started."""
        ...

    async def wait(self) -> None:
        """Wait until it has ended by itself."""
        ...

    @property
    def ending(self) -> str:
        """How it ended, and what is known of why; in words that go on after the server's name."""
        ...


def create_client(carrier: Carrier, **options: Any) -> Client:
    """The SDK's client of what a carrier carries.

    Args:
        carrier: It is entered with the client.
        options: Those of the SDK's client.
    """
    client = Client("", **options)

    async def connect(stack: AsyncExitStack, _mode: str, _raises: bool) -> Dispatcher[Any]:
        return await stack.enter_async_context(carrier)

    # the client has no public way to be given a dispatcher; its session, which it makes here, has
    client._connect = connect  # noqa: SLF001
    return client


class Link:
    """One connection, from its handshake on.

    Args:
        carrier: What carries it.
        make_client: Makes the SDK's client of it.

    Attributes:
        client: The SDK's client, from the handshake until the connection ends.
        over: Done when it has ended, by itself or closed.
    """

    def __init__(self, carrier: Carrier, make_client: Callable[[Carrier], Client]) -> None:
        self._carrier = carrier
        self._make_client = make_client
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.client: Client | None = None
        self.over: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect.

        Raises:
            ToolError: `server_not_started`.
        """
        # a task of its own, for the SDK wants what is entered to be left by the same one
        self.over = asyncio.create_task(self._run_connection(), name="mcp_servers:link")
        try:
            async with asyncio.timeout(START_SECONDS):
                await asyncio.shield(self._opened)
        except TimeoutError as exc:
            await self.close()
            message = f"the server did not answer within {START_SECONDS:g} s; {self._carrier.ending}"
            raise ToolError("server_not_started", message) from exc
        except asyncio.CancelledError:
            await self.close()
            raise

    async def wait_for_ending(self) -> None:
        """Give what carries it, and seems to have ended, the time to say how."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_WORDS_SECONDS):
                await self._carrier.wait()

    async def close(self) -> None:
        """End it, and what it has started; safe to call twice."""
        self._closing.set()
        if self.over is None:
            return
        if not self._opened.done():
            self.over.cancel()
        await asyncio.wait((self.over,))

    @property
    def ending(self) -> str:
        """How it ended."""
        return self._carrier.ending

    async def _run_connection(self) -> None:
        try:
            async with self._make_client(self._carrier) as client:
                client.session.validate_tool_result = _skip_validation  # type: ignore[method-assign]  # it has no option
                self.client = client
                self._set_opened(None)
                await self._wait_until_end()
                self.client = None
        except Exception as exc:  # noqa: BLE001 - whatever the SDK makes of what a server does ends the connection alone
            self._set_opened(_not_started(exc, self._carrier))
        finally:
            if not self._opened.done():
                self._opened.cancel()

    async def _wait_until_end(self) -> None:
        closing, ended = (asyncio.ensure_future(each) for each in (self._closing.wait(), self._carrier.wait()))
        try:
            await asyncio.wait((closing, ended), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (closing, ended):
                task.cancel()

    def _set_opened(self, error: ToolError | None) -> None:
        if self._opened.done():
            return
        if error is None:
            self._opened.set_result(None)
        else:
            self._opened.set_exception(error)
            self._opened.exception()  # whoever waited may have gone


async def _skip_validation(name: str, result: types.CallToolResult) -> None:
    """Leave a result to the host, which holds it against the schema with patterns that match in linear time.

    The SDK would do so in the event loop with Python's `re`, which a server's pattern can keep busy for ever.
    """


def _not_started(error: BaseException, carrier: Carrier) -> ToolError:
    """Why no connection came about, out of the group that the SDK's tasks make of it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ToolError):
        return error
    said = describe_reason(error) if isinstance(error, MCPError | ValidationError) else error
    message = f"the server {carrier.ending} ({said})"
    if isinstance(error, MCPError | ValidationError | RuntimeError) and not has_ended(error):
        # it ended because we have let it go
        message = f"what the server answered to the handshake cannot be used: {said} (it {carrier.ending})"
    return ToolError("server_not_started", mask_secrets(message)[:_REASON_CHARS])

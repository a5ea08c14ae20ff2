"""`Link`: a connection to a server, owned by its own task from handshake to end."""

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
from agentcore_mcp_servers.start_obstacles import is_of_network, output_names_network

START_SECONDS = 120.0
"""How long a server may take to start and to respond; a package that is installed on its first start takes a while."""

_WORDS_SECONDS = 1.0
_REASON_CHARS = 4_000


class Carrier(Protocol):
    """The transport of messages: a process, or HTTP requests to an address."""

    async def __aenter__(self) -> Dispatcher[Any]:
        """Open the transport, and return the dispatcher for the SDK's session.

        Raises:
            ToolError: `server_not_started`.
        """
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the transport, and end the process that it started, if any."""
        ...

    async def wait(self) -> None:
        """Wait until the transport has ended by itself."""
        ...

    @property
    def ending(self) -> str:
        """How and why the transport ended, as far as known; a phrase that follows the server's name."""
        ...

    @property
    def brief_ending(self) -> str:
        """The same in one line."""
        ...

    @property
    def output(self) -> str:
        """The end of what the server's process wrote to stderr; empty if there is none."""
        ...

    @property
    def host(self) -> str:
        """The host of the server's address; empty for a process."""
        ...


def create_client(carrier: Carrier, **options: Any) -> Client:
    """Create the SDK's client for a carrier.

    Args:
        carrier: Opened and closed with the client.
        options: Options of the SDK's client.
    """
    client = Client("", **options)

    async def connect(stack: AsyncExitStack, _mode: str, _raises: bool) -> Dispatcher[Any]:
        return await stack.enter_async_context(carrier)

    # The client has no public way to set a dispatcher; its session, which it creates in `_connect`, does.
    client._connect = connect  # noqa: SLF001
    return client


class Link:
    """One connection, from its handshake on.

    Args:
        carrier: Its transport.
        make_client: Creates the SDK's client for the carrier.

    Attributes:
        client: The SDK's client, from the handshake until the connection ends.
        over: The connection's task, which is done when the connection has ended or was closed.
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
        # A separate task, because the SDK requires the same task to enter and exit its context managers.
        self.over = asyncio.create_task(self._run_connection(), name="mcp_servers:link")
        try:
            async with asyncio.timeout(START_SECONDS):
                await asyncio.shield(self._opened)
        except TimeoutError as exc:
            await self.close()
            message = f"the server did not answer within {START_SECONDS:g} s; it {self._carrier.brief_ending}"
            output = self._carrier.output
            waits_for = "network" if output_names_network(output) else None
            raise ToolError("server_not_started", message, retryable=True, output=output, waits_for=waits_for) from exc
        except asyncio.CancelledError:
            await self.close()
            raise

    async def wait_for_ending(self) -> None:
        """Wait at most 1 s until the carrier, which seems to have ended, knows how."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_WORDS_SECONDS):
                await self._carrier.wait()

    async def close(self) -> None:
        """Close the connection and its carrier; safe to call twice."""
        self._closing.set()
        if self.over is None:
            return
        if not self._opened.done():
            self.over.cancel()
        await asyncio.wait((self.over,))

    @property
    def ending(self) -> str:
        """How the connection ended; see `Carrier.ending`."""
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
            self._opened.exception()  # mark as retrieved: the waiting task may be gone


async def _skip_validation(name: str, result: types.CallToolResult) -> None:
    """Skip validation of a result: the core validates it against the schema, with patterns that match in linear time.

    The SDK would validate it in the event loop with Python's `re`, which a server's pattern can block indefinitely.
    """


def _not_started(error: BaseException, carrier: Carrier) -> ToolError:
    """Create the error for a failed connection from the exception group that the SDK raises."""
    waits_for = "network" if is_of_network(error) or output_names_network(carrier.output) else None
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ToolError):
        return error
    said = describe_reason(error) if isinstance(error, MCPError | ValidationError) else error
    ending = carrier.brief_ending
    message = f"the server {ending}" if has_ended(error) and carrier.output else f"the server {ending} ({said})"
    if isinstance(error, MCPError | ValidationError | RuntimeError) and not has_ended(error):
        # The server ended only because the client closed the connection.
        message = f"what the server answered to the handshake cannot be used: {said} (it {ending})"
    return ToolError(
        "server_not_started",
        mask_secrets(message)[:_REASON_CHARS],
        retryable=True,
        output=carrier.output,
        waits_for=waits_for,
        host=carrier.host,
    )

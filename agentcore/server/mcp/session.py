"""One session of an MCP client, over HTTP or a pipe, of the revisions that begin with a handshake."""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from mcp.server.connection import Connection
from mcp.server.models import InitializationOptions
from mcp.server.runner import ServerRunner
from mcp.shared.dispatcher import CallOptions, DispatchContext
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.transport_context import TransportContext
from mcp_types import REQUEST_TIMEOUT, InitializeRequestParams, JSONRPCError, JSONRPCResponse, RequestId
from pydantic import TypeAdapter

from agentcore.encoding import to_json
from agentcore.mcp import Caller, McpEndpoint, SessionSubscriptions
from agentcore.server.mcp.client_params import kept_client_params
from agentcore.server.mcp.resuming import KeptEvents, ResumableStream, ResumableStreams

_ANSWER_SECONDS = 600.0
"""How long a client has for what it is asked; it may ask its person."""

_PRIMED_SINCE = "2025-11-25"
"""Clients of earlier revisions take an event without data for a broken message."""

_CHANGING = frozenset(("logging/setLevel", "resources/subscribe", "resources/unsubscribe"))
"""Requests that say once what holds from then on."""

_wishes = TypeAdapter(SessionSubscriptions)


class MessageStream(Protocol):
    """Where messages go to a client."""

    @property
    def is_behind(self) -> bool:
        """Whether so much waits to be read that more would fill the memory."""
        ...

    def send(self, message: bytes) -> None:
        """Send a message. Never waits, never fails."""
        ...


class Standalone:
    """The channel for what belongs to no request: a pipe, or the stream that a client keeps open with GET.

    Attributes:
        stream: It, if there is one.
        events: What is told there over HTTP, also while nobody reads; None: nobody ever has.
    """

    def __init__(self, session: "McpSession") -> None:
        self._session = session
        self.stream: MessageStream | None = None
        self.events: ResumableStream | None = None

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Ask the client something.

        Raises:
            MCPError: It answers with an error, or not in time; there is no stream.
        """
        if self.stream is None:
            raise NoBackChannelError(method)
        return await self._session.send_request(self.stream, method, params, opts)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Tell the client something, if it listens, or has listened and may come back."""
        stream = self.stream or self.events
        if stream is not None and not stream.is_behind:
            stream.send(encode_notification(method, params))


class McpSession:
    """What is known of a client that is connected.

    Args:
        caller: Who it is.
        door: Answers it.
        handshake: What it is told when it connects.
        keep: Has it outlive the process.
        kept_events: What is stored for its client in streams of events.

    Attributes:
        in_flight: Its requests that are being answered, by id: the task and what cancels it.
        connection: The SDK's view of it.
        streams: What it is told in streams of events, for as long as it may come back for that.
        is_held: Whether somebody holds it open, so that it does not end for want of use.
    """

    def __init__(
        self,
        caller: Caller,
        door: McpEndpoint,
        handshake: InitializationOptions,
        keep: "Callable[[McpSession], Awaitable[None]]",
        kept_events: KeptEvents,
    ) -> None:
        self.caller = caller
        self._door = door
        self._keep = keep
        self.standalone = Standalone(self)
        self.connection = Connection.for_loop(self.standalone, session_id=caller.session_id)
        self.runner = ServerRunner(door.server, self.connection, {}, init_options=handshake)
        self.in_flight: dict[RequestId, asyncio.Future[dict[str, Any]]] = {}
        self.last_used_at = time.time()
        self.is_held = False
        self.streams = ResumableStreams(kept_events)
        self._asked: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._numbers = itertools.count(1)

    @property
    def supports_priming(self) -> bool:
        """Whether the client knows events without data, which give an id to come back with."""
        return self.connection.protocol_version >= _PRIMED_SINCE

    def answer_request(
        self, reply: DispatchContext[TransportContext], method: str, params: dict[str, Any] | None
    ) -> Awaitable[dict[str, Any]]:
        """Answer one of its requests."""
        if method == "initialize" and params is not None:
            params = kept_client_params(params)
        answered = self._door.answer_request(self.runner, reply, method, params)
        return self._answer_and_save(answered) if method in _CHANGING else answered

    async def _answer_and_save(self, answered: Awaitable[dict[str, Any]]) -> dict[str, Any]:
        result = await answered
        await self.save()
        return result

    async def save(self) -> None:
        """Have it outlive the process, as it is now."""
        await self._keep(self)

    def to_json(self) -> dict[str, Any]:
        """What `restore` goes on with; of a session whose handshake is done."""
        client = self.connection.client_params
        assert client is not None  # noqa: S101 - the handshake is done
        shown = client.model_dump(by_alias=True, mode="json", exclude_none=True)
        return {
            "version": self.connection.protocol_version,
            "client": shown,
            "wishes": _wishes.dump_python(self.caller.wishes),
            "mark": self.caller.mark,
        }

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Go on where an earlier process was.

        Raises:
            KeyError, ValidationError: It was of a version that kept it otherwise.
        """
        client = InitializeRequestParams.model_validate(kept["client"], by_name=False)
        wishes = _wishes.validate_python(kept.get("wishes", {}))
        self.caller.wishes.log_level = wishes.log_level
        self.caller.wishes.resources = wishes.resources
        if mark := kept.get("mark"):
            self.caller = replace(self.caller, mark=mark)
        protocol_version = kept["version"]
        self.connection.client_params = client
        self.connection.protocol_version = protocol_version
        self.connection.initialized.set()

    async def send_request(
        self, stream: MessageStream, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None
    ) -> dict[str, Any]:
        """Send the client a request on a stream, and wait for the answer that it posts.

        Raises:
            MCPError: It answers with an error, or not in time.
        """
        request_id = f"agentcore-{next(self._numbers)}"
        answer = self._asked[request_id] = asyncio.get_running_loop().create_future()
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params or {})}
        stream.send(to_json(message))
        try:
            async with asyncio.timeout((opts or {}).get("timeout", _ANSWER_SECONDS)):
                answered: dict[str, Any] = await answer
                return answered
        except TimeoutError as exc:
            raise MCPError(REQUEST_TIMEOUT, f"the client did not answer {method} in time") from exc
        finally:
            del self._asked[request_id]

    def accept_response(self, message: JSONRPCResponse | JSONRPCError) -> None:
        """Take what the client posted; what nobody waits for, or has an answer already, is dropped."""
        waiting = self._asked.get(str(message.id))
        if waiting is None or waiting.done():
            return
        if isinstance(message, JSONRPCError):
            waiting.set_exception(MCPError.from_jsonrpc_error(message))
        else:
            waiting.set_result(message.result)

    async def cancel_request(self, request_id: RequestId) -> None:
        """End a request that the client has cancelled, also one whose connection was lost; others are ignored."""
        if (work := self.in_flight.get(request_id)) is not None:
            self.caller.departures.record_reason(request_id, "cancelled")
            work.cancel()
        else:
            await self._door.calls.cancel_request(self.caller.session_id, request_id)

    def end(self) -> None:
        """End its streams and requests."""
        self.caller.departures.is_over = True
        for task in tuple(self.in_flight.values()):
            task.cancel()
        self.streams.close()
        for waiting in self._asked.values():
            if not waiting.done():
                waiting.cancel()


def encode_notification(method: str, params: Mapping[str, Any] | None) -> bytes:
    """A notification as JSON text."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    return to_json(message | {"params": dict(params)} if params else message)

"""One end of a link: requests and their replies, messages without one, and blobs that are sent in chunks.

Messages (JSON) are sent at once; blobs are sent one chunk at a time, when the stream accepts it, so that a reply, a
ping or a cancellation never waits for an image. A message that names blobs is sent after their last chunk.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pydantic_core
import structlog

from agentcore.api.host_kinds.frames import Transport
from agentcore.core.module_code.module_error import log_failure, reason_of
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.hosts.wire.frames import PIECE_BYTES, TEXT_BYTES, LinkError, decode_chunk, encode_chunk
from agentcore.hosts.wire.values import error_of, error_to_wire
from agentcore.json_parts import has_more_json_parts
from agentcore.limits import LINK_MESSAGE_PARTS

log = structlog.get_logger(__name__)

BLOBS_BYTES = 256 * 1024 * 1024
"""The size limit of all unconsumed blobs together, received or incomplete; and of one blob."""

BLOBS = 1_024
"""The number of received blobs that were not consumed; beyond it, the oldest ones are dropped."""

REQUESTS_IN_FLIGHT = 4_096
"""Requests of the other side that are worked on at one time."""

_FLOOD_SECONDS = 2.0

Message = dict[str, Any]
OnRequest = Callable[[Message], Awaitable[Any]]
OnMessage = Callable[[Message], None]


class Peer:
    """One end of a link.

    Args:
        transport: Carries its frames.
        on_end: Called once with the reason why the link has ended; empty: it was closed.
        per_second: Messages that the other side may send on average; one that sends more is disconnected. None: any
            number.
        blobs_bytes: Size limit of all unconsumed blobs together, received or incomplete.
    Attributes:
        ended: Why the link has ended; None: it has not.
        is_lost: True if it ended because the other side has gone.

    Unknown types are ignored: the other side may be newer. A request that fails is answered
    with its error; a `LinkError` of either function means that the other side violated the protocol, and ends the link.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        on_end: Callable[[str], None],
        per_second: int | None = None,
        blobs_bytes: int = BLOBS_BYTES,
    ) -> None:
        self._blobs_bytes = blobs_bytes
        self._transport = transport
        self._on_end = on_end
        self._on_request: dict[str, OnRequest] = {}
        self._on_message: dict[str, OnMessage] = {}
        self._loop = asyncio.get_running_loop()
        self._next = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._working: dict[int, asyncio.Task[None]] = {}
        self._next_blob = 0
        self._outgoing: deque[tuple[int, bytes, asyncio.Future[None]]] = deque()
        self._pump: asyncio.Task[None] | None = None
        self._blobs: dict[int, bytearray] = {}
        self._whole: dict[int, None] = {}
        self._blob_bytes = self._last_blob = 0
        self.ended: str | None = None
        self.is_lost = False
        self._allowed = None if per_second is None else int(per_second * _FLOOD_SECONDS)
        self._counted, self._counting_since = 0, self._loop.time()

    def expect_blob(self, limit_bytes: int) -> None:
        """Accept one blob of the other side, in chunks of full size, beside the messages that it may send."""
        self._blobs_bytes = limit_bytes
        self._counted, self._counting_since = -(limit_bytes // PIECE_BYTES), self._loop.time()

    def add_message_handlers(self, on_message: Mapping[str, OnMessage]) -> None:
        """Handle messages without a reply, by their types."""
        self._on_message.update(on_message)

    def add_request_handlers(self, on_request: Mapping[str, OnRequest]) -> None:
        """Answer requests, by their types: a function's return value is the reply, its exception the error."""
        self._on_request.update(on_request)

    # -- sending -----------------------------------------------------------------------------------------------

    def send_message(self, message: Message) -> None:
        """Send a message without a reply; does nothing on a link that has ended.

        Raises:
            ToolError: `message_too_large`.
        """
        self.send_encoded(to_json(message))

    def send_encoded(self, data: bytes) -> None:
        """The same of a message that is JSON text already."""
        if len(data) > TEXT_BYTES:
            raise ToolError(
                "message_too_large",
                f"this has {len(data):,} bytes as JSON; what passes between a host and its server may have "
                f"{TEXT_BYTES:,}",
                limit_bytes=TEXT_BYTES,
            )
        if self.ended is None:
            self._transport.send_text(data)

    async def request(self, message: Message) -> Any:
        """Send a request, and return the reply of the other side.

        A cancelled request is cancelled there as well.

        Raises:
            ToolError: The error reply of the other side; `message_too_large`.
            LinkError: The link ended, or had ended.
            Exception: Any other exception that was raised there.
        """
        if self.ended is not None:
            raise LinkError(self.ended or "the link was closed")
        self._next += 1
        number = self._next
        reply: asyncio.Future[Any] = self._loop.create_future()
        self._waiting[number] = reply
        try:
            self.send_message({**message, "id": number})
            return await reply
        except asyncio.CancelledError:
            self.send_message({"type": "request.cancel", "id": number})
            raise
        finally:
            self._waiting.pop(number, None)

    async def send_blob(self, data: bytes) -> int:
        """Send bytes in chunks, and return the number with which a message names them; it is sent after this.

        Raises:
            ToolError: `message_too_large`.
            LinkError: The link ended.
        """
        if len(data) > BLOBS_BYTES:
            message = f"{len(data):,} bytes are too many to pass between a host and its server: {BLOBS_BYTES:,} are the"
            raise ToolError("message_too_large", f"{message} bound", limit_bytes=BLOBS_BYTES)
        if self.ended is not None:
            raise LinkError(self.ended or "the link was closed")
        self._next_blob += 1
        blob = self._next_blob
        done: asyncio.Future[None] = self._loop.create_future()
        self._outgoing.append((blob, data, done))
        if self._pump is None:
            # in no TaskGroup: it ends with the queue, or with the link
            self._pump = self._loop.create_task(self._send_blobs(), name="link:blobs")
        try:
            await done
        except asyncio.CancelledError:
            if not done.cancelled():
                self._discard_remote_blob(blob)
            raise
        return blob

    def _discard_remote_blob(self, blob: int) -> None:
        """Tell the other side that no message will name a blob."""
        self.send_message({"type": "blob.drop", "blob": blob})

    async def _send_blobs(self) -> None:
        try:
            while self._outgoing:
                blob, data, done = self._outgoing[0]
                view = memoryview(data)
                for begin in range(0, max(len(data), 1), PIECE_BYTES):
                    if done.cancelled():  # its sender does not wait any more
                        if begin:
                            self._discard_remote_blob(blob)
                        break
                    part = bytes(view[begin : begin + PIECE_BYTES])
                    is_last = begin + PIECE_BYTES >= len(data)
                    await self._transport.send_binary(encode_chunk(blob, part, is_last=is_last))
                else:
                    if done.cancelled():
                        self._discard_remote_blob(blob)
                self._outgoing.popleft()
                if not done.done():
                    done.set_result(None)
        except ConnectionError as exc:
            self.abort(str(exc) or "the connection was lost")
        finally:
            self._pump = None

    # -- receiving ---------------------------------------------------------------------------------------------

    def receive_text(self, data: bytes) -> None:
        """Take a message of the other side; what breaks the protocol ends the link."""
        if self.ended is not None:
            return
        if has_more_json_parts(data, LINK_MESSAGE_PARTS):
            # parsing it would block everything else
            self.close(f"a message of more than {LINK_MESSAGE_PARTS:,} values")
            return
        try:
            message = pydantic_core.from_json(data, allow_inf_nan=False)
        except ValueError:
            self.close("a message that is no JSON")
            return
        if type(message) is not dict or type(message.get("type")) is not str:
            self.close("a message without a type")
            return
        try:
            self._count_message()
            self._dispatch_message(message)
        except LinkError as exc:
            self.close(f"a message {message['type'][:100]!r} that is none of this protocol: {exc}")
        except Exception as exc:  # noqa: BLE001 - whatever another process says is contained
            self.close(f"a message {message['type'][:100]!r} that cannot be read: {reason_of(exc)}")

    def receive_binary(self, data: bytes) -> None:
        """Handle a chunk of a blob."""
        if self.ended is not None:
            return
        try:
            self._count_message()
            self._receive_chunk(*decode_chunk(data))
        except LinkError as exc:
            self.close(str(exc))

    def _receive_chunk(self, blob: int, is_last: bool, part: bytes) -> None:
        held = self._blobs.get(blob)
        if held is None:
            if blob <= self._last_blob:
                raise LinkError("a piece of a blob that has ended, or that was sent before")
            self._last_blob = blob
            held = self._blobs[blob] = bytearray()
        elif blob in self._whole:
            raise LinkError("a piece of a blob that has ended")
        held += part
        self._blob_bytes += len(part)
        if is_last:
            self._whole[blob] = None
        while self._whole and (self._blob_bytes > self._blobs_bytes or len(self._whole) > BLOBS):
            self._discard_blob(next(iter(self._whole)))
        if self._blob_bytes > self._blobs_bytes or len(self._blobs) > BLOBS + 1:
            raise LinkError(f"more than {self._blobs_bytes:,} bytes, or {BLOBS:,} blobs, that nothing names")

    def pop_blob(self, number: Any) -> bytes:
        """The bytes that a message names, once.

        Raises:
            LinkError: They did not arrive.
        """
        if type(number) is not int or number not in self._whole:
            raise LinkError("a message names a blob that did not arrive")
        data = bytes(self._blobs[number])
        self._discard_blob(number)
        return data

    def drop_blobs(self, message: Message) -> None:
        """Drop the blobs that a message, or the result in it, names, because it came too late to be used."""
        result = message.get("result")
        value = result.get("value") if type(result) is dict else None
        for part in (message, result, value):
            if type(part) is dict:
                blocks = part.get("content")
                for each in (part, *(blocks if type(blocks) is list else ())):
                    if type(each) is dict and type(number := each.get("blob")) is int:
                        self._discard_blob(number)

    def _discard_blob(self, blob: int) -> None:
        held = self._blobs.pop(blob, None)
        if held is not None:
            self._blob_bytes -= len(held)
            self._whole.pop(blob, None)

    def _dispatch_message(self, message: Message) -> None:
        kind = message["type"]
        if kind == "reply":
            self._resolve_reply(message)
        elif (listener := self._on_message.get(kind)) is not None:
            listener(message)
        elif (handler := self._on_request.get(kind)) is not None:
            self._start_request(handler, message)
        elif kind == "blob.drop":
            self._discard_blob(_require_number(message.get("blob")))
        elif kind == "request.cancel":
            if (task := self._working.get(_require_number(message.get("id")))) is not None:
                task.cancel()
        elif type(message.get("id")) is int:
            self._send_error(message["id"], ToolError("unknown_message", f"this side knows no message {kind[:100]!r}"))

    def _start_request(self, handler: OnRequest, message: Message) -> None:
        number = _require_number(message.get("id"))
        if number in self._working:
            raise LinkError("two requests of one number")
        if len(self._working) >= REQUESTS_IN_FLIGHT:
            raise LinkError(f"more than {REQUESTS_IN_FLIGHT:,} requests at one time")
        # in no TaskGroup: `end` ends them
        work = self._handle_request(number, handler, message)
        task = self._working[number] = self._loop.create_task(work, name=f"link:{message['type']}")
        task.add_done_callback(lambda _: self._working.pop(number, None))

    def _count_message(self) -> None:
        self._counted += 1
        if self._allowed is not None and self._counted > self._allowed:
            self._check_flood()

    def _check_flood(self) -> None:
        passed_s = self._loop.time() - self._counting_since
        if passed_s < _FLOOD_SECONDS:
            raise LinkError(f"a flood: {self._counted:,} messages within {passed_s:.1f} s")
        self._counted, self._counting_since = 0, self._loop.time()

    def _resolve_reply(self, message: Message) -> None:
        reply = self._waiting.get(_require_number(message.get("id")))
        if reply is None or reply.done():
            self.drop_blobs(message)
            return  # the requester has gone
        if message.get("ok") is True:
            reply.set_result(message.get("result"))
        else:
            reply.set_exception(error_of(message.get("error")))

    async def _handle_request(self, number: int, handler: OnRequest, message: Message) -> None:
        try:
            self.send_message({"type": "reply", "id": number, "ok": True, "result": await handler(message)})
        except asyncio.CancelledError:
            self._send_error(number, ToolError("cancelled", "the request was cancelled"))
            raise
        except LinkError as exc:
            self.close(f"a request {message['type'][:100]!r} that is none of this protocol: {exc}")
        except Exception as exc:  # noqa: BLE001 - the requester waits for a reply, whatever happens here
            if not isinstance(exc, ToolError):
                log_failure(log, "request_failed", exc, type=message["type"])
            self._send_error(number, exc)
        finally:
            self.drop_blobs(message)

    def _send_error(self, number: int, exc: Exception) -> None:
        error = error_to_wire(exc)
        error.pop("traceback", None)
        self.send_message({"type": "reply", "id": number, "ok": False, "error": error})

    # -- the end -----------------------------------------------------------------------------------------------

    def close(self, reason: str = "") -> None:
        """Close the link; waiting requests get a `LinkError`. Safe to call twice, and from one of its own requests."""
        if self.ended is not None:
            return
        self.ended = reason  # first: what cannot be sent ends the link, too
        if reason and not self.is_lost:
            self._transport.send_text(to_json({"type": "goodbye", "reason": reason}))
        self._transport.close()
        error = LinkError(reason or "the link was closed")
        for reply in self._waiting.values():
            if not reply.done():
                reply.set_exception(error)
        self._waiting.clear()
        for _, _, done in self._outgoing:
            if not done.done():
                done.set_exception(error)
                done.exception()  # its sender may not wait any more
        self._outgoing.clear()
        if self._pump is not None:
            self._pump.cancel()
        for task in set(self._working.values()) - {asyncio.current_task()}:
            task.cancel()
        self._blobs.clear()
        self._whole.clear()
        self._on_end(reason)

    def abort(self, reason: str) -> None:
        """The same of a link whose other side has gone."""
        self.is_lost = self.is_lost or self.ended is None
        self.close(reason)


def _require_number(value: Any) -> int:
    """A number by which the two sides know something.

    Raises:
        LinkError: It is none.
    """
    if type(value) is not int:
        raise LinkError("a number was expected")
    return value

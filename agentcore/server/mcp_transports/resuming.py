"""Event streams that a client can resume after its connection was lost: events have ids and are stored.

Source: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
"""

import asyncio
import itertools
import re
import secrets
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR

from agentcore.server.http.raw_stream import RawStream, encode_event
from agentcore.server.http.response import Sent

RESUMED_SECONDS = 30.0
"""Time that a client has to reconnect. Until then its call continues and its events stay stored."""

_KEPT_EVENTS = 100
_KEPT_BYTES = 4 * 1024 * 1024
_KEPT_STREAMS = 32

CLIENT_EVENTS_KEPT_BYTES = 16 * 1024 * 1024
"""Stored events of all streams of one client, in all sessions; beyond it, those of the oldest stream are dropped."""

_PROCESS = secrets.token_hex(4)
"""Part of event ids. Sessions survive a restart and streams do not, so it identifies ids of an earlier process."""


class CutOff(NamedTuple):
    """A call whose client was disconnected; if the client repeats the call, the repetition continues this one.

    Args:
        key: Identifies the tool and the arguments.
        work: Provides the result.
        hand_over: Redirects further messages to another request.
    """

    key: bytes
    work: "asyncio.Future[dict[str, Any]]"
    hand_over: Callable[[Any], None]


class KeptEvents:
    """Limits the bytes of the events that are stored for one client, whatever its sessions and streams."""

    def __init__(self) -> None:
        self._sizes: dict[ResumableStream, int] = {}  # the oldest first
        self._total = 0

    def count(self, stream: "ResumableStream", size_bytes: int) -> None:
        """Record how much a stream stores now, and drop what the oldest streams store beyond the limit."""
        self._total += size_bytes - self._sizes.get(stream, 0)
        if size_bytes:
            self._sizes[stream] = size_bytes
        else:
            self._sizes.pop(stream, None)
        while self._total > CLIENT_EVENTS_KEPT_BYTES:
            next(iter(self._sizes)).drop_events()


class _Reader(NamedTuple):
    """The current reader: a response, and a future that is set when there is no more to read."""

    stream: RawStream
    over: "asyncio.Future[None] | None"


class ResumableStream:
    """The messages of one response, which may be read on several connections in succession.

    Args:
        name: Prefix of the ids of its events.
        forget: Called when the stream can no longer be resumed.
        kept: Counts what is stored for its client.

    Attributes:
        on_left: Called when no client has reconnected in time.
        was_delivered: True if it was being read when it ended.
        cut_off: The call that it belongs to, once its client was disconnected.
    """

    def __init__(self, name: str, forget: "Callable[[ResumableStream], None]", kept: KeptEvents) -> None:
        self.name = name
        self._forget = forget
        self._kept_of_client = kept
        self.on_left: Callable[[], object] = lambda: None
        self.cut_off: CutOff | None = None
        self.was_delivered = self._has_ended = False
        self._kept: deque[tuple[int, bytes]] = deque()
        self._size = self._last = 0
        self._reader: _Reader | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def has_ids(self) -> bool:
        """True if the reader has received an id with which it can resume."""
        return self._last > 0

    @property
    def is_read(self) -> bool:
        """True while it is being read."""
        return self._reader is not None

    @property
    def is_behind(self) -> bool:
        """True while the reader is too far behind to buffer more for it."""
        return self._reader is not None and self._reader.stream.is_behind

    def send(self, message: bytes) -> None:
        """Send a message and store it. Never waits, never fails."""
        self._last += 1
        event = encode_event("message", message, f"{self.name}-{self._last}")
        self._kept.append((self._last, event))
        self._size += len(event)
        while len(self._kept) > 1 and (len(self._kept) > _KEPT_EVENTS or self._size > _KEPT_BYTES):
            self._size -= len(self._kept.popleft()[1])
        self._kept_of_client.count(self, self._size)
        self.write(event)

    def drop_events(self) -> None:
        """Drop all stored events. A call that has ended must not run again because of that."""
        self._kept.clear()
        self._size = 0
        self._kept_of_client.count(self, 0)
        if self.cut_off is not None and self.cut_off.work.done():
            self.cut_off = self.cut_off._replace(work=_dropped_result())

    @property
    def has_lost_its_end(self) -> bool:
        """True once it has ended and its last event was dropped."""
        return self._has_ended and not self._kept

    def write(self, data: bytes) -> None:
        """Send bytes that are not stored, if it is being read."""
        if self._reader is not None:
            self._reader.stream.write(data)

    def send_priming_event(self) -> None:
        """Send the reader an id with which it can resume, before the first message."""
        self._last += 1
        self.write(f"id: {self.name}-{self._last}\ndata: \n\n".encode())

    # -- readers -----------------------------------------------------------------------------------------------

    def attach_response(self, stream: RawStream) -> None:
        """Use the response to the request itself as the reader; it ends with the stream."""
        self._reader = _Reader(stream, None)

    def resume_on(self, stream: RawStream, after: int | None) -> "asyncio.Future[None]":
        """Continue in another response; the previous reader receives nothing more.

        Args:
            stream: The response.
            after: Number of the last event that the client has; None: stored events are not sent again.
        Returns:
            Set when there is no more to read.
        """
        self._stop_timer()
        self._drop_reader()
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._reader = _Reader(stream, over)
        for number, event in self._kept:
            if after is not None and number > after:
                stream.write(event)
        if self._has_ended:
            self._end_reading()
        return over

    def detach_request(self) -> None:
        """Handle the loss of the request's own connection; the client may reconnect for a while."""
        if self._reader is not None and self._reader.over is None:
            self._detach()

    def detach_reader(self, over: "asyncio.Future[None]") -> None:
        """Handle the loss of the connection of another response, in the same way."""
        if self._reader is not None and self._reader.over is over:
            self._detach()

    def _detach(self) -> None:
        self._drop_reader()
        self._start_timer(self.on_left)

    def end(self) -> Sent:
        """End the stream, and return the end of the request's own response.

        A client that is disconnected now can still resume it and read the rest.
        """
        self._has_ended = True
        reader = self._reader
        sent = reader.stream.end() if reader is not None and reader.over is None else Sent()
        self._end_reading()
        return sent

    def close(self) -> None:
        """Drop everything that is stored."""
        self._stop_timer()
        self._drop_reader()
        self._kept_of_client.count(self, 0)
        self._forget(self)

    def _end_reading(self) -> None:
        if self._reader is not None:
            self.was_delivered = True
            self._drop_reader()
        self._start_timer(self.close)

    def _drop_reader(self) -> None:
        reader = self._reader
        self._reader = None
        if reader is not None and reader.over is not None and not reader.over.done():
            reader.over.set_result(None)

    def _start_timer(self, then: Callable[[], object]) -> None:
        self._stop_timer()
        self._timer = asyncio.get_running_loop().call_later(RESUMED_SECONDS, then)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class ResumableStreams:
    """The streams of one session; if there are too many, the oldest that were delivered are closed.

    Args:
        kept: Counts what is stored for the session's client.
    """

    def __init__(self, kept: KeptEvents) -> None:
        self._kept = kept
        self._streams: dict[str, ResumableStream] = {}
        self._numbers = itertools.count(1)

    def __len__(self) -> int:
        return len(self._streams)

    def open_standalone(self) -> ResumableStream:
        """Open the stream for messages that belong to no request."""
        name = f"{_PROCESS}-0"
        stream = self._streams[name] = ResumableStream(name, self._remove_stream, self._kept)
        return stream

    def open_stream(self) -> ResumableStream:
        """Open the stream of a request."""
        name = f"{_PROCESS}-{next(self._numbers)}"
        stream = self._streams[name] = ResumableStream(name, self._remove_stream, self._kept)
        idle = [each for each in self._streams.values() if each.was_delivered]
        for each in idle[: max(0, len(self._streams) - _KEPT_STREAMS)]:
            each.close()
        return stream

    def find_stream(self, event_id: str) -> tuple[ResumableStream, int] | None:
        """Return the stream of an event and the event's number in it."""
        name, _, number = event_id.rpartition("-")
        stream = self._streams.get(name)
        if stream is None or stream.has_lost_its_end or not number.isascii() or not number.isdigit():
            return None
        return stream, int(number[:18])

    def claim_cut_off_call(self, key: bytes) -> CutOff | None:
        """Return an equal call whose client was disconnected and has not reconnected; each call is returned once."""
        for stream in self._streams.values():
            cut_off = stream.cut_off
            if cut_off is not None and cut_off.key == key and not stream.is_read and not stream.was_delivered:
                stream.cut_off = None
                return cut_off
        return None

    def close(self) -> None:
        """Close all streams."""
        for stream in tuple(self._streams.values()):
            stream.close()

    def _remove_stream(self, stream: ResumableStream) -> None:
        self._streams.pop(stream.name, None)


def _dropped_result() -> "asyncio.Future[dict[str, Any]]":
    """Return the result that an equal call receives once the original one was dropped."""
    message = (
        "the call has run, but its result is no longer stored: results of this client whose connections were lost "
        f"exceed {CLIENT_EVENTS_KEPT_BYTES:,} bytes. Check what the call did before you send it once more"
    )
    dropped: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
    dropped.set_exception(MCPError(INTERNAL_ERROR, message, {"type": "result_dropped"}))
    dropped.exception()  # marks it as retrieved, or asyncio would log an exception that is never requested
    return dropped


def is_standalone_event(event_id: str) -> bool:
    """True if an event belonged to no request, in this process or an earlier one."""
    return re.fullmatch(r"[0-9a-f]+-0-\d+", event_id) is not None

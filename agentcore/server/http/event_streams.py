"""Sends events to many pages: encoded once, framed once per filter, written together if they come within 10 ms.

Readers have no queue or task of their own. A reader that is too slow is skipped; once it has read what is buffered, it
resumes with the events that the event bus stores, or is notified by `events.reset` that some are missing.
"""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import field

from agentcore.core.events import Event, EventBus, matches_pattern
from agentcore.late_dataclasses import dataclass
from agentcore.server.http.connection import Connection
from agentcore.server.http.raw_stream import RawStream, encode_chunk, encode_event
from agentcore.server.http.server_limits import STREAM_BUFFER_BYTES, Hits

_CATCH_UP_BYTES = 256 * 1024
_RETRY_MS = 1000
_PAUSE_SECONDS = 0.01
"""Between two writes to a reader: a write is most of what an event costs, and no screen shows more."""


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Selects the events of a reader.

    Args:
        types: Patterns such as `call.*`; none: all.
        session_id: Only events of this session.
        allowed: Patterns of the events that the reader may receive; None: all.
        is_own: Returns True if the reader may also receive all events of the session with this id.
    """

    types: tuple[str, ...] = ()
    session_id: str | None = None
    allowed: tuple[str, ...] | None = None
    is_own: Callable[[str], bool] | None = None

    def matches_event(self, event: Event) -> bool:
        """True if an event passes the filter."""
        if self.session_id is not None and event.session_id != self.session_id:
            return False
        if self.types and not any(matches_pattern(pattern, event.type) for pattern in self.types):
            return False
        if self.allowed is None or any(matches_pattern(pattern, event.type) for pattern in self.allowed):
            return True
        return self.is_own is not None and event.session_id is not None and self.is_own(event.session_id)


@dataclass(eq=False, slots=True)
class _Reader:
    stream: RawStream
    connection: Connection
    filter: EventFilter
    ended: asyncio.Future[None]
    behind_since: str | None = None
    """Id of the last event that it received; set while it is skipped."""


@dataclass(slots=True)
class _Group:
    """Readers that receive the same bytes."""

    filter: EventFilter
    is_chunked: bool
    readers: set[_Reader] = field(default_factory=set)

    def encode_events(self, events: list[tuple[Event, bytes]]) -> bytes:
        data = b"".join([framed for event, framed in events if self.filter.matches_event(event)])
        return encode_chunk(data) if data and self.is_chunked else data


class EventStreams:
    """Sends the events of a bus to readers.

    Args:
        bus: Source of the events.
        heartbeat_s: Seconds between heartbeats.
        hits: Counts readers that were skipped.
    """

    def __init__(self, bus: EventBus, heartbeat_s: float, hits: Hits) -> None:
        self._bus = bus
        self._heartbeat_s = heartbeat_s
        self._hits = hits
        self._loop = asyncio.get_running_loop()
        self._groups: dict[tuple[EventFilter, bool], _Group] = {}
        self._pending: list[Event] = []
        self._written_id = bus.last_id
        self._pause_end = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._unsubscribe = bus.subscribe("*", self._enqueue_event)
        self.is_closed = False

    @property
    def reader_count(self) -> int:
        """Number of connected readers."""
        return sum(len(group.readers) for group in self._groups.values())

    async def serve_reader(
        self, stream: RawStream, connection: Connection, wanted: EventFilter, after: str | None
    ) -> None:
        """Send events to a reader until it disconnects or the server stops.

        Args:
            stream: The reader's stream, whose headers have been sent.
            connection: The reader's connection.
            wanted: Selects the events.
            after: Id of the last event that the reader has; None: start with the next event.
        """
        if self.is_closed:
            return
        reader = _Reader(stream, connection, wanted, self._loop.create_future())
        connection.on_lost = lambda: self._remove_reader(reader)
        connection.on_drained = lambda: self._catch_up(reader)
        connection.end_stream = lambda: self._remove_reader(reader)
        self._flush()  # events that are pending now came before this reader
        # the starting id, so that a reader can resume even before its first event; one that resumes has an id already
        begun = f"id: {self._bus.last_id}\n" if after is None else ""
        stream.write(f"retry: {_RETRY_MS}\n{begun}\n".encode())
        key = (wanted, stream.is_chunked)
        self._groups.setdefault(key, _Group(*key)).readers.add(reader)
        if after is not None:
            reader.behind_since = after
            self._catch_up(reader)
        self._schedule_heartbeat()
        try:
            await reader.ended
        finally:
            self._remove_reader(reader)
            connection.on_lost = connection.on_drained = connection.end_stream = None

    def close(self) -> None:
        """End all streams; may be called twice."""
        self._unsubscribe()
        self.is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        for group in tuple(self._groups.values()):
            for reader in tuple(group.readers):
                self._remove_reader(reader)

    # -- writing -----------------------------------------------------------------------------------------------

    def _enqueue_event(self, event: Event) -> None:
        if not self._groups:
            self._written_id = event.id
            return
        if not self._pending and self._loop.time() < self._pause_end:
            self._loop.call_at(self._pause_end, self._flush)
        elif not self._pending:
            # one iteration after the tasks that are woken now, so that a call's effects precede the events about it
            self._loop.call_soon(self._loop.call_soon, self._flush)
        self._pending.append(event)

    def _flush(self) -> None:
        if not self._pending:
            return
        events = [(event, encode_event(event.type, event.encode(), event.id)) for event in self._pending]
        self._pending = []
        self._pause_end = self._loop.time() + _PAUSE_SECONDS
        for group in self._groups.values():
            if payload := group.encode_events(events):
                self._write_to_group(group, payload)
        self._written_id = events[-1][0].id

    def _write_to_group(self, group: _Group, payload: bytes) -> None:
        for reader in group.readers:
            if reader.behind_since is not None:
                continue
            transport = reader.stream.transport
            if transport.get_write_buffer_size() > STREAM_BUFFER_BYTES:
                reader.behind_since = self._written_id
                self._hits.add("slow_event_reader")
            else:
                transport.write(payload)

    def _catch_up(self, reader: _Reader) -> None:
        """Send a reader the events that it missed, as many at a time as it can read."""
        if reader.behind_since is None or reader.ended.done():
            return
        self._flush()
        while not reader.connection.writing_paused:
            missed = self._bus.events_since(reader.behind_since)
            if missed is None:
                last_id = self._bus.last_id
                told = {"id": last_id, "type": "events.reset", "time": time.time_ns() // 1_000_000}
                reader.stream.write(encode_event("events.reset", json.dumps(told).encode(), last_id))
                reader.behind_since = None
                return
            if self._write_missed(reader, missed):
                return

    def _write_missed(self, reader: _Reader, missed: list[Event]) -> bool:
        """Write the first of the events that a reader missed; True if these were all."""
        size = 0
        parts = []
        for event in missed:
            reader.behind_since = event.id
            if reader.filter.matches_event(event):
                parts.append(encode_event(event.type, event.encode(), event.id))
                size += len(parts[-1])
                if size > _CATCH_UP_BYTES:
                    break
        else:
            reader.behind_since = None
        reader.stream.write(b"".join(parts))
        return reader.behind_since is None

    def _remove_reader(self, reader: _Reader) -> None:
        key = (reader.filter, reader.stream.is_chunked)
        group = self._groups.get(key)
        if group is not None:
            group.readers.discard(reader)
            if not group.readers:
                del self._groups[key]
        if not reader.ended.done():
            reader.ended.set_result(None)

    def _schedule_heartbeat(self) -> None:
        if self._timer is None and not self.is_closed:
            self._timer = self._loop.call_later(self._heartbeat_s, self._send_heartbeat)

    def _send_heartbeat(self) -> None:
        """Show readers that the stream is alive; the id without data advances their `Last-Event-ID`."""
        self._timer = None
        self._flush()
        data = b": alive\nid: %b\n\n" % self._bus.last_id.encode()
        for group in self._groups.values():
            self._write_to_group(group, encode_chunk(data) if group.is_chunked else data)
        if self._groups:
            self._schedule_heartbeat()

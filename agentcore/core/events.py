"""The event bus: delivers events to listeners, and stores recent ones for clients that were away."""

import json
import secrets
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import structlog

from agentcore.core.module_code.module_error import log_failure
from agentcore.encoding import to_json
from agentcore.limits import EVENTS_KEPT, EVENTS_KEPT_BYTES, MODULE_EVENTS_KEPT_BYTES

log = structlog.get_logger(__name__)

_TYPES_CACHED = 1_000
"""Types of events whose listeners are remembered; modules may publish any number of types."""

_ENVELOPE = ("id", "type", "time", "sessionId")
_ENVELOPE_BYTES = 300
"""About what the envelope and the names of a few fields take."""
_SMALL_BYTES = 2_000
"""Most events, such as those of calls, are smaller, and are encoded only if somebody reads them."""
_FEW_FIELDS = 16
_PLAIN_KINDS = frozenset((float, bool, type(None)))


class Event:
    """One event; it is encoded once, for all readers."""

    __slots__ = ("_data", "_encoded", "id", "seq", "session_id", "time_ms", "type")

    def __init__(
        self, event_id: str, seq: int, event_type: str, data: Mapping[str, Any] | None, session_id: str | None
    ) -> None:
        self.id = event_id
        self.seq = seq
        self.type = event_type
        self._data = data
        self.session_id = session_id
        self.time_ms = time.time_ns() // 1_000_000
        self._encoded: bytes | None = None

    @property
    def data(self) -> Mapping[str, Any]:
        """The event's own fields."""
        if self._data is not None:
            return self._data
        told: dict[str, Any] = json.loads(self.encode())
        return {name: value for name, value in told.items() if name not in _ENVELOPE}

    def to_json(self) -> dict[str, Any]:
        """Return `{id, type, time, sessionId?, …}`; the event's own fields are beside these, and never replace them."""
        # the envelope is written over the data: a module may have used its names
        told = {**self.data, "id": self.id, "type": self.type, "time": self.time_ms}
        if self.session_id is not None:
            told["sessionId"] = self.session_id
        else:
            told.pop("sessionId", None)
        return told

    def encode(self) -> bytes:
        """The JSON text as UTF-8."""
        if self._encoded is None:
            self._encoded = to_json(self.to_json())
        return self._encoded

    def estimate_small_size(self) -> int:
        """Return about how many bytes a small event of plain values takes; 0: it has others, or is large."""
        data = self._data
        if data is None or len(data) > _FEW_FIELDS:
            return 0
        size = _ENVELOPE_BYTES
        for name, value in data.items():
            size += len(name)
            kind = type(value)
            if kind is str:
                size += len(value)
            elif kind is int:
                size += value.bit_length()
            elif kind not in _PLAIN_KINDS:
                return 0
        return size if size <= _SMALL_BYTES else 0

    def without_data(self) -> "Event":
        """Return the same event as JSON text only, for later readers: its values need many times the memory."""
        copy = Event(self.id, self.seq, self.type, None, self.session_id)
        copy.time_ms = self.time_ms
        copy._encoded = self.encode()
        return copy


Listener = Callable[[Event], None]


class _EventBuffer:
    """The newest events, in their order, within their limits in number and bytes.

    Args:
        limit: How many at most.

    Attributes:
        last_dropped: Number of the newest event that was dropped.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._events: OrderedDict[int, tuple[Event, int, str]] = OrderedDict()
        self._of_publishers: dict[str, deque[int]] = {}
        self._bytes: Counter[str] = Counter()
        self._total_bytes = 0
        self.last_dropped = 0

    def __iter__(self) -> Iterator[Event]:
        return (event for event, _, _ in self._events.values())

    def add(self, event: Event, publisher: str) -> None:
        """Add an event; without capacity, drop the oldest ones, first those of a publisher that exceeds its share."""
        size = event.estimate_small_size()
        if not size:
            size = len(event.encode())
            event = event.without_data()
        self._events[event.seq] = (event, size, publisher)
        self._total_bytes += size
        if publisher:
            self._of_publishers.setdefault(publisher, deque()).append(event.seq)
            self._bytes[publisher] += size
            while self._bytes[publisher] > MODULE_EVENTS_KEPT_BYTES:
                self._drop(self._of_publishers[publisher][0])
        while len(self._events) > self._limit or self._total_bytes > EVENTS_KEPT_BYTES:
            self._drop(next(iter(self._events)))

    def _drop(self, seq: int) -> None:
        _, size, publisher = self._events.pop(seq)
        self._total_bytes -= size
        if publisher:
            # it is the oldest of its publisher, too
            self._of_publishers[publisher].popleft()
            self._bytes[publisher] -= size
            if not self._of_publishers[publisher]:
                del self._of_publishers[publisher], self._bytes[publisher]
        self.last_dropped = max(self.last_dropped, seq)


class EventBus:
    """Publishes events to listeners, and stores the newest for clients that resume.

    Publishing never waits and never fails; a listener that raises is logged. Ids are `BOOT-NUMBER`, so that an id
    from before a restart can be recognised.
    """

    def __init__(self, kept: int = EVENTS_KEPT) -> None:
        self._boot = secrets.token_hex(4)
        self._seq = 0
        self._kept = _EventBuffer(kept) if kept else None
        self._listeners: list[tuple[str, Listener]] = []
        self._matching: dict[str, tuple[Listener, ...]] = {}

    @property
    def last_id(self) -> str:
        """Id of the newest event."""
        return f"{self._boot}-{self._seq}"

    def publish(
        self,
        event_type: str,
        data: Mapping[str, Any],
        *,
        session_id: str | None = None,
        kept: bool = True,
        publisher: str = "",
    ) -> None:
        """Publish an event to all listeners.

        Args:
            event_type: Such as `call.finished`; the server's own are declared in `event_types`.
            data: Its fields, JSON values; not changed afterwards.
            session_id: The session that it belongs to.
            kept: True if a client that resumes gets it (preview frames are not stored).
            publisher: The module whose own event it is, or its foreign machine; empty: the server's.
        """
        self._seq += 1
        event = Event(f"{self._boot}-{self._seq}", self._seq, event_type, data, session_id)
        if kept and self._kept is not None:
            self._kept.add(event, publisher)
        listeners = self._matching.get(event_type)
        if listeners is None:
            listeners = self._find_listeners(event_type)
        for listener in listeners:
            _notify_listener(listener, event)

    def _find_listeners(self, event_type: str) -> tuple[Listener, ...]:
        if len(self._matching) >= _TYPES_CACHED:
            self._matching.clear()
        found = tuple(listener for pattern, listener in self._listeners if matches_pattern(pattern, event_type))
        self._matching[event_type] = found
        return found

    def subscribe(self, pattern: str, listener: Listener) -> Callable[[], None]:
        """Call `listener` for each event whose type matches; return a function that unsubscribes, safe to call
        twice."""
        entry = (pattern, listener)
        self._listeners.append(entry)
        self._matching.clear()

        def unsubscribe() -> None:
            if entry in self._listeners:
                self._listeners.remove(entry)
                self._matching.clear()

        return unsubscribe

    def events_since(self, event_id: str) -> list[Event] | None:
        """Events after the one with this id, oldest first; None when some of them are gone."""
        boot, _, number = event_id.partition("-")
        if boot != self._boot or not number.isascii() or not number.isdigit() or int(number) > self._seq:
            return None
        seen = int(number)
        if self._kept is None:
            return [] if seen == self._seq else None
        if seen < self._kept.last_dropped:
            return None
        return [event for event in self._kept if event.seq > seen]


def matches_pattern(pattern: str, event_type: str) -> bool:
    """True if a type is the pattern, or begins with the part before its final `*`."""
    return event_type.startswith(pattern[:-1]) if pattern.endswith("*") else event_type == pattern


def _notify_listener(listener: Listener, event: Event) -> None:
    try:
        listener(event)
    except BaseException as exc:  # noqa: BLE001 - a listener of a module may even try to end the process
        log_failure(log, "event_listener_failed", exc, event_type=event.type)

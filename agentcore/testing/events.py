"""Events of a core, recorded for assertions."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from agentcore.core.events import Event, EventBus

WAIT_SECONDS = 30.0
"""How long a test waits for an event by default."""


class EventLog:
    """The events that a core published since the log was started; iterating yields them as JSON objects, oldest
    first."""

    def __init__(self, bus: EventBus) -> None:
        self._events: list[Event] = []
        self._arrived = asyncio.Event()
        self.close = bus.subscribe("*", self._record_event)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter([event.to_json() for event in self._events])

    @property
    def types(self) -> list[str]:
        """The types of the events so far, oldest first."""
        return [event.type for event in self._events]

    def of(self, event_type: str) -> list[dict[str, Any]]:
        """The events of one type so far."""
        return [event for event in self if event["type"] == event_type]

    async def wait_for(
        self, event_type: str, *, timeout_s: float = WAIT_SECONDS, **fields: object
    ) -> Mapping[str, Any]:
        """Wait until an event of a type, with these fields, is there; one from before counts.

        Raises:
            TimeoutError: None came.
        """
        async with asyncio.timeout(timeout_s):
            while True:
                for event in self.of(event_type):
                    if all(event.get(key) == value for key, value in fields.items()):
                        return event
                self._arrived.clear()
                await self._arrived.wait()

    def _record_event(self, event: Event) -> None:
        self._events.append(event)
        self._arrived.set()

"""The status of a host: its state, since when and why, and how often it ended unexpectedly."""

import time
from collections import deque
from typing import Any

from agentcore.core.events import EventBus
from agentcore.core.modules.host_protocols import HostReport, PlaceState

_HOUR_SECONDS = 3600.0
_ENDS_KEPT = 1000


class HostStatus:
    """The status of one host.

    Args:
        name: The host's name.
        events: Publishes changes of its state or reason.
    """

    def __init__(self, name: str, events: EventBus) -> None:
        self._name = name
        self._events = events
        self._ends: deque[float] = deque(maxlen=_ENDS_KEPT)
        self.state: PlaceState = "stopped"
        self.since_ms = _now_ms()
        self.reason = ""
        self.last_words = ""
        self._told: tuple[PlaceState, str] = (self.state, self.reason)

    def enter_state(self, state: PlaceState) -> None:
        """Record that it starts, runs, or was stopped."""
        if state == "stopped":
            self.reason = self.last_words = ""
        self._apply_state(state)

    def set_state(self, state: PlaceState, reason: str = "") -> None:
        """Set its state and the reason."""
        self.reason = reason
        self._apply_state(state)

    def record_unexpected_end(self, reason: str, last_words: str, *, starts_again: bool) -> None:
        """It has ended by itself."""
        self._ends.append(time.monotonic())
        self.reason = reason
        self.last_words = last_words
        self._apply_state("starting" if starts_again else "failed")

    def mark_failed(self, reason: str, last_words: str = "") -> None:
        """It could not be started."""
        self.reason = reason
        self.last_words = last_words
        self._apply_state("failed")

    def build_report(self, **known: Any) -> HostReport:
        """Return its status, with the given further facts."""
        since = time.monotonic() - _HOUR_SECONDS
        return HostReport(
            name=self._name,
            state=self.state,
            reason=self.reason,
            last_words=self.last_words,
            since_ms=self.since_ms,
            ends_in_last_hour=sum(each > since for each in self._ends),
            **known,
        )

    def _apply_state(self, state: PlaceState) -> None:
        if state != self.state:
            self.since_ms = _now_ms()
        self.state = state
        if (state, self.reason) != self._told:
            self._told = (state, self.reason)
            said = {"host": self._name, "state": state, "reason": self.reason}
            self._events.publish("host.stateChanged", said)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000

"""`Pace`: rate limit with a burst, for actions that others can trigger as often as they like."""


class Pace:
    """Computes how long to wait before each turn. It has no clock: the caller passes times, in seconds.

    Args:
        burst: Number of turns without delay after an idle period.
        interval_s: Average time between further turns.
    """

    def __init__(self, burst: int, interval_s: float) -> None:
        self._ahead_s = (burst - 1) * interval_s
        self._interval_s = interval_s
        self._is_due_at = float("-inf")

    def delay_s(self, now: float) -> float:
        """Take the next turn and return how long to wait before it."""
        delay = max(self._is_due_at - self._ahead_s - now, 0.0)
        self._is_due_at = max(self._is_due_at, now + delay) + self._interval_s
        return delay

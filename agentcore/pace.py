"""`Pace`: what others can cause as often as they like happens at once a few times, and then every so often."""


class Pace:
    """Says how long to wait before each turn. It keeps no clock: times are those of its user, in seconds.

    Args:
        burst: Turns that are taken at once, after a time in which none was.
        interval_s: The time between two turns beyond, on average.
    """

    def __init__(self, burst: int, interval_s: float) -> None:
        self._ahead_s = (burst - 1) * interval_s
        self._interval_s = interval_s
        self._is_due_at = float("-inf")

    def delay_s(self, now: float) -> float:
        """Take the next turn; how long to wait before it."""
        delay = max(self._is_due_at - self._ahead_s - now, 0.0)
        self._is_due_at = max(self._is_due_at, now + delay) + self._interval_s
        return delay

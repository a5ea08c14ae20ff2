"""One-time codes by which a browser logs in: in memory, valid once and briefly."""

import hmac
import secrets
from collections import deque
from collections.abc import Callable

from agentcore.api.errors import ToolError

CODE_SECONDS = 600
"""How long a code is valid."""

CODES = 16
"""Codes that are valid at the same time; a new one ends the oldest."""

FAILURES = 20
"""Wrong codes within one minute after which no code is looked at until some of them are a minute old."""

_FAILURE_SECONDS = 60
_CODE_BYTES = 32


class PageCodes:
    """Codes that are waiting for their one use.

    Args:
        now: Seconds on a clock that does not go back.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._codes: deque[tuple[bytes, float]] = deque(maxlen=CODES)
        self._failures: deque[float] = deque(maxlen=FAILURES)

    def create(self) -> str:
        """A new code of 256 bits, fit for the fragment of a URL."""
        code = secrets.token_urlsafe(_CODE_BYTES)
        self._codes.append((code.encode("ascii"), self._now() + CODE_SECONDS))
        return code

    def use(self, code: str) -> bool:
        """Whether the code is valid; it is not any more after that.

        Raises:
            ToolError: `too_many_attempts`: so many wrong codes came that none is looked at for now.
        """
        self._refuse_guessing()
        now, given = self._now(), code.encode("utf-8", "replace")
        found = None
        for entry in self._codes:
            # no early end: how long it takes tells nothing about any code
            if hmac.compare_digest(entry[0], given):
                found = entry
        if found is None or found[1] < now:
            self._failures.append(now)
            return False
        self._codes.remove(found)
        return True

    def _refuse_guessing(self) -> None:
        now = self._now()
        while self._failures and self._failures[0] <= now - _FAILURE_SECONDS:
            self._failures.popleft()
        if len(self._failures) >= FAILURES:
            raise ToolError(
                "too_many_attempts",
                "too many wrong log-in codes; wait a minute, then use a new code from `agentcore open`",
                retryable=True,
            )

"""One-time codes by which a browser logs in, or a client is paired: in memory, valid once and briefly."""

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
# no letters or digits that look like one another
_SHORT_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_SHORT_GROUPS, _SHORT_GROUP = 2, 5


def long_code() -> str:
    """A code of 256 bits, fit for the fragment of a URL."""
    return secrets.token_urlsafe(_CODE_BYTES)


def short_code() -> str:
    """A code that a person can type, of 49 bits: `7KQ2M-XW3RD`. Guessing it is stopped long before it is found."""
    groups = ("".join(secrets.choice(_SHORT_ALPHABET) for _ in range(_SHORT_GROUP)) for _ in range(_SHORT_GROUPS))
    return "-".join(groups)


class PageCodes:
    """Codes that are waiting for their one use.

    Args:
        now: Seconds on a clock that does not go back.
        make: Makes a code.
    """

    def __init__(self, now: Callable[[], float], make: Callable[[], str] = long_code) -> None:
        self._now, self._make = now, make
        self._codes: deque[tuple[bytes, float]] = deque(maxlen=CODES)
        self._failures: deque[float] = deque(maxlen=FAILURES)

    def create(self) -> str:
        """A new code."""
        code = self._make()
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
                "too many wrong codes; wait a minute, then use a new one",
                retryable=True,
            )

"""One-time codes for logging in a browser or pairing a client: in memory, valid once and briefly.

The first characters of a code select it, the rest is its secret. A wrong secret counts against that code only, and an
unknown selector costs a dictionary lookup and stores nothing. So guessing voids a code before it is found, and wrong
attempts of one client do not prevent others from using their codes.
"""

import hmac
import secrets
from collections.abc import Callable

import structlog

from agentcore.late_dataclasses import dataclass

log = structlog.get_logger(__name__)

CODE_SECONDS = 600
"""How long a code is valid."""

CODES = 16
"""Maximum number of valid codes; a new one replaces the oldest."""

SELECTOR_CHARS = 5
"""Number of leading characters that select the code."""

WRONG_SECRETS = 5
"""Number of wrong secrets that void a code."""

_CODE_BYTES = 32
# no letters or digits that look alike
_SHORT_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_SHORT_SECRET_CHARS = 5


def long_code() -> str:
    """Return a code of 256 bits, safe in the fragment of a URL."""
    return secrets.token_urlsafe(_CODE_BYTES)


def short_code() -> str:
    """Return a code that a user can type, such as `7KQ2M-XW3RD`; its 24-bit secret resists the five guesses allowed."""
    characters = "".join(secrets.choice(_SHORT_ALPHABET) for _ in range(SELECTOR_CHARS + _SHORT_SECRET_CHARS))
    return f"{characters[:SELECTOR_CHARS]}-{characters[SELECTOR_CHARS:]}"


def as_typed(text: str) -> str:
    """Normalise a short code typed in lower case, without its hyphen or with spaces."""
    characters = "".join(character for character in text.upper() if character.isalnum())
    return f"{characters[:SELECTOR_CHARS]}-{characters[SELECTOR_CHARS:]}"


@dataclass(slots=True)
class _Code:
    secret: bytes
    expires_at: float
    wrong: int = 0


class OneTimeCodes:
    """Codes waiting to be used once.

    Args:
        now: Seconds on a clock that does not go backwards.
    """

    def __init__(self, now: Callable[[], float], make: Callable[[], str] = long_code) -> None:
        self._now = now
        self._make = make
        self._codes: dict[str, _Code] = {}

    def create(self) -> str:
        """Create a code."""
        code = self._make()
        while code[:SELECTOR_CHARS] in self._codes:
            code = self._make()
        while len(self._codes) >= CODES:
            del self._codes[next(iter(self._codes))]
        secret = code[SELECTOR_CHARS:].encode("ascii")
        self._codes[code[:SELECTOR_CHARS]] = _Code(secret, self._now() + CODE_SECONDS)
        return code

    def is_valid(self, code: str) -> bool:
        """Return True if the code could be used now; a wrong secret counts as an attempt."""
        selector = code[:SELECTOR_CHARS]
        secret = code[SELECTOR_CHARS:].encode("utf-8", "replace")
        known = self._codes.get(selector)
        if known is None:
            return False
        if known.expires_at < self._now():
            del self._codes[selector]
            return False
        if hmac.compare_digest(known.secret, secret):
            return True
        known.wrong += 1
        if known.wrong >= WRONG_SECRETS:
            del self._codes[selector]
            log.warning("code_void", attempts=known.wrong)
        return False

    def redeem(self, code: str) -> bool:
        """Return True if the code is valid, and invalidate it."""
        if not self.is_valid(code):
            return False
        del self._codes[code[:SELECTOR_CHARS]]
        return True

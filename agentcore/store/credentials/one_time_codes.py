"""One-time codes by which a browser logs in, or a client is paired: in memory, valid once and briefly.

The first characters of a code select it, the rest is its secret. A wrong secret counts against that code alone, and a
selector that nobody made costs a look into a dictionary and leaves nothing behind: so guessing ends a code before it is
found, and nobody who shows wrong codes keeps another person from using theirs.
"""

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass

import structlog

log = structlog.get_logger(__name__)

CODE_SECONDS = 600
"""How long a code is valid."""

CODES = 16
"""Codes that are valid at the same time; a new one ends the oldest."""

SELECTOR_CHARS = 5
"""Characters at the beginning of a code that say which one is meant."""

WRONG_SECRETS = 5
"""Wrong secrets after which a code is void."""

_CODE_BYTES = 32
# no letters or digits that look like one another
_SHORT_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_SHORT_SECRET_CHARS = 5


def long_code() -> str:
    """A code of 256 bits, fit for the fragment of a URL."""
    return secrets.token_urlsafe(_CODE_BYTES)


def short_code() -> str:
    """A code that a person can type: `7KQ2M-XW3RD`. Its secret has 24 bits, of which five guesses find nothing."""
    characters = "".join(secrets.choice(_SHORT_ALPHABET) for _ in range(SELECTOR_CHARS + _SHORT_SECRET_CHARS))
    return f"{characters[:SELECTOR_CHARS]}-{characters[SELECTOR_CHARS:]}"


def as_typed(text: str) -> str:
    """The short code that a person may have typed in small letters, without its hyphen or with blanks."""
    characters = "".join(character for character in text.upper() if character.isalnum())
    return f"{characters[:SELECTOR_CHARS]}-{characters[SELECTOR_CHARS:]}"


@dataclass(slots=True)
class _Code:
    secret: bytes
    expires_at: float
    wrong: int = 0


class OneTimeCodes:
    """Codes that are waiting for their one use.

    Args:
        now: Seconds on a clock that does not go back.
    """

    def __init__(self, now: Callable[[], float], make: Callable[[], str] = long_code) -> None:
        self._now = now
        self._make = make
        self._codes: dict[str, _Code] = {}

    def create(self) -> str:
        """A new code."""
        code = self._make()
        while code[:SELECTOR_CHARS] in self._codes:
            code = self._make()
        while len(self._codes) >= CODES:
            del self._codes[next(iter(self._codes))]
        secret = code[SELECTOR_CHARS:].encode("ascii")
        self._codes[code[:SELECTOR_CHARS]] = _Code(secret, self._now() + CODE_SECONDS)
        return code

    def is_valid(self, code: str) -> bool:
        """Whether the code could be used now; a wrong secret counts."""
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
        """Whether the code is valid; it is not any more after that."""
        if not self.is_valid(code):
            return False
        del self._codes[code[:SELECTOR_CHARS]]
        return True

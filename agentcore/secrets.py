"""What is a secret, told by the name that it stands under, and the one mask that is shown in its place.

The record of calls, log lines, settings as they are shown and the environment of this process all ask here. It is the
second net: what is known to be a secret is a `SecretStr`, or marked so in its schema.
"""

import json
import re
from collections.abc import MutableMapping
from functools import lru_cache
from typing import Any

MASK = "•••"
"""Shown in place of a secret."""

SECRET_PARTS = (
    *("password", "passwd", "passphrase", "passcode", "secret", "token", "credential", "authorization", "cookie"),
    *("bearer", "apikey", "accesskey", "privatekey"),
)
"""What tells of a secret anywhere in a name, however that is spelled: `accessToken`, `X-Api-Key`, `PGPASSWORD`."""

SECRET_ENDS = ("pass",)
"""What tells of one at the end of a name: `smtp_pass`."""

SECRET_NAMES = frozenset(("pin",))
"""What tells of one as the whole name, for it is a part of too many others."""

IN_LOG_LINES = frozenset(("code", "codes"))
"""Words that tell of a secret in a log line, where a code is one that somebody logs in or pairs with; elsewhere it is
a program's text."""

IN_ENVIRONMENT = frozenset(("key", "keys", "pass", "pat", "dsn"))
"""Words that tell of a secret in the name of a variable; elsewhere a key may be one of a keyboard or of an object."""

PLAIN_NAMES = frozenset(("status_code", "exit_code", "error_code"))
"""Names that are no secrets although they look like it."""

_COUNTS = frozenset(("max", "min", "input", "output", "total", "context", "prompt", "completion", "used", "cached"))
_SEPARATORS = re.compile(r"[^a-z0-9]+")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NAME_CHARS = 200  # what is longer is no name; its end tells what it holds, as with any other
_NAMES_KEPT = 4096
_OWN_VARIABLE = "AGENTCORE_"
# the state folder's place is no secret, and those who look for it may need it
_PLAIN_VARIABLE = "AGENTCORE_STATE_DIR"
_ADDRESS_WITH_PASSWORD = re.compile(r"://[^/\s]*:[^/\s]*@")

_NONE: frozenset[str] = frozenset()
_harmless: set[str] = set()  # keys of log lines that were looked at already
_HARMLESS_KEPT = 1000  # they are names in code, so there are never so many


def is_secret_name(name: str, also: frozenset[str] = _NONE) -> bool:
    """Whether what stands under a name is taken for a secret.

    Args:
        name: Spelled in any way: `api_key`, `api-key`, `apiKey`, `API_KEY`.
        also: Words of a name that tell of a secret besides, such as `IN_LOG_LINES`.
    """
    return _looks_secret(name[-_NAME_CHARS:], also)


@lru_cache(_NAMES_KEPT)
def _looks_secret(name: str, also: frozenset[str]) -> bool:
    if name in PLAIN_NAMES:
        return False
    words = {word.lower() for word in _WORD.findall(name)}
    if "tokens" in words and not words.isdisjoint(_COUNTS):
        return False  # the size of a model's text
    flat = _SEPARATORS.sub("", name.lower())
    is_known = flat in SECRET_NAMES or flat.endswith(SECRET_ENDS) or any(part in flat for part in SECRET_PARTS)
    return is_known or not words.isdisjoint(also)


def is_secret_variable(name: str, value: str) -> bool:
    """Whether a variable of the environment looks as if it held a key: one of ours, or an address with a password."""
    is_own = name.startswith(_OWN_VARIABLE) and name != _PLAIN_VARIABLE
    return is_own or is_secret_name(name, IN_ENVIRONMENT) or _ADDRESS_WITH_PASSWORD.search(value) is not None


def masked(value: Any) -> Any:
    """A JSON value with whatever stands under a secret's name masked; what is empty stays."""
    if isinstance(value, dict):
        return {key: MASK if is_secret_name(key) and part else masked(part) for key, part in value.items()}
    if isinstance(value, list):
        return [masked(part) for part in value]
    return value


def masked_json(text: str, limit_chars: int) -> str:
    """A JSON object's text with whatever stands under a secret's name masked, cut to a limit with a mark.

    Args:
        text: A JSON object.
        limit_chars: Upper bound of the result in code points.
    """
    if _may_hold_secret(text.lower()):
        text = json.dumps(masked(json.loads(text)), ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= limit_chars else text[: limit_chars - 1] + "…"


def _may_hold_secret(lowered: str) -> bool:
    """Whether a text without capitals has a piece of any name of the table; most have none, and are not parsed."""
    # one after the other, not in a loop: this runs for each call
    return (
        "pass" in lowered
        or "secret" in lowered
        or "token" in lowered
        or "key" in lowered
        or "credential" in lowered
        or "authorization" in lowered
        or "cookie" in lowered
        or "bearer" in lowered
        or "pin" in lowered
    )


def mask_line(line: MutableMapping[str, Any]) -> None:
    """Put `MASK` in place of what stands under a secret's name in a log line."""
    if line.keys() <= _harmless:
        return
    for key in line:
        if is_secret_name(key, IN_LOG_LINES):
            line[key] = MASK
        elif len(_harmless) < _HARMLESS_KEPT:
            _harmless.add(key)

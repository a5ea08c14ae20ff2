"""Keys of log lines that name a secret: the second net, below `SecretStr`."""

import re
from collections.abc import MutableMapping
from typing import Any

MASK = "[masked]"

_SECRET_KEY = re.compile(
    r"(^|[_-])(api_?key|authorization|bearer|code|cookies?|credentials?|passphrase|password|secret|token)s?$",
    re.IGNORECASE,
)
# not secrets, although they look like it
_PLAIN_KEYS = frozenset(("status_code", "exit_code", "error_code"))
_harmless: set[str] = set()  # those that were looked at already
_HARMLESS_KEPT = 1000  # keys are names in code, so there are never so many


def mask_values(line: MutableMapping[str, Any]) -> None:
    """Put `MASK` in place of what must not be shown."""
    if line.keys() <= _harmless:
        return
    for key in line:
        if is_secret_key(key):
            line[key] = MASK
        elif len(_harmless) < _HARMLESS_KEPT:
            _harmless.add(key)


def is_secret_key(key: str) -> bool:
    """Whether what stands under a key must not be shown."""
    return key not in _PLAIN_KEYS and _SECRET_KEY.search(key) is not None

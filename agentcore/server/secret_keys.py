"""Keys of log lines that name a secret: the second net, below `SecretStr`."""

import re

MASK = "[masked]"

_SECRET_KEY = re.compile(
    r"(^|[_-])(api_?key|authorization|bearer|code|cookies?|credentials?|passphrase|password|secret|token)s?$",
    re.IGNORECASE,
)
# not secrets, although they look like it
_PLAIN_KEYS = frozenset(("status_code", "exit_code", "error_code"))
_known_keys: dict[str, bool] = {}


def is_secret_key(key: str) -> bool:
    """Whether what stands under a key must not be shown."""
    known = _known_keys.get(key)
    if known is None:
        known = key not in _PLAIN_KEYS and _SECRET_KEY.search(key) is not None
        if len(_known_keys) < 1000:  # noqa: PLR2004 - keys are names in code, so there are never so many
            _known_keys[key] = known
    return known

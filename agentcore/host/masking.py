"""Secrets kept out of the record: values under names that say what they hold."""

import json
import re
from typing import Any

_SECRET_KEY = re.compile(
    r"pass(word|wd|phrase)?$|secret|token|api[-_]?key|private[-_]?key|credential|authorization|cookie|^pin$",
    re.IGNORECASE,
)
_HINTS = ("pass", "secret", "token", "key", "credential", "authorization", "cookie", "pin")

MASK = "•••"


def mask_secrets(arguments_text: str, limit_chars: int) -> str:
    """JSON text of arguments with the values of secret-looking names masked, cut to a limit with a mark.

    Args:
        arguments_text: A JSON object.
        limit_chars: Upper bound of the result in code points.
    """
    lowered = arguments_text.lower()
    if any([hint in lowered for hint in _HINTS]):  # noqa: C419 - a list is built faster than a generator runs
        arguments_text = json.dumps(masked(json.loads(arguments_text)), ensure_ascii=False, separators=(",", ":"))
    return arguments_text if len(arguments_text) <= limit_chars else arguments_text[: limit_chars - 1] + "…"


def is_secret_name(key: str) -> bool:
    """Whether what stands under such a name is taken for a secret."""
    return _SECRET_KEY.search(key) is not None


def masked(value: Any) -> Any:
    """A JSON value with whatever stands under a secret-looking name masked."""
    if isinstance(value, dict):
        return {key: MASK if is_secret_name(key) and part else masked(part) for key, part in value.items()}
    if isinstance(value, list):
        return [masked(part) for part in value]
    return value

"""Literal secrets in settings, where a reference such as `${secret:NAME}` should be used."""

import re
from typing import Any

from agentcore.config.family_keys import SECRET_PARTS
from agentcore.config.fields import Model, secrets_in
from agentcore.secrets import find_written_secrets

_PLAIN = re.compile(
    r"[+-]?[0-9.]{1,9}"  # a number
    r"|(?:[a-z*]{1,15}[0-9]{0,2}|[0-9]{1,8}[a-z]?)(?:[-_./, ]+(?:[a-z*]{1,15}[0-9]{0,2}|[0-9]{1,8}[a-z]?))*"  # words
    r"|\.{0,2}/[^:@?#]*|~/[^:@?#]*"  # paths
    r"|https?://[^@?#]*",
    re.IGNORECASE,
)
"""Values that are not treated as secrets unless their name says that they are."""


def secrets_to_mask(model: Model | None, values: Any) -> tuple[str, ...]:
    """Return the secrets in a module's settings that must be masked in its messages.

    A value counts as a secret if its name or form indicates one. Below `env` and `headers`, and where the model
    declares a secret, every value counts except numbers, words, paths and addresses without a key. A text with a
    reference does not count: its resolved value is masked separately.

    Args:
        values: The settings as written, with their references.
    """
    found = [secret for written in find_written_secrets(values) for secret in written.secrets]
    handed_on = [values.get(part) for part in SECRET_PARTS] if isinstance(values, dict) else []
    texts = [text for part in handed_on if isinstance(part, dict) for text in part.values() if isinstance(text, str)]
    declared = () if model is None else sorted(secrets_in(model, values))
    found += [text for text in (*texts, *declared) if not _PLAIN.fullmatch(text)]
    return tuple(dict.fromkeys(text for text in found if "${" not in text))

"""Conversion of values to JSON text, shared by all code."""

from typing import Any

import pydantic_core

from agentcore.valid_text import with_valid_text


def to_json(value: Any) -> bytes:
    """Return any value as JSON text in UTF-8.

    NaN and infinities become null, invalid Unicode is escaped, and values that JSON cannot express become their
    description.
    """
    try:
        return _encode(value)
    except (pydantic_core.PydanticSerializationError, UnicodeError):
        plain = pydantic_core.to_jsonable_python(
            with_valid_text(value), inf_nan_mode="null", serialize_unknown=True, bytes_mode="base64"
        )
        return _encode(with_valid_text(plain))


def _encode(value: Any) -> bytes:
    return pydantic_core.to_json(value, by_alias=True, inf_nan_mode="null", serialize_unknown=True)

"""The one way from values to JSON text."""

from typing import Any

import pydantic_core

from agentcore.valid_text import with_valid_text


def to_json(value: Any) -> bytes:
    """JSON text of any value, as UTF-8.

    NaN and the infinities become null, text that is no valid Unicode is shown with escapes, and what is no JSON value
    becomes its description.
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

"""The one way from plain values to JSON text."""

from typing import Any

import pydantic_core


def to_json(value: Any) -> bytes:
    """JSON text of plain values, as UTF-8.

    NaN and the infinities become null, text that is no valid Unicode is shown with escapes, and what is no JSON value
    becomes its description.
    """
    try:
        return _encode(value)
    except pydantic_core.PydanticSerializationError:
        return _encode(with_valid_text(value))


def with_valid_text(value: Any) -> Any:
    """The same with lone surrogates, which no UTF-8 can carry, replaced by escapes such as `\\udce9`."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {with_valid_text(key): with_valid_text(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [with_valid_text(part) for part in value]
    return value


def _encode(value: Any) -> bytes:
    return pydantic_core.to_json(value, inf_nan_mode="null", serialize_unknown=True)

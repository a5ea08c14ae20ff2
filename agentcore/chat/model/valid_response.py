"""Makes a provider's answer fit to be stored, counted and sent back: valid text, valid counts."""

import dataclasses
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.usage import RequestUsage

from agentcore.valid_text import valid_text

T = TypeVar("T")
_MOST_TOKENS = 2**40


def valid_response(response: ModelResponse) -> ModelResponse:
    """Return an answer with all of its texts made valid, and without parts of wrong types.

    The adapters build it from whatever the provider sent, without checking its types.
    """
    said = response.usage
    usage = RequestUsage(
        input_tokens=_valid_token_count(said.input_tokens),
        output_tokens=_valid_token_count(said.output_tokens),
        cache_read_tokens=min(_valid_token_count(said.cache_read_tokens), _valid_token_count(said.input_tokens)),
    )
    parts = [part for part in response.parts if _is_readable(part)]
    valid = _make_valid(dataclasses.replace(response, parts=parts, usage=RequestUsage()))
    return dataclasses.replace(valid if _can_be_stored(valid) else _bare_response(valid), usage=usage)


def _is_readable(part: ModelResponsePart) -> bool:
    match part:
        case TextPart() | ThinkingPart():
            return isinstance(part.content, str)
        case ToolCallPart():
            given: tuple[object, object] = part.tool_name, part.args
            return isinstance(given[0], str) and isinstance(given[1], str | dict | None)
    return False


def _can_be_stored(response: ModelResponse) -> bool:
    """True if the answer can be serialised for the store, and parsed again."""
    try:
        stored = ModelMessagesTypeAdapter.dump_json([response], warnings="error")
        ModelMessagesTypeAdapter.validate_json(stored)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _bare_response(response: ModelResponse) -> ModelResponse:
    """Reduce an answer to its text and its calls."""
    reason = (response.provider_details or {}).get("finish_reason")
    details = {"finish_reason": reason} if isinstance(reason, str) else None
    return ModelResponse(parts=list(_bare_parts(response)), provider_details=details)


def _bare_parts(response: ModelResponse) -> Iterator[ModelResponsePart]:
    for part in response.parts:
        match part:
            case TextPart():
                yield TextPart(part.content)
            case ToolCallPart():
                yield ToolCallPart(part.tool_name, part.args if isinstance(part.args, str) else None)


def _make_valid(value: T) -> T:
    made: Any = value
    if isinstance(value, str):
        made = valid_text(value)
    elif isinstance(value, dict):
        made = {_make_valid(key): _make_valid(part) for key, part in value.items()}
    elif isinstance(value, list | tuple):
        made = type(value)(_make_valid(part) for part in value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value) if field.init)
        made = dataclasses.replace(value, **{name: _make_valid(part) for name, part in named})
    return made  # type: ignore[no-any-return]


def _valid_token_count(tokens: Any) -> int:
    return min(max(tokens, 0), _MOST_TOKENS) if isinstance(tokens, int) else 0

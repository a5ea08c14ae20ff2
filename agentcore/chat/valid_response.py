"""What a provider sent, as it can be stored, counted and sent back: text that is valid, numbers that are counts."""

import dataclasses
from typing import Any, TypeVar

from pydantic_ai.messages import ModelResponse

from agentcore.valid_text import valid_text

T = TypeVar("T")
_MOST_TOKENS = 2**40


def valid_response(response: ModelResponse) -> ModelResponse:
    """An answer with all of its texts made valid; counts of tokens that are none become 0."""
    usage = response.usage
    counted = dataclasses.replace(
        usage, input_tokens=_count(usage.input_tokens), output_tokens=_count(usage.output_tokens), details={}
    )
    return dataclasses.replace(_valid(response), usage=counted)


def _valid(value: T) -> T:
    made: Any = value
    if isinstance(value, str):
        made = valid_text(value)
    elif isinstance(value, dict):
        made = {_valid(key): _valid(part) for key, part in value.items()}
    elif isinstance(value, list | tuple):
        made = type(value)(_valid(part) for part in value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value) if field.init)
        made = dataclasses.replace(value, **{name: _valid(part) for name, part in named})
    return made  # type: ignore[no-any-return]


def _count(tokens: Any) -> int:
    return min(max(tokens, 0), _MOST_TOKENS) if isinstance(tokens, int) else 0

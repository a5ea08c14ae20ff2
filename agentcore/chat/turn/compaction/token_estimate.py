"""How many tokens a text takes, estimated without a model's own vocabulary, which would have to be downloaded.

Rates between what the vocabularies of OpenAI, Anthropic, Llama and Qwen give, on the side of too many. What they are
wrong by is nearly the same over one session, and is put right by the provider's counts.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from agentcore.chat.bounds import IMAGE_TOKENS
from agentcore.chat.model.offered_tools import OfferedTool
from agentcore.encoding import to_json

_MESSAGE_TOKENS = 4
_CALL_TOKENS = 12
_TOOL_TOKENS = 12

_LETTER, _DIGIT, _PUNCTUATION, _LINE_END, _SPACE, _FOREIGN, _IDEOGRAPH = 0.25, 0.4, 0.6, 0.5, 0.05, 0.5, 1.1
"""Tokens for one character of a kind; `_FOREIGN`: letters of alphabets other than the Latin one."""

_WORD = 0.2
"""Tokens more for each word: it begins one."""

_RANDOM_CHARS = 24
_RANDOM = 0.35
"""Tokens more for each letter of a longer word than one speaks: keys, digests, Base64."""


def text_tokens(text: str) -> int:
    """The tokens of a text; linear in its length, about 5 ms for 100,000 characters."""
    # counted in C, so that each kind of character is looked at once
    counted = sum(_tokens_of(character) * count for character, count in Counter(text).items())
    words = text.split()
    long = sum(len(word) for word in words if len(word) > _RANDOM_CHARS and word.isascii())
    return math.ceil(counted + _WORD * len(words) + _RANDOM * long)


@lru_cache(maxsize=8192)
def _tokens_of(character: str) -> float:
    if character.isascii():
        if character.isalpha():
            return _LETTER
        if character.isdigit():
            return _DIGIT
        return _LINE_END if character == "\n" else _SPACE if character.isspace() else _PUNCTUATION
    kind = unicodedata.category(character)
    if unicodedata.east_asian_width(character) in "WF" or kind in {"So", "Co", "Cn"}:
        return _IDEOGRAPH
    return _FOREIGN if kind[0] in "LM" else _IDEOGRAPH


def content_tokens(content: Any) -> int:
    """The tokens of what a part holds: a text, an image, or several."""
    if isinstance(content, str):
        return text_tokens(content)
    if isinstance(content, BinaryContent):
        return IMAGE_TOKENS
    if isinstance(content, Sequence):
        return sum(map(content_tokens, content))
    return text_tokens(to_json(content).decode())


def message_tokens(message: ModelMessage) -> int:
    """The tokens of one message."""
    total = _MESSAGE_TOKENS
    for part in message.parts:
        match part:
            case TextPart() | ThinkingPart() | UserPromptPart():
                total += content_tokens(part.content)
            case ToolReturnPart():
                total += _CALL_TOKENS + content_tokens(part.content)
            case ToolCallPart():
                total += _CALL_TOKENS + text_tokens(part.tool_name) + text_tokens(part.args_as_json_str())
    return total


def tools_tokens(tools: Sequence[OfferedTool]) -> int:
    """The tokens of the definitions of tools."""
    return sum(
        _TOOL_TOKENS + text_tokens(f"{tool.name} {tool.description} {to_json(tool.schema.schema).decode()}")
        for tool in tools
    )

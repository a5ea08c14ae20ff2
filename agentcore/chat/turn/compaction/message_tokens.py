"""Estimates the tokens of messages."""

from collections.abc import Sequence
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from agentcore.chat.chat_limits import IMAGE_TOKENS
from agentcore.chat.turn.token_estimate import text_tokens
from agentcore.encoding import to_json

_MESSAGE_TOKENS = 4
_CALL_TOKENS = 12


def content_tokens(content: Any) -> int:
    """Estimate the tokens of a part's content: a text, an image, or several."""
    if isinstance(content, str):
        return text_tokens(content)
    if isinstance(content, TextContent):
        return text_tokens(content.content)
    if isinstance(content, BinaryContent | ImageUrl):
        return IMAGE_TOKENS
    if isinstance(content, Sequence):
        return sum(map(content_tokens, content))
    return text_tokens(to_json(content).decode())


def message_tokens(message: ModelMessage) -> int:
    """Estimate the tokens of one message."""
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

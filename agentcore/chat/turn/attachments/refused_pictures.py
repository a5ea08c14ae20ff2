"""Detects that a request was refused because of its images, which providers report in many ways or not at all."""

import re
from collections.abc import Sequence

from pydantic_ai.messages import BinaryContent, ModelMessage, ToolReturnPart, UserPromptPart

from agentcore.chat.model.engine import BrokenAnswerError

_OF_PICTURES = re.compile(r"image|picture|vision|visual|multi-?modal|mmproj|content\b.*\bstring", re.IGNORECASE)
"""llama.cpp, Ollama, vLLM, LM Studio, OpenRouter, DeepSeek, Groq and Mistral all use one of these words."""


def may_refuse_images(exc: BrokenAnswerError) -> bool:
    """True if images may be the cause of a refusal: the request was invalid, or the message mentions them."""
    if exc.partial is not None:
        return False  # it had started to answer
    if exc.type == "provider_refused":
        return True
    # servers answer with 500, and routers with 404, if none of their models accepts images
    is_possible = exc.type in {"provider_failed", "model_not_found"}
    return is_possible and _OF_PICTURES.search(str(exc.context.get("said", ""))) is not None


def has_images(messages: Sequence[ModelMessage]) -> bool:
    """True if messages that are ready to send contain an image."""
    contents = (
        part.content
        for message in messages
        for part in message.parts
        if isinstance(part, UserPromptPart | ToolReturnPart) and isinstance(part.content, list)
    )
    return any(isinstance(piece, BinaryContent) for content in contents for piece in content)

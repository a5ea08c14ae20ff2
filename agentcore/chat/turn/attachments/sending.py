"""Prepares messages for sending: loads referenced images, up to the limits of a request, which a model may refuse."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    TextContent,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)

from agentcore.chat.bounds import PICTURES_SENT, PICTURES_SENT_BYTES
from agentcore.chat.model.engine import BrokenAnswerError
from agentcore.chat.texts import result_text
from agentcore.chat.turn.attachments.message_content import PICTURE_SCHEME

_OF_PICTURES = re.compile(r"image|picture|vision|visual|multi-?modal|mmproj|content\b.*\bstring", re.IGNORECASE)
"""llama.cpp, Ollama, vLLM, LM Studio, OpenRouter, DeepSeek, Groq and Mistral all use one of these words."""

LoadPicture = Callable[[str], Awaitable[bytes | None]]
"""Loads the bytes of an artifact; None: it no longer exists."""


async def prepare_to_send(messages: Sequence[ModelMessage], load: LoadPicture, *, images: bool) -> list[ModelMessage]:
    """Return the history with its attachments.

    Args:
        messages: The history, oldest first.
        load: Loads images.
        images: True if the model accepts images.
    """
    pictures = _RequestImages(load, images=images)
    # newest first: if there are too many images, the newest are sent
    ready = [await _prepare_message(message, pictures) for message in reversed(messages)]
    return ready[::-1]


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


async def _prepare_message(message: ModelMessage, pictures: "_RequestImages") -> ModelMessage:
    if not isinstance(message, ModelRequest) or not any(map(_has_attachments, message.parts)):
        return message
    parts = [
        replace(part, content=await _prepare_contents(part, pictures))
        if isinstance(part, UserPromptPart) and _has_attachments(part)
        else part
        for part in message.parts
    ]
    return replace(message, parts=parts)


def _has_attachments(part: object) -> bool:
    return isinstance(part, UserPromptPart) and not isinstance(part.content, str)


async def _prepare_contents(part: UserPromptPart, pictures: "_RequestImages") -> str | list[UserContent]:
    contents: list[UserContent] = []
    for content in part.content:
        match content:
            case TextContent():
                contents.append(content.content)
            case ImageUrl() if content.url.startswith(PICTURE_SCHEME):
                contents.append(await pictures.load_image(content))
            case _:
                contents.append(content)
    texts = [content for content in contents if isinstance(content, str)]
    # if all contents are text, join them: servers of small models accept only a single text
    return "\n\n".join(texts) if len(texts) == len(contents) else contents


class _RequestImages:
    """Loads the images of one request, up to its limits."""

    def __init__(self, load: LoadPicture, *, images: bool) -> None:
        self._load = load
        self._images = images
        self._count = self._bytes = 0

    async def load_image(self, reference: ImageUrl) -> str | BinaryContent:
        if not self._images:
            return result_text("no_images", mime=reference.media_type)
        artifact_id = reference.url.removeprefix(PICTURE_SCHEME)
        if self._count >= PICTURES_SENT:
            return result_text("too_many_pictures", name=artifact_id)
        data = await self._load(artifact_id)
        if data is None:
            return result_text("image_lost")
        if self._bytes + len(data) > PICTURES_SENT_BYTES:
            return result_text("too_many_pictures", name=artifact_id)
        self._count += 1
        self._bytes += len(data)
        return BinaryContent(data, media_type=reference.media_type)

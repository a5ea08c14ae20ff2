"""Prepares messages for sending: loads referenced images, up to the limits of a request, which a model may refuse."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextContent,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)

from agentcore.chat.chat_limits import PICTURES_SENT, PICTURES_SENT_BYTES
from agentcore.chat.model.model_requests import BrokenAnswerError
from agentcore.chat.texts import result_text
from agentcore.chat.turn.attachments.attachment_content import PICTURE_SCHEME
from agentcore.chat.turn.history import with_parts

_OF_PICTURES = re.compile(r"image|picture|vision|visual|multi-?modal|mmproj|content\b.*\bstring", re.IGNORECASE)
"""llama.cpp, Ollama, vLLM, LM Studio, OpenRouter, DeepSeek, Groq and Mistral all use one of these words."""

T = TypeVar("T")

LoadPicture = Callable[[str], Awaitable[bytes | None]]
"""Loads the bytes of an artifact; None: it no longer exists."""


async def prepare_to_send(
    messages: Sequence[ModelMessage], load: LoadPicture, *, images: bool, refused: Collection[str] = ()
) -> list[ModelMessage]:
    """Return the history with its attachments.

    Args:
        messages: The history, oldest first.
        load: Loads images.
        images: True if the model accepts images.
        refused: Digests of images that are replaced with text.
    """
    pictures = _RequestImages(load, images=images, refused=refused)
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
    return exc.type in {"provider_failed", "model_not_found"} and mentions_images(exc)


def mentions_images(exc: BrokenAnswerError) -> bool:
    """True if the provider's message is about images."""
    return _OF_PICTURES.search(str(exc.context.get("said", ""))) is not None


def list_images(messages: Sequence[ModelMessage]) -> tuple[list[str], list[str]]:
    """Return the digests of the images in messages that are ready to send, newest first, each once.

    Returns:
        Those that came after the model's last answer, which no provider has accepted yet, and the others.
    """
    answered = max((at for at, message in enumerate(messages) if isinstance(message, ModelResponse)), default=-1)
    new = _digests_of(messages[answered + 1 :])
    return new, [digest for digest in _digests_of(messages[: answered + 1]) if digest not in new]


def _digests_of(messages: Sequence[ModelMessage]) -> list[str]:
    found = [
        _digest(chunk.data)
        for message in messages
        for part in message.parts
        if isinstance(part, UserPromptPart | ToolReturnPart) and isinstance(part.content, list)
        for chunk in part.content
        if isinstance(chunk, BinaryContent)
    ]
    return list(dict.fromkeys(reversed(found)))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


async def _prepare_message(message: ModelMessage, pictures: "_RequestImages") -> ModelMessage:
    if not isinstance(message, ModelRequest):
        return message
    parts = [await _prepare_part(part, pictures) for part in message.parts]
    return with_parts(message, parts)


async def _prepare_part(part: ModelRequestPart, pictures: "_RequestImages") -> ModelRequestPart:
    if isinstance(part, UserPromptPart) and not isinstance(part.content, str):
        return replace(part, content=await _prepare_contents(part, pictures))
    if isinstance(part, ToolReturnPart) and isinstance(part.content, list):
        contents: Any = [pictures.replace_refused(content) for content in part.content]
        return replace(part, content=contents)
    return part


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

    def __init__(self, load: LoadPicture, *, images: bool, refused: Collection[str]) -> None:
        self._load = load
        self._images = images
        self._refused = refused
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
        image = self.replace_refused(BinaryContent(data, media_type=reference.media_type))
        if isinstance(image, BinaryContent):
            self._count += 1
            self._bytes += len(data)
        return image

    def replace_refused(self, content: T) -> T | str:
        """Return text in place of an image that the provider has refused; anything else as it is."""
        if not self._refused or not isinstance(content, BinaryContent) or _digest(content.data) not in self._refused:
            return content
        return result_text("image_refused", mime=content.media_type)

"""Shortens parts of messages: an old result to one line, a large part to both its ends."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from pydantic_ai.messages import (
    BinaryContent,
    ModelRequestPart,
    ModelResponsePart,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)

from agentcore.chat.chat_limits import SHORTENED_TOKENS
from agentcore.chat.texts import result_text
from agentcore.chat.turn.attachments.attachment_content import attachment_of, tag_attachment
from agentcore.chat.turn.compaction.message_tokens import content_tokens
from agentcore.chat.turn.token_estimate import text_tokens
from agentcore.encoding import to_json

Part = ModelRequestPart | ModelResponsePart


class SaveArtifact(Protocol):
    """Saves bytes with a media type and a file name; returns the artifact's id, or None if it cannot be stored."""

    async def __call__(self, data: bytes, mime: str, name: str, *, is_untrusted: bool) -> str | None: ...


_TEXT = "text/plain; charset=utf-8"
_HEAD = 2 / 3
_MARK = "<untrusted id="
_LEAST_CHARS = 240
"""Minimum length of each end; enough for the end of the frame around content from the open world."""

_LEAST_TOKENS = 160
_LONG_CHARS = 5_000


def is_untrusted(part: Part) -> bool:
    """True if a part contains content from the open world, or replaces such content."""
    if isinstance(part, ToolReturnPart) and (part.metadata or {}).get("is_untrusted"):
        return True
    return any(_MARK in text for text in map(_read_text, _list_contents(part)))


def part_tokens(part: Part) -> int:
    """Estimate the tokens of those contents of a part that can be shortened."""
    if isinstance(part, ToolCallPart):
        return text_tokens(part.args_as_json_str())
    return sum(map(content_tokens, _list_contents(part)))


class Shortener:
    """Shortens parts; what is left out is saved as artifacts.

    Args:
        save: Saves an artifact.
        call_for: Returns the call by which the model reads an artifact; empty: there is none.
    """

    def __init__(self, save: SaveArtifact, call_for: Callable[[str], str]) -> None:
        self._save = save
        self._call_for = call_for

    async def to_line(self, part: ToolReturnPart) -> ToolReturnPart | None:
        """Reduce an old result to one line that names its artifact; None if it is one already, or is as short."""
        texts, images = _texts_and_images(part)
        is_short = sum(map(len, texts)) < _LONG_CHARS and part_tokens(part) < SHORTENED_TOKENS
        if is_short or (part.metadata or {}).get("is_line"):
            return None
        whole = "\n".join(texts)
        artifact = await self._store_whole_result(part, whole) if whole else None
        pictures = [await self._store_image(image, part) for image in images]
        said = self._format_line(part, len(whole), artifact, [picture for picture in pictures if picture])
        kept = {"artifact": artifact, "is_line": True, "is_untrusted": is_untrusted(part)}
        return ToolReturnPart(part.tool_name, said, part.tool_call_id, metadata=kept, outcome=part.outcome)

    async def to_ends(self, part: Part, limit_tokens: int) -> Part | None:
        """Reduce a part over a limit in tokens to its beginning and its end; None if it is within the limit."""
        limit = max(limit_tokens, _LEAST_TOKENS)
        if part_tokens(part) <= limit:
            return None
        match part:
            case ToolReturnPart():
                texts, images = _texts_and_images(part)
                pictures = [await self._store_image(image, part) for image in images]
                whole = "\n".join(texts)
                artifact = await self._store_whole_result(part, whole) if whole else None
                # a result that was cut before already states how much was left out
                key = "cut_again" if (part.metadata or {}).get("artifact") else "cut_middle"
                message = "\n".join([self._cut_middle(whole, limit, key, artifact), *filter(None, pictures)])
                kept = {"artifact": artifact, "is_untrusted": is_untrusted(part)}
                return ToolReturnPart(part.tool_name, message, part.tool_call_id, metadata=kept, outcome=part.outcome)
            case UserPromptPart():
                return replace(part, content=await self._short_message(part, limit))
            case TextPart():
                return replace(part, content=self._cut_middle(part.content, limit, "cut_message", None))
            case ToolCallPart():
                return replace(part, args=self._short_arguments(part, limit))
        return None

    async def _short_message(self, part: UserPromptPart, limit_tokens: int) -> str | list[UserContent]:
        """Reduce a user's text and each attached file to both ends; images stay."""
        if isinstance(part.content, str):
            return await self._shorten_text(part.content, limit_tokens)
        room = max(limit_tokens // len(part.content), _LEAST_TOKENS)
        contents: list[UserContent] = []
        for content in part.content:
            if isinstance(content, str):
                contents.append(await self._shorten_text(content, room))
            elif (attached := attachment_of(content)) is not None:
                ends = self._cut_middle(_read_text(content), room, "cut_attached", attached.artifact_id)
                contents.append(tag_attachment(ends, attached))
            else:
                contents.append(content)
        return contents

    async def _shorten_text(self, whole: str, limit_tokens: int) -> str:
        if text_tokens(whole) <= limit_tokens:
            return whole
        artifact = await self._save(_encode(whole), _TEXT, "message.txt", is_untrusted=False)
        return self._cut_middle(whole, limit_tokens, "cut_message", artifact)

    def _format_line(self, part: ToolReturnPart, chars: int, artifact: str | None, pictures: Sequence[str]) -> str:
        key = "short_untrusted" if is_untrusted(part) else "short_result"
        said = result_text(key, tool=part.tool_name, count=f"{chars:,}")
        return f"[{said} {' '.join([self._describe_artifact(artifact), *pictures])}]"

    def _describe_artifact(self, artifact: str | None) -> str:
        if artifact is None:
            return result_text("whole_gone")
        call = self._call_for(artifact)
        return result_text("whole_read" if call else "whole_kept", id=artifact, call=call)

    def _cut_middle(self, whole: str, limit_tokens: int, key: str, artifact: str | None) -> str:
        """Return both ends of a text, and then a note: between them, the note could be inside an untrusted frame."""
        left = max(int(len(whole) * limit_tokens / max(text_tokens(whole), 1)), 2 * _LEAST_CHARS)
        if left >= len(whole):
            return whole
        head = int(left * _HEAD)
        tail = left - head
        said = result_text(key, count=f"{len(whole) - left:,}")
        where = self._describe_artifact(artifact) if key != "cut_message" or artifact is not None else ""
        note = f"{said} {where}".rstrip()
        return f"{whole[:head]}\n[…]\n{whole[len(whole) - tail :]}\n[{note}]"

    def _short_arguments(self, part: ToolCallPart, limit_tokens: int) -> str:
        """Return the arguments of a past call, with long values reduced to their beginnings."""
        arguments: dict[str, Any] = part.args_as_dict()
        room = limit_tokens // max(len(arguments), 1)
        short = {
            name: value if text_tokens(said := _as_text(value)) <= room else self._cut_argument(said, room)
            for name, value in arguments.items()
        }
        return json.dumps(short, ensure_ascii=False)

    def _cut_argument(self, said: str, limit_tokens: int) -> str:
        head = int(len(said) * limit_tokens / max(text_tokens(said), 1))
        return f"{said[:head]}… [{result_text('cut_argument', count=f'{len(said) - head:,}')}]"

    async def _store_whole_result(self, part: ToolReturnPart, whole: str) -> str | None:
        """Return the artifact of a complete result: the one saved when the model got a part of it, else a new one."""
        known: str | None = (part.metadata or {}).get("artifact")
        if known is not None:
            return known
        return await self._save(_encode(whole), _TEXT, f"{part.tool_name}.txt", is_untrusted=is_untrusted(part))

    async def _store_image(self, image: BinaryContent, part: ToolReturnPart) -> str:
        name = f"{part.tool_name}.{image.media_type.rpartition('/')[2]}"
        artifact = await self._save(image.data, image.media_type, name, is_untrusted=is_untrusted(part))
        return result_text("image_kept" if artifact else "image_gone", id=artifact)


def _list_contents(part: Part) -> Sequence[Any]:
    content = getattr(part, "content", None)
    if content is None:
        return ()
    return content if isinstance(content, Sequence) and not isinstance(content, str) else (content,)


def _read_text(content: Any) -> str:
    """Return a content as text; empty if it is not text."""
    text = content.content if isinstance(content, TextContent) else content
    return text if isinstance(text, str) else ""


def _texts_and_images(part: ToolReturnPart) -> tuple[list[str], list[BinaryContent]]:
    contents = _list_contents(part)
    images = [content for content in contents if isinstance(content, BinaryContent)]
    return [_as_text(content) for content in contents if not isinstance(content, BinaryContent)], images


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else to_json(value).decode()


def _encode(whole: str) -> bytes:
    return whole.encode("utf-8", "backslashreplace")

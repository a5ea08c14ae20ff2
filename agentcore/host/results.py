"""What a module gave back becomes a result: JSON values, capped, large parts stored."""

import dataclasses
import operator
import re
from collections.abc import Callable, Coroutine
from typing import Any

import pydantic_core
from pydantic import BaseModel

from agentcore.api.errors import ToolError
from agentcore.api.result import ArtifactLink, ContentBlock, Image, Text, ToolResult
from agentcore.host.limits import IMAGE_BYTES, RESULT_BYTES, RESULT_HEAD_CHARS
from agentcore.valid_text import valid_text, with_valid_text

_MIME = re.compile(r"[A-Za-z0-9.+-]{1,64}/[A-Za-z0-9.+-]{1,64}")

Save = Callable[[bytes, str, str], Coroutine[Any, Any, ArtifactLink]]
"""Stores bytes under a mime type and a file name."""


def to_result(returned: Any) -> tuple[ToolResult, bytes]:
    """Bring what a module gave back into one shape.

    Returns:
        The result with plain JSON values as data, and its data as JSON text.

    Raises:
        TypeError: It holds something that is no JSON value.
    """
    if isinstance(returned, str):
        return ToolResult((Text(valid_text(returned)),)), b"null"
    if returned is None:
        return ToolResult(), b"null"
    if isinstance(returned, ToolResult):
        data, encoded = _encode(returned.data)
        given = returned.blocks()
        blocks = [_valid(block) for block in given]
        if data is returned.data and all(map(operator.is_, blocks, given)):
            return returned, encoded
        return dataclasses.replace(returned, content=blocks, data=data), encoded
    if isinstance(returned, Text | Image | ArtifactLink):
        return ToolResult((_valid(returned),)), b"null"
    data, encoded = _encode(returned)
    return ToolResult((Text(encoded.decode()),), data), encoded


def _valid(block: ContentBlock) -> ContentBlock:
    """A block whose texts can be stored and sent, under a media type that is one."""
    match block:
        case Text():
            text = valid_text(block.text)
            return block if text is block.text else Text(text)
        case Image() if not _MIME.fullmatch(block.mime):
            return Image(block.data, "application/octet-stream")
        case ArtifactLink():
            name, preview = valid_text(block.name), valid_text(block.preview)
            return dataclasses.replace(block, mime=valid_text(block.mime), name=name, preview=preview)
    return block


def _encode(data: Any) -> tuple[Any, bytes]:
    if data is None:
        return None, b"null"
    try:
        if isinstance(data, BaseModel) or dataclasses.is_dataclass(data):
            data = pydantic_core.to_jsonable_python(data, by_alias=True)
        return data, pydantic_core.to_json(data, by_alias=True, inf_nan_mode="null")
    except (pydantic_core.PydanticSerializationError, ValueError, RecursionError) as exc:
        try:
            clean = with_valid_text(data)
            return clean, pydantic_core.to_json(clean, inf_nan_mode="null")
        except (pydantic_core.PydanticSerializationError, ValueError, RecursionError):
            raise TypeError(f"the result holds something that is no JSON value: {exc}") from exc


def fits(result: ToolResult, encoded_data: bytes, limit_bytes: int) -> bool:
    """Whether a result is within its bounds as it is. The quick look that most calls end with."""
    if len(encoded_data) > RESULT_BYTES:
        return False
    size = 0
    for block in result.blocks():
        if isinstance(block, Text):
            size += len(block.text) if block.text.isascii() else len(block.text.encode("utf-8", "backslashreplace"))
        elif isinstance(block, Image) and len(block.data) > IMAGE_BYTES:
            return False
    return size <= limit_bytes


async def cap(result: ToolResult, encoded_data: bytes, limit_bytes: int, save: Save) -> ToolResult:
    """Store what is over its bound, and leave the head of it and a link.

    Raises:
        ToolError: `result_too_large`: the structured data is over its bound, or the quota is full.
    """
    if len(encoded_data) > RESULT_BYTES:
        raise ToolError(
            "result_too_large",
            f"the structured result has {len(encoded_data):,} bytes, the bound is {RESULT_BYTES:,}; ask for less",
            size_bytes=len(encoded_data),
            limit_bytes=RESULT_BYTES,
        )
    blocks: list[ContentBlock] = []
    left = limit_bytes
    for block in result.blocks():
        if isinstance(block, Text):
            raw = block.text.encode("utf-8", "backslashreplace")
            if len(raw) > left:
                blocks.extend(await _store_text(block.text, raw, left, save))
                left = 0
                continue
            left -= len(raw)
        elif isinstance(block, Image) and len(block.data) > IMAGE_BYTES:
            blocks.append(await save(block.data, block.mime, f"image.{block.mime.rpartition('/')[2]}"))
            continue
        blocks.append(block)
    return dataclasses.replace(result, content=tuple(blocks), truncated=True)


async def _store_text(text: str, raw: bytes, left: int, save: Save) -> list[ContentBlock]:
    link = await save(raw, "text/plain; charset=utf-8", "result.txt")
    head = text[: min(RESULT_HEAD_CHARS, left)]
    cut = head.rfind("\n") + 1 or len(head)
    notice = f"[{len(raw):,} bytes in all; the whole text is artifact {link.artifact_id}]"
    return [Text(f"{head[:cut]}\n{notice}" if head else notice), link]

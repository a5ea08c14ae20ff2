"""Converts the return value of a module into a result: JSON values, within limits, large parts stored."""

import dataclasses
import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, cast

import pydantic_core
from pydantic import BaseModel

from agentcore.api import Artifacts
from agentcore.api.result import ArtifactLink, Audio, ContentBlock, EmbeddedResource, Image, Text, ToolResult
from agentcore.core.module_code.module_error import text_of, type_name
from agentcore.core.module_code.plain_values import plain_text
from agentcore.errors import ToolError
from agentcore.json_parts import has_more_json_parts
from agentcore.limits import IMAGE_BYTES, RESULT_BLOCKS, RESULT_BYTES, RESULT_HEAD_CHARS, RESULT_PARTS
from agentcore.valid_text import with_valid_text

_BLOCKS = (Text, Image, Audio, EmbeddedResource, ArtifactLink)
_BYTES = (bytes, bytearray, memoryview)
_SCALARS = frozenset((str, int, float, bool, type(None)))
_FEW_VALUES = 100
_MIME = re.compile(r"[A-Za-z0-9.+-]{1,64}/[A-Za-z0-9.+-]{1,64}")


def to_result(returned: Any) -> tuple[ToolResult, bytes]:
    """Convert the return value of a module.

    Returns:
        The result with plain JSON values as data, and its data as JSON text.
    Raises:
        TypeError: It contains something that is not a JSON value.
        ToolError: `result_too_large`: it has too many blocks, or its data too many values.
    """
    result, encoded = _to_result(returned)
    if not _is_small(result.data) and has_more_json_parts(encoded, RESULT_PARTS):
        message = f"the structured result has more than {RESULT_PARTS:,} values; ask for less"
        raise ToolError("result_too_large", message, limit_values=RESULT_PARTS)
    return result, encoded


def _is_small(data: Any) -> bool:
    """True if data has few values, however long they are: counting takes long in the text of a large file."""
    return type(data) is dict and len(data) <= _FEW_VALUES and all([type(value) in _SCALARS for value in data.values()])  # noqa: C419 - quicker


def _to_result(returned: Any) -> tuple[ToolResult, bytes]:
    kind = type(returned)
    if kind is ToolResult:
        data, encoded = _encode(returned.data)
        return _same_or_read(returned, data), encoded
    if issubclass(kind, str):
        return ToolResult((Text(plain_text(returned)),)), b"null"
    if returned is None:
        return ToolResult(), b"null"
    if issubclass(kind, ToolResult):
        data, encoded = _encode(returned.data)
        return _read_result(returned, data), encoded
    if issubclass(kind, _BLOCKS):
        return ToolResult((_read_block(returned),)), b"null"
    data, encoded = _encode(returned)
    return ToolResult((Text(encoded.decode()),), data), encoded


def _same_or_read(returned: ToolResult, data: Any) -> ToolResult:
    """Return a result that has plain values already unchanged, as most do: copying it costs time in each call."""
    if (
        returned.resource_id is None
        and returned.truncated is False
        and returned.untrusted is False
        and data is returned.data
        and type(returned.content) is tuple
        and len(returned.content) <= RESULT_BLOCKS
        and all([type(block) is Text and _is_plain(block.text) for block in returned.content])  # noqa: C419 - quicker
    ):
        return returned
    return _read_result(returned, data)


def _is_plain(text: Any) -> bool:
    return type(text) is str and text.isascii()


def _read_result(returned: ToolResult, data: Any) -> ToolResult:
    properties = {name: read(getattr(returned, name), name) for name, read in _PROPERTY_READERS.items()}
    return ToolResult(_read_blocks(returned.content), data, **properties)


def _read_flag(value: Any, _: str) -> bool:
    return bool(value)


def _read_optional_text(value: Any, name: str) -> str | None:
    return None if value is None else _read_text(value, name)


_READERS: Mapping[Any, Callable[[Any, str], Any]] = {bool: _read_flag, str | None: _read_optional_text}
_PROPERTY_READERS = {each.name: _READERS[each.type] for each in dataclasses.fields(ToolResult)[2:]}
"""How the properties of a result beside its content and data are read, by their types."""


def _read_blocks(content: Any) -> tuple[ContentBlock, ...]:
    """The content of a result, each block of exactly its type: a subclass of the module's own is not asked later."""
    if isinstance(content, str):
        text = plain_text(content)
        return (Text(text),) if text else ()
    blocks = tuple([_read_block(block) for block in islice(content, RESULT_BLOCKS + 1)])
    if len(blocks) > RESULT_BLOCKS:
        message = f"the result has more than {RESULT_BLOCKS:,} content blocks; ask for less"
        raise ToolError("result_too_large", message, limit_blocks=RESULT_BLOCKS)
    return blocks


def _read_block(block: Any) -> ContentBlock:
    """A block whose texts can be stored and sent, under a media type that is one."""
    kind = type(block)
    if issubclass(kind, Text) and isinstance(block.text, str):
        text = plain_text(block.text)
        return cast("Text", block) if kind is Text and text is block.text else Text(text)
    if issubclass(kind, Image) and isinstance(block.data, _BYTES):
        return Image(bytes(block.data), _media_type(block.mime))
    if issubclass(kind, Audio) and isinstance(block.data, _BYTES):
        return Audio(bytes(block.data), _media_type(block.mime))
    if issubclass(kind, EmbeddedResource) and isinstance(block.content, (str, *_BYTES)):
        content = plain_text(block.content) if isinstance(block.content, str) else bytes(block.content)
        return EmbeddedResource(_read_text(block.uri, "uri"), content, _media_type(block.mime))
    if issubclass(kind, ArtifactLink) and isinstance(block.size_bytes, int):
        words = {name: _read_text(getattr(block, name), name) for name in ("artifact_id", "mime", "name", "preview")}
        return ArtifactLink(size_bytes=int(block.size_bytes), **words)
    raise TypeError(f"the content of the result holds a {type_name(block)} that is none of a result")


def _media_type(mime: Any) -> str:
    word = _read_text(mime, "mime")
    return word if _MIME.fullmatch(word) else "application/octet-stream"


def _read_text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} of a result must be text, not {type_name(value)}")
    return plain_text(value)


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
            raise TypeError(f"the result holds something that is no JSON value: {text_of(exc)}") from exc


def fits_limits(result: ToolResult, encoded_data: bytes, limit_bytes: int) -> bool:
    """True if a result is within its limits unchanged, a quick check that suffices for most calls."""
    if len(encoded_data) > RESULT_BYTES:
        return False
    size = 0
    for block in result.blocks():
        if (text := _text_of(block)) is not None:
            size += len(text) if text.isascii() else len(text.encode("utf-8", "backslashreplace"))
        elif (data := _data_of(block)) is not None and len(data) > IMAGE_BYTES:
            return False
    return size <= limit_bytes


async def cap_result(result: ToolResult, encoded_data: bytes, limit_bytes: int, artifacts: Artifacts) -> ToolResult:
    """Store what is over the limit, and leave the head of it and a link.

    Raises:
        ToolError: `result_too_large`: the structured data is over its limit, or the quota is used up.
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
        if (text := _text_of(block)) is not None:
            raw = text.encode("utf-8", "backslashreplace")
            if len(raw) > left:
                blocks.extend(await _store_text(text, raw, left, artifacts))
                left = 0
                continue
            left -= len(raw)
        elif (data := _data_of(block)) is not None and len(data) > IMAGE_BYTES:
            mime = getattr(block, "mime", "")
            blocks.append(await artifacts.save(data, mime=mime, name=mime.replace("/", ".")))
            continue
        blocks.append(block)
    return dataclasses.replace(result, content=tuple(blocks), truncated=True)


def _text_of(block: ContentBlock) -> str | None:
    """Return the text of a block, if it has one."""
    if isinstance(block, Text):
        return block.text
    return block.content if isinstance(block, EmbeddedResource) and isinstance(block.content, str) else None


def _data_of(block: ContentBlock) -> bytes | None:
    """Return the bytes of a block, if it has some."""
    if isinstance(block, Image | Audio):
        return block.data
    return block.content if isinstance(block, EmbeddedResource) and isinstance(block.content, bytes) else None


async def _store_text(text: str, raw: bytes, left: int, artifacts: Artifacts) -> list[ContentBlock]:
    link = await artifacts.save(raw, mime="text/plain; charset=utf-8", name="result.txt")
    head = text[: min(RESULT_HEAD_CHARS, left)]
    cut = head.rfind("\n") + 1 or len(head)
    notice = f"[{len(raw):,} bytes in all; the whole text is artifact {link.artifact_id}]"
    return [Text(f"{head[:cut]}\n{notice}" if head else notice), link]

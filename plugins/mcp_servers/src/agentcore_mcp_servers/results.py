"""Conversion of tool results from the SDK's types to agentcore's."""

import binascii
import json
import re
from base64 import b64decode

import mcp_types as types

from agentcore.api import (
    ArtifactLink,
    Artifacts,
    Audio,
    EmbeddedResource,
    Image,
    Text,
    ToolError,
    ToolResult,
    mask_secrets,
)
from agentcore_mcp_servers.answer_repair import BLOCKS

ContentBlock = Text | Image | Audio | EmbeddedResource | ArtifactLink

_PICTURES = frozenset(("image/png", "image/jpeg", "image/webp", "image/gif"))
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?[^,]{0,200};base64,", re.IGNORECASE)
_OF_URLS = str.maketrans("-_", "+/")
_NAME_CHARS = 80
_ERROR_CHARS = 20_000
_SAYS_NOTHING = "The tool failed, and the server did not say why."


async def convert_result(result: types.CallToolResult, artifacts: Artifacts) -> ToolResult:
    """Convert a tool result; all of it counts as untrusted.

    Args:
        result: The server's result.
        artifacts: Stores content other than text, images and audio.
    Raises:
        ToolError: `tool_failed` if the server reports a failure, `result_too_large`, `invalid_result`.
    """
    if len(result.content) > BLOCKS:
        message = f"the result has more than {BLOCKS:,} content blocks; ask for less"
        raise ToolError("result_too_large", message, untrusted=True, limit_blocks=BLOCKS)
    if result.is_error:
        raise _tool_failed(result)
    content = [await _convert_or_describe(block, artifacts) for block in result.content]
    return ToolResult(content, data=result.structured_content, untrusted=True)


def _tool_failed(result: types.CallToolResult) -> ToolError:
    said = "\n".join(filter(None, map(_text_of, result.content))).strip()
    if not said and result.structured_content is not None:
        said = json.dumps(result.structured_content, ensure_ascii=False)
    return ToolError("tool_failed", mask_secrets(said)[:_ERROR_CHARS] or _SAYS_NOTHING, untrusted=True)


def _text_of(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.EmbeddedResource(resource=types.TextResourceContents(text=text)):
            return text
        case types.ResourceLink():
            return f"See the resource {block.uri}."
    return ""


async def _convert_or_describe(block: types.ContentBlock, artifacts: Artifacts) -> ContentBlock:
    """Convert a content block; say in its place what is wrong with it, so that the others are kept."""
    try:
        return await convert_block(block, artifacts)
    except ToolError as exc:
        if exc.type != "invalid_result":
            raise
        return Text(f"[A part of the type {block.type} is left out: {exc.message}.]")


async def convert_block(block: types.ContentBlock, artifacts: Artifacts) -> ContentBlock:
    """Convert one content block.

    Raises:
        ToolError: `invalid_result` if it contains invalid base64.
    """
    match block:
        case types.TextContent():
            return Text(block.text)
        case types.ImageContent():
            return await _convert_data(block.data, block.mime_type, "image", artifacts)
        case types.AudioContent():
            return Audio(_decode_base64(block.data), block.mime_type)
        case types.ResourceLink():
            about = f": {block.description}" if block.description else ""
            return Text(f"Resource {block.uri} ({block.title or block.name}){about}")
        case types.EmbeddedResource():
            return await resource_block(block.resource, artifacts)


async def resource_block(
    held: types.TextResourceContents | types.BlobResourceContents, artifacts: Artifacts
) -> ContentBlock:
    """Convert the contents of a resource to a content block.

    Raises:
        ToolError: `invalid_result` if it contains invalid base64.
    """
    if isinstance(held, types.TextResourceContents):
        return EmbeddedResource(held.uri, held.text, held.mime_type or "text/plain")
    name = held.uri.rstrip("/").rpartition("/")[2][-_NAME_CHARS:]
    return await _convert_data(held.blob, held.mime_type or "application/octet-stream", name, artifacts)


async def _convert_data(encoded: str, mime: str, name: str, artifacts: Artifacts) -> Image | ArtifactLink:
    """Return an image if models accept its type; otherwise store the data as an artifact."""
    if (data_url := _DATA_URL.match(encoded)) is not None:
        mime = data_url[1] or mime
        encoded = encoded[data_url.end() :]
    data = _decode_base64(encoded)
    return Image(data, mime) if mime in _PICTURES else await artifacts.save(data, mime=mime, name=name)


def _decode_base64(data: str) -> bytes:
    """Decode base64 as servers write it: also of the alphabet for URLs, in lines, and without padding."""
    plain = "".join(data.split()).translate(_OF_URLS).rstrip("=")
    try:
        return b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError) as exc:
        raise ToolError("invalid_result", f"the server gave data that is no base64: {exc}", untrusted=True) from exc

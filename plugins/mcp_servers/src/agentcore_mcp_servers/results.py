"""The result of a server's tool, as ours."""

import binascii
from base64 import b64decode

import mcp_types as types

from agentcore.api import ArtifactLink, Artifacts, Image, Text, ToolError, ToolResult

_PICTURES = frozenset(("image/png", "image/jpeg", "image/webp", "image/gif"))
_NAME_CHARS = 80
_ERROR_CHARS = 20_000
_SAYS_NOTHING = "The tool failed, and the server did not say why."


async def result_of(result: types.CallToolResult, artifacts: Artifacts, read_tool: str) -> ToolResult:
    """What a model and a program get of a result; all of it comes from the open world.

    Args:
        result: What the server gave.
        artifacts: Where what is no text and no picture is kept.
        read_tool: The tool that reads the server's resources, for links to them.
    Raises:
        ToolError: `tool_failed`: the server says that the call failed; `result_too_large`.
    """
    if result.is_error:
        raise _failure(result)
    content = [await _block(block, artifacts, read_tool) for block in result.content]
    return ToolResult(content, data=result.structured_content, untrusted=True)


def _failure(result: types.CallToolResult) -> ToolError:
    said = "\n".join(block.text for block in result.content if isinstance(block, types.TextContent)).strip()
    return ToolError("tool_failed", said[:_ERROR_CHARS] or _SAYS_NOTHING, untrusted=True)


async def _block(block: types.ContentBlock, artifacts: Artifacts, read_tool: str) -> Text | Image | ArtifactLink:
    match block:
        case types.TextContent():
            return Text(block.text)
        case types.ImageContent() if block.mime_type in _PICTURES:
            return Image(_decoded(block.data), block.mime_type)
        case types.ImageContent() | types.AudioContent():
            kind = block.mime_type.partition("/")[0] or "data"
            return await artifacts.save(_decoded(block.data), mime=block.mime_type, name=kind)
        case types.ResourceLink():
            about = f": {block.description}" if block.description else ""
            return Text(f"Resource {block.uri} ({block.title or block.name}){about}\nRead it with {read_tool}.")
        case types.EmbeddedResource():
            return await resource_block(block.resource, artifacts)


async def resource_block(
    resource: types.TextResourceContents | types.BlobResourceContents, artifacts: Artifacts
) -> Text | Image | ArtifactLink:
    """What a resource holds: text as it is, a picture to look at, anything else as a file.

    Raises:
        ToolError: `invalid_result`, `result_too_large`.
    """
    if isinstance(resource, types.TextResourceContents):
        return Text(f"{resource.uri}\n\n{resource.text}")
    data, mime = _decoded(resource.blob), resource.mime_type or "application/octet-stream"
    if mime in _PICTURES:
        return Image(data, mime)
    return await artifacts.save(data, mime=mime, name=resource.uri.rstrip("/").rpartition("/")[2][-_NAME_CHARS:])


def _decoded(data: str) -> bytes:
    try:
        return b64decode(data, validate=True)
    except binascii.Error as exc:
        raise ToolError("invalid_result", f"the server gave data that is no base64: {exc}", untrusted=True) from exc

"""Converts outcomes of calls to results of MCP."""

import dataclasses
from base64 import b64encode
from typing import Any

import mcp_types as types

from agentcore.api import ArtifactLink, Audio, EmbeddedResource, Text
from agentcore.api.result import ContentBlock
from agentcore.chat.turn.tool_output import ToolOutput, error_output, outcome_output
from agentcore.core.calls.call import CallOutcome
from agentcore.core.calls.result_shortening import ArtifactReading
from agentcore.errors import ToolError

ARTIFACT_URI = "agentcore://artifacts/"
"""Prefix of the addresses of artifacts."""


def to_mcp(outcome: CallOutcome, source: str, reading: ArtifactReading, *, for_model: bool) -> types.CallToolResult:
    """Convert the outcome of a call.

    Args:
        outcome: The outcome.
        source: The tool, named as the source when the result comes from the open world.
        reading: Describes how the client reads artifacts of the result.
        for_model: True if a model reads it, which gets data only if the text is the same; a program gets everything.
    """
    told, more = _separate_media(outcome)
    output = outcome_output(told, source=source, reading=reading)
    # a result that is only audio or a document has no text beside it
    content = [_to_content_block(block) for block in output["blocks"]] if not more or told.unwrap().blocks() else []
    if outcome.error is not None:
        return types.CallToolResult(content=content, is_error=True)
    result = outcome.unwrap()
    links = [*more, *(_to_resource_link(block) for block in result.blocks() if isinstance(block, ArtifactLink))]
    data = result.data if isinstance(result.data, dict) else None
    if for_model and not _is_text_of_data(outcome):
        data = None
    return types.CallToolResult(content=[*content, *links], structured_content=data)


def to_error(error: ToolError) -> types.CallToolResult:
    """Convert an error to text only: a sentence that a model can act on."""
    output: ToolOutput = error_output(error)
    return types.CallToolResult(content=[_to_content_block(block) for block in output["blocks"]], is_error=True)


def _is_text_of_data(outcome: CallOutcome) -> bool:
    """True if the text of a result is its data, so that a client that shows only one of them hides nothing."""
    result = outcome.unwrap()
    blocks = result.blocks()
    if outcome.is_untrusted or result.truncated or len(blocks) > 1:
        return False
    return not blocks or (isinstance(blocks[0], Text) and blocks[0].text == outcome.encoded_data.decode())


def _to_content_block(block: dict[str, Any]) -> types.ContentBlock:
    if block["type"] == "image":
        return types.ImageContent(data=block["base64"], mime_type=block["mime"])
    return types.TextContent(text=block["text"])


def _separate_media(outcome: CallOutcome) -> tuple[CallOutcome, list[types.ContentBlock]]:
    """Separate audio and documents from the other blocks; text of the open world stays there, where it is marked."""
    if outcome.result is None:
        return outcome, []
    more: list[types.ContentBlock] = []
    rest: list[ContentBlock] = []
    for block in outcome.result.blocks():
        match block:
            case Audio():
                more.append(types.AudioContent(data=b64encode(block.data).decode("ascii"), mime_type=block.mime))
            case EmbeddedResource(uri, str() as text) if not outcome.is_untrusted:
                text_contents = types.TextResourceContents(uri=uri, mime_type=block.mime, text=text)
                more.append(types.EmbeddedResource(resource=text_contents))
            case EmbeddedResource(uri, bytes() as data):
                blob = types.BlobResourceContents(uri=uri, mime_type=block.mime, blob=b64encode(data).decode("ascii"))
                more.append(types.EmbeddedResource(resource=blob))
            case _:
                rest.append(block)
    if not more:
        return outcome, []
    result = dataclasses.replace(outcome.result, content=tuple(rest))
    return dataclasses.replace(outcome, result=result), more


def _to_resource_link(link: ArtifactLink) -> types.ContentBlock:
    return types.ResourceLink(
        uri=ARTIFACT_URI + link.artifact_id, name=link.name, mime_type=link.mime, size=link.size_bytes
    )

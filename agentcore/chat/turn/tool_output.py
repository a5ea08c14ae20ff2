"""Converts the outcome of a call for a model: capped, and marked if it comes from the open world."""

from collections.abc import Mapping
from typing import Any

from agentcore.api import ArtifactLink, Audio, EmbeddedResource, Image, Text
from agentcore.chat.chat_limits import EDITED_BYTES
from agentcore.chat.texts import result_text
from agentcore.chat.untrusted_text import mark_untrusted
from agentcore.core.calls.call import CallOutcome
from agentcore.core.calls.result_shortening import ArtifactReading, SaveArtifact, truncate_text
from agentcore.documents.media_type import PICTURES
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.limits import MODEL_CHARS

_INLINE_CHARS = 200
"""Maximum length of an error's context on the line of the message; longer context gets its own lines."""

ToolOutput = dict[str, Any]
"""`{"ok", "blocks": [{"type": "text", "text"} | {"type": "image", "mime", "base64"}]}`; JSON values only.

`whole`, if present: the artifact that contains the complete result, of which the blocks are a part.
"""


def outcome_output(outcome: CallOutcome, *, source: str, reading: ArtifactReading) -> ToolOutput:
    """Convert the outcome of a server tool's call.

    Args:
        outcome: The outcome.
        source: The tool, named as the source when the result comes from the open world.
        reading: Describes how the model reads artifacts of the result.
    """
    output = _end_output(outcome, source if outcome.is_untrusted else None, reading)
    if outcome.edited_arguments is None:
        return output
    arguments = to_json(outcome.edited_arguments).decode()
    edited = cap_text(result_text("edited", arguments=arguments), EDITED_BYTES)
    return {**output, "blocks": [{"type": "text", "text": edited}, *output["blocks"]]}


def _end_output(outcome: CallOutcome, source: str | None, reading: ArtifactReading) -> ToolOutput:
    if outcome.error is not None:
        return error_output(outcome.error, source)
    result = outcome.unwrap()
    texts: list[str] = []
    images: list[dict[str, Any]] = []
    for block in result.blocks():
        match block:
            case Image() if block.mime in PICTURES:
                images.append(block.to_json())
            case ArtifactLink() if not any(block.artifact_id in told for told in texts):
                texts.append(reading.describe_artifact(block))
            case ArtifactLink():
                pass  # named already
            case _:
                texts.append(_describe_block(block))
    if not result.blocks() and result.data is not None:
        texts.append(outcome.encoded_data.decode())
    message = "\n".join(texts)
    if not (message.strip() or images):
        return _build_output(result_text("no_output"), None)
    output = _build_output(message, source, images=images)
    whole = next((block.artifact_id for block in result.blocks() if isinstance(block, ArtifactLink)), None)
    return {**output, "whole": whole} if result.truncated and whole is not None else output


def _describe_block(block: Text | Image | Audio | EmbeddedResource) -> str:
    """Return the text of a block; for types that models do not accept, a note that it exists."""
    match block:
        case Text():
            return block.text
        case Image():
            return result_text("no_image", mime=block.mime)
        case Audio():
            return result_text("no_audio", mime=block.mime)
        case EmbeddedResource(uri, str() as text):
            return f"{uri}\n\n{text}"
        case _:
            return result_text("no_document", uri=block.uri, mime=block.mime)


async def client_output(result: str, source: str, save: SaveArtifact, reading: ArtifactReading) -> ToolOutput:
    """Convert the result of a client tool, which is never trusted; one over the limit is stored as an artifact."""
    limit_chars = reading.reader.result_chars or MODEL_CHARS
    if len(result) > limit_chars:
        link = await save(result.encode("utf-8", "replace"), mime="text/plain; charset=utf-8", name=f"{source}.txt")
        part = truncate_text(result, limit_chars, "both", link, reading)
        return {**_build_output(part, source), "whole": link.artifact_id}
    return _build_output(result, source)


def error_output(error: ToolError, source: str | None = None) -> ToolOutput:
    """Format an error as a sentence that a model can act on: `Error TYPE: what happened and what to do`.

    Args:
        error: The error.
        source: The source of its message, if that is the open world: then all but its type is marked.
    """
    said = cap_text(_with_context(error), MODEL_CHARS)
    if source is None:
        return _build_output(f"Error {error.type}: {said}", None, ok=False)
    return _build_output(f"Error {error.type}:\n{mark_untrusted(said, source)}", None, ok=False)


def _with_context(error: ToolError) -> str:
    """Return the message, with those context values that it does not contain already."""
    entries = [
        f"{name}: {shown}"
        for name, value in error.context.items()
        if (shown := _format_missing_value(value, error.message))
    ]
    if not entries:
        return error.message
    inline = ", ".join(entries)
    if len(inline) <= _INLINE_CHARS and "\n" not in inline:
        return f"{error.message} ({inline})"
    return "\n".join([error.message, *entries])


def _format_missing_value(value: object, message: str) -> str:
    """Return a context value as text; empty if it is no text (durations, counts) or already in the message."""
    if isinstance(value, str):
        return "" if value in message or repr(value)[1:-1] in message else value
    if isinstance(value, list | tuple):
        return (
            ", ".join(map(_format_value, value)) if any(_format_missing_value(each, message) for each in value) else ""
        )
    if isinstance(value, Mapping):
        return _format_value(value) if any(_format_missing_value(each, message) for each in value.values()) else ""
    return ""


def _format_value(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(map(_format_value, value.values()))
    return ", ".join(map(_format_value, value)) if isinstance(value, list | tuple) else str(value)


def cap_text(content: str, limit_bytes: int) -> str:
    """Truncate text to a limit, and add how many bytes are missing."""
    raw = content.encode("utf-8", "replace")
    if len(raw) <= limit_bytes:
        return content
    head = raw[:limit_bytes].decode("utf-8", "ignore")
    return f"{head}\n{result_text('cut_result', count=len(raw) - limit_bytes)}"


def _build_output(
    content: str,
    source: str | None,
    *,
    ok: bool = True,
    images: list[dict[str, Any]] | None = None,
) -> ToolOutput:
    if source is not None:
        content = mark_untrusted(content, source)
        if images:
            content += f"\n{result_text('untrusted_images')}"
    texts = [{"type": "text", "text": content}] if content or not images else []  # some reject empty text
    return {"ok": ok, "blocks": [*texts, *(images or [])]}

"""Shortens a long result for a model: one or both ends of it, what is left out, and the call that reads the rest."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from itertools import accumulate, takewhile
from typing import Protocol

from agentcore.api import ArtifactLink, EmbeddedResource, Image, Text, ToolDefinition, ToolResult
from agentcore.api.definition import Keep
from agentcore.api.result import ContentBlock
from agentcore.core.calls.call import ModelReader
from agentcore.core.modules.module_record import RegisteredTool
from agentcore.documents.image_fitting import FittedImage
from agentcore.documents.media_type import HEAD_BYTES, PICTURES, media_type
from agentcore.documents.text_lines import split_lines
from agentcore.limits import MODEL_CHARS, MODEL_IMAGE_BYTES

_SENTENCE_CHARS = 500
"""Capacity for the sentence that describes what is left out."""

_HEAD_SHARE = {"head": 1.0, "tail": 0.0, "both": 2 / 3}


class SaveArtifact(Protocol):
    """Stores bytes and returns the link, like `Artifacts.save`."""

    async def __call__(self, data: bytes, *, mime: str, name: str) -> ArtifactLink: ...


class ArtifactReading:
    """Describes how a model reads what was left out.

    Args:
        tools: The available tools, with the one that reads artifacts, if there is one.
        reader: The model, which must be able to call it.
    """

    def __init__(self, tools: Mapping[str, RegisteredTool], reader: ModelReader) -> None:
        self._tools = tools
        self.reader = reader

    def describe_call(self, artifact_id: str, line: int = 1) -> str:
        """The call that reads an artifact from a line on: the tool's name and its arguments; empty: there is none."""
        for tool in self._tools.values():
            name = tool.definition.name
            arguments = tool.definition.artifact_call
            if arguments is not None and self.reader.may_call(name):
                return f"{name} {arguments.replace('{id}', artifact_id).replace('{line}', str(line))}"
        return ""

    def describe_artifact(self, link: ArtifactLink) -> str:
        """One line about an artifact that a result brings along."""
        call = self.describe_call(link.artifact_id)
        read = f"; read it with {call}" if call else ""
        return f"[artifact {link.artifact_id}: {link.name}, {link.mime}, {link.size_bytes:,} bytes{read}]"


def model_chars(definition: ToolDefinition, reader: ModelReader) -> int:
    """Return how much of a tool's results a model gets, in characters: the lowest limit of tool and agent."""
    return min((chars for chars in (definition.model_chars, reader.result_chars) if chars), default=MODEL_CHARS)


async def model_part(
    result: ToolResult, encoded_data: bytes, definition: ToolDefinition, save: SaveArtifact, reading: ArtifactReading
) -> ToolResult:
    """Return a result within the model's limit; one without content is read as its data.

    Raises:
        ToolError: `result_too_large`, `disk_full`: the complete result cannot be stored.
    """
    limit_chars = model_chars(definition, reading.reader)
    result = _with_short_documents(await _with_fitting_images(result, save, reading.reader), limit_chars)
    blocks = result.blocks()
    texts = [block.text for block in blocks if isinstance(block, Text)]
    if not blocks and result.data is not None:
        texts = [encoded_data.decode()]
    if sum(map(len, texts)) <= limit_chars:
        return result
    whole = "\n".join(texts)
    mime = "text/plain; charset=utf-8"
    name = "result.txt"
    if result.data is not None and whole == encoded_data.decode():
        # in lines, so that a part of it can be asked for
        whole = json.dumps(json.loads(encoded_data), indent=1, ensure_ascii=False)
        mime = "application/json"
        name = "result.json"
    link = await save(whole.encode("utf-8", "backslashreplace"), mime=mime, name=name)
    part = truncate_text(whole, limit_chars, definition.keep, link, reading)
    others = [block for block in blocks if not isinstance(block, Text)]
    return dataclasses.replace(result, content=(Text(part), link, *others), truncated=True)


def add_note(result: ToolResult, encoded_data: bytes, note: str) -> ToolResult:
    """Return a result for a model with one more line; one without content is read as its data."""
    if not note:
        return result
    blocks = result.blocks()
    if not blocks and result.data is not None:
        blocks = [Text(encoded_data.decode())]
    return dataclasses.replace(result, content=(*blocks, Text(note)))


def _with_short_documents(result: ToolResult, limit_chars: int) -> ToolResult:
    """A result whose documents are texts like others where all together are too long: then they are cut like those."""
    blocks = result.blocks()
    documents = [each for each in blocks if isinstance(each, EmbeddedResource) and isinstance(each.content, str)]
    texts = [each.text for each in blocks if isinstance(each, Text)]
    if not documents or sum(len(each.content) for each in documents) + sum(map(len, texts)) <= limit_chars:
        return result
    content = [Text(f"{each.uri}\n\n{each.content!s}") if each in documents else each for each in blocks]
    return dataclasses.replace(result, content=tuple(content))


async def _with_fitting_images(result: ToolResult, save: SaveArtifact, reader: ModelReader) -> ToolResult:
    """Return a result with images that providers accept; the originals of the others are stored."""
    blocks = result.blocks()
    if not any(isinstance(block, Image) for block in blocks):
        return result
    content: list[ContentBlock] = []
    for block in blocks:
        content += await _fit_image(block, save, reader) if isinstance(block, Image) else [block]
    is_changed = len(content) > len(blocks)
    return dataclasses.replace(result, content=tuple(content), truncated=result.truncated or is_changed)


async def _fit_image(image: Image, save: SaveArtifact, reader: ModelReader) -> list[ContentBlock]:
    """Return an image as a model gets it: as it is, downscaled, or as text if it is too large or damaged."""
    is_picture = image.mime in PICTURES or media_type(image.data[:HEAD_BYTES], "") in PICTURES
    smaller: list[ContentBlock] = []
    if reader.fit_image is not None and is_picture:
        fitted = await reader.fit_image(image.data)
        if isinstance(fitted, FittedImage) and fitted.smaller is None:
            return [dataclasses.replace(image, mime=fitted.mime)]
        if isinstance(fitted, FittedImage):
            pixels = f"{fitted.width} by {fitted.height} pixels"
            text = f"[a picture of {len(image.data):,} bytes, shown smaller, with {pixels}]"
            smaller = [Image(fitted.smaller or b"", fitted.mime)]
        else:
            text = f"[a picture of {len(image.data):,} bytes, which cannot be shown: {fitted}]"
    elif len(image.data) > MODEL_IMAGE_BYTES:
        text = f"[a picture of {len(image.data):,} bytes, which is too large to be shown]"
    else:
        return [image]
    link = await save(image.data, mime=image.mime, name=f"image.{image.mime.rpartition('/')[2]}")
    return [Text(text), link, *smaller]


def truncate_text(whole: str, limit_chars: int, keep: Keep, link: ArtifactLink, reading: ArtifactReading) -> str:
    """The part of a stored text that a model gets, in whole lines, with a sentence where the rest was."""
    lines = split_lines(whole)
    room = limit_chars - min(_SENTENCE_CHARS, limit_chars // 2)
    first = _count_fitting_lines(lines, int(room * _HEAD_SHARE[keep]))
    head = "".join(lines[:first])
    last = len(lines) - (0 if keep == "head" else _count_fitting_lines(lines[:first:-1], room - len(head)))
    missing = sum(map(len, lines[first:last]))
    call = reading.describe_call(link.artifact_id, first + 1)
    rest = f"read on with {call}" if call else "no tool here reads it, so ask for less"
    sentence = (
        f"[left out: lines {first + 1:,} to {last:,} of {len(lines):,}, {missing:,} characters; "
        f"the whole is artifact {link.artifact_id}: {rest}]"
    )
    return "\n".join(part for part in (head.removesuffix("\n"), sentence, "".join(lines[last:])) if part)


def _count_fitting_lines(lines: Sequence[str], room: int) -> int:
    """How many of the lines, from the first on, fit."""
    return sum(1 for _ in takewhile(lambda size: size <= room, accumulate(map(len, lines))))

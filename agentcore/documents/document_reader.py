"""Text of documents, extracted in a separate process."""

import asyncio
import io
import json
from typing import IO

from pydantic import BaseModel

from agentcore.documents.parser_process import ReadingProcess
from agentcore.documents.seen_text import seen_text
from agentcore.documents.text_lines import ArtifactLines, find_lines, slice_lines
from agentcore.files.workspace import Workspace
from agentcore.late_dataclasses import dataclass

_OUTPUT_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The text extracted from a document.

    Args:
        text: The text of all parts (pages, sheets, slides …), each below a line with its number; empty: none could be
            extracted.
        title: Title of the document; may be empty.
        notice: A sentence that says what this is, what is missing, and why.
        mime: The document's media type; empty: nothing was recognised.
    """

    text: str
    title: str
    notice: str
    mime: str = ""

    def lines(self, first: int = 1, *, limit: int, chars: int) -> ArtifactLines:
        """Return lines of the text from one on: at most `limit`, of about `chars` characters together."""
        return slice_lines(first, limit, chars, io.StringIO(self.text, newline="\n"))

    def find_lines(self, query: str, first: int = 1, *, limit: int) -> ArtifactLines:
        """Return lines, starting at one, that contain a text literally; of a long line the part around it."""
        return find_lines(query, first, limit, io.StringIO(self.text, newline="\n"))


class _Head(BaseModel, defer_build=True):
    what: str = ""
    title: str = ""
    count: int = 0
    problem: str = ""
    mime: str = ""


class DocumentReader:
    """Extracts text from documents; a malicious file can harm only the process that reads it."""

    def __init__(self) -> None:
        self._process = ReadingProcess("agentcore.documents.document_program")

    async def close(self) -> None:
        """Stop running parsers; safe to call twice."""
        await self._process.close()

    async def read(self, body: bytes, workspace: Workspace, name: str = "") -> DocumentText:
        """Return the text of a document; the notice says what is missing and why.

        Args:
            body: The file.
            workspace: The workspace in whose folder the parser runs.
            name: The file's name; notebooks are recognised by it.
        """
        # the parser needs the end of the name alone, and a name may start like an option
        async with self._process.run(body, workspace, f"file.{name.rpartition('.')[2][:20]}") as (taken, why):
            return await asyncio.to_thread(_parse_output, taken, why)


def _parse_output(file: IO[bytes], why: str) -> DocumentText:
    lines = [json.loads(line) for line in file.read(_OUTPUT_BYTES).splitlines(keepends=True) if line.endswith(b"\n")]
    heads = [_Head.model_validate(line) for line in lines if isinstance(line, dict)]
    parts = [(heading, seen_text(text)) for heading, text in (line for line in lines if isinstance(line, list))]
    problem = next((head.problem for head in heads if head.problem), why)
    if not heads or not heads[0].what:
        return DocumentText("", "", f"This document could not be read as text: {problem or 'it has no content'}.")
    head = heads[0]
    title = seen_text(head.title)
    shown = sum(bool(heading) for heading, _ in parts)
    if not any(text for _, text in parts) and not problem:
        what = f"the {head.count} {head.what}: they hold pictures alone" if head.count else head.what
        return DocumentText("", title, f"No text was found in {what}.", head.mime)
    if head.count:
        what = f"the text of {'' if shown == head.count else f'the first {shown} of '}the {head.count} {head.what}"
    else:
        what = head.what
    return DocumentText(_join_parts(parts), title, f"This is {what}{f'; {problem}' if problem else ''}.", head.mime)


def _join_parts(parts: list[tuple[str, str]]) -> str:
    texts: list[str] = []
    for heading, text in parts:
        if heading:
            texts.append(f"{chr(10) * 2 if texts else ''}--- {seen_text(heading)} ---\n{text}")
        else:
            texts.append(f"{chr(10) if texts else ''}{text}")
    return "".join(texts).strip("\n")

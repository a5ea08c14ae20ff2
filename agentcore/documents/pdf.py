"""Text of PDFs, extracted in a separate process."""

import asyncio
import json
from dataclasses import dataclass
from typing import IO

from pydantic import BaseModel

from agentcore.documents.child import ReadingProcess
from agentcore.documents.seen_text import seen_text
from agentcore.files.workspace import Workspace

_OUTPUT_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class PdfText:
    """The text extracted from a PDF.

    Args:
        text: The text of all pages, each below a line with its number; empty: no text could be extracted.
        title: Title of the document; may be empty.
        notice: A sentence that says what this is, what is missing, and why.
    """

    text: str
    title: str
    notice: str


class _Head(BaseModel):
    title: str = ""
    page_count: int = 0
    problem: str = ""


class PdfReader:
    """Extracts text from PDFs; a malicious file can harm only the process that reads it."""

    def __init__(self) -> None:
        self._process = ReadingProcess("agentcore.documents.pdf_text")

    async def close(self) -> None:
        """Stop running parsers; safe to call twice."""
        await self._process.close()

    async def read(self, body: bytes, workspace: Workspace) -> PdfText:
        """Return the text of all pages, each below a line with its number; the notice says what is missing and why."""
        async with self._process.run(body, workspace) as (taken, why):
            return await asyncio.to_thread(_parse_output, taken, why)


def _parse_output(file: IO[bytes], why: str) -> PdfText:
    lines = [json.loads(line) for line in file.read(_OUTPUT_BYTES).splitlines(keepends=True) if line.endswith(b"\n")]
    heads = [_Head.model_validate(line) for line in lines if isinstance(line, dict)]
    texts = [seen_text(line) for line in lines if isinstance(line, str)]
    problem = next((head.problem for head in heads if head.problem), why)
    if not heads or not heads[0].page_count:
        return PdfText("", "", f"This PDF could not be read as text: {problem or 'it has no pages'}.")
    title = seen_text(heads[0].title)
    count = heads[0].page_count
    if len(texts) == count and not any(texts):
        return PdfText("", title, f"No text was found in this PDF of {count} pages: they hold pictures alone.")
    notice = (
        f"This is the text of {'' if len(texts) == count else f'the first {len(texts)} of '}the {count} pages of a PDF"
    )
    parts = (f"--- page {number} of {count} ---\n{text}" for number, text in enumerate(texts, 1))
    return PdfText("\n\n".join(parts), title, f"{notice}{f'; {problem}' if problem else ''}.")

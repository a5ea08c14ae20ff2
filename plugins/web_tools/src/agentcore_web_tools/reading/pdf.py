"""PDFs as text, read by a process of their own."""

import asyncio
import json
import sys
import tempfile
from typing import IO

from agentcore.api import BaseModel, Supervisor, SupervisorError, Workspace
from agentcore_web_tools.fetching import Reading
from agentcore_web_tools.reading.seen_text import tidy

_SECONDS = 20.0
_OUTPUT_BYTES = 16_000_000


class _Head(BaseModel):
    title: str = ""
    page_count: int = 0
    problem: str = ""


class PdfReader:
    """Reads PDFs; nothing in one can harm more than the process that reads it."""

    def __init__(self) -> None:
        self._supervisor = Supervisor()

    async def close(self) -> None:
        """End what still reads; safe to call twice."""
        await self._supervisor.close()

    async def read(self, body: bytes, workspace: Workspace) -> Reading:
        """The text of all pages, each under a line with its number; what is missing, and why, is said."""
        # files and no pipes: a PDF that is never read to its end, and an answer that nobody waits for, hold nobody up
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as taken:
            await asyncio.to_thread(_fill, given, body)
            why = await self._run(given, taken, workspace)
            return await asyncio.to_thread(_reading, taken, why)

    async def _run(self, given: IO[bytes], taken: IO[bytes], workspace: Workspace) -> str:
        """Have it read; gives why that ended early, if it did."""
        try:
            with workspace.working_folder() as folder:
                process = await self._supervisor.start(
                    [sys.executable, "-I", "-m", "agentcore_web_tools.reading.pdf_text"],
                    folder=folder,
                    environment=self._supervisor.environment(),
                    stdin=given.fileno(),
                    stdout=taken.fileno(),
                )
        except SupervisorError as exc:
            return f"its reader could not be started ({exc})"
        try:
            async with asyncio.timeout(_SECONDS):
                return "its reader gave up" if await process.wait() else ""
        except TimeoutError:
            return f"reading was ended after {_SECONDS:g} s"
        finally:
            process.end(0)


def _fill(file: IO[bytes], body: bytes) -> None:
    file.write(body)
    file.flush()
    file.seek(0)


def _reading(file: IO[bytes], why: str) -> Reading:
    file.seek(0)
    lines = [json.loads(line) for line in file.read(_OUTPUT_BYTES).splitlines(keepends=True) if line.endswith(b"\n")]
    heads = [_Head.model_validate(line) for line in lines if isinstance(line, dict)]
    texts = [tidy(line) for line in lines if isinstance(line, str)]
    problem = next((head.problem for head in heads if head.problem), why)
    if not heads or not heads[0].page_count:
        return Reading("", notices=(f"This PDF could not be read as text: {problem or 'it has no pages'}.",))
    title, count = tidy(heads[0].title), heads[0].page_count
    if len(texts) == count and not any(texts):
        return Reading("", title, (f"No text was found in this PDF of {count} pages: they hold pictures alone.",))
    notice = (
        f"This is the text of {'' if len(texts) == count else f'the first {len(texts)} of '}the {count} pages of a PDF"
    )
    parts = (f"--- page {number} of {count} ---\n{text}" for number, text in enumerate(texts, 1))
    return Reading("\n\n".join(parts), title, (f"{notice}{f'; {problem}' if problem else ''}.",))

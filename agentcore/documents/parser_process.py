"""Runs a program that parses one untrusted file in its own process: stdin to stdout, with a time limit."""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import IO

from agentcore.files.workspace import Workspace
from agentcore.supervision.supervisor import Supervisor, SupervisorError

_SECONDS = 20.0


class ReadingProcess:
    """Runs a parser of this package; a malicious file can harm only the process that reads it.

    Args:
        program: The module to run.
    """

    def __init__(self, program: str) -> None:
        self._program = program
        self._supervisor = Supervisor()

    async def close(self) -> None:
        """Stop running parsers; safe to call twice."""
        await self._supervisor.close()

    @asynccontextmanager
    async def run(self, body: bytes, workspace: Workspace, *arguments: str) -> AsyncIterator[tuple[IO[bytes], str]]:
        """Parse a file; yield the output, and the reason if the parser ended early, else an empty string."""
        # files instead of pipes: unread input or unread output then blocks neither side
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as taken:
            await asyncio.to_thread(_fill_file, given, body)
            why = await self._run_program(given, taken, workspace, arguments)
            taken.seek(0)
            yield taken, why

    async def _run_program(
        self, given: IO[bytes], taken: IO[bytes], workspace: Workspace, arguments: tuple[str, ...]
    ) -> str:
        try:
            with workspace.working_folder() as folder:
                process = await self._supervisor.start(
                    [sys.executable, "-I", "-m", self._program, *arguments],
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


def _fill_file(file: IO[bytes], body: bytes) -> None:
    file.write(body)
    file.flush()
    file.seek(0)

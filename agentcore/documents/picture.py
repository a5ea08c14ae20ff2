"""Pictures as providers take them: looked through, and made smaller where they are too large."""

import asyncio
from dataclasses import dataclass
from typing import IO

from pydantic import BaseModel

from agentcore.bounds import MODEL_IMAGE_BYTES
from agentcore.documents.child import ReadingProcess
from agentcore.files.workspace import Workspace


@dataclass(frozen=True, slots=True)
class FittedImage:
    """A picture that a model can be shown.

    Args:
        width: In pixels, as it is now.
        height: In pixels.
        mime: Its media type.
        smaller: Its bytes where it was made smaller; None: it is shown as it is.
    """

    width: int
    height: int
    mime: str
    smaller: bytes | None = None


class _Head(BaseModel):
    width: int = 0
    height: int = 0
    mime: str = ""
    is_smaller: bool = False
    problem: str = ""


class ImageFitter:
    """Sees that pictures can be shown to models; nothing in one can harm more than the process that reads it."""

    def __init__(self) -> None:
        self._process = ReadingProcess("agentcore.documents.picture_file")

    async def close(self) -> None:
        """End what still reads; safe to call twice."""
        await self._process.close()

    async def fit(self, body: bytes, workspace: Workspace) -> FittedImage | str:
        """A picture as models can be shown it, or why there is none: a damaged one would have requests refused."""
        async with self._process.run(body, workspace, str(MODEL_IMAGE_BYTES)) as (taken, why):
            return await asyncio.to_thread(_parse_output, taken, why)


def _parse_output(file: IO[bytes], why: str) -> FittedImage | str:
    line = file.readline()
    if why or not line.endswith(b"\n"):
        return why or "its reader gave up"
    head = _Head.model_validate_json(line)
    if head.problem:
        return head.problem
    return FittedImage(head.width, head.height, head.mime, file.read() if head.is_smaller else None)

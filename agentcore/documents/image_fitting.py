"""Images that providers accept: checked, and downscaled if they are too large."""

import asyncio
from typing import IO

from pydantic import BaseModel

from agentcore.documents.parser_process import ReadingProcess
from agentcore.files.workspace import Workspace
from agentcore.late_dataclasses import dataclass
from agentcore.limits import MODEL_IMAGE_BYTES


@dataclass(frozen=True, slots=True)
class FittedImage:
    """An image that can be sent to a model.

    width: Final width in pixels.
    """

    width: int
    height: int
    mime: str
    smaller: bytes | None = None


class _Head(BaseModel, defer_build=True):
    width: int = 0
    height: int = 0
    mime: str = ""
    is_smaller: bool = False
    problem: str = ""


class ImageFitter:
    """Prepares images for models; a malicious file can harm only the process that reads it."""

    def __init__(self) -> None:
        self._process = ReadingProcess("agentcore.documents.image_program")

    async def close(self) -> None:
        """Stop running parsers; safe to call twice."""
        await self._process.close()

    async def fit(self, body: bytes, workspace: Workspace) -> FittedImage | str:
        """Return the image as it can be sent to models, or the reason why it cannot.

        Sending a damaged image would make the provider reject the request.
        """
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

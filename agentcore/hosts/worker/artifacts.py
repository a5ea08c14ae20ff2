"""Artifacts as a call in a host sees them: they are stored by the server."""

import os
import tempfile
from typing import Any

from agentcore.api.result import ArtifactLines, ArtifactLink
from agentcore.files.open_file import OpenFile
from agentcore.hosts.worker.server_connection import Line


class RemoteArtifacts:
    """Implements `agentcore.api.Artifacts` for one call."""

    def __init__(self, line: Line, number: int) -> None:
        self._line = line
        self._number = number

    async def save(self, data: bytes, *, mime: str, name: str) -> ArtifactLink:
        return _read_link(await self._request_artifact("save", bytes(data), mime=mime, name=name))

    async def load(self, artifact_id: str) -> bytes:
        return self._line.pop_blob(await self._request_artifact("load", artifactId=artifact_id))

    async def describe(self, artifact_id: str) -> ArtifactLink:
        return _read_link(await self._request_artifact("describe", artifactId=artifact_id))

    async def open(self, artifact_id: str) -> OpenFile:
        data = self._line.pop_blob(await self._request_artifact("open", artifactId=artifact_id))
        # a file without a name, which is gone when it is closed
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.flush()
            fd = os.dup(file.fileno())
        return OpenFile(fd, os.fstat(fd))

    async def lines(self, artifact_id: str, first: int = 1, *, limit: int, chars: int) -> ArtifactLines:
        return _read_lines(
            await self._request_artifact("lines", artifactId=artifact_id, first=first, limit=limit, chars=chars)
        )

    async def find_lines(self, artifact_id: str, query: str, first: int = 1, *, limit: int) -> ArtifactLines:
        return _read_lines(
            await self._request_artifact("find", artifactId=artifact_id, query=query, first=first, limit=limit)
        )

    async def _request_artifact(self, action: str, data: bytes | None = None, **fields: Any) -> Any:
        return await self._line.request({"type": f"artifact.{action}", "n": self._number, **fields}, data)


def _read_link(wire: dict[str, Any]) -> ArtifactLink:
    return ArtifactLink(wire["artifactId"], wire["mime"], wire["sizeBytes"], wire["name"], wire.get("preview", ""))


def _read_lines(wire: dict[str, Any]) -> ArtifactLines:
    return ArtifactLines(tuple((number, text) for number, text in wire["lines"]), wire["total"])

"""Artifacts as MCP resources, to which results link, for the client of their session."""

from base64 import b64encode

import mcp_types as types

from agentcore.errors import ToolError
from agentcore.mcp_endpoint.caller import Caller
from agentcore.mcp_endpoint.mcp_results import ARTIFACT_URI
from agentcore.store.artifacts.artifact_rows import Artifact
from agentcore.store.artifacts.artifact_store import ArtifactStore

READ_BYTES = 4 * 1024 * 1024
"""Maximum size of a resource that is read; a larger one is read in parts with a tool."""

_PAGE = 50


class ClientArtifacts:
    """The artifacts that clients may see.

    Args:
        store: Stores them.
    """

    def __init__(self, store: ArtifactStore) -> None:
        self._store = store

    async def list_resources(self, caller: Caller, cursor: str | None) -> types.ListResourcesResult:
        """List the artifacts of the client's session, the newest first; for a user, those of all sessions."""
        before = cursor if cursor and cursor.isascii() and cursor.isdigit() else None
        session_id = caller.session_id if caller.is_model else None
        found = await self._store.list_newest(_PAGE + 1, session_id=session_id, before=int(before) if before else None)
        more = str(found[_PAGE - 1][0]) if len(found) > _PAGE else None
        return types.ListResourcesResult(
            resources=[_to_resource(artifact) for _, artifact in found[:_PAGE]], next_cursor=more
        )

    async def read_resource(self, caller: Caller, uri: str) -> types.ReadResourceResult:
        """Return the content of an artifact.

        Raises:
            ToolError: `artifact_not_found`; `result_too_large`.
        """
        artifact = await self.find_artifact(caller, uri)
        if artifact.size_bytes > READ_BYTES:
            message = (
                f"{artifact.name!r} has {artifact.size_bytes:,} bytes, and a resource may have {READ_BYTES:,}; read a "
                "part of it with the tool that the result named"
            )
            raise ToolError("result_too_large", message, size_bytes=artifact.size_bytes, limit_bytes=READ_BYTES)
        data = await self._store.load(artifact.artifact_id)
        return types.ReadResourceResult(contents=[_to_contents(uri, artifact, data)])

    async def find_artifact(self, caller: Caller, uri: str) -> Artifact:
        """Return the metadata of an artifact.

        Raises:
            ToolError: `artifact_not_found`.
        """
        artifact_id = uri.removeprefix(ARTIFACT_URI)
        artifact = None if artifact_id == uri else await self._store.get_artifact(artifact_id)
        if artifact is None or (caller.is_model and artifact.session_id != caller.session_id):
            message = f"there is no resource {uri[:200]!r} here; results name those there are"
            raise ToolError("artifact_not_found", message, uri=uri[:200])
        return artifact


def _to_resource(artifact: Artifact) -> types.Resource:
    return types.Resource(
        uri=ARTIFACT_URI + artifact.artifact_id, name=artifact.name, mime_type=artifact.mime, size=artifact.size_bytes
    )


def _to_contents(uri: str, artifact: Artifact, data: bytes) -> types.TextResourceContents | types.BlobResourceContents:
    if artifact.is_text:
        text = data.decode("utf-8", "replace")
        return types.TextResourceContents(uri=uri, mime_type=artifact.mime, text=text)
    return types.BlobResourceContents(uri=uri, mime_type=artifact.mime, blob=b64encode(data).decode())

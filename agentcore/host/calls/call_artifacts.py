"""The artifacts as one call sees them: its own are marked with its session, and of others it reaches those it may."""

from agentcore.api import ArtifactLines, ArtifactLink
from agentcore.files.open_file import OpenFile
from agentcore.host.calls.call import Call
from agentcore.store.artifacts import Artifact, ArtifactStore, unknown_artifact


class CallArtifacts:
    """Implements `agentcore.api.Artifacts` for one call."""

    def __init__(self, store: ArtifactStore, call: Call) -> None:
        self._store, self._call = store, call

    async def save(self, data: bytes, *, mime: str, name: str) -> ArtifactLink:
        """See `agentcore.api.Artifacts`."""
        call = self._call
        return await self._store.save(
            data,
            mime=mime,
            name=name,
            session_id=call.session_id,
            call_id=call.id,
            is_untrusted=call.is_of_open_world,
        )

    async def load(self, artifact_id: str) -> bytes:
        """See `agentcore.api.Artifacts`."""
        await self._find(artifact_id, reads=True)
        return await self._store.load(artifact_id)

    async def describe(self, artifact_id: str) -> ArtifactLink:
        """See `agentcore.api.Artifacts`."""
        found = await self._find(artifact_id)
        return ArtifactLink(artifact_id, found.mime, found.size_bytes, found.name)

    async def open(self, artifact_id: str) -> OpenFile:
        """See `agentcore.api.Artifacts`."""
        await self._find(artifact_id)
        return await self._store.open_file(artifact_id)

    async def lines(self, artifact_id: str, first: int = 1, *, limit: int, chars: int) -> ArtifactLines:
        """See `agentcore.api.Artifacts`."""
        return await self._store.lines(await self._find(artifact_id, reads=True), first, limit, chars)

    async def find_lines(self, artifact_id: str, query: str, first: int = 1, *, limit: int) -> ArtifactLines:
        """See `agentcore.api.Artifacts`."""
        return await self._store.find_lines(await self._find(artifact_id, reads=True), query, first, limit)

    async def _find(self, artifact_id: str, *, reads: bool = False) -> Artifact:
        call, artifact = self._call, await self._store.describe(artifact_id)
        if not (call.is_of_person or artifact.session_id == call.session_id or await self._is_attached(artifact_id)):
            # as if it were not there: which ids others have is nothing for it to find out
            raise unknown_artifact(artifact_id)
        if reads and artifact.is_untrusted:
            call.has_opened_untrusted = True
        return artifact

    async def _is_attached(self, artifact_id: str) -> bool:
        """Whether the person gave it to the session with a message."""
        return await self._store.is_held(artifact_id, self._call.session_id)

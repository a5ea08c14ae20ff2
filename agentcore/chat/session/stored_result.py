"""Results of calls as stored for the user: complete, except for large parts, which become artifacts."""

import json
from base64 import b64decode
from typing import Any

from agentcore.chat.chat_limits import KEPT_BLOCK_BYTES
from agentcore.errors import ToolError
from agentcore.store.artifacts.artifact_store import ArtifactStore
from agentcore.store.chat.chat_rows import ChatCallRow


class ResultShrinker:
    """Makes envelopes small enough to be listed with hundreds of others."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    async def shrink_envelope(self, envelope: str, call: ChatCallRow, account: str) -> str:
        """Return the envelope as JSON text, with large texts and images replaced by links to artifacts.

        Args:
            account: The account whose quota the artifacts use.
        """
        if len(envelope) <= KEPT_BLOCK_BYTES:
            return envelope
        document: dict[str, Any] = json.loads(envelope)
        blocks = []
        for block in document.get("content", ()):
            blocks += await self._shrink_block(block, call, document["callId"], account)
        document["content"] = blocks
        if len(json.dumps(document.get("data"))) > KEPT_BLOCK_BYTES:
            document["data"] = None
            document["truncated"] = True
        return json.dumps(document, ensure_ascii=False)

    async def _shrink_block(
        self, block: dict[str, Any], call: ChatCallRow, call_id: str, account: str
    ) -> list[dict[str, Any]]:
        if len(block.get("base64", "")) > KEPT_BLOCK_BYTES:
            return [await self._save_artifact(b64decode(block["base64"]), block["mime"], call, call_id, account)]
        if len(block.get("text", "")) > KEPT_BLOCK_BYTES:
            link = await self._save_artifact(
                block["text"].encode(), "text/plain; charset=utf-8", call, call_id, account
            )
            return [{**block, "text": block["text"][:KEPT_BLOCK_BYTES]}, link]
        return [block]

    async def _save_artifact(
        self, data: bytes, mime: str, call: ChatCallRow, call_id: str, account: str
    ) -> dict[str, Any]:
        kind = mime.partition(";")[0].rpartition("/")[2]
        name = f"{call.tool_name}.{'txt' if kind == 'plain' else kind}"
        try:
            link = await self._artifacts.save(
                data, mime=mime, name=name, session_id=call.session_id, call_id=call_id, account=account
            )
        except ToolError as exc:
            return {"type": "text", "text": f"[{exc.message}]"}
        return link.to_json()

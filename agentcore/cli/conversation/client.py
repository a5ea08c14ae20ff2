"""Client of a server's chat routes: create, list, follow and write to sessions."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from agentcore.cli.backend.server_client import ServerClient, ServerError, path_of
from agentcore.cli.conversation.event_feed import EventFeed
from agentcore.cli.terminal.exit_codes import CliError
from agentcore.late_dataclasses import dataclass
from agentcore.limits import UPLOAD_BYTES


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Options for opening a session.

    Args:
        session_id: The session to continue. Empty: create a new one.
        model: Empty: the agent's model.
        agent: Empty: `default`, or the session's own agent.
        mode: Which calls need approval. Empty: as set by the agent or app.json.
        host: The host on another machine that runs its calls, or `server`. Empty: unchanged, or as set by the agent.
    """

    session_id: str = ""
    model: str = ""
    agent: str = ""
    mode: str = ""
    host: str = ""


class Attached(NamedTuple):
    """A file uploaded to the server, to be sent with a message."""

    artifact_id: str
    name: str
    mime: str
    size_bytes: int


class ChatClient:
    """Sends requests about chat sessions without blocking the event loop.

    Args:
        server: Client of the server.
        is_own: True if the core runs in this process, and this terminal approves its calls.
    """

    def __init__(self, server: ServerClient, *, is_own: bool) -> None:
        self._server = server
        self.is_own = is_own

    async def list_tools(self, host: str = "") -> list[dict[str, Any]]:
        """Return all tools, as available when a host is chosen. An empty `host` means none.

        Raises:
            CliError: The server cannot be reached or rejects the request. This applies to every method.
        """
        path = f"/api/tools?{urlencode({'host': host})}" if host else "/api/tools"
        tools: list[dict[str, Any]] = (await asyncio.to_thread(self._server.get, path))["tools"]
        return tools

    async def list_hosts(self) -> list[dict[str, Any]]:
        """Return the hosts on other machines and the pools."""
        from agentcore.core.declarations.hosted_names import is_pool_kind

        found: list[dict[str, Any]] = (await asyncio.to_thread(self._server.get, "/api/hosts"))["hosts"]
        return [host for host in found if host["kind"] == "remote" or is_pool_kind(host["kind"])]

    async def make_prompt(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return the text of a prompt for the user to send; content other than text is left out."""
        made = await asyncio.to_thread(
            self._server.post, path_of("api", "tools", tool, "call"), {"arguments": arguments}
        )
        if not made["ok"]:
            raise ServerError(made["error"])
        return "\n\n".join(block["text"] for block in made["content"] if "text" in block)

    async def complete_argument(self, tool: str, argument: str, begun: str, given: Mapping[str, str]) -> list[str]:
        """Return the values of a tool's argument that complete `begun`, with the other arguments in `given`."""
        body = {"argument": argument, "value": begun, "arguments": given}
        path = path_of("api", "tools", tool, "complete")
        values: list[str] = (await asyncio.to_thread(self._server.post, path, body))["values"]
        return values

    async def list_sessions(self, limit: int = 20) -> list[dict[str, Any]]:
        """Return the sessions, most recently used first."""
        path = f"/api/sessions?{urlencode({'limit': limit})}"
        sessions: list[dict[str, Any]] = (await asyncio.to_thread(self._server.get, path))["sessions"]
        return sessions

    async def get_chat_setup(self) -> dict[str, Any]:
        """Return the models, agents and modes, and whether a model is set up."""
        overview: dict[str, Any] = await asyncio.to_thread(self._server.get, "/api/chat")
        return overview

    async def create_session(self, agent: str) -> str:
        """Create a session and return its id."""
        made = await asyncio.to_thread(self._server.post, "/api/sessions", {"agentId": agent or "default"})
        return str(made["sessionId"])

    async def get_session(self, session_id: str) -> dict[str, Any]:
        """Return one session."""
        session: dict[str, Any] = await asyncio.to_thread(self._server.get, _session_path(session_id))
        return session

    async def get_system_prompt(self, session_id: str) -> dict[str, Any]:
        """Return the parts of a session's system prompt and the size of its tool definitions."""
        told: dict[str, Any] = await asyncio.to_thread(self._server.get, _session_path(session_id, "system"))
        return told

    async def update_session(self, session_id: str, values: Mapping[str, str | None]) -> dict[str, Any]:
        """Change `model`, `agentId`, `mode` or `host` of a session and return the updated session."""
        session: dict[str, Any] = await asyncio.to_thread(self._server.patch, _session_path(session_id), values)
        return session

    async def follow_session(self, session_id: str) -> EventFeed:
        """Open the event stream of a session."""
        query = urlencode({"session_id": session_id, "types": "session.*,approval.*,call.progress"})
        return await EventFeed.open(self._server, f"/api/events?{query}")

    async def find_files(self, query: str) -> list[str]:
        """Return paths of workspace files that match a query, best match first; folders end with a slash."""
        path = f"/api/workspace/files?{urlencode({'q': query, 'limit': 30})}"
        found = await asyncio.to_thread(self._server.get, path)
        return [str(file["path"]) for file in found["files"]]

    async def upload_attachment(self, file: Path) -> Attached:
        """Upload a file to be sent with a message.

        Raises:
            CliError: The file cannot be read or is too large.
        """
        return await asyncio.to_thread(self._send_file, file)

    def _send_file(self, path: Path) -> Attached:
        try:
            with path.expanduser().open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size > UPLOAD_BYTES:
                    message = f"{path} has {size:,} bytes, and {UPLOAD_BYTES:,} can be attached"
                    raise CliError(message, hint="put it into the workspace, and name its path in the message")
                query = urlencode({"name": path.name})
                sent = self._server.send_file(f"/api/artifacts?{query}", file, size)
        except OSError as exc:
            raise CliError(f"{path} cannot be read: {exc.strerror}") from exc
        return Attached(sent["artifactId"], sent["name"], sent["mime"], sent["bytes"])

    async def send_message(self, session_id: str, text: str, attachments: Sequence[str] = ()) -> str:
        """Send a message with artifacts by their ids; the answer arrives as events.

        Returns:
            `started`, or `queued` if the session is busy.
        """
        body = {"text": text} | ({"attachments": list(attachments)} if attachments else {})
        return str((await asyncio.to_thread(self._server.post, _session_path(session_id, "messages"), body))["state"])

    async def get_queue(self, session_id: str) -> dict[str, Any]:
        """Return the queued messages of a session, and whether the queue is paused."""
        queue: dict[str, Any] = await asyncio.to_thread(self._server.get, _session_path(session_id, "queue"))
        return queue

    async def drop_queued(self, session_id: str, message_id: str) -> None:
        """Remove a queued message."""
        await asyncio.to_thread(self._server.send, "DELETE", _session_path(session_id, "queue", message_id))

    async def edit_queued(self, session_id: str, message_id: str, text: str) -> None:
        """Replace the text of a queued message."""
        await asyncio.to_thread(self._server.patch, _session_path(session_id, "queue", message_id), {"text": text})

    async def retry_turn(self, session_id: str) -> None:
        """Request a new answer to the last message."""
        await asyncio.to_thread(self._server.post, _session_path(session_id, "retry"))

    async def resume_queue(self, session_id: str) -> None:
        """Resume the paused queue of a session."""
        await asyncio.to_thread(self._server.patch, _session_path(session_id, "queue"), {"isPaused": False})

    async def stop_turn(self, session_id: str) -> None:
        """Stop the turn of a session."""
        await asyncio.to_thread(self._server.post, _session_path(session_id, "stop"))

    async def answer_question(self, session_id: str, question_id: str, answer: Mapping[str, Any]) -> None:
        """Answer a tool's question.

        Args:
            session_id: The session in which the tool asks.
            question_id: The question's id.
            answer: The rest of the body: `text`, `content` or `isDeclined`.
        """
        body = {"questionId": question_id, **answer}
        await asyncio.to_thread(self._server.post, _session_path(session_id, "answer"), body)

    async def start_tool_call(self, session_id: str, tool: str, arguments: Mapping[str, Any]) -> str:
        """Start a user's own tool call, which is recorded in the session, and return its id there."""
        body = {"tool": tool, "arguments": arguments}
        taken = await asyncio.to_thread(self._server.post, _session_path(session_id, "command"), body)
        return str(taken["toolId"])

    async def cancel_call(self, call_id: str) -> None:
        """Cancel a call; a call that has already ended is not an error."""
        with suppress(ServerError):
            await asyncio.to_thread(self._server.post, path_of("api", "calls", call_id, "cancel"))


def _session_path(session_id: str, *more: str) -> str:
    return path_of("api", "sessions", session_id, *more)

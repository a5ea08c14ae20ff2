"""Chat sessions over the routes of a server: made, listed, followed, written to."""

import asyncio
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from agentcore.cli.event_feed import EventFeed
from agentcore.cli.exits import CliError
from agentcore.cli.server_client import ServerClient, path_of


@dataclass(frozen=True, slots=True)
class SessionWish:
    """How a session is to be.

    Args:
        session_id: Which one to go on with; empty: a new one.
        model: Empty: the agent's.
        agent: Empty: `default`, or the session's own.
        mode: Which calls need approval; empty: as the agent or app.json says.
    """

    session_id: str = ""
    model: str = ""
    agent: str = ""
    mode: str = ""


class ChatClient:
    """What a terminal needs of chat sessions; no method holds the event loop.

    Args:
        server: The way to the server.
        is_own: Whether the server's host is in this process, and this terminal approves its calls.
    """

    def __init__(self, server: ServerClient, *, is_own: bool) -> None:
        self._server = server
        self.is_own = is_own

    async def tools(self) -> list[dict[str, Any]]:
        """All tools.

        Raises:
            CliError: The server cannot be reached, or refuses. So with every method.
        """
        tools: list[dict[str, Any]] = (await asyncio.to_thread(self._server.get, "/api/tools"))["tools"]
        return tools

    async def sessions(self, limit: int = 20) -> list[dict[str, Any]]:
        """Sessions, the last used first."""
        path = f"/api/sessions?{urlencode({'limit': limit})}"
        sessions: list[dict[str, Any]] = (await asyncio.to_thread(self._server.get, path))["sessions"]
        return sessions

    async def create(self, wish: SessionWish) -> str:
        """Make a session; gives its id."""
        body = {"agent_id": wish.agent or "default", "model": wish.model}
        made = await asyncio.to_thread(self._server.post, "/api/sessions", body)
        return str(made["session_id"])

    async def follow(self, session_id: str) -> EventFeed:
        """Begin to read what happens in a session."""
        query = urlencode({"session_id": session_id, "types": "session.*,approval.*"})
        return await EventFeed.open(self._server, "GET", f"/api/events?{query}")

    async def send(self, wish: SessionWish, text: str) -> None:
        """Send a message; what becomes of it is told by events."""
        body = {"message": text, "session_id": wish.session_id, "agent_id": wish.agent or "default"}
        if wish.model:
            body["model"] = wish.model
        await asyncio.to_thread(self._post_message, body)

    async def call_tool(self, session_id: str, tool: str, arguments: Mapping[str, Any]) -> EventFeed:
        """Begin a call of the person's own; its events end with `result`, which is the envelope."""
        body = {"arguments": arguments, "session_id": session_id}
        return await EventFeed.open(self._server, "POST", path_of("api", "tools", tool, "call"), body)

    async def cancel(self, call_id: str) -> None:
        """Cancel a call; one that has ended by itself is none."""
        with suppress(CliError):
            await asyncio.to_thread(self._server.post, path_of("api", "calls", call_id, "cancel"))

    async def stop(self, session_id: str) -> None:
        """End the turn of a session."""
        await asyncio.to_thread(self._server.post, path_of("api", "sessions", session_id, "stop"))

    def _post_message(self, body: Mapping[str, Any]) -> None:
        # the answer repeats the events: once it has begun, the turn goes on without its reader
        with closing(self._server.open_stream("POST", "/api/v1/agent/chat", body)):
            pass

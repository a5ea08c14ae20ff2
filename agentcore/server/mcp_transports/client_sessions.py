"""Sessions of MCP clients: they start with a handshake, survive a server restart, and end when unused."""

import asyncio
import json
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from dataclasses import asdict, replace
from typing import Any
from weakref import WeakValueDictionary

import structlog
from mcp.server.connection import Connection
from pydantic import ValidationError

from agentcore.api import Background
from agentcore.core.approvals.approval_queue import ApprovalQueue
from agentcore.core.events import EventBus
from agentcore.encoding import to_json
from agentcore.mcp_endpoint.caller import Caller, Narrowing
from agentcore.mcp_endpoint.request_handler import ListKind, McpEndpoint
from agentcore.server.exchange import Exchange
from agentcore.server.http.raw_stream import RawStream
from agentcore.server.mcp_connections import FormerConnection
from agentcore.server.mcp_transports.callers import caller_for
from agentcore.server.mcp_transports.client_session import McpSession
from agentcore.server.mcp_transports.resuming import KeptEvents
from agentcore.store.mcp_sessions import McpSessionRow, McpSessionStore

log = structlog.get_logger(__name__)

UNUSED_SECONDS = 1800.0
"""Time after which an unused session ends."""

SESSIONS = 64
"""Maximum number of sessions of one client."""

_SEND_CHANGED: Mapping[ListKind, Callable[[Connection], Coroutine[Any, Any, None]]] = {
    "tools": Connection.send_tool_list_changed,
    "prompts": Connection.send_prompt_list_changed,
    "resources": Connection.send_resource_list_changed,
}
_LOOK_SECONDS = 60.0
_SAVE_SECONDS = 60.0
_RECENT_SECONDS = 60.0
_FORMER = 64
_HEARTBEAT_SECONDS = 25.0


class McpSessions:
    """The sessions of all clients.

    Args:
        door: Answers clients.
        store: Stores sessions.
        events: Receives which clients connect and disconnect.
        approvals: Calls that wait for the user.
        end_session: Ends everything that belongs to a session.
    """

    def __init__(
        self,
        door: McpEndpoint,
        store: McpSessionStore,
        *,
        events: EventBus,
        approvals: ApprovalQueue,
        end_session: Callable[[str], Awaitable[None]],
    ) -> None:
        self._approvals = approvals
        self._events = events
        self._former: deque[FormerConnection] = deque(maxlen=_FORMER)
        self._end_session = end_session
        self._door = door
        self._store = store
        self._handshake = door.handshake
        self._sessions: dict[str, McpSession] = {}
        self._saved_at: dict[str, float] = {}
        self._kept_events: WeakValueDictionary[str, KeptEvents] = WeakValueDictionary()
        self._background = Background("mcp:sessions")
        self._timer = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._check_unused)
        door.on_lists_changed = self._notify_lists_changed
        door.on_resource_changed = self._notify_resource_updated

    @property
    def former(self) -> list[FormerConnection]:
        """Connections that have ended since the server started, the latest first."""
        return list(reversed(self._former))

    @property
    def connected(self) -> set[str]:
        """Ids of the sessions whose clients are connected now.

        A client over HTTP counts if it listens, waits for an answer, or sent its last request within a minute.
        """
        recent = time.time() - _RECENT_SECONDS
        return {
            session.caller.session_id
            for session in self._sessions.values()
            if session.is_held or session.in_flight or session.is_listening or session.last_used_at > recent
        }

    def publish_change(self, session: McpSession, *, is_connected: bool) -> None:
        """Publish that a client has connected or disconnected."""
        self._events.publish("clients.changed", {"name": session.caller.principal.id, "connected": is_connected})

    def __len__(self) -> int:
        return len(self._sessions)

    def create_session(self, exchange: Exchange) -> McpSession:
        """Create a session for a client that connects; it is saved once its handshake is done."""
        self._make_room(exchange.principal.name)
        session_id = f"mcp-{secrets.token_hex(16)}"
        session = self._build_session(caller_for(exchange, session_id))
        self._sessions[session_id] = session
        return session

    async def adopt_session(self, caller: Caller, session_id: str) -> McpSession:
        """Return the session of a client on a pipe: the one that it had with an earlier process, or a new one.

        Args:
            caller: The client, without a session.
            session_id: The session that it claims to have had; empty: none.
        """
        row = await self._store.find(session_id, caller.principal.name) if session_id else None
        if row is None:
            self._make_room(caller.principal.name)
        own = replace(caller, session_id=f"mcp-{secrets.token_hex(16)}" if row is None else row.session_id)
        session = (None if row is None else self._restore_session(own, row)) or self._build_session(own)
        session.is_held = True
        self._sessions[own.session_id] = session
        return session

    def remove_session(self, session: McpSession) -> None:
        """Remove a session whose handshake failed."""
        self._sessions.pop(session.caller.session_id, None)

    async def save_session(self, session: McpSession) -> None:
        """Save a session, so that it survives the process."""
        if session.connection.client_params is None:
            return
        narrowing = asdict(session.caller.narrowing)
        caller = session.caller
        now = time.time()
        is_new = caller.session_id not in self._saved_at
        self._saved_at[caller.session_id] = now
        await self._store.save(
            McpSessionRow(
                caller.session_id,
                caller.principal.name,
                to_json(session.to_json()).decode(),
                to_json(narrowing).decode(),
                int(now * 1000),
            )
        )
        if is_new:
            self.publish_change(session, is_connected=True)

    async def find_session(self, exchange: Exchange, session_id: str) -> McpSession | None:
        """Return this client's session with an id, restored from an earlier process if needed; None if it has none."""
        session = self._sessions.get(session_id)
        if session is None:
            row = await self._store.find(session_id, exchange.principal.name)
            # another request may have restored it meanwhile
            session = self._sessions.get(session_id) or (None if row is None else self._restore_from_row(exchange, row))
        if session is None or session.caller.principal.name != exchange.principal.name:
            return None
        session.last_used_at = time.time()
        if session.last_used_at - self._saved_at.get(session_id, 0.0) > _SAVE_SECONDS:
            await self.save_session(session)
        return session

    async def serve_stream(self, exchange: Exchange, stream: RawStream, ended: "asyncio.Future[None]") -> None:
        """Keep a stream open until there is no more to read, its client disconnects or the server stops."""

        def end() -> None:
            if not ended.done():
                ended.set_result(None)

        connection = exchange.connection
        connection.on_lost = connection.end_stream = end
        exchange.parts.streams.add(end)
        try:
            while not ended.done():
                stream.write(b": alive\n\n")
                await asyncio.wait((ended,), timeout=_HEARTBEAT_SECONDS)
        finally:
            exchange.parts.streams.discard(end)
            connection.on_lost = connection.end_stream = None

    async def end(self, session_id: str) -> None:
        """End a session, and close its resources except those that keep running."""
        session = self._sessions.pop(session_id, None)
        self._saved_at.pop(session_id, None)
        await self._store.delete(session_id)
        if session is not None:
            session.end()
            self._record_former(session)
        await self._door.calls.end_session(session_id)
        await self._end_session(session_id)

    def _record_former(self, session: McpSession) -> None:
        client = session.connection.client_params
        if client is None:
            return
        own = client.client_info
        program = own.title or own.name
        caller = session.caller
        self._former.append(
            FormerConnection(
                caller.session_id,
                caller.principal.name,
                program,
                own.version,
                str(session.connection.protocol_version),
                int(time.time() * 1000),
            )
        )
        self.publish_change(session, is_connected=False)

    async def close(self) -> None:
        """Stop, but keep the saved sessions for the next process."""
        self._timer.cancel()
        for session in self._sessions.values():
            session.end()
        await self._background.stop()

    def _make_room(self, client: str) -> None:
        """End the least recently used idle session of a client that has the maximum number."""
        own = [session for session in self._sessions.values() if session.caller.principal.name == client]
        idle = [session for session in own if not self._is_needed(session)]
        if len(own) >= SESSIONS and idle:
            oldest = min(idle, key=lambda session: session.last_used_at)
            del self._sessions[oldest.caller.session_id]  # at once: others may start meanwhile
            self._background.start(self.end(oldest.caller.session_id))

    def _is_needed(self, session: McpSession) -> bool:
        """True while a session must not end for lack of use; a call that waits for a decision counts, too."""
        is_waiting = self._approvals.waits_in(session.caller.session_id)
        return bool(session.in_flight) or session.is_held or is_waiting

    # -- inside ------------------------------------------------------------------------------------------------

    def _restore_from_row(self, exchange: Exchange, row: McpSessionRow) -> McpSession | None:
        narrowing = json.loads(row.narrowing)
        kept = Narrowing(
            tuple(narrowing["tools"]),
            narrowing["wait_s"],
            narrowing.get("tools_wait_s"),
            narrowing.get("waits_silently", False),
        )
        session = self._restore_session(caller_for(exchange, row.session_id, kept), row)
        if session is not None:
            self._sessions[row.session_id] = session
        return session

    def _restore_session(self, caller: Caller, row: McpSessionRow) -> McpSession | None:
        session = self._build_session(caller)
        try:
            session.restore(json.loads(row.handshake))
        except (ValueError, KeyError, ValidationError):  # a version with another format saved it
            return None
        return session

    def _build_session(self, caller: Caller) -> McpSession:
        client = caller.principal.name
        kept_events = self._kept_events.get(client) or self._kept_events.setdefault(client, KeptEvents())
        return McpSession(caller, self._door, self._handshake, self.save_session, kept_events)

    def _notify_resource_updated(self, uri: str) -> None:
        for session in self._sessions.values():
            if self._door.is_subscribed(session.caller, uri):
                self._background.start(session.connection.send_resource_updated(uri))

    def _notify_lists_changed(self, kinds: Collection[ListKind]) -> None:
        for session in self._sessions.values():
            # before its handshake is done, a client accepts no notifications, and it has read no list yet
            if session.connection.initialized.is_set():
                for kind in kinds:
                    self._background.start(_SEND_CHANGED[kind](session.connection))

    def _check_unused(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._check_unused)
        self._background.start(self._end_unused())

    async def _end_unused(self) -> None:
        oldest = time.time() - UNUSED_SECONDS
        for session in list(self._sessions.values()):
            if session.last_used_at < oldest and not self._is_needed(session):
                await self.end(session.caller.session_id)
        for session_id in await self._store.delete_unused(int((oldest - _SAVE_SECONDS) * 1000)):
            if session_id not in self._sessions:
                await self._end_session(session_id)

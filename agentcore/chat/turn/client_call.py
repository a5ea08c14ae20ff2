"""Calls of client tools: checked against the policy, announced, and left to the client."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agentcore.api import Effect, ToolDefinition
from agentcore.chat.client_messages import ClientTool
from agentcore.chat.session.event_stream import Stream
from agentcore.chat.turn.server_call import ServerCalls
from agentcore.core.calls.permission import refused_by_policy
from agentcore.core.core import Core
from agentcore.core.policy.authority import Decision, client_in
from agentcore.store.chat.chat_rows import ChatCallRow, ChatSessionRow

_ONLY_READS: frozenset[Effect] = frozenset(("read",))
_ACTS_ELSEWHERE: frozenset[Effect] = frozenset(("read", "egress"))
"""Effects of a tool that runs in a client: none on this machine, but anything that the client can reach."""


class ClientCalls:
    """Passes the calls of one session to its client.

    Args:
        core: Provides the policy.
        stream: Receives the announcements.
        session: The session.
        server: Ends calls that never reach a client.
    """

    def __init__(self, core: Core, stream: Stream, session: ChatSessionRow, server: ServerCalls) -> None:
        self._core = core
        self._chats = core.store.chats
        self._stream = stream
        self._server = server
        self._session = session

    async def submit_call(self, call: ChatCallRow, tools: Sequence[ClientTool]) -> None:
        """Pass a new call to the client, which asks the user first if the policy requires it; or refuse it.

        Args:
            call: The call.
            tools: The tools that the client provides.
        """
        decision = self._decide_call(call, tools)
        if decision.kind == "deny":
            self._stream.send_to_client(self.announce_call(call, waits=False, needs_approval=False))
            await self._server.fail_call(call, refused_by_policy(decision), is_told=True)
            return
        needs_approval = decision.kind == "ask"
        # before the announcement: the client may answer at once
        await self._chats.move_call(call.session_id, call.tool_id, "new", "waiting", needs_approval=int(needs_approval))
        self._stream.send_to_client(self.announce_call(call, waits=True, needs_approval=needs_approval))
        self._stream.publish_tool_state(call.tool_id, "waiting")

    def announce_call(self, call: ChatCallRow, *, waits: bool, needs_approval: bool) -> Mapping[str, Any]:
        """Publish a call to pages; return the payload for `Stream.send_to_client`."""
        client = client_in(self._session.owner)
        more = {"needsApproval": needs_approval} | ({"client": client} if client else {})
        return self._stream.publish_tool_call(
            call.tool_name, call.arguments, call.tool_id, call.kind, waits=waits, **more
        )

    def _decide_call(self, call: ChatCallRow, tools: Sequence[ClientTool]) -> Decision:
        tool = next((tool for tool in tools if tool.name == call.tool_name), ClientTool(name=call.tool_name))
        effects = _ONLY_READS if tool.readOnly else _ACTS_ELSEWHERE
        live = self._stream.live
        return self._core.policy.decide_for_chat(
            call.session_id,
            ToolDefinition(tool.name, tool.description, tool.parameters, effects=effects),
            json.loads(call.arguments),
            agent_id=live.agent_id,
        )

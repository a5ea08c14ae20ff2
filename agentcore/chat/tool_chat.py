"""The chat as calls see it through their context: their session, its user, and sub-agents."""

import asyncio
import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from agentcore.api import ChatSession
from agentcore.chat.chat_limits import ASK_SECONDS
from agentcore.chat.session.live_state import LiveSession
from agentcore.chat.sessions import Sessions
from agentcore.chat.settings import ChatSettings
from agentcore.chat.system.parts import plan_system
from agentcore.chat.tool_session import ToolSession
from agentcore.chat.turn.turns import Turns
from agentcore.core.calls.call import Call
from agentcore.core.calls.chat_protocols import Inquiry, Reply, no_person, no_session
from agentcore.core.core import Core
from agentcore.errors import ToolError

_OF_PERSONS = frozenset(("page", "cli", "token"))


class ToolChat:
    """Implements `agentcore.core.calls.chat_protocols.Conversation`.

    Args:
        core: Runs the calls.
        sessions: Reads the sessions.
        turns: Knows the sessions with running tasks.
        settings: Returns the current models and agents.
    """

    def __init__(self, core: Core, sessions: Sessions, turns: Turns, settings: Callable[[], ChatSettings]) -> None:
        self._core = core
        self._sessions = sessions
        self._turns = turns
        self._settings = settings

    def session_of(self, call: Call) -> ChatSession | None:
        """Return the chat session of a call; None if it comes from none."""
        live = self._find_live_session(call)
        if live is None:
            return None
        return ToolSession(
            self._core, self._sessions, call.session_id, live, partial(self._compact_session, call.session_id)
        )

    async def hosts_of(self, session_id: str) -> Sequence[str]:
        """Return the hosts for a session's calls, the preferred one first; empty: none is chosen."""
        live = self._turns.live.find(session_id)
        if live is not None and live.hosts is not None:
            return live.hosts
        own = await self._core.store.chats.hosts.find_host(session_id)
        if own is not None or not self._core.registry.has_hosts:
            return (own,) if own else ()
        session = await self._core.store.chats.find_session(session_id)
        return () if session is None else self._settings().hosts_for(None, session.agent_id)

    async def ask_user(self, call: Call, inquiry: Inquiry) -> Reply:
        """Ask the user of the call's chat, and wait for the answer as long as the question says."""
        live = self._find_live_session(call)
        if live is None:
            raise no_person(inquiry)
        limit_s = None if inquiry.timeout_s is None else min(inquiry.timeout_s, ASK_SECONDS)
        asked = live.questions.add(inquiry, _module_of(call), call.asking_host, live.tool_ids.get(call.id), limit_s)
        self._publish_question(call.session_id, live)
        try:
            async with asyncio.timeout(limit_s):
                return await asked.answer
        except TimeoutError:
            raise ToolError("no_person", f"nobody answered within {limit_s:g} s: {inquiry.text!r}") from None
        finally:
            live.questions.drop(asked)
            self._publish_question(call.session_id, live)

    async def run_agent(
        self,
        call: Call,
        prompt: str,
        tools: Sequence[str] | None,
        model: str | None,
        budget: Mapping[str, int] | None,
    ) -> str:
        """Run a sub-agent for a call; return its report."""
        live, session = self._find_live_session(call), await self._core.store.chats.find_session(call.session_id)
        if live is None or session is None:
            raise no_session()
        settings = self._settings()
        agent = settings.get_agent(session.agent_id)
        choice = settings.choose_model(model or session.model or None, agent)
        engine = await self._turns.load_engine()
        sub_agents = importlib.import_module("agentcore.chat.turn.sub_agent")
        system = await plan_system(self._core, session)
        request = sub_agents.SubAgentTask(prompt, tools, sub_agents.read_budget(budget, agent), agent, choice, system)
        work = sub_agents.SubAgent(self._core, engine, call, self._turns.open_stream(call.session_id))
        report: str = await work.run(request)
        return report

    async def _compact_session(self, session_id: str, summary: str | None, keep_turns: int) -> tuple[int, str]:
        session = await self._core.store.chats.find_session(session_id)
        if session is None:
            raise no_session()
        settings = self._settings()
        choice = settings.choose_model(session.model or None, settings.get_agent(session.agent_id))
        engine = await self._turns.load_engine()
        compaction = importlib.import_module("agentcore.chat.turn.compaction.on_demand")
        stream = self._turns.open_stream(session_id)
        result = await compaction.compact_session(
            self._core, engine, choice, stream, session, summary=summary, keep_turns=keep_turns
        )
        return (0, "") if result is None else (result.replaced, result.summary)

    def _find_live_session(self, call: Call) -> LiveSession | None:
        """Return the session of a call by a model, by the user inside a chat, or by an allowed host; else None."""
        principal = call.request.principal
        is_allowed_host = principal.kind == "host" and self._core.registry.may_use_chats(principal.id)
        if principal.kind != "chat" and principal.kind not in _OF_PERSONS and not is_allowed_host:
            return None
        return self._turns.live.find(call.session_id) if call.session_id in self._turns.busy_sessions else None

    def _publish_question(self, session_id: str, live: LiveSession) -> None:
        view = live.questions.first
        question = None if view is None else view.to_json()
        self._core.events.publish("session.question", {"question": question}, session_id=session_id)
        waiting = {"questionId": None if view is None else view.question_id}
        self._core.events.publish("approval.question", waiting, session_id=session_id)


def _module_of(call: Call) -> str:
    return "" if call.prepared is None else call.prepared.tool.module.name

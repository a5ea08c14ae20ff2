"""In-memory state of sessions in use: the partial answer, the turn lock, and pending calls and questions."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from agentcore.chat.session.model_scales import ModelScales
from agentcore.chat.session.session_questions import Questions
from agentcore.chat.session.session_view import ModelWaitView, QuestionView
from agentcore.chat.session.turn_lock import TurnLock
from agentcore.core.calls.call import ModelReader
from agentcore.core.modules.tool_registry import ToolRegistry

Sink = Callable[[str, Mapping[str, Any]], None]
"""Receives an event's id on the bus, and its payload for the client. Never blocks, never raises."""


class LiveSession:
    """The in-memory state of one session in use.

    Attributes:
        turn: Lock of the session.
        storing: Held while the partial answer is stored as a message, so that readers see it exactly once.
        tool_ids: The session's ids of calls, by the core's ids.
        names_notes: Which names of arguments were replaced, by the session's ids of unfinished calls.
        commands: Running calls that the user made.
        inner: Nested calls that were presented to the user for approval: the core's ids by the session's.
        client: Receives events of nested calls; None: no client waits for the turn.
        agents: Nesting depth of the sub-agents that calls run, by the core's ids of the calls.
        agent_prompts: The prompts of these sub-agents.
        questions: Questions of tools to the user.
        todos: The session's to-do list.
        agent_id: The session's agent.
        owner: The creator of the session, as named by `owner_of`; empty: not known yet.
        hosts: The hosts for its calls, the preferred one first; None: not known yet.
        reader: The session's model, as the reader of results.
        must_reload: True if something other than the turn changed the history.
        agent_tokens: Tokens used by sub-agents that the turn has not counted yet.
        model_wait: Until when its provider cannot answer; None: nothing waits for that.
        model_scales: What was learned about its models.
        stops: How often the user has stopped it.
        may_be_steered: True if messages for the running turn may be waiting.
    """

    def __init__(self) -> None:
        self.turn = TurnLock()
        self.storing = asyncio.Lock()
        self.tool_ids: dict[str, str] = {}
        self.names_notes: dict[str, str] = {}
        self.commands: set[str] = set()
        self.inner: dict[str, str] = {}
        self.client: Sink | None = None
        self.agents: dict[str, int] = {}
        self.agent_prompts: dict[str, str] = {}
        self.questions = Questions()
        self.todos: list[dict[str, Any]] = []
        self.agent_id = ""
        self.owner = ""
        self.hosts: tuple[str, ...] | None = None
        self.reader = ModelReader()
        self.must_reload = False
        self.agent_tokens = 0
        self.model_scales = ModelScales()
        self.stops = 0
        self.model_wait: ModelWaitView | None = None
        self.may_be_steered = True  # messages of the last process may be waiting
        self._text: list[str] = []
        self._thinking: list[str] = []

    def current_host(self, registry: ToolRegistry) -> str:
        """Return the host for its calls now; empty: none is chosen."""
        return registry.choose_host(self.hosts or ())

    def find_call_id(self, tool_id: str) -> str | None:
        """Return the core's id of a call, by its id in the session; None if it is unknown."""
        return next((call_id for call_id, each in self.tool_ids.items() if each == tool_id), None)

    @property
    def text(self) -> str:
        """The current answer as far as it has arrived and is not stored."""
        return "".join(self._text)

    @property
    def thinking(self) -> str:
        """The model's thinking before the current answer."""
        return "".join(self._thinking)

    def add_text(self, piece: str) -> None:
        """Append a chunk of the answer."""
        self._text.append(piece)

    def add_thinking(self, piece: str) -> None:
        """Append a chunk of the model's thinking."""
        self._thinking.append(piece)

    def clear_answer(self) -> None:
        """Discard the partial answer, because it is stored or will not be."""
        self._text.clear()
        self._thinking.clear()


class LiveSessions:
    """Sessions in use, by id; created at first use, discarded when idle."""

    def __init__(self) -> None:
        self._live: dict[str, LiveSession] = {}

    def get_or_create(self, session_id: str) -> LiveSession:
        """Return the in-memory state of a session; create it if necessary."""
        return self._live.setdefault(session_id, LiveSession())

    def find(self, session_id: str) -> LiveSession | None:
        """Return the in-memory state of a session; None if it is not in use."""
        return self._live.get(session_id)

    def list_questions(self) -> list[tuple[str, QuestionView]]:
        """Return all questions that wait, with their sessions."""
        return [(session_id, question) for session_id, live in self._live.items() for question in live.questions.all]

    def remove_if_idle(self, session_id: str) -> None:
        """Discard the in-memory state of a session, unless one of its locks is held."""
        live = self._live.get(session_id)
        if live is not None and not live.turn.is_held and not live.storing.locked():
            del self._live[session_id]

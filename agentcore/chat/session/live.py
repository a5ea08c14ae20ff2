"""What is known of a session only while something goes on in it: the answer as it comes, and who may go on."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from agentcore.approval_rules import ApprovalMode
from agentcore.chat.session.model_scales import ModelScales
from agentcore.chat.session.questions import Questions
from agentcore.core.calls import ModelReader
from agentcore.core.modules import ToolRegistry

Sink = Callable[[str, Mapping[str, Any]], None]
"""Takes an event's id on the bus, and its payload on the wire of the chat. Never waits, never fails."""


class LiveSession:
    """One session in use.

    Attributes:
        turn: Held by the one turn that goes on.
        storing: Held while a message becomes a stored one, so that nobody sees it twice or not at all.
        tool_ids: The session's names of calls, by the host's.
        commands: Calls of the person's own that go on.
        inner: Calls inside of the session's calls that were brought before a person: the host's names by the session's.
        client: Takes what is told of them; None: nobody waits for the turn.
        agents: How deep the sub-agents are that calls run, by the host's names of the calls.
        questions: What tools ask the person.
        todos: The session's list of things to do.
        agent_id: The session's agent.
        owner: Who made the session, as `owner_of` names them; empty: not known yet.
        mode: What becomes of its calls; None: as app.json says.
        hosts: The hosts that its calls are meant for, the most wanted first; None: it is not known yet.
        reader: What its model gets of results.
        must_reload: Whether what the model is told was changed by others than the turn.
        agent_tokens: What sub-agents have used, and the turn has not counted yet.
        model_scales: What was learned of the models that it asks.
        has_turn: Whether a turn goes on; `turn` is also held for a moment by who looks whether one may begin.
        stops: How often the person has stopped it.
        may_be_steered: Whether messages may wait that belong into the turn that goes on.
        must_advance: Whether messages were to go out while the turn was held.
    """

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.storing = asyncio.Lock()
        self.tool_ids: dict[str, str] = {}
        self.commands: set[str] = set()
        self.inner: dict[str, str] = {}
        self.client: Sink | None = None
        self.agents: dict[str, int] = {}
        self.questions = Questions()
        self.todos: list[dict[str, Any]] = []
        self.agent_id = ""
        self.owner = ""
        self.mode: ApprovalMode | None = None
        self.hosts: tuple[str, ...] | None = None
        self.reader = ModelReader()
        self.must_reload = False
        self.agent_tokens = 0
        self.model_scales = ModelScales()
        self.has_turn = False
        self.stops = 0
        self.may_be_steered = True  # those of the last process are known when they were looked for
        self.must_advance = False
        self._text: list[str] = []
        self._thinking: list[str] = []

    def current_host(self, registry: ToolRegistry) -> str:
        """The host that its calls go to now; empty: none is chosen."""
        return registry.choose_host(self.hosts or ())

    @property
    def text(self) -> str:
        """The answer that comes just now, as far as it is not stored."""
        return "".join(self._text)

    @property
    def thinking(self) -> str:
        """What the model thought before it."""
        return "".join(self._thinking)

    def add_text(self, piece: str) -> None:
        """A piece of the answer came."""
        self._text.append(piece)

    def add_thinking(self, piece: str) -> None:
        """A piece of the model's thoughts came."""
        self._thinking.append(piece)

    def clear_answer(self) -> None:
        """The answer is stored, or will not be."""
        self._text.clear()
        self._thinking.clear()


class LiveSessions:
    """Sessions in use, by id; made at first use, forgotten when nothing goes on."""

    def __init__(self) -> None:
        self._live: dict[str, LiveSession] = {}

    def get_or_create(self, session_id: str) -> LiveSession:
        """The live side of a session."""
        return self._live.setdefault(session_id, LiveSession())

    def find(self, session_id: str) -> LiveSession | None:
        """The live side of a session, if something goes on in it."""
        return self._live.get(session_id)

    def remove_if_idle(self, session_id: str) -> None:
        """Nothing goes on in a session any more."""
        live = self._live.get(session_id)
        if live is not None and not live.turn.locked() and not live.storing.locked():
            del self._live[session_id]

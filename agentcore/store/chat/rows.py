"""What is stored of a chat: its session, and each call that the model wanted."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

CallKind = Literal["client", "server"]
"""Where a call runs: in the client that brought the tool, or here."""

ChatCallState = Literal["new", "waiting", "approved", "rejected", "running", "done", "settled"]
"""How far a call is.

`new`: the model wants it. `waiting`: for a person's word, or for the client's result. `approved`, `rejected`: a person
has said so, and it has not been acted on. `running`: it was handed to the host. `done`: its result is known. `settled`:
the model has been told.
"""

MessageKind = Literal["said", "told", "notice"]
"""Who gets a message: the model and the person (`said`), the model alone (`told`), or the person alone (`notice`: an
error, a call of the person's own)."""


class ChatSessionRow(NamedTuple):
    """One chat session.

    Args:
        owner: The credential that it belongs to.
        user_id: The user of that credential that it belongs to.
        agent_id: Whose instructions the model follows.
        model: The model that was last asked for; empty: the agent's.
        title: The head of the first message.
        page: What the client said of the page, as JSON text.
        client_tools: The tools that the client runs, as JSON text.
        steps: Requests to the model in the current turn.
        tokens: Tokens of the current turn.
        is_running: Whether a turn goes on; still set after a restart if it was cut off.
        created_at_ms: Milliseconds since 1970.
        last_used_at_ms: Milliseconds since 1970.
        mode: What becomes of its calls; None: as the agent, or else app.json, says.
        todos: The list of things to do, as JSON text.
        found_tools: Names of tools that the model found, as JSON text.
        input_tokens: Tokens that were sent, over all turns.
        output_tokens: Tokens that came back.
        requests: Requests to models.
        summary: What the model is told in place of its oldest messages, as a stored message; None: it has them all.
        summarised_before: The first message that the model is still told.
        system: What the person chose for what the model is told before the conversation, as JSON text.
        cached_tokens: Those of the tokens that were sent which the provider had kept.
        model_scales: How the session's models count tokens, and how long their contexts are, as JSON text.
        context: How full the model's context was after its last answer, as JSON text; None: it has not answered.
        host: The host on another machine that its calls go to; empty: the server; None: as the agent says.
        mark: Names the frames around untrusted text in it; random.
    """

    session_id: str
    owner: str
    user_id: str
    agent_id: str
    model: str
    title: str
    page: str | None
    client_tools: str | None
    steps: int
    tokens: int
    is_running: int
    created_at_ms: int
    last_used_at_ms: int
    mode: str | None = None
    todos: str | None = None
    found_tools: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0
    summary: str | None = None
    summarised_before: int = 0
    system: str | None = None
    cached_tokens: int = 0
    model_scales: str | None = None
    context: str | None = None
    host: str | None = None
    mark: str = ""


class UsedTokens(NamedTuple):
    """What one or more answers of models took, to add to a session's.

    Args:
        input_tokens: That were sent.
        output_tokens: That came back.
        requests: How many requests.
        cached_tokens: Those of the tokens that were sent which the provider had kept.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0
    cached_tokens: int = 0

    def plus(self, other: "UsedTokens") -> "UsedTokens":
        """Both together."""
        return UsedTokens(*map(sum, zip(self, other, strict=True)))


class ChatCallRow(NamedTuple):
    """One call that the model wanted.

    Args:
        tool_id: Its name in the session; made here, never the provider's.
        arguments: JSON text of the arguments.
        kind: Where it runs.
        state: How far it is.
        call_id: The host's id of the call, once the host has taken it.
        definition_digest: The tool's definition as it was when the call was asked about.
        answered_by: Who approved or rejected it.
        result: What the model is told, as JSON text.
        envelope: How it ended, as JSON text for the person; kept when the model has been told.
        needs_approval: Of a client's call that waits: whether a person is to be asked before it runs.
        words: What its tool says that it would do, for the person; empty: its arguments say it.
    """

    session_id: str
    tool_id: str
    tool_name: str
    arguments: str
    kind: CallKind
    state: ChatCallState = "new"
    call_id: str = ""
    definition_digest: str = ""
    answered_by: str = ""
    result: str | None = None
    envelope: str | None = None
    needs_approval: int = 0
    words: str = ""

    @property
    def may_have_started(self) -> bool:
        """Whether somebody may have begun to run it: it is the host's that runs, or the client may run it by now."""
        is_with_client = self.kind == "client" and self.state in {"waiting", "rejected"} and not self.needs_approval
        return self.state == "running" or is_with_client


class ChatMessageRow(NamedTuple):
    """One message of a session.

    Args:
        number: Its place; grows over all sessions.
        time_ms: Milliseconds since 1970.
        kind: Who gets it.
        message: JSON text.
        page_shown: What a person sees of the page that went with it, as JSON text.
    """

    number: int
    time_ms: int
    kind: MessageKind
    message: str
    page_shown: str | None = None


class BroughtRow(NamedTuple):
    """What goes with a message of a person's, for its turn.

    Args:
        page: The page that the person looks at, as JSON text; None: there is none.
        client_tools: The tools that the client runs, as JSON text; None: there are none.
        page_shown: What a person sees of the page, as JSON text; None: nothing.
    """

    page: str | None = None
    client_tools: str | None = None
    page_shown: str | None = None


class NewMessage(NamedTuple):
    """A message to keep.

    Args:
        message: JSON text.
        kind: Who gets it.
        said: What is found by searching; empty: nothing.
        attachments: Ids of the artifacts that it holds: they stay as long as it does.
        brought: The page and the client's tools that the model has with a person's message.
    """

    message: str
    kind: MessageKind = "said"
    said: str = ""
    attachments: tuple[str, ...] = ()
    brought: BroughtRow | None = None


class ContextMessage(NamedTuple):
    """What the model is told in one place.

    Args:
        number: The message's number; 0: it is a summary.
        message: JSON text.
    """

    number: int
    message: str


class StoredCompaction(NamedTuple):
    """What of a session the model is told from now on in a shorter form.

    Args:
        notice: Says so to the person.
        shortened: What stands in place of messages, by their numbers.
        summary: What stands in place of the oldest messages; None: what stood there before.
        before: The first message that the model is still told beside a new summary.
        last_replaced: The last message that a new summary stands for.
        known_before: `summarised_before` as it was when this was made.
    """

    notice: NewMessage
    shortened: Mapping[int, str]
    summary: str | None
    before: int
    last_replaced: int
    known_before: int

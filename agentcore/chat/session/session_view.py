"""Sessions, messages and calls as a page sees them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.store.chat.message_queue import MessageTime

CallState = Literal["new", "waiting", "running", "done", "rejected", "failed", "interrupted", "cancelled"]


class View(BaseModel):
    """What goes out, in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, defer_build=True)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values under their camelCase names; absent values are left out."""
        return self.model_dump(by_alias=True, exclude_none=True, mode="json")


class ThreadView(View):
    """Where a sub-agent belongs: the call that runs it, and how deep."""

    parent_tool_id: str
    depth: int


class CallView(View):
    """One call."""

    tool_id: str
    tool_name: str
    arguments: dict[str, Any]
    kind: Literal["server", "client"]
    state: CallState
    call_id: str | None = None
    result: Annotated[dict[str, Any] | None, Field(description="The envelope of the call, once it ended.")] = None
    answered_by: str | None = None
    parent_tool_id: str | None = None
    words: Annotated[
        str | None, Field(description="What its tool says that it does, a line for each step, where it says that.")
    ] = None
    needs_approval: Annotated[
        bool | None, Field(description="Of a client's call that waits: whether a person is to be asked first.")
    ] = None
    client: Annotated[
        str | None, Field(description="Of a client's call that waits: the paired client that is to run it, if known.")
    ] = None


class CompactionView(View):
    """What was made shorter for the model; the person goes on seeing all of it."""

    shortened_results: Annotated[int, Field(description="Results that became one line with their artifact.")]
    cut_parts: Annotated[int, Field(description="Messages and results of which only both ends are left.")]
    replaced_messages: Annotated[int, Field(description="Messages in whose place the summary stands.")]
    summary: str | None = None
    tokens_before: Annotated[int, Field(description="What the messages took of the context, as estimated.")]
    tokens_after: int


class AttachmentView(View):
    """A file that came with a message; `GET /api/artifacts/{artifactId}` gives it."""

    artifact_id: str
    name: str
    mime: str
    bytes: int


class PageView(View):
    """The page that the person looked at when they sent a message."""

    url: str
    title: str
    elements: Annotated[int, Field(description="How many of its elements went with the message.")]
    selected_chars: Annotated[int, Field(description="How many characters of it were selected.")]


class MessageView(View):
    """One message."""

    number: int
    time: int
    role: Literal["user", "assistant", "notice"]
    text: str
    stopped: Annotated[bool | None, Field(description="Whether the person stopped this answer before its end.")] = None
    thinking: str | None = None
    calls: list[CallView] | None = None
    attachments: list[AttachmentView] | None = None
    page: PageView | None = None
    error: Annotated[dict[str, Any] | None, Field(description="What ended the turn here.")] = None
    thread: ThreadView | None = None
    compaction: Annotated[
        CompactionView | None, Field(description="What was made shorter here to stay within the model's context.")
    ] = None


class StreamingView(View):
    """The answer that comes just now."""

    text: str
    thinking: str


class ModelWaitView(View):
    """The provider cannot answer before a time, after which the request is sent again; or it reads a long request."""

    until: Annotated[int | None, Field(description="In milliseconds since 1970; absent for `reading`.")] = None
    reason: Annotated[
        Literal["rate_limited", "loading", "unavailable", "reading"],
        Field(
            description="`rate_limited`: it takes no more requests now; `loading`: a local server loads the model; "
            "`unavailable`: it failed, is overloaded, or cannot be reached; `reading`: it reads the request."
        ),
    ]
    read_tokens: Annotated[int | None, Field(description="Of `reading`: how much it has read.")] = None
    prompt_tokens: Annotated[int | None, Field(description="Of `reading`: how much there is.")] = None


class MessagesView(View):
    """Messages, oldest first; `eventId` is where the events go on that are not in them."""

    items: list[MessageView]
    has_more: bool
    streaming: StreamingView | None
    model_wait: ModelWaitView | None
    event_id: str


class QueuedMessageView(View):
    """A message of a person that waits for its turn."""

    message_id: str
    text: str
    attachments: list[str]
    when: Annotated[
        MessageTime,
        Field(description="`queue`: a turn of its own; `steer`: the next request of the present turn."),
    ]
    created_at: int
    page: PageView | None = None


class QueueView(View):
    """The messages of a session that wait, the next one first."""

    messages: list[QueuedMessageView]
    is_paused: Annotated[bool, Field(description="Whether they wait until a person lets them go on.")]


class QuestionView(View):
    """What a tool asks the person."""

    question_id: str
    kind: Annotated[
        Literal["text", "form", "address", "sample"],
        Field(
            description="What is asked for: words; `form` to be filled in; to open `url` and do there what the text "
            "says; or leave to have the session's model told the text, and to give the module what it writes."
        ),
    ] = "text"
    text: str
    asked_by: Annotated[str, Field(description="The module that asks.")] = ""
    host: Annotated[
        str, Field(description="The host on another machine that asks, and gets the answer; empty: the server.")
    ] = ""
    options: list[str] | None = None
    form: Annotated[dict[str, Any] | None, Field(description="JSON Schema of an object of plain fields.")] = None
    url: str | None = None
    tool_id: str | None = None
    requested_at: int
    expires_at: Annotated[int | None, Field(description="Left out: it waits as long as the session.")] = None


class UsageView(View):
    """What a session has used so far."""

    input_tokens: int
    output_tokens: int
    requests: int
    cached_tokens: Annotated[int, Field(description="Those of the input that the provider had kept.")]


class ContextView(View):
    """How full the context of a model was when it had answered last."""

    model: Annotated[str, Field(description="As `provider:model`.")]
    tokens: Annotated[int, Field(description="What it was sent and has answered, as its provider counts.")]
    limit_tokens: Annotated[int, Field(description="How long its context is.")]
    is_limit_known: Annotated[bool, Field(description="Nobody says it: then it is taken to be this long.")]


class TurnView(View):
    """How much of its limits the current or last turn of a session has used."""

    steps: Annotated[int, Field(description="Requests to the model.")]
    max_steps: int
    tokens: int
    max_tokens: int
    seconds: Annotated[int, Field(description="Working time, without the time in which it waited for the user.")]
    max_seconds: Annotated[int | None, Field(description="Left out: there is no limit of time.")] = None


class SessionView(View):
    """One chat session; `mode` is the one that counts, `ownMode` what was set for this session."""

    session_id: str
    title: str
    agent_id: str
    model: str
    mode: ApprovalMode
    own_mode: ApprovalMode | None
    host: Annotated[str, Field(description="The host on another machine that its calls go to; empty: the server.")]
    own_host: Annotated[str | None, Field(description="What was set for this session; left out: as its agent says.")]
    user_id: str
    created_at: int
    last_used_at: int
    is_running: bool
    waiting: Annotated[list[str], Field(description="Calls that wait for a person or for the client.")]
    questions: Annotated[int, Field(description="Questions of tools that wait for a person.")]


class SessionDetail(SessionView):
    """One chat session with what it has beside its messages."""

    todos: list[dict[str, Any]]
    question: QuestionView | None
    usage: UsageView
    context: ContextView | None
    turn: TurnView | None


class SessionsView(View):
    """Sessions, the last used first."""

    sessions: list[SessionView]
    has_more: bool

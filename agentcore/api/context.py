"""What a tool call gets from its host."""

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar, overload

from agentcore.api.resource import Resource
from agentcore.api.result import ArtifactLines, ArtifactLink, ToolResult
from agentcore.files.open_file import OpenFile
from agentcore.files.workspace import Workspace

T = TypeVar("T")

PrincipalKind = Literal["page", "token", "cli", "approver", "client", "chat", "mcp", "host", "module", "view", "server"]

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""How grave it is what a call says of its work, from the least on (RFC 5424)."""

KeyScope = Literal["approve", "chat", "tab"]
"""What the key of a paired client is for: deciding what waits, chats of its own, tabs that the person shares."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: the kind of credential that was shown, its id, and the scopes of a paired client's key."""

    kind: PrincipalKind
    id: str = ""
    scopes: frozenset[KeyScope] = frozenset()

    @property
    def name(self) -> str:
        """Both in one, for records: `client:phone`, `page:page_1a2b`; the kind alone where there is no id."""
        return f"{self.kind}:{self.id}" if self.id else self.kind


class Artifacts(Protocol):
    """Where a tool puts what is too large or too binary for its result, and finds it again.

    A model's call reaches the artifacts of its own session, a person's all. The result of a call that has read what
    comes from the open world is marked so.
    """

    async def save(self, data: bytes, *, mime: str, name: str) -> ArtifactLink:
        """Store bytes and give the link to put into the result.

        Raises:
            ToolError: `result_too_large`: the quota has no room for them.
        """
        ...

    async def load(self, artifact_id: str) -> bytes:
        """The stored bytes.

        Raises:
            ToolError: `artifact_not_found`.
        """
        ...

    async def describe(self, artifact_id: str) -> ArtifactLink:
        """What is known of it: media type, size, name.

        Raises:
            ToolError: `artifact_not_found`.
        """
        ...

    async def open(self, artifact_id: str) -> OpenFile:
        """All of it, open for passing it on in pieces, like a file of the workspace; close it, or use `with`.

        It does not count as read: a result that repeats what comes from the open world is `untrusted` by your own word.

        Raises:
            ToolError: `artifact_not_found`.
        """
        ...

    async def lines(self, artifact_id: str, first: int = 1, *, limit: int, chars: int) -> ArtifactLines:
        """Lines of a text from one on: at most `limit`, of about `chars` characters together.

        Raises:
            ToolError: `artifact_not_found`, `artifact_not_text`.
        """
        ...

    async def find_lines(self, artifact_id: str, query: str, first: int = 1, *, limit: int) -> ArtifactLines:
        """Lines from one on that hold a text, literally; of a long line the part around it.

        Raises:
            ToolError: `artifact_not_found`, `artifact_not_text`.
        """
        ...


class ChatSession(Protocol):
    """The chat session that a call belongs to, as far as a module may use it."""

    @property
    def todos(self) -> Sequence[Mapping[str, Any]]:
        """The session's list of things to do."""
        ...

    async def history(self) -> Sequence[Mapping[str, Any]]:
        """The messages so far, oldest first: `{number, time, role, text, calls?, …}` as the page gets them."""
        ...

    async def compact(self, summary: str | None = None, *, keep_turns: int) -> tuple[int, str]:
        """Put a summary in place of all but the last turns, as the host does when a session gets too long.

        The person goes on seeing all messages, and a notice of it. What the person said in the messages stays in their
        own words beside the summary, as far as there is room.

        Args:
            summary: The summary; None: the session's model writes it.
            keep_turns: How many turns stay; one begins with a message of the person's. With 0, only calls that go on.
        Returns:
            How many messages were replaced, and the summary; 0 and an empty text: there was nothing to replace.
        Raises:
            ToolError: `invalid_arguments`; or the model cannot be asked.
        """
        ...

    async def replace_with_summary(self, summary: str, *, keep_turns: int) -> int:
        """As `compact`, with a summary that is there; gives the number of messages replaced."""
        ...

    async def set_todos(self, todos: Sequence[Mapping[str, Any]]) -> None:
        """Replace the session's list of things to do; pages show it live."""
        ...


class ToolContext(Protocol):
    """One call, seen from inside the tool.

    `call_id` names the call in the record and in logs, `session_id` the session it belongs to, `deadline` is the
    event loop's time (`loop.time()`) at which it is cut off, `resource` the one that the host resolved (or None).
    """

    @property
    def call_id(self) -> str: ...
    @property
    def session_id(self) -> str: ...
    @property
    def principal(self) -> Principal: ...
    @property
    def resource(self) -> Resource | None: ...
    @property
    def deadline(self) -> float: ...
    @property
    def workspace(self) -> Workspace: ...
    @property
    def artifacts(self) -> Artifacts: ...

    @property
    def model_chars(self) -> int | None:
        """How many characters of the result's text the model gets that made this call; None: a program made it.

        A tool that can page gives a part of that size, and says how to get the next one. Of what is longer, the host
        keeps the whole as an artifact and cuts as the tool's `keep` says.
        """
        ...

    @property
    def is_cancelled(self) -> bool:
        """Whether the call was cancelled or ran out of time; a tool in a thread looks at it now and then."""
        ...

    def progress(self, fraction: float | None = None, message: str = "") -> None:
        """Tell whoever waits how far the call is; safe from threads, cheap, never waits.

        Args:
            fraction: Done so far, 0 to 1; None: unknown.
            message: A short line for a person.
        """
        ...

    def log(self, message: str, *, level: LogLevel = "info") -> None:
        """Tell the client that makes the call what happens in it, if it wants to know; safe from threads, never waits.

        A client of MCP says from which level on it wants to be told; nobody else is. 1,000 messages of a call are
        passed on, of 2,000 characters each. Secrets and page contents do not belong here.

        Args:
            message: What happened, in a line.
            level: How grave it is.
        """
        ...

    def show_output(self, text: str) -> None:
        """Show a person what the call writes, as it writes it; safe from threads, cheap, never waits.

        Pieces are put together in the order of the calls. Of much that comes at once the end is shown, and the end of
        all is kept until the call ends; the result says the rest.

        Args:
            text: What came since the last time; lines end with a newline.
        """
        ...

    def block_on(self, work: Coroutine[Any, Any, T]) -> T:
        """From a sync tool, which runs in a thread: wait for an async method of this context, and give what it gives.

        `found = ctx.block_on(ctx.call("glob", {"pattern": "*.md"}))`. It ends with the call.

        Raises:
            ToolError: `cancelled`: the call was cancelled or ran out of time; or what the method raises.
            RuntimeError: This is the event loop's own thread: an async tool awaits.
        """
        ...

    @overload
    async def ask(
        self,
        question: str,
        options: Sequence[str] | None = None,
        *,
        timeout_s: float = 300,
        is_secret: bool = False,
    ) -> str: ...
    @overload
    async def ask(self, question: str, *, schema: Mapping[str, Any], timeout_s: float = 300) -> dict[str, Any]: ...
    @overload
    async def ask(self, question: str, *, url: str, timeout_s: float = 300) -> None: ...
    async def ask(
        self,
        question: str,
        options: Sequence[str] | None = None,
        *,
        schema: Mapping[str, Any] | None = None,
        url: str | None = None,
        timeout_s: float = 300,
        is_secret: bool = False,
    ) -> str | dict[str, Any] | None:
        """Put a question to the person of this session and wait for the answer; the call's own clock stands meanwhile.

        The person of a call over MCP is asked by the client, where it shows forms. Each answer is checked.

        Args:
            question: What to ask.
            options: Answers to choose from; the person may write another one.
            schema: JSON Schema of a form, an object of texts, numbers, choices (`enum`), lists of choices, and
                booleans; the answer is what was filled in.
            url: An address that the person opens, and says that they are done there; there is no other answer. It is
                shown whole, and is never opened by itself.
            timeout_s: How long to wait, at most an hour.
            is_secret: Whether the answer is a password or the like, which no client of MCP gets to see: it is asked
                for in a chat of agentcore's own, or not at all.
        Raises:
            ToolError: `no_person`: nobody can be asked here, or nobody answered in time; `declined`: the person does
                not want to.
            ValueError: `url` is no plain address of a page.
        """
        ...

    async def sample(
        self, prompt: str, *, system: str = "", max_tokens: int = 1000, is_shown_first: bool = False
    ) -> str:
        """Have a model write a text, outside of any conversation.

        In a chat it is the session's model; of a call over MCP it is the client's, where it gives one.

        Args:
            prompt: All that it is told.
            system: What it is told first.
            max_tokens: How long the text may be.
            is_shown_first: Whether the person of a chat sees what the model is told, and allows it or not: for what
                does not come from the module itself. Clients of MCP show it of themselves.
        Raises:
            ToolError: `no_model`: there is none here; `no_person`, `declined`: it was not allowed; or what went wrong
                with the model.
        """
        ...

    async def client_roots(self) -> Sequence[str]:
        """The folders that the client of this call works in, as URIs; none where it does not say.

        What a client says of itself is no permission: tools reach what `workspace` reaches.
        """
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call another tool by name, with at most the rights of this call and within its deadline.

        Raises:
            ToolError: Whatever ended the other call.
        """
        ...

    async def ask_host(
        self, host: str, request: Mapping[str, Any], data: bytes | None = None, *, timeout_s: float = 30
    ) -> tuple[dict[str, Any], bytes | None]:
        """Ask the same module on a host on another machine, which answers by `Runtime.answer_hosts`.

        For calls of a module in the process of the server alone, that no other machine has begun: what another machine
        may reach is what it was asked to do, and no other machine. Nobody is asked about it: what goes where, the
        call's own preview says. Cancelling the call cancels what is asked.

        Args:
            host: The host's name; empty: this very module, here.
            request: JSON values, of at most 4 MiB.
            data: Bytes, of at most 4 MiB.
            timeout_s: How long to wait for the answer.
        Returns:
            The answer, JSON values that the other machine says: read them strictly; and its bytes, of at most 4 MiB.
        Raises:
            ToolError: `hosts_not_reachable`: the call may ask no host; `host_not_found`; `host_away`: it is not
                connected, or was lost before it answered; `host_has_no_module`: the module does not run there, or
                answers nothing; `host_timeout`; `message_too_large`; `host_failed`: the module there failed, or gave
                no answer that can be read; or what the module there raised.
        """
        ...

    @property
    def session(self) -> ChatSession:
        """The chat session.

        Raises:
            ToolError: `no_session`: the call does not come from a chat.
        """
        ...

    async def run_agent(
        self,
        prompt: str,
        tools: Sequence[str] | None = None,
        model: str | None = None,
        budget: Mapping[str, int] | None = None,
    ) -> str:
        """Let a sub-agent with a context of its own work on a prompt, and give its report.

        Its calls pass the same gate as those of the session's own model. It ends with this call.

        Args:
            prompt: All that it is told.
            tools: Patterns of the tools that it may call, out of those of the session's agent; None: all of these.
            model: Another model than the session's.
            budget: `steps` (requests to the model) and `tokens`, each at most what the agent's settings allow.
        Raises:
            ToolError: `no_session`: the call does not come from a chat; `budget_exceeded`, `nesting_too_deep`; or
                what went wrong at the model's provider.
        """
        ...

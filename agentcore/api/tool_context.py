"""The context of a tool call."""

from collections.abc import Coroutine, Mapping, Sequence
from typing import Annotated, Any, Literal, Protocol, TypeVar, overload

from pydantic import Field

from agentcore.api.operation import operation
from agentcore.api.resource import Resource
from agentcore.api.result import ArtifactLink, ToolResult
from agentcore.documents.text_lines import ArtifactLines
from agentcore.files.open_file import OpenFile
from agentcore.files.workspace import Workspace
from agentcore.late_dataclasses import dataclass

T = TypeVar("T")

PrincipalKind = Literal["page", "token", "cli", "approver", "client", "chat", "mcp", "host", "module", "view", "server"]

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""The severity of a log message of a call, from the lowest on (RFC 5424)."""

SampledTokens = Annotated[int, Field(ge=1, le=1_000_000)]
"""The maximum length of a sampled text, as a host may request it."""

KeyScope = Literal["approve", "chat", "tab"]
"""The permissions of a paired client's key: deciding approvals, its own chats, tabs that the user shares."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who makes a request: the kind of its credential, its id, and the scopes of a paired client's key."""

    kind: PrincipalKind
    id: str = ""
    scopes: frozenset[KeyScope] = frozenset()

    @property
    def name(self) -> str:
        """Both in one, for records: `client:phone`, `page:page_1a2b`; the kind alone where there is no id."""
        return f"{self.kind}:{self.id}" if self.id else self.kind


class Artifacts(Protocol):
    """Storage for results of a tool that are too large or too binary for the result itself.

    A model's call can read the artifacts of its own session, a user's all. The result of a call that has read
    untrusted content is marked as untrusted.
    """

    @operation("artifact.save", scope="call", is_repeatable=True)
    async def save(self, data: bytes, *, mime: str, name: str) -> ArtifactLink:
        """Store bytes and return the link to put into the result.

        Raises:
            ToolError: `result_too_large`: the quota is used up.
        """
        ...

    @operation("artifact.load", scope="call", is_repeatable=True, is_in_preview=True)
    async def load(self, artifact_id: str) -> bytes:
        """The stored bytes.

        Raises:
            ToolError: `artifact_not_found`.
        """
        ...

    @operation("artifact.describe", scope="call", is_repeatable=True, is_in_preview=True)
    async def describe(self, artifact_id: str) -> ArtifactLink:
        """Return its media type, size and name.

        Raises:
            ToolError: `artifact_not_found`.
        """
        ...

    @operation("artifact.open", scope="call", is_repeatable=True, is_in_preview=True)
    async def open(self, artifact_id: str) -> OpenFile:
        """Open it for reading in chunks, like a file of the workspace; close it, or use `with`.

        This does not count as reading: if the result repeats untrusted content, set `untrusted` yourself.

        Raises:
            ToolError: `artifact_not_found`.
        """
        ...

    @operation("artifact.lines", scope="call", is_repeatable=True, is_in_preview=True)
    async def lines(self, artifact_id: str, first: int = 1, *, limit: int, chars: int) -> ArtifactLines:
        """Lines of a text from one on: at most `limit`, of about `chars` characters together.

        Raises:
            ToolError: `artifact_not_found`, `artifact_not_text`.
        """
        ...

    @operation("artifact.find", scope="call", is_repeatable=True, is_in_preview=True)
    async def find_lines(self, artifact_id: str, query: str, first: int = 1, *, limit: int) -> ArtifactLines:
        """Return lines, starting at one, that contain a text literally; of a long line the part around it.

        Raises:
            ToolError: `artifact_not_found`, `artifact_not_text`.
        """
        ...


class ChatSession(Protocol):
    """The chat session of a call, as far as a module may use it."""

    @property
    def todos(self) -> Sequence[Mapping[str, Any]]:
        """The session's list of things to do."""
        ...

    @operation("session.history", scope="call", access="chat")
    async def history(self) -> Sequence[Mapping[str, Any]]:
        """The messages so far, oldest first: `{number, time, role, text, calls?, …}` as the page gets them."""
        ...

    @operation("session.work", scope="call", access="chat")
    async def list_work(self, artifacts: int) -> Mapping[str, Any]:
        """Return the resources, running sub-agents and newest artifacts of the session.

        It reads the present state, not the history, so that it is complete after a compaction, too.

        Args:
            artifacts: How many artifacts at most.
        Returns:
            `{resources, subAgents, artifacts}`: resources as on the wire, each with its `shortId`; sub-agents as
            `{callId, depth, prompt}`; artifacts as `{artifactId, name, mime, sizeBytes, createdAt}`, newest first.
        """
        ...

    @operation("session.summary", scope="call", access="chat")
    async def compact(self, summary: str | None = None, *, keep_turns: int) -> tuple[int, str]:
        """Replace all but the last turns by a summary, as the core does when a session gets too long.

        The user still sees all messages, and a notice about the summary. The user's own messages are kept verbatim
        beside the summary, as far as they fit.

        Args:
            summary: The summary; None: the session's model writes it.
            keep_turns: How many turns stay; a turn begins with a user message. With 0, only running calls stay.
        Returns:
            How many messages were replaced, and the summary; 0 and an empty text: there was nothing to replace.
        Raises:
            ToolError: `invalid_arguments`; or the request to the model failed.
        """
        ...

    async def replace_with_summary(self, summary: str, *, keep_turns: int) -> int:
        """As `compact`, with a given summary; return the number of messages replaced."""
        ...

    @operation("session.todos", scope="call", access="chat")
    async def set_todos(self, todos: Sequence[Mapping[str, Any]]) -> None:
        """Replace the session's to-do list; pages show it live."""
        ...


class ToolContext(Protocol):
    """One call, as its tool sees it.

    `call_id` is the id of the call in the record and in logs, `session_id` that of its session, `deadline` the
    event loop's time (`loop.time()`) at which the call is ended, `resource` the one that the core resolved (or None).
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
        """How many characters of the result's text the calling model gets; None: the caller is a program.

        A tool that can page returns a part of that size, and states how to get the next one. Longer results are stored
        as an artifact and cut as the tool's `keep` says.
        """
        ...

    @property
    def is_cancelled(self) -> bool:
        """True if the call was cancelled or ran out of time; a tool in a thread checks it regularly."""
        ...

    def progress(self, fraction: float | None = None, message: str = "") -> None:
        """Report the progress of the call; safe from threads, cheap, never waits.

        Args:
            fraction: Completed part, 0 to 1; None: unknown.
            message: A short line for the user.
        """
        ...

    def log(self, message: str, *, level: LogLevel = "info") -> None:
        """Send a log message to the client that makes the call, if it requests them; safe from threads, never waits.

        An MCP client sets the lowest level that it gets; no other client gets any. At most 1,000 messages of a call are
        sent, of 2,000 characters each. Do not include secrets or page contents.

        Args:
            message: What happened, in one line.
            level: Its severity.
        """
        ...

    def show_output(self, text: str) -> None:
        """Show the user the output of the call while it runs; safe from threads, cheap, never waits.

        Chunks are joined in the order of the calls. If much arrives at once, only its end is shown, and only the end of
        all output is stored until the call ends; the result contains the rest.

        Args:
            text: New output; lines end with a newline.
        """
        ...

    def block_on(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for an async method of this context from a sync tool, which runs in a thread, and return its result.

        `found = ctx.block_on(ctx.call("glob", {"pattern": "*.md"}))`. It ends with the call.

        Raises:
            ToolError: `cancelled`: the call was cancelled or ran out of time; or raised by the method.
            RuntimeError: This is the event loop's own thread: an async tool uses `await`.
        """
        ...

    @overload
    async def ask(
        self,
        question: str,
        options: Sequence[str] | None = None,
        *,
        timeout_s: float | None = 300,
        is_secret: bool = False,
    ) -> str: ...
    @overload
    async def ask(
        self, question: str, *, schema: Mapping[str, Any], timeout_s: float | None = 300
    ) -> dict[str, Any]: ...
    @overload
    async def ask(self, question: str, *, url: str, timeout_s: float | None = 300) -> None: ...
    @operation("tool.ask", scope="call")
    async def ask(
        self,
        question: str,
        options: Sequence[str] | None = None,
        *,
        schema: Mapping[str, Any] | None = None,
        url: str | None = None,
        timeout_s: float | None = 300,
        is_secret: bool = False,
    ) -> str | dict[str, Any] | None:
        """Ask the user of this session a question and wait for the answer; the call's clock stops meanwhile.

        For a call over MCP the client asks the user, if it supports forms. Each answer is validated.

        Args:
            question: The question.
            options: Suggested answers; the user may write another one.
            schema: JSON Schema of a form, an object of texts, numbers, choices (`enum`), lists of choices, and
                booleans; the answer is the filled-in form.
            url: An address that the user opens, and then confirms that they are done; there is no other answer. It is
                shown completely, and never opened automatically.
            timeout_s: How long to wait, at most an hour; None: as long as the session lasts, and over MCP an hour.
            is_secret: True if the answer is a password or similar, which MCP clients must not see: it is asked
                for only in agentcore's own chat.
        Raises:
            ToolError: `no_person`: no user is available, or answered in time; `declined`: the user refuses to answer.
            ValueError: `url` is not a plain address of a page.
        """
        ...

    @operation("tool.sample", scope="call", access="chat", narrowed={"max_tokens": SampledTokens})
    async def sample(
        self, prompt: str, *, system: str = "", max_tokens: int = 1000, is_shown_first: bool = False
    ) -> str:
        """Request a text from a model, outside any conversation.

        In a chat it is the session's model; for a call over MCP it is the client's, if it provides one.

        Args:
            prompt: The complete prompt.
            system: The system message.
            max_tokens: Maximum length of the text.
            is_shown_first: True to show the request to the user of a chat for approval: for text that
                does not come from the module itself. MCP clients show it anyway.
        Raises:
            ToolError: `no_model`: there is none here; `no_person`, `declined`: it was not approved; or an error of
                the model.
        """
        ...

    @operation("tool.roots", scope="call", access="chat")
    async def client_roots(self) -> Sequence[str]:
        """Return the folders that the client of this call works in, as URIs; none if it reports none.

        These are no permissions: tools can access only `workspace`.
        """
        ...

    @operation("call.sources", scope="call", access="chat", is_in_preview=True)
    async def untrusted_sources(self) -> Sequence[str]:
        """Return the sources of untrusted content that may have caused this call: what the model of its session has
        read, oldest first, such as names of web hosts and of tools.

        None for a user's own call. A tool that keeps what models write beyond the session keeps them with it.
        """
        ...

    @operation("call.nested", scope="call")
    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call another tool by name, with at most the rights of this call and within its deadline.

        Raises:
            ToolError: Whatever ended the other call.
        """
        ...

    async def ask_host(
        self, host: str, request: Mapping[str, Any], data: bytes | None = None, *, timeout_s: float = 30
    ) -> tuple[dict[str, Any], bytes | None]:
        """Send a request to the same module on a foreign machine, which answers by `Runtime.answer_hosts`.

        Only for calls of a module in the server process that were not started by another machine, so that no machine
        can reach another one. The request needs no approval of its own: the call's preview describes what is sent
        where. Cancelling the call cancels the request.

        Args:
            host: The host's name; empty: this very module, here.
            request: JSON values, of at most 4 MiB.
            data: Bytes, of at most 4 MiB.
            timeout_s: How long to wait for the answer.
        Returns:
            The answer, untrusted JSON values of the other machine that must be validated; and its bytes, of at most 4
            MiB.
        Raises:
            ToolError: `hosts_not_reachable`: the call may send no requests to hosts; `host_not_found`; `host_away`: it
                is not connected, or was lost before it answered; `host_has_no_module`: the module does not run there,
                or answers no requests; `host_timeout`; `message_too_large`; `host_failed`: the module there failed, or
                its answer is invalid; or raised by the module there.
        """
        ...

    @property
    def session(self) -> ChatSession:
        """The chat session.

        Raises:
            ToolError: `no_session`: the call does not come from a chat.
        """
        ...

    @operation("agent.run", scope="call", access="chat")
    async def run_agent(
        self,
        prompt: str,
        tools: Sequence[str] | None = None,
        model: str | None = None,
        budget: Mapping[str, int] | None = None,
    ) -> str:
        """Run a sub-agent with its own context on a prompt, and return its report.

        Its calls need the same approvals as those of the session's own model. It ends with this call.

        Args:
            prompt: The complete prompt.
            tools: Patterns of the tools that it may call, out of those of the session's agent; None: all of these.
            model: Another model than the session's.
            budget: `steps` (requests to the model) and `tokens`, each at most what the agent's settings allow.
        Raises:
            ToolError: `no_session`: the call does not come from a chat; `budget_exceeded`, `nesting_too_deep`; or
                an error of the model's provider.
        """
        ...

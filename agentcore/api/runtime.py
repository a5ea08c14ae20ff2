"""The services that a module gets when it starts."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import BaseModel

from agentcore.api.host_info import AnswerHosts, HostInfo
from agentcore.api.login import Login
from agentcore.api.module_data import Secrets, Storage
from agentcore.api.operation import AtMost, Matches, operation
from agentcore.api.report import ReadReport
from agentcore.api.requirement import Requirement
from agentcore.api.resource import Resources
from agentcore.api.tool_context import KeyScope
from agentcore.api.web import Route, RouteHandler, RouteKind
from agentcore.files.workspace import Workspace
from agentcore.limits import CHAT_START_CHARS, FOREIGN_INSTRUCTIONS_CHARS
from agentcore.net.url_policy import UrlPolicy

if TYPE_CHECKING:
    from agentcore.supervision.control_files.control_files import ControlFiles

EventName = Annotated[str, Matches(r"[A-Za-z0-9_.-]{1,100}", "the name of an event")]
Outcome = Annotated[str, Matches(r"[a-z][a-z0-9_]{0,63}", "a word in snake_case")]
ServedAddress = Annotated[str, Matches(r"\S{1,2000}", "an address without spaces")]
Instructions = Annotated[str, AtMost(FOREIGN_INSTRUCTIONS_CHARS)]
ToolName = Annotated[str, Matches(r"[A-Za-z0-9_-]{1,64}", "the name of a tool")]
StartText = Annotated[str, AtMost(CHAT_START_CHARS)]


WaitReason = Literal["login", "network", "program", "retry"]
"""What a module waits for that runs but cannot work; see `Runtime.set_waiting`."""

_WaitReasonText = Annotated[str, Matches("(login|network|program|retry)?", "login, network, program, retry or empty")]


class Runtime(Protocol):
    """A module's access to the core, from `init` to `shutdown`."""

    @property
    def name(self) -> str:
        """The module's name."""
        ...

    @property
    def settings(self) -> Any:
        """The validated settings: an instance of the module's `Settings`, or a dict where it has none."""
        ...

    @property
    def data_dir(self) -> Path:
        """The module's own folder in the state folder; exists, mode 0700, persistent."""
        ...

    @property
    def private_folders(self) -> tuple[Path, ...]:
        """Folders with the keys and records of the server; what a tool runs has no need to see them."""
        ...

    @property
    def secrets(self) -> Secrets:
        """The module's own secrets, such as the tokens of a login."""
        ...

    @property
    def storage(self) -> Storage:
        """Persistent bytes of the module, wherever else it runs for its server."""
        ...

    @property
    def workspace(self) -> Workspace:
        """The folders that tools may touch."""
        ...

    @property
    def control_files(self) -> "ControlFiles":
        """Protects the files that decide what runs outside of the sandbox, for each confined program.

        To run a program in a `Sandbox` that can write the workspace, call `control_files.begin`, wrap it with the
        `hold` of that run, and watch its end. Control files that the program creates or changes are quarantined, and
        reported to the user, without further action of the module.
        """
        ...

    @property
    def locale(self) -> Literal["en", "zh"]:
        """The language for texts for users; definitions, results and errors are for models, in English."""
        ...

    @property
    def resources(self) -> Resources:
        """The module's resources."""
        ...

    def add_route(
        self,
        method: str,
        path: str,
        handler: RouteHandler,
        *,
        body: type[BaseModel] | None = None,
        query: type[BaseModel] | None = None,
        kind: RouteKind = "json",
        watching: type[BaseModel] | None = None,
        scope: KeyScope | None = None,
    ) -> Route:
        """Serve a path under `/api/modules/NAME/`, or one that the module declares in `claims`.

        Args:
            method: `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
            path: Absolute; `{name}` matches one segment. A path without a leading slash is relative to
                `/api/modules/NAME/`.
            handler: Gets a `Request` and returns a `Response`; a raised `ToolError` becomes an error object.
            body: Model of the JSON body; invalid bodies are refused before the handler.
            query: Model of the query.
            kind: `json` responds once, `stream` with an async iterator, `websocket` communicates by `request.socket`.
            watching: Of a WebSocket that shows something: the model of the messages (JSON) that only serve watching,
                such as a viewer's flow control. Opening it needs no decision then; any other message of a page that is
                not confirmed yet is refused with `{"type": "error", "error": {…}}`. Without it,
                such a page cannot open the socket.
            scope: The key of a paired client with this scope can use the route too, including a browser
                extension's: `request.principal` is then of kind `client`, with its name as id and its scopes. Its
                connections end when the key is revoked. None: the route is for no paired client.
        Raises:
            ValueError: The module may not serve the path, or it is served already.
        """
        ...

    def url_policy(
        self,
        *,
        allow_private: bool = False,
        allowed_hosts: Sequence[str] = (),
        blocked_hosts: Sequence[str] = (),
        schemes: frozenset[str] = frozenset(("http", "https")),
    ) -> UrlPolicy:
        """Return a policy for web addresses that knows the current and future addresses of this server.

        The arguments are those of `UrlPolicy`; the distribution must depend on `agentcore-runtime[urls]`.

        Raises:
            ValueError: A pattern names no host.
            ImportError: The extra is not installed.
        """
        ...

    @operation("event.publish", scope="module", narrowed={"event": EventName})
    def publish(self, event: str, data: Mapping[str, Any], *, session_id: str | None = None) -> None:
        """Publish the event `NAME.event` to pages and subscribers; never waits.

        `id`, `type`, `time` and `sessionId` are the event's own: fields of `data` with these names are left out.

        Raises:
            ValueError: The module's name is the prefix of the server's own events, such as `session` or `call`.
        """
        ...

    def subscribe(self, pattern: str, handler: Callable[[Mapping[str, Any]], None]) -> Callable[[], None]:
        """Call a handler for events whose type matches (`call.*`); it must not wait. Return a function that
        unsubscribes."""
        ...

    @operation("note", scope="module")
    def note(self, subject: str, said: str, *, advice: str = "") -> None:
        """Report a diagnostic for `agentcore doctor`, and with advice also in the page.

        Args:
            subject: What it is about, such as a required program; a later diagnostic replaces it.
            said: The finding.
            advice: What to do about it; empty: there is no problem.
        """
        ...

    @operation("waiting", scope="module", narrowed={"reason": _WaitReasonText})
    def set_waiting(
        self, reason: WaitReason | Literal[""], said: str = "", *, output: str = "", retry_in_s: float | None = None
    ) -> None:
        """Report that the module runs, but cannot work until something has happened; every list of modules shows it.

        Args:
            reason: `login`: the user has to log in; `network`: the network has to be back; `program`: a program has to
                be installed; `retry`: it is tried again by itself; empty: it works.
            said: Why, in a sentence.
            output: The end of what a program wrote whose failure it was, line by line.
            retry_in_s: When it is tried again, in seconds from now; None: that is not known.
        """
        ...

    def give_report(self, read: ReadReport) -> None:
        """Provide a report on the current status of the module, for its page and for a trial start.

        Args:
            read: Returns the report, within 10 s; called repeatedly while it is shown, so it must be cheap.
        """
        ...

    def offer_login(self, login: Login) -> None:
        """Let the user log in at a service that the module needs: on its page, or at the command line.

        Args:
            login: Implements it. Each step has a minute, and must not wait for the user.
        """
        ...

    def declare_requirement(self, requirement: Requirement) -> None:
        """Declare what the module needs on this machine, such as a program; it is shown, and can be installed.

        Declare it before anything in `init` that fails without it, so that it is shown for a failed module as well:
        once it is installed, the module is started again. Its name also works in a `ToolError`: a call that fails with
        `requirement=NAME` among its context offers the installation to the user.

        Args:
            requirement: Its `info` is read at once. Declaring a name again replaces it.
        Raises:
            TypeError: The description is wrong.
            ValueError: The module has declared too many.
        """
        ...

    @operation("record", scope="module", renamed={"call_id": "call"}, narrowed={"outcome": Outcome})
    def record(self, outcome: str, details: Mapping[str, Any], *, call_id: str = "", session_id: str = "") -> None:
        """Write a notice into the record of calls, beside the calls themselves; never waits.

        Args:
            outcome: What happened, snake_case.
            details: JSON values that describe it for the user; never secrets.
            call_id: The call that caused it; empty: none.
            session_id: The session that it belongs to; empty: none.
        """
        ...

    @operation("definitions", scope="module")
    def tools_changed(self) -> None:
        """Have `get_tool_definitions` asked again, because the module's tools are others now."""
        ...

    @operation("instruct", scope="module", narrowed={"text": Instructions})
    def instruct(self, text: str) -> None:
        """Set instructions for models about the module's tools in addition to `instructions`, if they are known only
        now.

        For a module with `definitions_need_review` the user reviews them first, and again when they change.

        Args:
            text: At most 2,000 characters; empty: nothing more.
        Raises:
            ValueError: It is longer.
        """
        ...

    @operation("chats.tell", scope="module", narrowed={"tool": ToolName, "text": StartText, "untrusted": StartText})
    def tell_new_chats(self, tool: str, text: str, *, untrusted: str = "") -> None:
        """Set a text that the model of each new chat gets, such as what can be looked up with a tool; never waits.

        A chat keeps the text that was set when it began, also over a restart, so that its requests go on beginning with
        the same bytes. The user sees it in *What the model is told*, and can leave it out. Texts of a module on another
        machine, and of one with `definitions_need_review`, are not used.

        Args:
            tool: The tool of the module that the text is about: only models that may call it get the text.
            text: At most 8,000 characters, in the language of `locale`; empty: nothing. In a small context a model gets
                its beginning, up to the end of a line.
            untrusted: More text, of as many characters, that content from outside may have caused. It is marked as
                data, and a chat that gets it counts as one that has read untrusted content.
        Raises:
            ValueError: It is longer.
        """
        ...

    @operation("served.changed", scope="module", narrowed={"address": ServedAddress})
    def served_changed(self, address: str) -> None:
        """Notify watching clients that the content of a resource that the module serves has changed; never waits.

        Args:
            address: Its address: that of `@tool(served_as=…)`, with values in place of the names in it. Clients
                then read it by a call of the tool. Many changes in quick succession are reported once.
        """
        ...

    def hosts(self) -> Sequence[HostInfo]:
        """Return the paired foreign machines, by name, connected or not.

        The event `hosts.changed` is published when one is paired or removed, `host.stateChanged` when one connects or
        disconnects. A module that runs outside the server process gets none.
        """
        ...

    def answer_hosts(self, handler: AnswerHosts) -> None:
        """Answer requests of the same module on the server, made with `ToolContext.ask_host`.

        The server sends them within permitted calls, and no other machine can; still, validate requests
        strictly, and use `workspace` for paths in them. A cancelled request cancels the handler.

        Args:
            handler: Gets the request, JSON values, and its bytes; returns the answer, and bytes of its
                own. A raised `ToolError` is raised there.
        """
        ...

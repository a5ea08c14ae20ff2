"""What a module gets when it starts."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from agentcore.api.context import KeyScope
from agentcore.api.hosts import AnswerHosts, HostInfo
from agentcore.api.login import Login
from agentcore.api.report import ReadReport
from agentcore.api.requirement import Requirement
from agentcore.api.resource import Resources
from agentcore.api.secrets import Secrets, Storage
from agentcore.api.web import Route, RouteHandler, RouteKind
from agentcore.files.workspace import Workspace
from agentcore.net.url_policy import UrlPolicy
from agentcore.supervision.control import ControlFiles


class Runtime(Protocol):
    """A module's way to its host, from `init` to `shutdown`."""

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
        """A folder of the module's own in the state folder; exists, mode 0700, kept over restarts."""
        ...

    @property
    def private_folders(self) -> tuple[Path, ...]:
        """Folders with the keys and records of the server; what a tool runs has no need to see them."""
        ...

    @property
    def secrets(self) -> Secrets:
        """What the module keeps to itself, such as the tokens of a log-in."""
        ...

    @property
    def storage(self) -> Storage:
        """What the module finds again under a name, wherever else it runs for its server."""
        ...

    @property
    def workspace(self) -> Workspace:
        """The folders that tools may touch."""
        ...

    @property
    def control_files(self) -> ControlFiles:
        """The guard of the files that decide what runs outside of the sandbox, for each confined program.

        Who runs a program in a `Sandbox` that can write the workspace begins with `control_files.begin`, wraps it with
        the `hold` of that run, and has its end watched. What the program makes of control files is quarantined, and
        reported to the user, with no more of the module's doing.
        """
        ...

    @property
    def locale(self) -> Literal["en", "zh"]:
        """The language for texts that a person reads; definitions, results and errors are for models, in English."""
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
            path: Absolute; `{name}` stands for one segment. A path without a leading slash is relative to
                `/api/modules/NAME/`.
            handler: Gets a `Request` and gives a `Response`; a raised `ToolError` becomes an error object.
            body: Model of the JSON body; wrong bodies are refused before the handler.
            query: Model of the query.
            kind: `json` answers once, `stream` with an async iterator, `websocket` talks through `request.socket`.
            watching: Of a WebSocket that shows something: the model of the messages (JSON) that serve watching alone,
                such as a viewer's flow control. Opening it asks nobody then; any other message of a page that has yet
                to be confirmed to act is held back, and answered with `{"type": "error", "error": {…}}`. Without it,
                such a page cannot open the socket.
            scope: The scope with which the key of a paired client opens the route too, a browser extension's among
                them: `request.principal` is then of kind `client`, with its name as id and its scopes. Its connections
                end when the key is revoked. None: the route is for no paired client.
        Raises:
            ValueError: The path is not the module's to serve, or is served already.
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
        """A policy for addresses of the web that knows where this server can be reached, now and later.

        The arguments are those of `UrlPolicy`; the distribution has to ask for `agentcore-runtime[urls]`.

        Raises:
            ValueError: A pattern names no host.
            ImportError: The extra is not installed.
        """
        ...

    def publish(self, event: str, data: Mapping[str, Any], *, session_id: str | None = None) -> None:
        """Publish the event `NAME.event` to pages and to whoever subscribed; never waits.

        `id`, `type`, `time` and `sessionId` are the event's own: fields of `data` that are called so are left out.

        Raises:
            ValueError: The module is called as the server's own events begin, such as `session` or `call`.
        """
        ...

    def subscribe(self, pattern: str, handler: Callable[[Mapping[str, Any]], None]) -> Callable[[], None]:
        """Be told of events whose type matches (`call.*`); the handler must not wait. Gives the way to end it."""
        ...

    def note(self, subject: str, said: str, *, advice: str = "") -> None:
        """Say something about the module's surroundings, for `agentcore doctor`, and in the page where there is advice.

        Args:
            subject: What it is about, such as the kind of a program that is needed; a later note replaces it.
            said: What was found.
            advice: What to do about it; empty: all is well.
        """
        ...

    def give_report(self, read: ReadReport) -> None:
        """Let people see how the module is just now: on its page, and where it is started alone to be looked at.

        Args:
            read: Gives the report, within 10 s; asked again and again while somebody looks, so it does little.
        """
        ...

    def offer_login(self, login: Login) -> None:
        """Let a person log in at a service that the module needs: on its page, or at the command line.

        Args:
            login: Does it. Each of its steps has a minute, in which it waits for no person.
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

    def record(self, outcome: str, details: Mapping[str, Any], *, call_id: str = "", session_id: str = "") -> None:
        """Write a notice into the record of calls, beside the calls themselves; never waits.

        Args:
            outcome: What happened, snake_case.
            details: JSON values that say it to a person; never secrets.
            call_id: The call that it came of; empty: of none.
            session_id: Whose it is; empty: nobody's.
        """
        ...

    def tools_changed(self) -> None:
        """Have `get_tool_definitions` asked again, because the module's tools are others now."""
        ...

    def instruct(self, text: str) -> None:
        """Say what models are told of the module's tools beside its `instructions`, where that is known only now.

        Of a module with `definitions_need_review` a person sees it first, and again when it is another.

        Args:
            text: At most 2,000 characters; empty: nothing more.
        Raises:
            ValueError: It is longer.
        """
        ...

    def served_changed(self, address: str) -> None:
        """Tell clients that watch it that a resource which the module serves gives something else now; never waits.

        Args:
            address: What it is read by: that of `@tool(served_as=…)`, with values in place of the names in it. Who
                reads it then calls the tool. Of many changes within a moment clients are told once.
        """
        ...

    def hosts(self) -> Sequence[HostInfo]:
        """The hosts on other machines that were let in, by name, connected or not.

        The event `hosts.changed` tells when one was let in or forgotten, `host.stateChanged` when one comes or goes.
        A module that runs elsewhere than in the process of the server is told of none.
        """
        ...

    def answer_hosts(self, handler: AnswerHosts) -> None:
        """Answer what the same module on the server asks this one, by `ToolContext.ask_host`.

        The server asks within calls that it was permitted to make, and no other machine can: what is asked still is
        read strictly, and paths in it go through `workspace`. A request that is cancelled cancels the handler.

        Args:
            handler: Gets the request, JSON values, and the bytes that come with it; gives the answer, and bytes of its
                own. A raised `ToolError` is raised there.
        """
        ...

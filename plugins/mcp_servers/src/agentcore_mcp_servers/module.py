"""`McpServer`: the module for one MCP server."""

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Container, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit

import mcp_types as types
import structlog
from mcp.client.client import Client
from mcp.client.session import IncomingMessage

from agentcore.api import (
    Background,
    Caches,
    Confinement,
    Folder,
    Module,
    OwnHome,
    Pace,
    ReadableResource,
    Report,
    Runtime,
    Sandbox,
    SandboxRequirement,
    Supervisor,
    ToolContext,
    ToolDefinition,
    ToolError,
    WaitReason,
    holds_secret,
    mask_secrets,
)
from agentcore_mcp_servers.block import ServerBlock
from agentcore_mcp_servers.definitions import create_definition
from agentcore_mcp_servers.denials import explain_denial
from agentcore_mcp_servers.folders import BlockFolders
from agentcore_mcp_servers.http_transport import ServerAddress, ServerLogin, checked_headers
from agentcore_mcp_servers.link import START_SECONDS, Carrier, create_client
from agentcore_mcp_servers.names import assign_names, default_prefix, tool_name
from agentcore_mcp_servers.process import Confined, Launch, ServerProcess
from agentcore_mcp_servers.prompts import convert_prompt_result, create_prompt_definition
from agentcore_mcp_servers.reporting import create_report
from agentcore_mcp_servers.resources import (
    TOOL,
    convert_resources,
    create_resources_definition,
    list_all_resources,
    list_all_templates,
    list_or_read_resources,
)
from agentcore_mcp_servers.results import convert_result
from agentcore_mcp_servers.server import Pauses, Server
from agentcore_mcp_servers.server_requests import Asked
from agentcore_mcp_servers.views import TOOL as TOOL_OF_VIEWS
from agentcore_mcp_servers.views import Shown, create_reading_definition, read_for_view, read_views, shows_views

log = structlog.get_logger(__name__)

T = TypeVar("T")

_NOTES = 20
_INSTRUCTIONS_CHARS = 2_000
_BESIDES_SECONDS = 10.0
_NEWS = (
    types.ToolListChangedNotification,
    types.PromptListChangedNotification,
    types.ResourceListChangedNotification,
)
"""Notifications after which the server's lists are read again."""
_NEWS_SECONDS = 60.0
_NEWS_AT_ONCE = 10
_NEWS_INTERVAL_SECONDS = 10.0
_SAID = 100
_SAID_CHARS = 2_000
_SETTING = "`agentcore.sandbox` in the server's block"
_ADVICE = (
    "Without it the server reads what you can read, keys included. Once bubblewrap is installed, reload the module"
)
_LOG_IN = "Log in on the module's page, or with `agentcore mcp login {name}`"
_IN_ENV = "Put it into `env` of the block if the server reads it there, or use the server's address with `headers`"
_SPARE_SECONDS = 30.0
_WAITS_FOR: Mapping[str, WaitReason] = {"network": "network", "program": "program"}


class McpServer(Module):
    """An MCP server."""

    definitions_need_review: ClassVar[bool] = True
    init_timeout_s: ClassVar[float | None] = START_SECONDS + _SPARE_SECONDS

    def __init__(self, name: str, block: ServerBlock) -> None:
        super().__init__()
        self._name = name
        self._block = block
        self._prefix = block.agentcore.prefix or default_prefix(name)
        self._supervisor = Supervisor()
        self._background = Background(f"{name}:news")
        self._listed: dict[str, types.Tool] = {}
        self._notes: dict[str, None] = {}
        self._prompts: dict[str, types.Prompt] = {}
        self._resources_tool: str | None = None
        self._readable: tuple[ReadableResource, ...] = ()
        self._reading_tool: str | None = None
        self._shown: dict[str, Shown] = {}
        self._server: Server | None = None
        self._login: ServerLogin | None = None
        self._sandbox: Sandbox | None = None
        self._process: ServerProcess | None = None
        self._said: deque[str] = deque(maxlen=_SAID)
        self._is_other = False
        self._news_pace = Pace(_NEWS_AT_ONCE, _NEWS_INTERVAL_SECONDS)
        self._reading: asyncio.Task[None] | None = None
        self._later: asyncio.Task[None] | None = None
        self._asked = Asked(default_prefix(name), None, may_sample=block.agentcore.sampling)

    async def init(self, runtime: Runtime) -> None:
        """Start the server and read its tools.

        A server that does not start is tried again, so its module loads all the same; its tools are read afterwards.

        Raises:
            ToolError: The server cannot be run as its block says, or its tools cannot be read.
        """
        if self._block.command is not None:
            # A remote server has no use for the paths of local folders.
            folders = BlockFolders(self._block, runtime.workspace.roots)
            may_sample = self._block.agentcore.sampling
            self._asked = Asked(default_prefix(self._name), folders.told, may_sample=may_sample)
            self._sandbox = await self._find_sandbox(runtime, folders)
            self._warn_of_secrets(runtime)
        self._login = await self._find_login(runtime)
        self._server = Server(
            runtime.name,
            self._create_carrier,
            self._make_client,
            self._on_restarted,
            self._asked.ask_to_open_urls,
            on_away=self._on_unavailable,
            path=self._supervisor.environment().get("PATH"),
            login=self._login,
        )
        runtime.give_report(self._build_report)
        if await self._server.start():
            await self._read_first_tools()

    async def _read_first_tools(self) -> None:
        try:
            await self._read_tools()
        except ToolError as exc:
            if exc.type == "invalid_result" or exc.context.get("code") == types.PARSE_ERROR:
                raise  # what it lists cannot be read, and will not be another time
            self._read_later(exc)

    def _read_later(self, failure: ToolError) -> None:
        """Read the tools of a server that is connected, but does not list them now, such as one whose own service is
        out of reach."""
        if self._login is not None and self._login.is_needed:
            self._report_login(is_in=False)  # it answers the handshake, and nothing else, without a log-in
        elif self._later is None or self._later.done():
            self._later = self._background.start(self._read_until_listed(failure))

    async def _read_until_listed(self, failure: ToolError) -> None:
        pauses = Pauses()
        while self._login is None or not self._login.is_needed:
            pause_s = pauses.next_pause_s(0.0)
            self._on_unavailable(failure, pause_s)
            await asyncio.sleep(pause_s)
            try:
                await self._refresh_tools()
            except ToolError as exc:
                failure = exc
            else:
                self.runtime.set_waiting("")
                return
        self._report_login(is_in=False)

    async def shutdown(self) -> None:
        """Stop the server and all of its processes."""
        await self._background.stop()
        if self._login is not None:
            await self._login.close()
        server = self._server
        self._server = None
        if server is not None:
            await server.close()
        await self._supervisor.close()
        await self.runtime.control_files.wait(self.runtime.name)
        if self._sandbox is not None:
            await self._sandbox.close()

    def get_tool_definitions(self) -> list[ToolDefinition]:
        """Return definitions of the server's tools, prompts and resources under their names in agentcore."""
        definitions = [
            create_definition(tool, name, self._block, self._shown[tool.name]) for name, tool in self._listed.items()
        ]
        completes = (
            None if self._server is None or self._server.capabilities.completions is None else self._complete_argument
        )
        definitions += [
            create_prompt_definition(prompt, name, self._block, completes) for name, prompt in self._prompts.items()
        ]
        if self._resources_tool is not None:
            definitions.append(create_resources_definition(self._resources_tool, self._block, self._readable))
        if self._reading_tool is not None:
            definitions.append(create_reading_definition(self._reading_tool, self._block))
        return definitions

    async def execute_tool_call(self, ctx: ToolContext, tool_name: str, args: dict[str, Any]) -> Any:
        """Forward a call to the server.

        Raises:
            ToolError: `unknown_tool`, and those of `Server` and of the conversion of results.
        """
        assert self._server is not None  # noqa: S101 - the host calls tools between `init` and `shutdown`
        if tool_name == self._resources_tool:
            with self._asked.serving_call(ctx):
                return await list_or_read_resources(self._server, args, ctx.artifacts)
        if tool_name in self._prompts:
            with self._asked.serving_call(ctx):
                made = await self._server.get_prompt(self._prompts[tool_name].name, args)
            return await convert_prompt_result(made, ctx.artifacts)
        if tool_name == self._reading_tool:
            with self._asked.serving_call(ctx):
                return await read_for_view(self._server, args["uri"])
        tool = self._listed.get(tool_name)
        if tool is None:
            raise ToolError("unknown_tool", f"the server does not list {tool_name!r} any more", tool=tool_name)

        async def report_progress(progress: float, total: float | None, message: str | None) -> None:
            share = progress / total if total else None
            ctx.progress(None if share is None else min(max(share, 0.0), 1.0), mask_secrets(message or "")[:500])

        with self._asked.serving_call(ctx):
            try:
                result = await self._server.call(tool.name, args, report_progress)
            except ToolError as exc:
                if exc.type == "login_needed" and self._login is not None and self._login.is_needed:
                    self._report_login(is_in=False)
                raise
        try:
            return await convert_result(result, ctx.artifacts)
        except ToolError as exc:
            if exc.type != "tool_failed":
                raise
            raise ToolError(exc.type, self._with_denial(exc.message, exc.message), untrusted=True) from exc

    async def _complete_argument(self, tool: str, argument: str, begun: str, given: dict[str, str]) -> list[str]:
        prompt = self._prompts.get(tool)
        if self._server is None or prompt is None:
            return []
        return await self._server.complete(prompt.name, argument, begun, given)

    # -- the server --------------------------------------------------------------------------------------------

    def _create_carrier(self) -> Carrier:
        block = self._block
        if block.url is not None:
            return self._create_address_carrier(block.url)
        assert block.command is not None  # noqa: S101 - the block has one of both
        sandbox = self._sandbox
        assert sandbox is not None  # noqa: S101 - `init` has found it
        env = {name: value.get_secret_value() for name, value in block.env.items()}
        given = self._supervisor.environment()
        launch = Launch(
            (block.command, *block.args),
            given | sandbox.environment(given) | env,
            self._open_folder,
            Confined(sandbox, self.runtime.workspace.roots, self.runtime.control_files, self.runtime.name),
        )
        self._process = ServerProcess(self._supervisor, launch, self._add_diagnostic)
        return self._process

    def _warn_of_secrets(self, runtime: Runtime) -> None:
        """Warn about secrets in arguments, which other users of the machine can see in the process list."""
        args = self._block.args
        if any(holds_secret(argument, before) for before, argument in zip(("", *args), args, strict=False)):
            message = "an argument of the command holds a secret, which other users of this machine can see"
            runtime.note("secret in args", message, advice=_IN_ENV)

    async def _find_sandbox(self, runtime: Runtime, folders: BlockFolders) -> Sandbox:
        """Create the server's sandbox, which hides credentials and agentcore's state; the workspace is writable.

        The server has a home folder of its own, which stays when it ends.
        """
        caches = Caches(runtime.data_dir / "cache", Path.home())
        mode = self._block.agentcore.sandbox
        requested = Confinement(
            mode,
            True,
            runtime.private_folders,
            folders.writable,
            caches,
            _SETTING,
            readable=folders.readable,
            home=OwnHome(runtime.data_dir / "home", Path.home(), folders.shown_home),
        )
        if mode != "off":
            # A separate instance, because a running server cannot be moved into a sandbox that is installed later.
            runtime.declare_requirement(SandboxRequirement(Sandbox(requested)))
        sandbox = await Sandbox.find(requested)
        await sandbox.settle()
        if sandbox.is_wanted and not sandbox.is_on:
            runtime.note("sandbox", f"the server runs without one: {sandbox.reason}", advice=_ADVICE)
        return sandbox

    def _create_address_carrier(self, url: str) -> Carrier:
        headers = checked_headers(self._block.headers)
        host = urlsplit(url).netloc.rpartition("@")[2]
        # The user configured this host, so it may be in a private network; no other host may be.
        policy = self.runtime.url_policy(allow_private=True, allowed_hosts=(host,))
        auth = None if self._login is None else self._login.auth
        return ServerAddress(url, headers, policy, self._add_diagnostic, auth=auth, is_sse=self._block.type == "sse")

    async def _find_login(self, runtime: Runtime) -> ServerLogin | None:
        """Load the login of a remote server; None for a command, or if the block has an `Authorization` header."""
        url = self._block.url
        named = {name.lower() for name in self._block.headers}
        if url is None or "authorization" in named:
            return None
        login = ServerLogin(runtime, url, self._block.agentcore.login, self._on_login)
        await login.load()
        runtime.offer_login(login)
        return login

    async def _on_login(self, is_in: bool) -> None:
        """Connect and read the tools again after the user has logged in; they may differ from before."""
        assert self._server is not None  # noqa: S101 - the log-in ends before it
        self._report_login(is_in=is_in)
        if not is_in:
            return
        try:
            await self._refresh_tools()
        except ToolError as exc:
            self._add_diagnostic(f"after the log-in: {exc.message}")

    async def _on_restarted(self) -> None:
        self.runtime.set_waiting("")
        try:
            await self._refresh_tools()
        except ToolError as exc:
            self._read_later(exc)
            raise

    def _on_unavailable(self, failure: ToolError, pause_s: float | None) -> None:
        """Report why the server could not be started, or lists no tools.

        Args:
            failure: The reason.
            pause_s: The pause before the next attempt, in seconds; None: it waits until the user has logged in.
        """
        if pause_s is None:
            self._report_login(is_in=False)
            return
        reason = _WAITS_FOR.get(str(failure.context.get("waits_for")), "retry")
        output = str(failure.context.get("output") or "")
        said = self._with_denial(failure.message, output)
        self.runtime.set_waiting(reason, said, output=output, retry_in_s=pause_s)

    def _with_denial(self, message: str, said: str) -> str:
        """Return a message with what the sandbox has probably refused, if what the server said indicates that."""
        words = (*self._block.args, *(value.get_secret_value() for value in self._block.env.values()))
        denial = explain_denial(said, words, self._sandbox)
        return f"{message} {denial}" if denial else message

    def _report_login(self, *, is_in: bool) -> None:
        message = "a person has logged in" if is_in else "the server wants a person to log in"
        self.runtime.note("login", message, advice="" if is_in else _LOG_IN.format(name=self._name))
        self.runtime.set_waiting("" if is_in else "login", "" if is_in else message)

    def _make_client(self, carrier: Carrier) -> Client:
        return create_client(
            carrier,
            client_info=types.Implementation(name="agentcore", version="1"),
            message_handler=self._on_message,
            logging_callback=self._on_log,
            cache=None,
            extensions=[shows_views()],
            **self._asked.build_callbacks(),
        )

    def _open_folder(self) -> Folder:
        path = BlockFolders(self._block, self.runtime.workspace.roots).own
        if path is None:
            return self.runtime.workspace.working_folder()
        return Folder(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))

    async def _on_message(self, message: IncomingMessage) -> None:
        if not isinstance(message, _NEWS):
            return
        self._is_other = True
        if self._reading is None or self._reading.done():
            self._reading = self._background.start(self._refresh_on_change())

    async def _refresh_on_change(self) -> None:
        """Read the changed lists, once for all notifications so far: a server may send any number of them."""
        while self._is_other:
            # A server may send a notification each time that its lists are read.
            await asyncio.sleep(self._news_pace.delay_s(asyncio.get_running_loop().time()))
            self._is_other = False
            try:
                async with asyncio.timeout(_NEWS_SECONDS):
                    await self._refresh_tools()
            except TimeoutError:
                self._add_diagnostic(
                    f"what has changed there is not known: it did not list it within {_NEWS_SECONDS:g} s"
                )

    async def _on_log(self, params: types.LoggingMessageNotificationParams) -> None:
        said = mask_secrets(str(params.data))[:_SAID_CHARS]
        log.debug("mcp_server_said", module=self._name, level=params.level, said=said)
        self._said.append(f"[{params.level}] {said}")

    async def _build_report(self) -> Report:
        assert self._server is not None  # noqa: S101 - the host asks between `init` and `shutdown`
        names = {name: entry.name for kept in (self._listed, self._prompts) for name, entry in kept.items()}
        log = "" if self._process is None else self._process.log
        return await create_report(self._server, names, log, (*self._notes, *self._said))

    # -- its tools ---------------------------------------------------------------------------------------------

    async def _refresh_tools(self) -> None:
        before = self._list_offered()
        await self._read_tools()
        if self._list_offered() != before:
            self.runtime.tools_changed()

    async def _read_tools(self) -> None:
        assert self._server is not None  # noqa: S101
        await self._server.wait_until_connected()  # without a connection it seems to have no tools
        listed = [] if self._server.capabilities.tools is None else await self._server.list_tools()
        requested = [tool for tool in listed if self._block.offers_tool(tool.name)]
        shown = await read_views(self._server, requested, self._add_diagnostic)
        offered = [tool for tool in requested if shown[tool.name].is_offered]
        names, refused = assign_names(self._prefix, [tool.name for tool in offered])
        for said in refused:
            self._add_diagnostic(said)
        by_original = {tool.name: tool for tool in reversed(offered)}
        self._listed = {name: by_original[original] for name, original in names.items()}
        self._shown = shown
        # many advertise resources, and have none
        self._resources_tool = self._tool_for_resources(TOOL) if await self._read_resources() else None
        has_views = any(each.view is not None for each in shown.values())
        self._reading_tool = self._tool_for_resources(TOOL_OF_VIEWS) if has_views else None
        self._prompts = await self._read_prompts({*self._listed, self._resources_tool, self._reading_tool})
        if self._block.agentcore.instructions:
            self.runtime.instruct(_shorten_instructions(self._server.instructions))

    def _list_offered(self) -> tuple[object, ...]:
        return self._listed, self._shown, self._prompts, self._resources_tool, self._reading_tool, self._readable

    async def _read_resources(self) -> bool:
        """Read the lists of resources and templates; return True if there are any."""
        assert self._server is not None  # noqa: S101
        resources = await self._request_optional("resources", list_all_resources(self._server)) or []
        templates = await self._request_optional("resource templates", list_all_templates(self._server)) or []
        self._readable = convert_resources(resources, templates)
        return bool(resources or templates)

    async def _request_optional(self, what: str, asked: Awaitable[T]) -> T | None:
        """Await an optional request and return None with a diagnostic if it fails or takes more than 10 s."""
        try:
            async with asyncio.timeout(_BESIDES_SECONDS):
                return await asked
        except ToolError as exc:
            self._add_diagnostic(f"its {what} are left out: {exc.message}")
        except TimeoutError:
            self._add_diagnostic(f"its {what} are left out: it did not list them within {_BESIDES_SECONDS:g} s")
        return None

    async def _read_prompts(self, taken: Container[str | None]) -> dict[str, types.Prompt]:
        """Read the prompts that are offered, by their names in agentcore; tools win name conflicts."""
        assert self._server is not None  # noqa: S101
        if self._server.capabilities.prompts is None:
            return {}
        listed = await self._request_optional("prompts", self._server.list_prompts()) or []
        offered = {prompt.name: prompt for prompt in reversed(listed) if self._block.offers_tool(prompt.name)}
        names, refused = assign_names(self._prefix, [prompt.name for prompt in listed if prompt.name in offered])
        for name in (name for name in names if name in taken):
            refused.append(f"its prompt {names[name]!r} would be {name!r}, which is a tool; it is left out")
        for said in refused:
            self._add_diagnostic(said)
        return {name: offered[original] for name, original in names.items() if name not in taken}

    def _tool_for_resources(self, called: str) -> str | None:
        """Return the name of a built-in tool that reads resources; None if it is not offered or has no free name."""
        name = tool_name(self._prefix, called)
        if self._server is None or self._server.capabilities.resources is None or not self._block.offers_tool(called):
            return None
        if name in self._listed:
            self._add_diagnostic(
                f"its tool {self._listed[name].name!r} has the name {name!r}, so its resources have none"
            )
            return None
        return name

    def _add_diagnostic(self, said: str) -> None:
        """Record a non-fatal problem of the server, each once and at most 20."""
        if said not in self._notes and len(self._notes) < _NOTES:
            self._notes[said] = None
            log.warning("mcp_server_is_odd", module=self._name, said=said)


def _shorten_instructions(instructions: str) -> str:
    said = mask_secrets(instructions.strip())
    return said if len(said) <= _INSTRUCTIONS_CHARS else f"{said[: _INSTRUCTIONS_CHARS - 1]}…"

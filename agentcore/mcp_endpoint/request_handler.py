"""The endpoint for MCP clients: answers their requests through the core. Knows no transport."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import version
from typing import Any, Literal, TypeVar

import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.runner import ServerRunner
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.dispatcher import DispatchContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types.methods import serialize_server_result
from mcp_types.version import LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import SecretStr

from agentcore.api import Background
from agentcore.chat.turn.toolbox import FIND_TOOLS
from agentcore.chat.untrusted_text import use_mark
from agentcore.core.calls.call import CallOutcome, ModelReader
from agentcore.core.calls.module_starts import find_when_started, wait_for_starts
from agentcore.core.calls.result_shortening import ArtifactReading
from agentcore.core.core import Core
from agentcore.core.modules.module_record import RegisteredTool
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.limits import APPROVAL_SECONDS
from agentcore.mcp_endpoint.app_views import VIEW_URI, shows_views, view_contents, with_data
from agentcore.mcp_endpoint.caller import Caller
from agentcore.mcp_endpoint.client_artifacts import ClientArtifacts
from agentcore.mcp_endpoint.client_calls import ClientCalls
from agentcore.mcp_endpoint.inputs import DirectInputs, Inputs, NoInputs, can_be_asked
from agentcore.mcp_endpoint.mcp_results import ARTIFACT_URI, to_error, to_mcp
from agentcore.mcp_endpoint.progress_notifications import CallReporter, ClientReporter
from agentcore.mcp_endpoint.prompts_and_resources import Served, to_completion, to_contents, to_prompt
from agentcore.mcp_endpoint.rounds import ApprovalRequired, Rounds
from agentcore.mcp_endpoint.subscriptions import Watching
from agentcore.mcp_endpoint.tool_catalog import CALL_TOOL, Catalog

_NAME = "agentcore"
_CHANGES: Mapping[str, Callable[[], ToolsListChanged | PromptsListChanged | ResourcesListChanged]] = {
    "tools": ToolsListChanged,
    "prompts": PromptsListChanged,
    "resources": ResourcesListChanged,
}
_NO_INPUTS = NoInputs()
_INSTRUCTIONS = (
    "Tools of a person's own machine. A person may have to approve a call: a result that says `approval_required` "
    "tells where. Tell them, and send the same call again once they have; it runs once. Results that are too long are "
    "cut, and say how the rest is read."
)

Context = ServerRequestContext[Any, Any]
Params = TypeVar("Params", bound=types.InputResponseRequestParams)
Channel = DispatchContext[TransportContext]
ListKind = Literal["tools", "prompts", "resources"]
"""A list that clients request, and are notified of changes of."""

_GATHER_SECONDS = 0.1
"""Time in which changes are gathered to one notification: at the start, modules become ready one by one."""

CallerOf = Callable[[Context], Caller]
"""Returns the client behind a request, to which the transport has attached it."""


class McpEndpoint:
    """Answers the requests of clients, over any transport.

    Args:
        core: Runs the calls.
        caller_of: Returns the client behind a request.

    Attributes:
        server: The SDK's registry of handlers, for a transport to drive.
        calls: The calls of all clients.
        on_resource_changed: Called with the address of a resource that has changed.
        on_lists_changed: Called with the lists that have changed.
    """

    def __init__(self, core: Core, caller_of: CallerOf) -> None:
        self._registry = core.registry
        self._events = core.events
        self._record = core.store.record
        self._complete = core.complete_argument
        self._caller_of = caller_of
        self._catalog = Catalog(core.registry)
        self._served = Served(core.registry)
        self.calls = ClientCalls(core.run_call, core.approvals, core.events)
        self.on_resource_changed: Callable[[str], None] = lambda uri: None
        self.on_lists_changed: Callable[[Collection[ListKind]], None] = lambda kinds: None
        self._rounds = Rounds()
        self._artifacts = ClientArtifacts(core.store.artifacts)
        self._watching = Watching(core.events, self._served, self._find_resource, self._notify_resource_changed)
        self._changes = InMemorySubscriptionBus()
        self._listeners = ListenHandler(self._changes)
        self._background = Background("mcp:changes")
        self._unsubscribe = core.events.subscribe("tools.changed", lambda _: self._notify_lists_changed_soon())
        self._timer: asyncio.TimerHandle | None = None
        self._known_lists = self._served.snapshot_lists()
        self.server = _Server(
            _NAME,
            version=version("agentcore-runtime"),
            title="agentcore",
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
            on_list_resource_templates=self._list_templates,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete_argument,
            on_subscribe_resource=self._subscribe_resource,
            on_unsubscribe_resource=self._unsubscribe_resource,
            on_subscriptions_listen=self._listen_for_changes,
        )
        self.server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._set_log_level)
        self.server.middleware.clear()  # it creates spans that are not collected: the core records calls
        self._states = _seal_states(core.state.token, caller_of)

    @property
    def handshake(self) -> InitializationOptions:
        """The information that is sent to a client when it connects."""
        return self.server.create_initialization_options(
            NotificationOptions(tools_changed=True, prompts_changed=True, resources_changed=True)
        )

    def header_schema(self, caller: Caller, name: str) -> dict[str, Any] | None:
        """Return the schema of a tool's arguments if it requires some of them in headers too; else None."""
        return self._catalog.header_schema(caller, name)

    def is_subscribed(self, caller: Caller, uri: str) -> bool:
        """True if a session is notified of changes of a resource."""
        return self._watching.is_subscribed(caller, uri)

    async def close(self) -> None:
        """End background tasks and detached calls."""
        self._unsubscribe()
        if self._timer is not None:
            self._timer.cancel()
        self._watching.close()
        self._listeners.close()
        await self._background.stop()
        await self._rounds.close()
        await self.calls.close()

    def _notify_lists_changed_soon(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_GATHER_SECONDS, self._notify_lists_changed)

    def _notify_lists_changed(self) -> None:
        self._timer = None
        before = self._known_lists
        self._known_lists = self._served.snapshot_lists()
        # prompts and resources are declared as tools, so the event does not say which list has changed
        changed: list[ListKind] = [
            "tools",
            *(kind for kind in ("prompts", "resources") if before[kind] != self._known_lists[kind]),
        ]
        for kind in changed:
            self._background.start(self._changes.publish(_CHANGES[kind]()))
        self.on_lists_changed(changed)

    def _notify_resource_changed(self, uri: str) -> None:
        self._background.start(self._changes.publish(ResourceUpdated(uri=uri)))
        self.on_resource_changed(uri)

    def answer_request(
        self, runner: ServerRunner[Any], channel: Channel, method: str, params: dict[str, Any] | None
    ) -> Awaitable[dict[str, Any]]:
        """Answer a request of a client: a tool call directly, anything else through the SDK's runner.

        Args:
            runner: Holds the client's connection.
            channel: The channel to the client, with its identity.
            method: The method.
            params: The parameters.
        Raises:
            MCPError: It cannot be answered.
            ValidationError: The parameters are not valid.
        """
        if method == "tools/call" and params is not None and _is_current_revision(runner.connection):
            return self._call_without_validation(runner.connection, channel, params)
        return runner.on_request(channel, method, params)

    async def _call_without_validation(
        self, connection: Connection, channel: Channel, given: dict[str, Any]
    ) -> dict[str, Any]:
        """Answer a call in the newest two revisions, without validating its parameters and its result twice."""
        params = types.CallToolRequestParams.model_validate(given, by_name=False)
        metadata = channel.message_metadata
        ctx: Context = ServerRequestContext(
            session=ServerSession(channel, connection, request_meta=params.meta),
            lifespan_context={},
            method="tools/call",
            params=given,
            request_id=channel.request_id,
            meta=params.meta,
            protocol_version=connection.protocol_version,
            request=metadata.request_context if isinstance(metadata, ServerMessageMetadata) else None,
        )
        result = await self._call_tool(ctx, params)
        said: dict[str, Any] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        if isinstance(result, types.InputRequiredResult):
            said = serialize_server_result("tools/call", connection.protocol_version, said)
        if connection.protocol_version == LATEST_HANDSHAKE_VERSION:
            del said["resultType"]
            return said
        said["_meta"] = {**said.get("_meta", {}), types.SERVER_INFO_META_KEY: self.server.server_info_stamp}
        return said

    # -- requests ----------------------------------------------------------------------------------------------

    async def _list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        caller = self._caller_of(ctx)
        cursor = None if params is None else params.cursor
        if cursor is None and not caller.listed:
            # at its first list: few clients notice tools that are added later
            await wait_for_starts(self._registry, self._events, caller.tools_wait_s)
            await self._choose_listed(caller)
        try:
            return self._catalog.list_tools_page(
                caller, cursor, with_views=shows_views(ctx.session.client_capabilities)
            )
        except ToolError as exc:
            raise MCPError(types.INVALID_PARAMS, exc.message, exc.to_json()) from exc

    async def _choose_listed(self, caller: Caller) -> None:
        """Choose the tools of a client's list, by how often it has called them, once for its session."""
        if not caller.listed and caller.is_model:
            used = await self._record.count_calls_by_tool(caller.principal.id)
            self._catalog.choose_listed(caller, used)

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> Any:
        return await self._serve_in_rounds(ctx, params, self._answer_call)

    async def _serve_in_rounds(
        self, ctx: Context, params: Params, serve: Callable[[Context, Params], Awaitable[Any]]
    ) -> Any:
        """Serve a request that may be sent again with a state, which is unsealed before and sealed afterwards."""
        if not _has_rounds(ctx, params):
            return await serve(ctx, params)

        async def opened(ctx: Context) -> Any:
            state = None if ctx.params is None else ctx.params.get("requestState")
            return await serve(ctx, params.model_copy(update={"request_state": state}))

        return await self._states(ctx, opened)

    async def _answer_call(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        caller = self._caller_of(ctx)
        name = params.name
        arguments = params.arguments or {}
        use_mark(caller.mark)
        with_views = shows_views(ctx.session.client_capabilities)
        try:
            if name == FIND_TOOLS and caller.is_model:
                return await self._find_tools(ctx, caller, arguments)
            if name == CALL_TOOL and caller.is_model:
                # used by models only: views call their tools by name
                (name, arguments) = _parse_inner_call(arguments)
                with_views = False
            tool = await self._find_tool(caller, name, with_views=with_views)
            outcome = await self._run_call(ctx, params, caller, tool, arguments)
        except ToolError as exc:
            return to_error(exc)
        except ApprovalRequired as wanted:
            return wanted.result
        if isinstance(outcome, types.InputRequiredResult):
            return outcome
        _check_missing_capability(ctx, outcome)
        reading = ArtifactReading(self._registry.tools, ModelReader(may_call=caller.may_use_tool))
        is_for_model = caller.is_model and tool.definition.served_as is None
        result = to_mcp(outcome, tool.definition.name, reading, for_model=is_for_model)
        return with_data(result, outcome) if with_views and isinstance(tool.definition.view, str) else result

    async def _find_tool(self, caller: Caller, name: str, *, with_views: bool) -> RegisteredTool:
        async def find_now() -> RegisteredTool:
            return self._catalog.get_tool(caller, name, with_views=with_views)

        return await find_when_started(find_now, self._registry, self._events, name, None)

    async def _run_call(
        self,
        ctx: Context,
        params: types.InputResponseRequestParams,
        caller: Caller,
        tool: RegisteredTool,
        arguments: dict[str, Any],
    ) -> CallOutcome | types.InputRequiredResult:
        tell = ClientReporter(ctx, caller)
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return await self.calls.call_tool(caller, tool, arguments, tell, DirectInputs(ctx))
        if not _has_rounds(ctx, params):
            return await self.calls.call_tool(caller, tool, arguments, tell, _NO_INPUTS)
        capabilities = ctx.session.client_capabilities or types.ClientCapabilities()

        def start_call(inputs: Inputs, report: CallReporter) -> Awaitable[CallOutcome]:
            return self.calls.call_tool(caller, tool, arguments, report, inputs)

        outcome: CallOutcome | types.InputRequiredResult = await self._rounds.answer_request(
            capabilities, params, tell, start_call
        )
        return outcome

    async def _find_tools(self, ctx: Context, caller: Caller, arguments: dict[str, Any]) -> types.CallToolResult:
        before = list(caller.found)
        with_views = shows_views(ctx.session.client_capabilities)
        found = self._catalog.search_tools(caller, arguments, with_views=with_views)
        if caller.found != before:
            await ctx.session.send_tool_list_changed()
        text = to_json(found).decode()
        return types.CallToolResult(content=[types.TextContent(text=text)])

    # -- prompts and resources ----------------------------------------------------------------------------------

    async def _list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=self._served.list_prompts(self._caller_of(ctx)))

    async def _get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> Any:
        return await self._serve_in_rounds(ctx, params, self._make_prompt)

    async def _make_prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        caller = self._caller_of(ctx)
        use_mark(caller.mark)

        async def find_now() -> RegisteredTool:
            return self._served.get_prompt(caller, params.name)

        with _convert_tool_errors():
            tool = await find_when_started(find_now, self._registry, self._events, params.name, None)
            outcome = await self._call_served(ctx, params, caller, tool, dict(params.arguments or {}))
            if isinstance(outcome, types.InputRequiredResult):
                return outcome
            outcome.unwrap()
        reading = ArtifactReading(self._registry.tools, ModelReader(may_call=caller.may_use_tool))
        result = to_mcp(outcome, tool.definition.name, reading, for_model=caller.is_model)
        return to_prompt(result.content, tool.definition.description)

    async def _complete_argument(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        tool = self._served.find_completed_tool(self._caller_of(ctx), params.ref)
        argument = params.argument
        if tool is None:
            return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))
        given = {} if params.context is None else params.context.arguments or {}
        return to_completion(await self._complete(tool, argument.name, argument.value, given))

    async def _list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        caller = self._caller_of(ctx)
        cursor = None if params is None else params.cursor
        listed = await self._artifacts.list_resources(caller, cursor)
        served = self._served.list_resources(caller) if cursor is None else []
        return listed.model_copy(update={"resources": [*served, *listed.resources]})

    async def _list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=self._served.list_templates(self._caller_of(ctx)))

    async def _read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> Any:
        return await self._serve_in_rounds(ctx, params, self._answer_read)

    async def _answer_read(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        caller = self._caller_of(ctx)
        uri = str(params.uri)
        with _convert_tool_errors():
            await self._wait_for_resource(caller, uri)
            if uri.startswith(VIEW_URI):
                return view_contents(uri, self._catalog.get_view(caller, uri))
            found = self._served.find_resource(caller, uri)
            if found is None:
                with self.calls.counted(caller):  # each may hold 4 MiB in memory
                    return await self._artifacts.read_resource(caller, uri)
            outcome = await self._call_served(ctx, params, caller, *found)
            if isinstance(outcome, types.InputRequiredResult):
                return outcome
            return await to_contents(uri, outcome, lambda stored: self._read_artifact(caller, stored))

    async def _read_artifact(self, caller: Caller, artifact_id: str) -> types.ReadResourceResult:
        with self.calls.counted(caller):  # each may hold 4 MiB in memory
            return await self._artifacts.read_resource(caller, ARTIFACT_URI + artifact_id)

    # -- subscriptions -------------------------------------------------------------------------------------------

    async def _set_log_level(self, ctx: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        self._caller_of(ctx).wishes.log_level = params.level
        return types.EmptyResult()

    async def _subscribe_resource(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        caller = self._caller_of(ctx)
        uri = str(params.uri)
        with _convert_tool_errors():
            await self._wait_for_resource(caller, uri)
            await self._watching.add_subscription(caller, uri)
        return types.EmptyResult()

    async def _unsubscribe_resource(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._caller_of(ctx).wishes.resources.pop(str(params.uri), None)
        return types.EmptyResult()

    async def _listen_for_changes(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        requested = params.notifications
        caller = self._caller_of(ctx)
        if requested.resource_subscriptions:
            await wait_for_starts(self._registry, self._events, caller.tools_wait_s)
        uris = await self._watching.filter_readable(caller, requested.resource_subscriptions)
        readable = requested.model_copy(update={"resource_subscriptions": uris})
        return await self._listeners(ctx, params.model_copy(update={"notifications": readable}))

    async def _wait_for_resource(self, caller: Caller, uri: str) -> None:
        """Wait while a module that may serve an address is starting.

        Raises:
            ToolError: `module_starting`; or this client has no such resource.
        """

        async def find_now() -> None:
            if uri.startswith(VIEW_URI):
                self._catalog.get_view(caller, uri)
            elif self._served.find_resource(caller, uri) is None:
                await self._artifacts.find_artifact(caller, uri)

        if not uri.startswith(ARTIFACT_URI):  # those are of no module
            await find_when_started(find_now, self._registry, self._events, uri[:200], None)

    async def _find_resource(self, caller: Caller, uri: str) -> None:
        if uri.startswith(VIEW_URI):
            self._catalog.get_view(caller, uri)
        elif self._served.find_resource(caller, uri) is None:
            await self._artifacts.find_artifact(caller, uri)
        elif not self._served.is_watchable(caller, uri):
            message = f"changes of {uri[:200]!r} are not reported here; read it again when you need it"
            raise ToolError("not_watchable", message, uri=uri[:200])

    async def _call_served(
        self,
        ctx: Context,
        params: types.InputResponseRequestParams,
        caller: Caller,
        tool: RegisteredTool,
        arguments: dict[str, Any],
    ) -> CallOutcome | types.InputRequiredResult:
        try:
            outcome = await self._run_call(ctx, params, caller, tool, arguments)
        except ApprovalRequired as wanted:
            return wanted.result
        if isinstance(outcome, CallOutcome):
            _check_missing_capability(ctx, outcome)
        return outcome


@contextmanager
def _convert_tool_errors() -> Iterator[None]:
    """Convert an error to one of the protocol, where it cannot be part of a result."""
    try:
        yield
    except ToolError as exc:
        raise MCPError(types.INVALID_PARAMS, exc.message, exc.to_json()) from exc


class _Server(Server[Any]):
    """The SDK's server, without its deep copy of the server information for each answer."""

    @property
    def server_info_stamp(self) -> dict[str, Any]:
        """The information about this server in each answer of the newest revision; must not be modified."""
        return self._stamp

    @cached_property
    def _stamp(self) -> dict[str, Any]:
        return self.server_info.model_dump(by_alias=True, mode="json", exclude_none=True)


def _is_current_revision(connection: Connection) -> bool:
    """True if the connection uses one of the newest two revisions, with what these require of the client."""
    if connection.protocol_version == LATEST_HANDSHAKE_VERSION:
        return connection.initialize_accepted
    return connection.protocol_version in MODERN_PROTOCOL_VERSIONS and connection.client_params is not None


def _has_rounds(ctx: Context, params: types.InputResponseRequestParams) -> bool:
    """True if a request may end with a request to its client, or continues one that did."""
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return False
    capabilities = ctx.session.client_capabilities
    return params.request_state is not None or (capabilities is not None and can_be_asked(capabilities))


def _seal_states(token: SecretStr, caller_of: CallerOf) -> RequestStateBoundary:
    """Create the seal of states that clients send back: bound to client, tool and arguments, and with an expiry."""
    key = hashlib.sha256(b"requestState of MCP " + token.get_secret_value().encode()).digest()
    security = RequestStateSecurity(
        keys=[key], ttl=APPROVAL_SECONDS, bind_principal=lambda ctx: caller_of(ctx).principal.name
    )
    return RequestStateBoundary(security, default_audience=_NAME)


def _check_missing_capability(ctx: Context, outcome: CallOutcome) -> None:
    """Check that a call did not fail for a missing capability of its client; the newest revision has an error for that.

    Raises:
        MCPError: The call failed because its client cannot sample.
    """
    error = outcome.error
    if error is None or error.type != "no_model" or ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return
    if ctx.session.client_capabilities is None or ctx.session.client_capabilities.sampling is None:
        missing: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, error.message, missing)


def _parse_inner_call(arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    name = arguments.get("name")
    inner = arguments.get("arguments", {})
    if not isinstance(name, str) or not isinstance(inner, dict):
        message = f"{CALL_TOOL} takes name, a text, and arguments, an object, as {FIND_TOOLS} gave them"
        raise ToolError("invalid_arguments", message)
    return name, inner

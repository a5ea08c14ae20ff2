"""The HTTP application: routes requests to handlers and turns every error into a response."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

import structlog
from aiohttp import hdrs, web

from agentcore.api import Principal
from agentcore.core.core import Core
from agentcore.core.modules.module_routes import ModuleRoute, RouteTable
from agentcore.core.policy.authority import authorise, authorise_route, find_reach
from agentcore.errors import ToolError
from agentcore.server.addresses import Addresses
from agentcore.server.exchange import Exchange, ServerParts
from agentcore.server.gate import ANYBODY, Credentials, Gate
from agentcore.server.http.application import ServerApplication
from agentcore.server.http.connection import Connection, ConnectionFactory
from agentcore.server.http.cross_origin import add_cross_origin_head, answer_preflight
from agentcore.server.http.descriptors import connection_limit
from agentcore.server.http.event_streams import EventStreams
from agentcore.server.http.live_connections import REVOCABLE, LiveConnections
from agentcore.server.http.reader import BodyReader, validate_body, validate_query
from agentcore.server.http.refusal import Refusal, answer_error
from agentcore.server.http.response import Answer, Sent
from agentcore.server.http.server_limits import APPROVAL_CONNECTIONS, Hits, TimeLimits
from agentcore.server.http.unread_answers import UNREAD_ANSWERS
from agentcore.server.late_chat import LateChat
from agentcore.server.live_control import LiveControl
from agentcore.server.mcp_transports.lazy_endpoint import McpEntrance
from agentcore.server.mcp_transports.mcp_routes import MCP_PATH
from agentcore.server.mcp_transports.pipes import Pipes
from agentcore.server.modules.enabling import ModuleSwitch
from agentcore.server.modules.host_views import HostViews
from agentcore.server.modules.module_route_handler import serve_module_route
from agentcore.server.modules.module_view import ModuleViews
from agentcore.server.modules.tool_views import ToolViews
from agentcore.server.page.cookie_help import cookie_help
from agentcore.server.route_table import Found, RouteGroup, ServerRoute, load_all_routes, route_finder
from agentcore.server.routes import APPROVAL_GROUPS, APPS_GROUPS, ROUTE_GROUPS

log = structlog.get_logger(__name__)

Reply = Answer | Sent | web.WebSocketResponse
_NO_ROUTES = RouteTable()


class Dispatcher:
    """Answers every request to one origin.

    Args:
        parts: Objects that the handlers share.
        groups: The server's own routes at this origin.
        serves_modules: True if the routes of modules are served at this origin.
        pipes: Accepts clients that connect through `agentcore mcp`; None: they cannot connect.

    Attributes:
        parts: The same, with `connections` counting those of this origin.
        connections: The open connections, once the server listens.
    """

    def __init__(
        self,
        parts: ServerParts,
        groups: tuple[RouteGroup, ...],
        *,
        serves_modules: bool = True,
        pipes: Pipes | None = None,
    ) -> None:
        self.pipes = pipes
        self.connections: ConnectionFactory | None = None
        self._routes = route_finder(groups)
        self._serves_modules = serves_modules
        self.parts = replace(
            parts, connections=lambda: 0 if self.connections is None else self.connections.open_connections
        )

    async def answer_request(self, request: web.BaseRequest) -> Reply:
        """Answer a request. Every error except cancellation and a lost connection becomes a response."""
        try:
            if self.parts.addresses.port == 0:
                self._learn_port(request)
            return await self._route_request(request)
        except (asyncio.CancelledError, ConnectionError):
            raise
        except Exception as exc:  # noqa: BLE001 - whatever it is becomes an answer
            return add_cross_origin_head(request, _error_answer(request, exc))

    def _learn_port(self, request: web.BaseRequest) -> None:
        """Read the port from the first connection, if the code that bound the socket let the system choose it."""
        name = request.get_extra_info("sockname")
        if name is None:
            return
        addresses = Addresses(name[1], self.parts.addresses.hosts)
        self.parts.core.own_origins.declare("page", addresses.origins)
        gate = Gate(addresses, self.parts.gate.credentials, self.parts.hits)
        self.parts = replace(self.parts, addresses=addresses, gate=gate)

    async def _route_request(self, request: web.BaseRequest) -> Reply:
        path, _, raw_query = request.raw_path.partition("?")
        if not path.startswith("/"):
            raise Refusal(HTTPStatus.BAD_REQUEST, "invalid_request", "the target must be a path", closes=True)
        gate = self.parts.gate
        if gate.check_origin(request, is_api=not _is_document(path)):
            return add_cross_origin_head(request, await self._answer_extension(request, path, raw_query))
        found = await self._find_route(request.method, path)
        if found is None:
            return await self._answer_other(request, await self._identify_principal(request, path), path, raw_query)
        route, values = found
        if route.action is None:
            return await self._run_handler(route, Exchange(self.parts, request, ANYBODY, path, values, raw_query))
        principal = await self._identify_principal(request, path)
        authorise(principal, route.action)
        exchange = Exchange(self.parts, request, principal, path, values, raw_query)
        if principal.kind not in REVOCABLE:
            return await self._run_handler(route, exchange)
        return await self._answer_revocable(route, exchange)

    async def _find_route(self, method: str, path: str) -> Found | None:
        found = self._routes.find_route(method, path)
        if found is not None:
            return found
        with self.parts.core.during_imports():
            was_imported = await self._routes.import_routes(path)
        return self._routes.find_route(method, path) if was_imported else None

    async def _identify_principal(self, request: web.BaseRequest, path: str) -> Principal:
        """Identify the principal of a request.

        The key of an MCP client is valid only at `MCP_PATH`, which restricts it to its own sessions.
        """
        principal = await self._within_bounds(request, await self.parts.gate.identify_principal(request))
        if principal.kind == "mcp" and path != MCP_PATH:
            message = f"this key is for MCP alone: it is shown at {MCP_PATH}"
            raise ToolError("forbidden", message, principal=principal.kind)
        return principal

    async def _within_bounds(self, request: web.BaseRequest, principal: Principal) -> Principal:
        """Delay a request and its answer until its client has read earlier answers, then return the principal."""
        connection = request.protocol
        assert isinstance(connection, Connection)  # noqa: S101 - the application makes no others
        request[UNREAD_ANSWERS] = await self.parts.live_connections.wait_until_read(principal, connection)
        return principal

    async def _answer_extension(self, request: web.BaseRequest, path: str, raw_query: str) -> Reply:
        """Answer a browser extension, only on routes open to extensions; open routes need no key."""
        if request.method == hdrs.METH_OPTIONS:
            return answer_preflight(request)
        gate = self.parts.gate
        found = await self._find_route(request.method, path)
        if found is None:
            principal = await self._within_bounds(request, await gate.identify_extension(request))
            return await self._answer_other(request, principal, path, raw_query)
        route, values = found
        gate.check_route(request, is_for_extensions=route.is_for_extensions)
        if route.action is None:
            return await self._run_handler(route, Exchange(self.parts, request, ANYBODY, path, values, raw_query))
        principal = await self._within_bounds(request, await gate.identify_extension(request))
        authorise(principal, route.action)
        return await self._answer_revocable(route, Exchange(self.parts, request, principal, path, values, raw_query))

    async def _answer_revocable(self, route: ServerRoute, exchange: Exchange) -> Reply:
        """Answer a principal whose credential can be revoked, which ends the request."""
        with self.parts.live_connections.track_connection(exchange.principal, exchange.connection):
            if exchange.principal.kind == "client":
                self.parts.gate.check_route(exchange.request, is_for_extensions=route.is_for_extensions)
            await self._check_reach(route, exchange)
            return await self._run_handler(route, exchange)

    async def _check_reach(self, route: ServerRoute, exchange: Exchange) -> None:
        """Restrict a principal that may act only in its own sessions to these."""
        principal = exchange.principal
        action = route.action
        if action is not None and find_reach(principal, action) == "own" and not route.keeps_to_own:
            session = await exchange.core.store.chats.find_session(exchange.path_values.get("session_id", ""))
            authorise(principal, action, "" if session is None else session.owner)

    async def _run_handler(self, route: ServerRoute, exchange: Exchange) -> Reply:
        request = exchange.request
        if route.query is not None:
            exchange.query = validate_query(route.query, exchange.raw_query)
        if route.body is not None:
            reader = self.parts.reader
            document = await (
                reader.read_json(request, route.limit_bytes) if route.limit_bytes else reader.read_json(request)
            )
            exchange.body = validate_body(route.body, document)
        return await route.handler(exchange)

    async def _answer_other(self, request: web.BaseRequest, principal: Principal, path: str, raw_query: str) -> Reply:
        """Answer a request that matches no route of the server: call a module's route, or raise an error.

        The principal must be identified before, so that routes cannot be discovered without a credential.
        """
        table = self.parts.core.routes if self._serves_modules else _NO_ROUTES
        found = table.find_route(request.method, path)
        if found is not None:
            is_reading = request.method in ("GET", "HEAD") and found[0].kind != "websocket"
            authorise_route(principal, "read" if is_reading else "call", found[0].scope)
            self.parts.gate.check_route(request, is_for_extensions=found[0].scope is not None)
            exchange = Exchange(self.parts, request, principal, path, {}, raw_query)
            values = {name: unquote(value, errors="replace") for name, value in found[1].items()}
            if principal.kind not in REVOCABLE:
                return await serve_module_route(exchange, found[0], values)
            with self.parts.live_connections.track_connection(principal, exchange.connection):
                return await serve_module_route(exchange, found[0], values)
        methods = sorted({*self._routes.list_methods(path), *table.methods_at(path)})
        if methods:
            raise Refusal(
                HTTPStatus.METHOD_NOT_ALLOWED,
                "method_not_allowed",
                f"{path[:200]} is served for {', '.join(methods)}",
                headers={hdrs.ALLOW: ", ".join(methods)},
                allowed=methods,
            )
        raise Refusal(
            HTTPStatus.NOT_FOUND,
            "not_found",
            f"there is nothing at {path[:200]!r}; GET /api/openapi.json lists the routes",
        )


Application = ServerApplication[Dispatcher]
"""The application of one origin."""


def _error_answer(request: web.BaseRequest, exc: Exception) -> Answer:
    match exc:
        case Refusal():
            return exc.to_answer()
        case ToolError():
            return answer_error(exc)
        case web.HTTPException():  # aiohttp's own: a malformed WebSocket request
            return Refusal(exc.status, "invalid_request", exc.reason, closes=True).to_answer()
    log.error("request_failed", method=request.method, path=request.path, exc_info=exc)
    return answer_error(ToolError("internal_error", "the server failed; its log has the traceback"))


def _create_application(dispatcher: Dispatcher, max_connections: int) -> Application:
    parts = dispatcher.parts

    def connect() -> ConnectionFactory:
        dispatcher.connections = ConnectionFactory(
            dispatcher.answer_request,
            limit=max_connections,
            limits=parts.limits,
            hits=parts.hits,
            cookie_help=cookie_help,
        )
        return dispatcher.connections

    async def end_streams(_: web.Application) -> None:
        parts.events.close()
        for end in tuple(parts.streams):
            end()

    app = ServerApplication(dispatcher, dispatcher.answer_request, connect)
    app.on_shutdown.append(end_streams)
    return app


def create_app(
    core: Core,
    *,
    addresses: Addresses | None = None,
    approval: Addresses | None = None,
    apps: Addresses | None = None,
    limits: TimeLimits | None = None,
    max_connections: int | None = None,
) -> Application:
    """Create the application that serves the page and the API. Call it inside the running event loop.

    Args:
        core: The core, which the caller keeps open while the application serves.
        addresses: Addresses that it answers to; None: the configured port on loopback.
        approval: Addresses of the approval view, which `create_approval_app` serves; None: it is not served.
        apps: Addresses of tool views, which `create_apps_app` serves; None: the chat shows none.
        limits: Time limits.
        max_connections: Maximum number of open connections; None: as many as the process has descriptors for, within
            the server's limit.
    """
    server = core.config.server
    store = core.store
    hits = Hits()
    bounds = limits or TimeLimits()
    own = addresses or Addresses(server.port, server.hosts)
    credentials = Credentials(
        store.page_sessions,
        "page",
        core.state.cookie_name("page"),
        core.state.token,
        store.client_keys,
        extensions=server.extensions,
        host_keys=store.host_keys,
    )
    mcp = McpEntrance(core)
    live_connections = LiveConnections()
    pipes = Pipes(store.client_keys, core.state.path, mcp, live_connections, (approval or own).base_url)
    parts = ServerParts(
        core=core,
        addresses=own,
        counterpart=approval,
        gate=Gate(own, credentials, hits),
        reader=BodyReader(bounds, hits),
        events=EventStreams(core.events, bounds.heartbeat, hits),
        switch=ModuleSwitch(core.config, core.modules),
        module_views=ModuleViews.of_core(core),
        host_views=HostViews(core.places, core.registry, core.resources),
        late_chat=LateChat(core),
        limits=bounds,
        hits=hits,
        describe=partial(_describe_routes, ROUTE_GROUPS),
        connections=int,
        live_control=LiveControl(core.modules, core.registry, core.policy_changes, core.page_scripts),
        live_connections=live_connections,
        serve_mcp=mcp.answer_request,
        find_mcp_connections=lambda: mcp.connections,
        views=ToolViews(core.registry),
        apps=apps,
    )
    core.own_origins.declare("page", own.origins)
    app = _create_application(Dispatcher(parts, ROUTE_GROUPS, pipes=pipes), max_connections or connection_limit())

    async def close_mcp(_: web.Application) -> None:
        await pipes.close()
        await mcp.close()

    async def close_chat(_: web.Application) -> None:
        """Close the chat before the core rejects waiting calls, so that these calls wait again after a restart."""
        await parts.late_chat.close()

    app.on_shutdown.append(close_mcp)
    app.on_shutdown.append(close_chat)
    return app


def create_approval_app(page: Application, addresses: Addresses) -> Application:
    """Create the application of the approval view. It shares the page's core, but none of the page's credentials.

    Args:
        page: The application of the page.
        addresses: Addresses that the approval view answers to.
    """
    shared = page.dispatcher.parts
    credentials = Credentials(
        shared.core.store.approval_sessions,
        "approver",
        shared.core.state.cookie_name("approval"),
        hint="log in to the approval view with a code from the terminal of the server",
    )
    parts = replace(
        shared,
        addresses=addresses,
        counterpart=shared.addresses,
        gate=Gate(addresses, credentials, shared.hits),
        events=EventStreams(shared.core.events, shared.limits.heartbeat, shared.hits),
        describe=partial(_describe_routes, APPROVAL_GROUPS),
        streams=set(),
        cache={},
    )
    shared.core.own_origins.declare("approval", addresses.origins)
    return _create_application(Dispatcher(parts, APPROVAL_GROUPS, serves_modules=False), APPROVAL_CONNECTIONS)


def create_apps_app(page: Application, addresses: Addresses) -> Application:
    """Create the application of tool views: documents at their own origin, where nothing else is served.

    Args:
        page: The application of the page, which alone may frame them.
        addresses: Addresses that the tool views answer to.
    """
    shared = page.dispatcher.parts
    nobody = Credentials(None, "page", hint="there is nothing here but the views of tools")
    parts = replace(
        shared,
        addresses=addresses,
        counterpart=shared.addresses,
        gate=Gate(addresses, nobody, shared.hits),
        describe=partial(_describe_routes, APPS_GROUPS),
        streams=set(),
        cache={},
    )
    shared.core.own_origins.declare("apps", addresses.origins)
    return _create_application(Dispatcher(parts, APPS_GROUPS, serves_modules=False), APPROVAL_CONNECTIONS)


async def _describe_routes(groups: Sequence[RouteGroup], of_modules: Iterable[ModuleRoute]) -> dict[str, Any]:
    from agentcore.server.openapi import describe_api  # noqa: PLC0415 - asked for by few, and never first

    return await describe_api(await asyncio.to_thread(load_all_routes, groups), of_modules)


def _is_document(path: str) -> bool:
    """True if a path is opened by navigation or loaded by a document, and not requested by the page's scripts."""
    return path == "/" or path.startswith(("/static/", "/modules/", "/views/"))

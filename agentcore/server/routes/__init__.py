"""The server's routes, one file per group, which is imported when one of its routes is requested."""

from agentcore.server.route_table import RouteGroup

_HERE = __name__


def _group(file: str, *beginnings: str, table: str = "ROUTES") -> RouteGroup:
    return RouteGroup(f"{_HERE}.{file}", beginnings, table)


ROUTE_GROUPS: tuple[RouteGroup, ...] = (
    _group("page", "/", "/static", "/modules"),
    _group("system", "/api/health", "/api/openapi.json", "/api/stop", "/api/resume", "/api/storage"),
    _group("browser_login", "/api/session"),
    _group("tools", "/api/tools"),
    _group("calls", "/api/calls"),
    _group("approvals", "/api/approvals", "/api/policy-changes"),
    _group("approval_policy", "/api/approvals"),
    _group("approvers", "/api/approvers", "/api/pairings"),
    _group("clients", "/api/clients"),
    _group("chat", "/api/v1"),
    _group("chat_setup", "/api/chat"),
    _group("sessions", "/api/sessions"),
    _group("skills", "/api/skills"),
    _group("modules", "/api/modules", "/api/requirements", "/api/hosts"),
    _group("settings", "/api/settings", "/api/secrets", "/api/families"),
    _group("resources", "/api/resources"),
    _group("tabs", "/api/tabs"),
    _group("live_control", "/api/live-control"),
    _group("artifacts", "/api/artifacts"),
    _group("workspace", "/api/workspace"),
    _group("events", "/api/events"),
    _group("metrics", "/api/metrics"),
    RouteGroup("agentcore.server.mcp_transports.mcp_routes", ("/mcp", "/api/mcp")),
)
"""Every route of the server; those of modules are in the core's table."""

APPROVAL_GROUPS: tuple[RouteGroup, ...] = (
    _group("page", "/", "/static", table="APPROVAL_ROUTES"),
    _group("system", "/api/health", "/api/stop", "/api/resume", table="APPROVAL_ROUTES"),
    _group("browser_login", "/api/session", table="APPROVAL_ROUTES"),
    _group("approvals", "/api/approvals", "/api/policy-changes"),
    _group("approvers", "/api/approvers", "/api/pairings", table="APPROVAL_ROUTES"),
    _group("modules", "/api/hosts", "/api/host-pairings", table="APPROVAL_ROUTES"),
    _group("settings", "/api/secrets", table="APPROVAL_ROUTES"),
    _group("events", "/api/events"),
)
"""Every route of the approval view's origin."""

APPS_GROUPS: tuple[RouteGroup, ...] = (_group("page", "/views", table="APPS_ROUTES"),)
"""Every route of the origin of tool views."""

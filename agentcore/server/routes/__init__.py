"""The server's routes, one file per group; `ROUTES` contains all of them."""

from agentcore.server.mcp_transports.mcp_routes import ROUTES as MCP_ROUTES
from agentcore.server.route_table import ServerRoute
from agentcore.server.routes import (
    approval_policy,
    approvals,
    approvers,
    artifacts,
    browser_login,
    calls,
    chat,
    chat_setup,
    clients,
    events,
    live_control,
    metrics,
    modules,
    page,
    resources,
    sessions,
    settings,
    skills,
    system,
    tabs,
    tools,
    workspace,
)

ROUTES: tuple[ServerRoute, ...] = (
    *page.ROUTES,
    *system.ROUTES,
    *browser_login.ROUTES,
    *tools.ROUTES,
    *calls.ROUTES,
    *approvals.ROUTES,
    *approval_policy.ROUTES,
    *approvers.ROUTES,
    *clients.ROUTES,
    *chat.ROUTES,
    *chat_setup.ROUTES,
    *sessions.ROUTES,
    *skills.ROUTES,
    *modules.ROUTES,
    *settings.ROUTES,
    *resources.ROUTES,
    *tabs.ROUTES,
    *live_control.ROUTES,
    *artifacts.ROUTES,
    *workspace.ROUTES,
    *events.ROUTES,
    *metrics.ROUTES,
    *MCP_ROUTES,
)
"""Every route of the server; those of modules are in the core's table."""

APPROVAL_ROUTES: tuple[ServerRoute, ...] = (
    *page.APPROVAL_ROUTES,
    *system.APPROVAL_ROUTES,
    *browser_login.APPROVAL_ROUTES,
    *approvals.ROUTES,
    *approvers.APPROVAL_ROUTES,
    *modules.APPROVAL_ROUTES,
    *settings.APPROVAL_ROUTES,
    *events.ROUTES,
)
"""Every route of the approval view's origin."""

APPS_ROUTES: tuple[ServerRoute, ...] = page.APPS_ROUTES
"""Every route of the origin of tool views."""

"""Routes for modules, and for the hosts in which some of them run."""

from agentcore.server.route_table import ServerRoute
from agentcore.server.routes.modules import dialling, hosts, modules, requirements

ROUTES: tuple[ServerRoute, ...] = (
    *modules.ROUTES,
    *requirements.ROUTES,
    *hosts.ROUTES,
    *dialling.ROUTES,
)
APPROVAL_ROUTES: tuple[ServerRoute, ...] = dialling.APPROVAL_ROUTES

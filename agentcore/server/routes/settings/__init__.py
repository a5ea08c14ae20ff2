"""Settings, the secrets that they refer to, and the blocks of families."""

from agentcore.server.route_table import ServerRoute
from agentcore.server.routes.settings import families, secrets, settings

APPROVAL_ROUTES: tuple[ServerRoute, ...] = secrets.APPROVAL_ROUTES

ROUTES: tuple[ServerRoute, ...] = (*settings.ROUTES, *secrets.ROUTES, *families.ROUTES)

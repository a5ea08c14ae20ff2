"""Settings, and the secrets that they refer to."""

from agentcore.server.route_table import ServerRoute
from agentcore.server.routes.settings import secrets, settings

ROUTES: tuple[ServerRoute, ...] = (*settings.ROUTES, *secrets.ROUTES)

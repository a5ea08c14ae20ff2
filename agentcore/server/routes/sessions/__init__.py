"""Chat sessions: made, talked in, changed."""

from agentcore.server.route_table import ServerRoute
from agentcore.server.routes.sessions import messages, sessions

ROUTES: tuple[ServerRoute, ...] = (*sessions.ROUTES, *messages.ROUTES)

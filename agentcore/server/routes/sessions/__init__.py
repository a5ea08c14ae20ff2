"""Chat sessions: made, talked in, changed."""

from agentcore.server.route_table import ServerRoute
from agentcore.server.routes.sessions import messages, names, sessions, views

ROUTES: tuple[ServerRoute, ...] = (*sessions.ROUTES, *names.ROUTES, *messages.ROUTES, *views.ROUTES)

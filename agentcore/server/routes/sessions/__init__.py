"""Routes for chat sessions, their messages and their tool views."""

from agentcore.server.route_table import ServerRoute
from agentcore.server.routes.sessions import messages, names, sessions, views

ROUTES: tuple[ServerRoute, ...] = (*sessions.ROUTES, *names.ROUTES, *messages.ROUTES, *views.ROUTES)

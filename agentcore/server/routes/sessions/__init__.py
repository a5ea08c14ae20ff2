"""Routes for chat sessions, their messages and their tool views."""

from agentcore.server.route_table import ServerRoute
from agentcore.server.routes.sessions import messages, session_titles, sessions, views

ROUTES: tuple[ServerRoute, ...] = (*sessions.ROUTES, *session_titles.ROUTES, *messages.ROUTES, *views.ROUTES)

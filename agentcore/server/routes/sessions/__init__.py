"""Chat sessions: made, talked in, changed."""

from agentcore.server.routes.sessions.sessions import ROUTES

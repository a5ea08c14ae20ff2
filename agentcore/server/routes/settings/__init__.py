"""Settings of the server and of modules."""

from agentcore.server.routes.settings.settings import ROUTES

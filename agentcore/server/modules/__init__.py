"""What modules bring over HTTP: their routes, sockets, switches, descriptions."""

from agentcore.server.modules.view import list_modules, show_module

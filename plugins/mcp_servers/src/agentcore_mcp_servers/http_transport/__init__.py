"""Remote servers: the HTTP transport, and the user's login (OAuth 2.1)."""

from agentcore_mcp_servers.http_transport.headers import checked_headers
from agentcore_mcp_servers.http_transport.login import ServerLogin, watch_refusals
from agentcore_mcp_servers.http_transport.server_address import ServerAddress

__all__ = ["ServerAddress", "ServerLogin", "checked_headers", "watch_refusals"]

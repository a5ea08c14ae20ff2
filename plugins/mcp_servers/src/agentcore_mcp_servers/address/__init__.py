"""Remote servers: the HTTP transport, and the user's login (OAuth 2.1)."""

from agentcore_mcp_servers.address.headers import checked_headers
from agentcore_mcp_servers.address.login import ServerLogin, watch_refusals
from agentcore_mcp_servers.address.server_address import ServerAddress

__all__ = ["ServerAddress", "ServerLogin", "checked_headers", "watch_refusals"]

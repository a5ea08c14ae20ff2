"""`agentcore mcp`: relays messages between a client and the server, and keeps the client connected across restarts."""

from agentcore.cli.relay.client_key import delete_key, http_reach, is_revoked, revoke_key
from agentcore.cli.relay.relay import Relay
from agentcore.cli.relay.server_link import ServerLink

"""`agentcore mcp`: passes on what a client and the server say, and keeps the client connected over restarts."""

from agentcore.cli.relay.relay import Relay
from agentcore.cli.relay.server_link import ServerLink

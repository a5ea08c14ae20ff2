"""Tools for MCP clients. Imports the SDK, which takes about a second: whoever needs it imports this at first use."""

from agentcore.mcp.caller import Caller, Departures, Narrowing, Wishes, patterns_in
from agentcore.mcp.door import Door
from agentcore.mcp.views import VIEW_MIME, VIEWS_EXTENSION

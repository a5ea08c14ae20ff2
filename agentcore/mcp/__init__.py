"""Tools for MCP clients. Imports the SDK, which takes about a second: import this package at first use."""

from agentcore.mcp.caller import Caller, Departures, MarkWaiting, Narrowing, SessionSubscriptions, patterns_in
from agentcore.mcp.request_handler import ListKind, McpEndpoint
from agentcore.mcp.views import VIEW_MIME, VIEWS_EXTENSION

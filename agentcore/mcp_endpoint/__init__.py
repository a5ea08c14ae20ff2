"""Tools for MCP clients. Imports the SDK, which takes about a second: import this package at first use."""

from agentcore.mcp_endpoint.app_views import VIEW_MIME, VIEWS_EXTENSION
from agentcore.mcp_endpoint.caller import Caller, Departures, MarkWaiting, Narrowing, SessionSubscriptions, patterns_in
from agentcore.mcp_endpoint.request_handler import ListKind, McpEndpoint

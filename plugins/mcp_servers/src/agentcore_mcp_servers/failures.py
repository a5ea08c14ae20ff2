"""Conversion of a server's failures to tool errors."""

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from agentcore.api import ToolError, mask_secrets

_SAID_CHARS = 4_000
_PARSING = "Failed to parse "
"""Prefix of the SDK's parse errors; the rest of the message is only useful to its developers."""


def describe_reason(error: MCPError | ValidationError) -> str:
    """Describe a server's error response, or why its response is invalid."""
    if isinstance(error, MCPError):
        if error.error.code == types.PARSE_ERROR and error.error.message.startswith(_PARSING):
            return f"its answer is no message of MCP (code {types.PARSE_ERROR})"
        return f"{mask_secrets(error.error.message)[:_SAID_CHARS]} (code {error.error.code})"
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"its answer is not valid: {where}: {first['msg']}"[:_SAID_CHARS]


def has_ended(error: BaseException) -> bool:
    """Return True if the connection ended; the message is compared, too, as servers use the code for other errors."""
    closed = types.CONNECTION_CLOSED, "Connection closed"
    return isinstance(error, MCPError) and (error.error.code, error.error.message) == closed


def has_no_session(error: Exception) -> bool:
    """Return True if an HTTP server no longer knows the session, and so has not processed the request."""
    gone = types.INVALID_REQUEST, "Session terminated"
    return isinstance(error, MCPError) and (error.error.code, error.error.message) == gone


def call_failed(error: Exception, server: str, tool: str, ending: str) -> ToolError:
    """Create the error of a failed call.

    Args:
        error: The SDK's exception.
        server: The server's name.
        tool: The server's own name of the tool.
        ending: How the server ended, if it did.
    """
    if has_ended(error):
        message = (
            f"the server {server} {ending}. Whether {tool!r} had any effect is not known: look before you call it "
            "again; the server is started again meanwhile"
        )
        return ToolError("server_ended", message, untrusted=True, server=server)
    if isinstance(error, MCPError):
        message = f"the server {server} refused {tool!r}: {describe_reason(error)}"
        return ToolError("server_refused", message, untrusted=True, server=server, code=error.error.code)
    said = describe_reason(error) if isinstance(error, ValidationError) else mask_secrets(str(error))[:_SAID_CHARS]
    message = f"what the server {server} answered to {tool!r} is no result of a tool: {said}"
    return ToolError("invalid_result", message, untrusted=True, server=server)


def server_unavailable(server: str, reason: str) -> ToolError:
    """Create the error for a server that is not connected."""
    message = f"the server {server} is not there now, and is started again: {reason}. Try again in a while."
    return ToolError("server_unavailable", message, retryable=True, untrusted=True, server=server)

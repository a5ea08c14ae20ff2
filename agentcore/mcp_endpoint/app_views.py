"""Views of MCP Apps: documents in which a client shows a tool's result to its user.

Source: https://github.com/modelcontextprotocol/ext-apps, specification/2026-01-26/apps.mdx
"""

from typing import Any

import mcp_types as types

from agentcore.core.calls.call import CallOutcome

VIEWS_EXTENSION = "io.modelcontextprotocol/ui"
VIEW_MIME = "text/html;profile=mcp-app"
VIEW_URI = "ui://agentcore/"
"""Prefix of the addresses of views; the name of the tool follows."""

FOR_VIEWS: dict[str, Any] = {"ui": {"visibility": ["app"]}}
"""Metadata in the definition of a tool that only views call."""
DATA_KEY = "agentcore/data"
"""Key in the `_meta` of a result under which a view finds the data that is not sent to models."""


def shows_views(capabilities: types.ClientCapabilities | None) -> bool:
    """True if a client declares that it shows such documents."""
    said = ((capabilities.extensions if capabilities else None) or {}).get(VIEWS_EXTENSION) or {}
    kinds = said.get("mimeTypes")
    return isinstance(kinds, list) and VIEW_MIME in kinds


def view_uri(tool: str) -> str:
    """Return the address of the view of a tool, from the tool's name for clients."""
    return VIEW_URI + tool


def view_meta(tool: str) -> dict[str, Any]:
    """Return the metadata about a tool's view for its definition."""
    return {"ui": {"resourceUri": view_uri(tool)}}


def view_contents(uri: str, document: str) -> types.ReadResourceResult:
    """Return a view as a resource. It declares no source and no permission, so that clients let it load nothing."""
    contents = types.TextResourceContents(
        uri=uri, mime_type=VIEW_MIME, text=document, _meta={"ui": {"prefersBorder": True}}
    )
    return types.ReadResourceResult(contents=[contents])


def with_data(result: types.CallToolResult, outcome: CallOutcome) -> types.CallToolResult:
    """Add the tool's data to a result where only views read it: clients show `structuredContent` to models."""
    data = None if outcome.result is None else outcome.result.data
    if not isinstance(data, dict) or result.structured_content is not None:
        return result
    return result.model_copy(update={"meta": {DATA_KEY: data}})

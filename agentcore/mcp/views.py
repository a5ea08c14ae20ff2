"""Views of MCP Apps: documents in which a client shows people what a tool gave.

Source: https://github.com/modelcontextprotocol/ext-apps, specification/2026-01-26/apps.mdx
"""

from typing import Any

import mcp_types as types

from agentcore.core.calls import CallOutcome

VIEWS_EXTENSION = "io.modelcontextprotocol/ui"
VIEW_MIME = "text/html;profile=mcp-app"
VIEW_URI = "ui://agentcore/"
"""What the address of a view begins with; the name of its tool follows."""

FOR_VIEWS: dict[str, Any] = {"ui": {"visibility": ["app"]}}
"""What the definition of a tool says that only views call."""
DATA_KEY = "agentcore/data"
"""Under what a view finds, in the `_meta` of a result, the data that models are not given."""


def shows_views(capabilities: types.ClientCapabilities | None) -> bool:
    """Whether a client says that it shows such documents."""
    said = ((capabilities.extensions if capabilities else None) or {}).get(VIEWS_EXTENSION) or {}
    kinds = said.get("mimeTypes")
    return isinstance(kinds, list) and VIEW_MIME in kinds


def view_uri(tool: str) -> str:
    """The address of the view of a tool, by the name that clients know it by."""
    return VIEW_URI + tool


def view_meta(tool: str) -> dict[str, Any]:
    """What the definition of a tool says of its view."""
    return {"ui": {"resourceUri": view_uri(tool)}}


def view_contents(uri: str, document: str) -> types.ReadResourceResult:
    """A view as it is read. It declares no source and no permission: a client then lets it load nothing."""
    contents = types.TextResourceContents(
        uri=uri, mime_type=VIEW_MIME, text=document, _meta={"ui": {"prefersBorder": True}}
    )
    return types.ReadResourceResult(contents=[contents])


def with_data(result: types.CallToolResult, outcome: CallOutcome) -> types.CallToolResult:
    """A result with the tool's data where only views look: clients show a model what is `structuredContent`."""
    data = None if outcome.result is None else outcome.result.data
    if not isinstance(data, dict) or result.structured_content is not None:
        return result
    return result.model_copy(update={"meta": {DATA_KEY: data}})

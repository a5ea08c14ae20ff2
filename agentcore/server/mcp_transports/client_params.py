"""Reduces an MCP client's `initialize`, which may have megabytes, to the few values that the server uses."""

from collections.abc import Mapping
from typing import Any

from agentcore.mcp_endpoint.app_views import VIEW_MIME, VIEWS_EXTENSION

TEXT_CHARS = 200
"""Maximum length of a name, title, version or revision; longer ones are truncated."""

_TEXT = object()
_FLAG = object()
_KINDS = object()
_KNOWN: Mapping[str, Any] = {
    "protocolVersion": _TEXT,
    "clientInfo": {"name": _TEXT, "title": _TEXT, "version": _TEXT},
    "capabilities": {
        "sampling": {"context": {}, "tools": {}},
        "elicitation": {"form": {}, "url": {}},
        "roots": {"listChanged": _FLAG},
        "extensions": {VIEWS_EXTENSION: {"mimeTypes": _KINDS}},
    },
}


def kept_client_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of `initialize` without what the server does not use, and with long texts truncated.

    Values whose types MCP does not allow are returned unchanged, for the SDK to refuse them.
    """
    kept: dict[str, Any] = _kept(params, _KNOWN)
    return kept


def _kept(value: Any, known: Any) -> Any:
    if known is _KINDS:
        return [VIEW_MIME] if isinstance(value, list) and VIEW_MIME in value else []
    if known is _TEXT and isinstance(value, str):
        return value[:TEXT_CHARS]
    if isinstance(known, Mapping) and isinstance(value, Mapping):
        return {name: _kept(value[name], part) for name, part in known.items() if name in value}
    return value

"""Views of a server's tools (MCP Apps): discovery, documents and permissions.

Source: https://github.com/modelcontextprotocol/ext-apps, specification/2026-01-26/apps.mdx
"""

import asyncio
import binascii
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.client.extension import ClientExtension, advertise

from agentcore.api import ToolDefinition, ToolError, ToolResult, ToolView, ViewPermission
from agentcore_mcp_servers.block import ServerBlock
from agentcore_mcp_servers.resources import create_resources_definition
from agentcore_mcp_servers.server import Server

MIME = "text/html;profile=mcp-app"
TOOL = "view_resources"
"""The name, after the prefix, of the tool that reads resources for views; also used in the patterns of a block."""
READ = "resources/read"

_EXTENSION = "io.modelcontextprotocol/ui"
_FLAT_KEY = "ui/resourceUri"
_URI = re.compile(r"ui://[!-~]{1,500}")
_NAME = re.compile(r"[!-~]([ -~]{0,126}[!-~])?")
_VIEWS = 50
READ_SECONDS = 20.0
"""Total time limit for reading all views of a server."""
_DOCUMENT_CHARS = 4 * 1024 * 1024
_ALL_CHARS = 16 * 1024 * 1024
_SOURCES = 50
_HOST = r"(\*\.)?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:[0-9]{1,5})?/?"
_WEB = re.compile(rf"https://{_HOST}", re.IGNORECASE)
_WEB_OR_SOCKET = re.compile(rf"(https|wss)://{_HOST}", re.IGNORECASE)
_PERMISSIONS: dict[str, ViewPermission] = {
    "camera": "camera",
    "microphone": "microphone",
    "geolocation": "geolocation",
    "clipboardWrite": "clipboard-write",
}

Contents = types.TextResourceContents | types.BlobResourceContents
Report = Callable[[str], None]


def shows_views() -> ClientExtension:
    """Return the extension that advertises support for views in the handshake."""
    return advertise(_EXTENSION, {"mimeTypes": [MIME]})


@dataclass(frozen=True)
class Shown:
    """A tool's view and visibility.

    Args:
        view: The tool's view; None if it has none.
        in_views: The name by which views may call it; None if they may not.
        is_for_models: True if it is offered to models.
    """

    view: ToolView | None
    in_views: str | None
    is_for_models: bool

    @property
    def is_offered(self) -> bool:
        """True if it is offered to models or views."""
        return self.is_for_models or self.in_views is not None


def is_for(tool: types.Tool, who: str) -> bool:
    """Return True if a tool is visible to `model` or `app`; without a declared visibility it is visible to both."""
    ui = (tool.meta or {}).get("ui")
    visibility = ui.get("visibility") if isinstance(ui, dict) else None
    return visibility is None or (isinstance(visibility, list) and who in visibility)


async def read_views(server: Server, tools: Sequence[types.Tool], report: Report) -> dict[str, Shown]:
    """Read view and visibility of each tool, by the server's own name; views that cannot be shown are reported."""
    # If two tools have the same name, the first one wins.
    named = {tool.name: tool for tool in reversed(tools)}
    uris = {name: uri for name, tool in named.items() if (uri := _find_view_uri(tool, report)) is not None}
    views = await _read_documents(server, list(dict.fromkeys(uris.values())), report)
    return {
        name: _describe_shown(tool, views.get(uris.get(name, "")), has_views=bool(views))
        for name, tool in named.items()
    }


def create_reading_definition(name: str, block: ServerBlock) -> ToolDefinition:
    """Create the definition of the tool that reads resources for views; none of it comes from the server."""
    like = create_resources_definition(name, block)
    return ToolDefinition(
        name=name,
        description="Read what this MCP server keeps, for one of its views.",
        input_schema={
            "type": "object",
            "properties": {"uri": {"type": "string", "maxLength": 4_000}},
            "required": ["uri"],
            "additionalProperties": False,
        },
        effects=like.effects,
        annotations=like.annotations,
        timeout_s=like.timeout_s,
        served_as="view",
        in_views=READ,
    )


async def read_for_view(server: Server, uri: str) -> ToolResult:
    """Read a resource and return its contents as views expect them.

    Raises:
        ToolError: See `Server.send_request`.
    """
    held = await server.read_resource(uri)
    contents = [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in held]
    return ToolResult([], data={"contents": contents}, untrusted=True)


def _describe_shown(tool: types.Tool, view: ToolView | None, *, has_views: bool) -> Shown:
    may_be_called = has_views and is_for(tool, "app") and tool.name != READ and _NAME.fullmatch(tool.name)
    return Shown(view, tool.name if may_be_called else None, is_for(tool, "model"))


def _find_view_uri(tool: types.Tool, report: Report) -> str | None:
    meta = tool.meta or {}
    ui = meta.get("ui")
    uri = ui.get("resourceUri") if isinstance(ui, dict) else None
    uri = meta.get(_FLAT_KEY) if uri is None else uri
    if uri is None:
        return None
    if not isinstance(uri, str) or not _URI.fullmatch(uri):
        report(f"the tool {tool.name!r} has a view whose address is none: {str(uri)[:80]!r}")
        return None
    return uri


async def _read_documents(server: Server, uris: Sequence[str], report: Report) -> dict[str, ToolView]:
    views: dict[str, ToolView] = {}
    left = _ALL_CHARS
    listing = _Listing(server, report)
    until = asyncio.get_running_loop().time() + READ_SECONDS
    if len(uris) > _VIEWS:
        report(f"it has {len(uris)} views; the first {_VIEWS} count")
    for uri in uris[:_VIEWS]:
        try:
            async with asyncio.timeout_at(until):
                held = _find_view_document(await server.read_resource(uri))
                # Metadata of the document takes precedence over that of the list, as a whole.
                own = (held.meta or {}).get("ui")
                declared = own if isinstance(own, dict) else await listing.find_permissions(uri)
            view = _build_view(held, declared, min(left, _DOCUMENT_CHARS), uri, report)
        except TimeoutError:
            report(f"the view {uri[:80]} cannot be shown: it was not there within {READ_SECONDS:g} s")
            continue
        except ToolError as exc:
            report(f"the view {uri[:80]} cannot be shown: {exc.message[:300]}")
            continue
        views[uri] = view
        left = left - len(view.document)
    return views


class _Listing:
    """Permissions of views from the list of resources, read once, and only if a document has no metadata."""

    def __init__(self, server: Server, report: Report) -> None:
        self._server = server
        self._report = report
        self._said: dict[str, dict[str, Any]] | None = None

    async def find_permissions(self, uri: str) -> dict[str, Any]:
        """Return the declared permissions of a view; empty if the list has none."""
        if self._said is None:
            try:
                listed = await self._server.list_resources()
            except ToolError as exc:
                self._report(f"its list of resources cannot be read, by which views may load more: {exc.message[:300]}")
                listed = []
            said = {str(each.uri): (each.meta or {}).get("ui") for each in reversed(listed)}
            self._said = {each: ui for each, ui in said.items() if isinstance(ui, dict)}
        return self._said.get(uri, {})


def _find_view_document(contents: Iterable[Contents]) -> Contents:
    held = next((each for each in contents if _normalize_mime(each) == MIME), None)
    if held is None:
        raise ToolError("invalid_result", f"it holds no {MIME}")
    return held


def _build_view(held: Contents, declared: dict[str, Any], limit_chars: int, uri: str, report: Report) -> ToolView:
    document = _decode_text(held)
    if not document.strip() or len(document) > limit_chars:
        raise ToolError("invalid_result", f"it has {len(document):,} characters, the bound is {limit_chars:,}")
    csp = given if isinstance(given := declared.get("csp"), dict) else {}
    border = declared.get("prefersBorder")

    def sources(key: str, pattern: re.Pattern[str]) -> tuple[str, ...]:
        return _filter_sources(csp.get(key), pattern, f"{key} of the view {uri[:80]}", report)

    return ToolView(
        document=document,
        connects_to=sources("connectDomains", _WEB_OR_SOCKET),
        loads_from=sources("resourceDomains", _WEB),
        frames=sources("frameDomains", _WEB),
        bases=sources("baseUriDomains", _WEB),
        permissions=_list_permissions(declared.get("permissions")),
        has_border=border if isinstance(border, bool) else None,
    )


def _normalize_mime(held: Contents) -> str:
    return (held.mime_type or "").replace(" ", "").lower()


def _decode_text(held: Contents) -> str:
    if isinstance(held, types.TextResourceContents):
        return held.text
    try:
        return b64decode(held.blob, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as exc:
        raise ToolError("invalid_result", f"it cannot be read as text: {exc}") from exc


def _filter_sources(value: Any, pattern: re.Pattern[str], where: str, report: Report) -> tuple[str, ...]:
    """Return the valid sources; others are dropped and reported, which can only restrict the view."""
    if value is None:
        return ()
    given = value if isinstance(value, list) else [value]
    fit = [each.rstrip("/") for each in given if isinstance(each, str) and pattern.fullmatch(each)]
    if len(fit) < len(given) or len(fit) > _SOURCES:
        report(f"{where} has what is no https://HOST, or too much; {min(len(fit), _SOURCES)} of {len(given)} count")
    return tuple(dict.fromkeys(fit[:_SOURCES]))


def _list_permissions(value: Any) -> tuple[ViewPermission, ...]:
    given = value if isinstance(value, dict) else {}
    return tuple(ours for theirs, ours in _PERMISSIONS.items() if isinstance(given.get(theirs), dict))

"""`PREFIX_resources`: a tool that lists and reads a server's resources."""

import re
from collections.abc import Awaitable, Iterable, Sequence
from typing import Any, TypeVar

import mcp_types as types

from agentcore.api import Artifacts, Effect, ReadableResource, Text, ToolDefinition, ToolError, ToolResult
from agentcore_mcp_servers.block import ServerBlock
from agentcore_mcp_servers.hints import convert_annotations
from agentcore_mcp_servers.results import resource_block
from agentcore_mcp_servers.server import Server

T = TypeVar("T")

TOOL = "resources"
"""The tool's name after the prefix; also used in the patterns of a block."""

_PAGE = 50
_SAID_CHARS = 200
_URI_CHARS = 4_000
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_NOT_PASSED_ON = ("agentcore:", "ui:")
_READABLE = 1_000
_NAME_CHARS = 200
_DESCRIPTION_CHARS = 1_000
_QUERY_CHARS = 200
_EFFECTS: tuple[Effect, ...] = ("execute",)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "uri": {
            "type": "string",
            "maxLength": _URI_CHARS,
            "description": "The resource to read, as it was listed; or one after a template. Left out: list them.",
        },
        "query": {
            "type": "string",
            "maxLength": _QUERY_CHARS,
            "description": "List those alone whose address, name or description holds this.",
        },
        "page": {"type": "integer", "minimum": 1, "default": 1, "description": f"Which {_PAGE} of the list."},
    },
    "additionalProperties": False,
}


def create_resources_definition(
    name: str, block: ServerBlock, readable: tuple[ReadableResource, ...] = ()
) -> ToolDefinition:
    """Create the tool's definition. Only `readable`, which MCP clients list, comes from the server."""
    believed: tuple[Effect, ...] = ("read", "egress") if block.agentcore.trust_annotations else _EFFECTS
    effects = frozenset(block.find_effects(TOOL) or believed)
    return ToolDefinition(
        name=name,
        description="List what this MCP server keeps, such as files, notes or tables, or read one of them.",
        input_schema=_SCHEMA,
        effects=effects,
        annotations=convert_annotations(None, effects, block),
        timeout_s=block.agentcore.timeout_s,
        reads=readable,
    )


def convert_resources(
    resources: Iterable[types.Resource], templates: Iterable[types.ResourceTemplate]
) -> tuple[ReadableResource, ...]:
    """Convert a server's resources and templates for MCP clients: at most 1,000, and only those with a usable URI."""
    converted = [
        ReadableResource(
            str(each.uri),
            _shorten(each.title or each.name, _NAME_CHARS),
            _shorten(each.description or "", _DESCRIPTION_CHARS),
            each.mime_type and _shorten(each.mime_type, _NAME_CHARS),
            each.size if each.size is not None and each.size >= 0 else None,
        )
        for each in resources
    ]
    converted += [
        ReadableResource(
            each.uri_template,
            _shorten(each.title or each.name, _NAME_CHARS),
            _shorten(each.description or "", _DESCRIPTION_CHARS),
            each.mime_type and _shorten(each.mime_type, _NAME_CHARS),
            is_template=True,
        )
        for each in templates
    ]
    return tuple([each for each in converted if _is_usable(each.uri)][:_READABLE])


def _is_usable(uri: str) -> bool:
    is_ours = uri.lower().startswith(_NOT_PASSED_ON)
    return not is_ours and len(uri) <= _URI_CHARS and _URI.fullmatch(uri) is not None and _is_text(uri)


def _is_text(text: str) -> bool:
    """True if UTF-8 can encode a text: JSON can contain halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode() == text


def _shorten(text: str, limit_chars: int) -> str:
    return text.encode("utf-8", "replace").decode()[:limit_chars]


async def list_all_resources(server: Server) -> list[types.Resource]:
    """List the server's resources; none if it does not implement that."""
    return [] if server.capabilities.resources is None else await _list_if_supported(server.list_resources())


async def list_all_templates(server: Server) -> list[types.ResourceTemplate]:
    """List the server's resource templates; none if it does not implement that."""
    return [] if server.capabilities.resources is None else await _list_if_supported(server.list_templates())


async def list_or_read_resources(server: Server, args: dict[str, Any], artifacts: Artifacts) -> ToolResult:
    """List the server's resources, or read one.

    Raises:
        ToolError: `page_not_found`, and those of `Server.send_request`.
    """
    uri = args.get("uri")
    if uri:
        contents = await server.read_resource(uri)
        return ToolResult([await resource_block(held, artifacts) for held in contents], untrusted=True)
    resources = await _list_if_supported(server.list_resources())
    templates = await _list_if_supported(server.list_templates())
    lines = [*map(_format_resource, resources), *map(_format_template, templates)]
    query = str(args.get("query") or "").lower()
    found = [line for line in lines if query in line.lower()]
    return ToolResult([Text(_format_page(found, int(args.get("page") or 1), query))], untrusted=True)


async def _list_if_supported(listing: Awaitable[list[T]]) -> list[T]:
    """Return the list; empty if the server does not implement it: many have resources but no templates."""
    try:
        return await listing
    except ToolError as exc:
        if exc.context.get("code") != types.METHOD_NOT_FOUND:
            raise
        return []


def _format_page(lines: Sequence[str], page: int, query: str) -> str:
    pages = max(1, -(-len(lines) // _PAGE))
    if page > pages:
        raise ToolError("page_not_found", f"there are {pages} pages of {len(lines)} resources, and no page {page}")
    if not lines:
        return f"No resource holds {query!r}." if query else "The server lists no resources now."
    shown = list(lines[(page - 1) * _PAGE : page * _PAGE])
    if page < pages:
        shown.append(f"… page {page} of {pages}; go on with page={page + 1}, or narrow it with query")
    return "\n".join(shown)


def _format_resource(resource: types.Resource) -> str:
    size = "" if resource.size is None else f"{resource.size:,} bytes"
    notes = [each for each in (resource.mime_type, size) if each]
    return _format_line(str(resource.uri), resource.title or resource.name, notes, resource.description)


def _format_template(template: types.ResourceTemplate) -> str:
    notes = ["template", *([template.mime_type] if template.mime_type else [])]
    return _format_line(template.uri_template, template.title or template.name, notes, template.description)


def _format_line(uri: str, name: str, notes: Iterable[str], description: str | None) -> str:
    about = ", ".join(notes)
    message = name + (f" ({about})" if about else "") + (f": {description}" if description else "")
    line = " ".join(message.split())
    return f"{uri} – {line if len(line) <= _SAID_CHARS else f'{line[:_SAID_CHARS]}…'}"

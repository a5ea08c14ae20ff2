"""The tools shown to a client: under names that all clients accept, and found by a search if there are many."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import mcp_types as types
from mcp.shared.inbound import x_mcp_header_map

from agentcore.chat.model.offered_tools import OfferedTool
from agentcore.chat.turn.tool_search import extract_words, search_tools, summary_line
from agentcore.chat.turn.toolbox import FIND_TOOLS, choose_tools
from agentcore.core.modules.module_record import RegisteredTool
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.errors import ToolError
from agentcore.mcp_endpoint.app_views import FOR_VIEWS, view_meta, view_uri
from agentcore.mcp_endpoint.caller import Caller, matches_patterns
from agentcore.near_names import near_names, shorten_name, unknown_name
from agentcore.tool_formats.formats import FORMS, LoweredSchema

CALL_TOOL = "call_tool"
"""Calls a tool that `find_tools` has found, for clients that request their list of tools only once."""

NAME_CHARS = 48
"""Maximum length of a tool's name: clients prepend their name of the server, and their providers accept 64."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_HASH_CHARS = 6
_FOUND = 8
_FOUND_KEPT = 32
_SHOWN_BY_NAME = "One with a view (`_meta.ui`) is shown in it only where it is called by its name."
_PAGE = 100
"""Tools on one page of the list."""


class Shown(NamedTuple):
    """A tool as a client knows it."""

    name: str
    tool: RegisteredTool


def outward_name(name: str) -> str:
    """Return a tool's name in a form that all clients accept: known characters, and cut with a hash if too long."""
    plain = _NOT_IN_NAMES.sub("_", name)
    if len(plain) <= NAME_CHARS:
        return plain
    mark = hashlib.sha256(name.encode()).hexdigest()[:_HASH_CHARS]
    return f"{plain[: NAME_CHARS - _HASH_CHARS - 1]}_{mark}"


class Catalog:
    """The tools and views for clients.

    Args:
        registry: All tools.
    """

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry
        self._header_schemas: WeakKeyDictionary[LoweredSchema, dict[str, Any]] = WeakKeyDictionary()

    def list_tools_page(self, caller: Caller, cursor: str | None, *, with_views: bool = False) -> types.ListToolsResult:
        """Return one page of the list of tools; for clients that show views, those with a view are marked.

        Raises:
            ToolError: `invalid_arguments`: there is no such page.
        """
        listed = [*self._list_definitions(caller), *(self._list_view_tools(caller) if with_views else ())]
        start = 0 if cursor is None else _parse_cursor(cursor, len(listed))
        end = start + _PAGE
        views = self._list_views(caller) if with_views else {}
        return types.ListToolsResult(
            tools=[types.Tool.model_validate(_with_view(tool, views), by_name=False) for tool in listed[start:end]],
            next_cursor=str(end) if end < len(listed) else None,
        )

    def get_tool(self, caller: Caller, name: str, *, with_views: bool = False) -> RegisteredTool:
        """Return the tool that a client means by a name; tools for views only if it shows views.

        Raises:
            ToolError: `unknown_tool`, `module_stopping`, `module_failed`.
        """
        tools = self._registry.tools

        def is_there(tool: RegisteredTool) -> bool:
            is_offered = tool.definition.served_as is None or (with_views and _is_view_tool(tool))
            return is_offered and caller.may_use_tool(tool.definition.name)

        if name in tools and is_there(tools[name]):
            return tools[name]
        own = {outward_name(inner): inner for inner, tool in tools.items() if is_there(tool)}
        if name in own:
            return tools[own[name]]
        if name not in tools:
            self._registry.get_tool(name)  # raises another error if the tool exists but is not available
        near = near_names(name, own)
        raise ToolError("unknown_tool", unknown_name("tool", name, near), tool=shorten_name(name), near=near)

    def get_view(self, caller: Caller, uri: str) -> str:
        """Return the document at the address of a view.

        Raises:
            ToolError: `view_not_found`.
        """
        document = {view_uri(name): document for name, document in self._list_views(caller).items()}.get(uri)
        if document is None:
            message = f"there is no view {uri[:200]!r} here; the list of tools names those there are"
            raise ToolError("view_not_found", message, uri=uri[:200])
        return document

    def _list_views(self, caller: Caller) -> dict[str, str]:
        """Return the documents of views, by the names of their tools for clients."""
        views = {name: tool.definition.view for name, tool in self._registry.tools.items() if caller.may_use_tool(name)}
        return {outward_name(name): document for name, document in views.items() if isinstance(document, str)}

    def header_schema(self, caller: Caller, name: str) -> dict[str, Any] | None:
        """Return the schema of a tool's arguments if it requires some of them in headers too; else None."""
        tool = self._registry.tools.get(name)
        if tool is None:
            try:
                tool = self.get_tool(caller, name)
            except ToolError:
                return None  # the call itself returns the error
        known = self._header_schemas.get(tool.schema)
        if known is None:
            schema = tool.schema.lower_to(FORMS["mcp"].dialect).schema
            known = self._header_schemas[tool.schema] = schema if x_mcp_header_map(schema) else {}
        return known if known and caller.may_use_tool(tool.definition.name) else None

    def search_tools(self, caller: Caller, arguments: Mapping[str, Any], *, with_views: bool = False) -> dict[str, Any]:
        """Search for tools; found ones are in the client's list from now on, and can be called at once.

        For a client that shows views, tools with a view are marked.

        Raises:
            ToolError: `invalid_arguments`.
        """
        query = arguments.get("query")
        if not isinstance(query, str) or not extract_words(query):
            raise ToolError("invalid_arguments", f"query must say in words what the tool should do; got {query!r:.100}")
        offered = self._list_offered_tools(caller)
        best = search_tools(offered, query, _FOUND)
        added = [tool.name for tool in best if tool.name not in caller.found]
        caller.found[:] = [*caller.found, *added][-_FOUND_KEPT:]
        views = self._list_views(caller) if with_views else {}
        found = [
            _with_view(
                {
                    "name": outward_name(tool.name),
                    "description": summary_line(tool),
                    "arguments": tool.schema.lower_to(FORMS["mcp"].dialect).schema,
                },
                views,
            )
            for tool in best
        ]
        if not found:
            modules = ", ".join(dict.fromkeys(tool.module for tool in offered))
            return {"found": [], "note": f"No tool answers to that. There are tools of the modules {modules}."}
        note = f"Call one by its name, or by {CALL_TOOL} with name and arguments."
        has_view = any("_meta" in each for each in found)
        return {"found": found, "note": f"{note} {_SHOWN_BY_NAME}" if has_view else note}

    def _list_view_tools(self, caller: Caller) -> list[dict[str, Any]]:
        """Return the definitions of tools that only views call; a client hides them from its model."""
        return [
            {**self._describe_tool(tool, caller), "_meta": FOR_VIEWS}
            for name, tool in self._registry.tools.items()
            if _is_view_tool(tool) and caller.may_use_tool(name)
        ]

    # -- definitions -------------------------------------------------------------------------------------------

    def _list_definitions(self, caller: Caller) -> list[dict[str, Any]]:
        offered = self._list_offered_tools(caller)
        tools = self._registry.tools
        if not caller.is_model:
            return [self._describe_tool(tools[tool.name], caller) for tool in offered]
        known = {tool.name for tool in offered}
        self._extend_listed(caller, offered)
        names = [name for name in caller.listed if name in known]
        hidden = len(offered) - len(names)
        listed = [self._describe_tool(tools[name], caller) for name in names]
        if hidden <= 0:
            return listed
        found = [name for name in caller.found if name in known and name not in names]
        return [
            *listed,
            _find_tools_definition(hidden),
            _call_tool_definition(),
            *(self._describe_tool(tools[name], caller) for name in found),
        ]

    def choose_listed(self, caller: Caller, used: Mapping[str, int]) -> None:
        """Choose the tools of a client's list and their order, which then stay the same for its session.

        Args:
            caller: The client.
            used: By tool, how often the client has called it.
        """
        offered = self._list_offered_tools(caller)
        often = sorted((name for name in used if used[name]), key=lambda name: -used[name])
        self._extend_listed(caller, offered, often)

    def _extend_listed(self, caller: Caller, offered: Sequence[OfferedTool], often: Sequence[str] = ()) -> None:
        """Add tools to a client's list while there is room; those that are listed stay where they are.

        So the list that its model sees starts alike, and the provider's cache stays valid, when tools are added.
        """
        listed = caller.config.listed
        requested = [tool for tool in offered if not isinstance(listed, tuple) or matches_patterns(tool.name, listed)]
        limit = listed if isinstance(listed, int) else len(offered)
        names = {tool.name for tool in requested}
        # a module that is used often must not hide all others: at most half of the list is by use
        by_use = [name for name in often if name in names][: limit // 2]
        ordered = dict.fromkeys([*by_use, *choose_tools(requested, limit)])
        known = {tool.name for tool in offered}
        room = limit - sum(name in known for name in caller.listed)
        caller.listed.extend([name for name in ordered if name not in caller.listed][: max(0, room)])

    def _list_offered_tools(self, caller: Caller) -> list[OfferedTool]:
        replaced = self._registry.replaced_modules()
        return [
            OfferedTool(
                name,
                tool.definition.description,
                tool.schema,
                "server",
                tool.module.name,
                tool.definition.rank,
                caller.names_tool(name),
            )
            for name, tool in self._registry.tools.items()
            if tool.definition.served_as is None
            and caller.may_use_tool(name)
            and (not caller.is_model or tool.module.name not in replaced or caller.names_tool(name))
        ]

    def _describe_tool(self, tool: RegisteredTool, caller: Caller) -> dict[str, Any]:
        form = FORMS["mcp"]
        definition = tool.definition
        described = form.write(definition, tool.schema.lower_to(form.dialect))
        described["name"] = outward_name(definition.name)
        if definition.icons:
            described["icons"] = [icon.to_json() for icon in definition.icons]
        if caller.is_model:
            # a tool that declares it has to return data with every result, and clients then show that in place of the
            # text and the images that are made for models
            described.pop("outputSchema", None)
        return described


def _is_view_tool(tool: RegisteredTool) -> bool:
    """True if views in clients may call the tool: they use the one name by which clients know it."""
    definition = tool.definition
    is_known = definition.in_views == definition.name == outward_name(definition.name)
    return definition.served_as == "view" and is_known


def _with_view(described: dict[str, Any], views: Mapping[str, str]) -> dict[str, Any]:
    return {**described, "_meta": view_meta(described["name"])} if described["name"] in views else described


def _parse_cursor(cursor: str, count: int) -> int:
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 9 or int(cursor) >= count:  # noqa: PLR2004
        raise ToolError(
            "invalid_arguments", f"there is no page {cursor[:40]!r} of the list of tools; begin without a cursor"
        )
    return int(cursor)


def _find_tools_definition(hidden: int) -> dict[str, Any]:
    return {
        "name": FIND_TOOLS,
        "description": (
            f"Find tools that are not listed here; there are {hidden} more. Gives names, what they do, and their "
            f"arguments; call them with {CALL_TOOL}."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What the tool should do, in a few words."}},
            "required": ["query"],
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }


def _call_tool_definition() -> dict[str, Any]:
    return {
        "name": CALL_TOOL,
        "description": f"Call a tool that {FIND_TOOLS} has found.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The tool's name."},
                "arguments": {
                    "type": "object",
                    "description": f"Its arguments, as {FIND_TOOLS} said.",
                    "additionalProperties": True,
                },
            },
            "required": ["name"],
        },
    }

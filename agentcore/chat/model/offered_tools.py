"""The tools that are offered to a model in one turn: the server's, by the agent's patterns, and the client's."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from agentcore.api.definition import DEFAULT_RANK
from agentcore.chat.client_messages import ClientTool
from agentcore.chat.settings import AgentConfig
from agentcore.core.declarations.definitions import RESERVED_NAMES
from agentcore.core.modules.module_record import RegisteredTool
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.store.chat.chat_rows import CallKind
from agentcore.tool_formats.formats import LoweredSchema


class OfferedTool(NamedTuple):
    """One tool as a model sees it.

    Args:
        name: The name by which the model calls it.
        description: What it does.
        schema: JSON Schema of its arguments, which can be lowered to each provider's dialect.
        kind: Where it runs.
        module: Its module; empty: it is the client's, or the chat's own.
        rank: If there are too many tools, those with lower ranks are offered first.
        is_named: True if a pattern of the agent other than `*` matches it.
    """

    name: str
    description: str
    schema: LoweredSchema
    kind: CallKind
    module: str = ""
    rank: int = DEFAULT_RANK
    is_named: bool = False


_NAME_CHARS = 64
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]+")


def valid_name(name: str) -> str:
    """Return a name that a model made up in a form that providers accept in the conversation."""
    return _NO_NAME.sub("_", name)[:_NAME_CHARS] or "unnamed"


def list_offered_tools(
    registry: ToolRegistry, client_tools: Sequence[ClientTool], agent: AgentConfig, host: str = ""
) -> list[OfferedTool]:
    """Return all tools of an agent in a stable order.

    If two tools have the same name, the client's is used, which came with this very request. Tools of a module that
    another one replaces are left out, unless the agent's patterns name them.

    Args:
        registry: The server's tools, and those of hosts.
        client_tools: The client's tools.
        agent: The agent whose patterns apply.
        host: The host for its calls; empty: none is chosen.
    """
    replaced = registry.replaced_modules()
    client = {tool.name: tool for tool in client_tools if tool.name not in RESERVED_NAMES}
    server = [
        _of_server(tool, is_named=agent.names_tool(name))
        for name, tool in registry.tools_at(host).items()
        if tool.definition.served_as is None
        and name not in client
        and agent.offers_tool(name)
        and (tool.module.name not in replaced or agent.names_tool(name))
    ]
    return server + [OfferedTool(tool.name, tool.description, tool.schema, "client") for tool in client.values()]


def _of_server(tool: RegisteredTool, *, is_named: bool) -> OfferedTool:
    said = tool.definition
    return OfferedTool(said.name, said.description, tool.schema, "server", tool.module.name, said.rank, is_named)

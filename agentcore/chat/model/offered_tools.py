"""The tools that a model is offered in one turn: the server's, by the agent's patterns, and the client's."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from agentcore.chat.settings import AgentConfig
from agentcore.chat.wire import ClientTool
from agentcore.host.modules import RESERVED_NAMES, ToolRegistry
from agentcore.store.chat import CallKind


class OfferedTool(NamedTuple):
    """One tool as a model sees it.

    Args:
        name: What the model calls it by.
        description: What it does.
        parameters: JSON Schema of its arguments.
        kind: Where it runs.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    kind: CallKind


_NAME_CHARS = 64
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]+")


def valid_name(name: str) -> str:
    """A name that a model has made up, in the form that providers take back with the conversation."""
    return _NO_NAME.sub("_", name)[:_NAME_CHARS] or "unnamed"


def offer(
    registry: ToolRegistry, client_tools: Sequence[ClientTool], agent: AgentConfig
) -> tuple[list[OfferedTool], dict[str, str]]:
    """All tools of an agent in a stable order, and the modules of the server's, by the tools' names.

    Of two tools with one name, the client's counts, which came with this very request. Tools of a module that
    another one stands in for are left out, unless the agent's patterns name them.
    """
    replaced = registry.stood_in_for()
    client = {tool.name: tool for tool in client_tools if tool.name not in RESERVED_NAMES}
    server = [
        tool
        for name, tool in registry.tools.items()
        if name not in client and agent.offers(name) and (tool.module.name not in replaced or agent.names(name))
    ]
    offered = [
        OfferedTool(tool.definition.name, tool.definition.description, tool.definition.input_schema, "server")
        for tool in server
    ]
    offered += [OfferedTool(tool.name, tool.description, tool.parameters, "client") for tool in client.values()]
    return offered, {tool.definition.name: tool.module.name for tool in server}

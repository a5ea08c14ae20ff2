"""The tools that a model is offered in one turn: the server's, by the agent's patterns, and the client's."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from agentcore.api.definition import ToolDefinition
from agentcore.chat.settings import AgentConfig
from agentcore.chat.wire import ClientTool
from agentcore.store.chat_rows import CallKind


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


def offer(
    definitions: Iterable[ToolDefinition], client_tools: Sequence[ClientTool], agent: AgentConfig
) -> list[OfferedTool]:
    """The tools in a stable order; of two with one name, the client's counts, which came with this very request."""
    offered = {tool.name: OfferedTool(tool.name, tool.description, tool.parameters, "client") for tool in client_tools}
    server = (
        OfferedTool(each.name, each.description, each.input_schema, "server")
        for each in definitions
        if each.name not in offered and agent.offers(each.name)
    )
    return [*server, *offered.values()]

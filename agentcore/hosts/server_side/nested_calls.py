"""Calls that a foreign machine makes on behalf of a call that it works on."""

from collections.abc import Mapping
from typing import Any

from agentcore.api import Text, ToolResult
from agentcore.core.calls.call_context import CallContext
from agentcore.errors import ToolError
from agentcore.hosts.server_side.browser_methods import BROWSER_METHODS, BrowserMethod, validator_of
from agentcore.hosts.server_side.operation_access import MachineAccess


async def make_nested_call(
    foreign: MachineAccess, context: CallContext, tool: str, arguments: Mapping[str, Any]
) -> ToolResult:
    """Call a tool for a foreign machine, by its name or by a dotted name of the protocol.

    Either way the machine is the caller, and rules, approvals and the record show the tool that is called.

    Raises:
        ToolError: As `agentcore.api.ToolContext.call`; `unknown_tool`: no tool stands for the dotted name.
    """
    method = BROWSER_METHODS.get(tool)
    if method is None:
        return await context.call_as_host(foreign.name, tool, arguments)
    return await _call_method(foreign, context, method, validator_of(method.name)(dict(arguments)))


async def _call_method(
    foreign: MachineAccess, context: CallContext, method: BrowserMethod, arguments: dict[str, Any]
) -> ToolResult:
    definition = foreign.find_aliased_tool(method.name)
    if definition is None or definition.host_alias is None:
        message = f"no tool of the server or of this host stands for {method.name!r}: no module with a browser is ready"
        raise ToolError("unknown_tool", message, tool=method.name, near=[])
    arguments = {**arguments, **definition.host_alias.arguments}
    result = await context.call_as_host(foreign.name, definition.name, arguments)
    # images are in the data, and would be sent twice
    texts = [block for block in result.blocks() if isinstance(block, Text)]
    return ToolResult(texts, method.read_result(result.data), result.truncated, result.untrusted, result.resource_id)

"""Who may approve a call over the wire of the chat."""

from agentcore.api.context import Principal
from agentcore.api.definition import ToolDefinition
from agentcore.api.errors import ToolError
from agentcore.host.policy import authorise

_NEEDS_SANDBOX = frozenset(("execute", "dangerous"))


def check_approver(principal: Principal, definition: ToolDefinition | None, *, api_token_approves: bool) -> None:
    """Let a principal approve a call of a server tool, or not.

    Args:
        principal: Who says yes.
        definition: The tool; None: it is gone.
        api_token_approves: The setting `approvals.api_token`. Even with it, the token does not approve what executes:
            that has to run in a sandbox then, and no sandbox holds tools of modules yet.
    Raises:
        ToolError: `approval_denied`.
    """
    if principal.kind == "token" and api_token_approves:
        if definition is not None and definition.effects & _NEEDS_SANDBOX:
            message = f"{definition.name} executes: the API token does not approve that; approve it at the terminal"
            raise ToolError("approval_denied", message, tool=definition.name)
        return
    try:
        authorise(principal, "approve")
    except ToolError as exc:
        message = f"a {principal.kind} cannot approve calls: a person does, at the terminal of the server"
        raise ToolError("approval_denied", message, principal=principal.kind) from exc

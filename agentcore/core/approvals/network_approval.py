"""Who may approve a call over the network."""

from agentcore.api import CallPreview, Principal, ToolDefinition
from agentcore.approval_rules.call_facts import effects_of
from agentcore.core.policy.authority import authorise, find_reach
from agentcore.errors import ToolError

_NEEDS_SANDBOX = frozenset(("execute", "dangerous"))


def check_approver(
    principal: Principal,
    definition: ToolDefinition | None,
    preview: CallPreview | None,
    *,
    api_token_approves: bool,
    session_owner: str | None = None,
) -> None:
    """Check that a principal may approve a call.

    Args:
        api_token_approves: The setting `approvals.api_token`. Even with it, the token approves tools that execute
            programs only if these run in a sandbox: any process that can read the token could otherwise run anything.
        session_owner: Who created the session of the call, for clients that approve in their own sessions only.
    Raises:
        ToolError: `approval_denied`; `forbidden`: not in this session.
    """
    if principal.kind == "token" and api_token_approves:
        _check_sandbox(definition, preview)
        return
    try:
        authorise(principal, "approve", session_owner)
    except ToolError as exc:
        if find_reach(principal, "approve") is not None:
            raise
        message = f"a {principal.kind} cannot approve calls: the user does, in the approval view or at the terminal"
        raise ToolError("approval_denied", message, principal=principal.kind) from exc


def _check_sandbox(definition: ToolDefinition | None, preview: CallPreview | None) -> None:
    if definition is None or (preview is not None and preview.is_sandboxed):
        return
    if effects_of(definition, preview) & _NEEDS_SANDBOX:
        message = (
            f"{definition.name} executes, and not in a sandbox: the API token does not approve that; turn the sandbox "
            "of its module on, or approve it in the approval view or at the terminal"
        )
        raise ToolError("approval_denied", message, tool=definition.name)

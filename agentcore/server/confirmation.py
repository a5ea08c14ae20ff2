"""Policy changes: applied at once for principals with that right, else only after the user confirms them."""

from agentcore.api import Principal
from agentcore.core.approvals.policy_changes import Apply, PolicyChanges, Proposal
from agentcore.core.policy.authority import authorise
from agentcore.errors import ToolError


async def change_policy(
    changes: PolicyChanges, by: Principal, proposal: Proposal, apply: Apply, session_owner: str | None = None
) -> None:
    """Apply a change, or ask the user to confirm it in the approval view, which then applies it.

    Args:
        changes: Stores pending changes.
        by: Principal that requests the change.
        proposal: Shown to the user.
        apply: Applies the change.
        session_owner: Owner of the session that the change is about; None: it is about no session.
    Raises:
        ToolError: `forbidden`; `confirmation_required`, with the change's id, if the user is asked.
    """
    if needs_confirmation(by, session_owner):
        raise propose_change(changes, by, proposal, apply)
    await apply()


def needs_confirmation(by: Principal, session_owner: str | None = None) -> bool:
    """True if the principal may change the policy only after the user confirms it.

    Raises:
        ToolError: `forbidden`: It may not even request the change.
    """
    try:
        authorise(by, "change_policy", session_owner)
    except ToolError as exc:
        if exc.type != "confirmation_required":
            raise
        return True
    return False


def propose_change(changes: PolicyChanges, by: Principal, proposal: Proposal, apply: Apply) -> ToolError:
    """Ask the user to confirm a change, even if the principal could apply it, and return the error that reports this.

    Raises:
        ToolError: `too_many_waiting`.
    """
    change = changes.propose_change(proposal, by, apply)
    return ToolError(
        "confirmation_required",
        "a person confirms this in the approval view; it waits there, and counts once it is confirmed",
        changeId=change.change_id,
        expiresAt=change.expires_at_ms,
    )

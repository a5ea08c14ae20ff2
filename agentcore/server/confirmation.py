"""Changes of what is allowed: made at once for whoever may, confirmed by a person for whoever may only ask for it."""

from agentcore.api import Principal
from agentcore.core import Core
from agentcore.core.approvals import Apply, Proposal
from agentcore.core.policy import authorise
from agentcore.errors import ToolError


async def change_policy(
    core: Core, by: Principal, proposal: Proposal, apply: Apply, session_owner: str | None = None
) -> None:
    """Apply a change, or have a person confirm it in the approval view, where it is applied.

    Args:
        host: Keeps what waits.
        by: Who asks.
        proposal: What the person is shown.
        apply: Carries it out.
        session_owner: Who made the session that it is about; None: it is about none.
    Raises:
        ToolError: `forbidden`; `confirmation_required`, with the change's id, when a person is asked.
    """
    if needs_confirmation(by, session_owner):
        raise propose_change(core, by, proposal, apply)
    await apply()


def needs_confirmation(by: Principal, session_owner: str | None = None) -> bool:
    """Whether who asks may change the policy only by way of a person.

    Raises:
        ToolError: `forbidden`: not even so.
    """
    try:
        authorise(by, "change_policy", session_owner)
    except ToolError as exc:
        if exc.type != "confirmation_required":
            raise
        return True
    return False


def propose_change(core: Core, by: Principal, proposal: Proposal, apply: Apply) -> ToolError:
    """Have a person confirm a change, whoever asks for it; gives the error that says so.

    Raises:
        ToolError: `too_many_waiting`.
    """
    change = core.policy_changes.propose_change(proposal, by, apply)
    return ToolError(
        "confirmation_required",
        "a person confirms this in the approval view; it waits there, and counts once it is confirmed",
        changeId=change.change_id,
        expiresAt=change.expires_at_ms,
    )

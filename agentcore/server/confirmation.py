"""Changes of what is allowed: made at once for whoever may, laid before a person for whoever may only ask for it."""

from agentcore.errors import ToolError
from agentcore.host.approvals.policy_changes import Apply, Proposal
from agentcore.host.policy.authority import authorise
from agentcore.server.exchange import Exchange


async def change_policy(exchange: Exchange, proposal: Proposal, apply: Apply) -> None:
    """Apply a change, or have a person confirm it in the approval view, where it is applied.

    Args:
        exchange: Who asks.
        proposal: What the person is shown.
        apply: Carries it out.
    Raises:
        ToolError: `forbidden`; `confirmation_required`, with the change's id, when a person is asked.
    """
    if needs_confirmation(exchange):
        raise laid_before_person(exchange, proposal, apply)
    await apply()


def needs_confirmation(exchange: Exchange) -> bool:
    """Whether who asks may change the policy only by way of a person.

    Raises:
        ToolError: `forbidden`: not even so.
    """
    try:
        authorise(exchange.principal, "change_policy")
    except ToolError as exc:
        if exc.type != "confirmation_required":
            raise
        return True
    return False


def laid_before_person(exchange: Exchange, proposal: Proposal, apply: Apply) -> ToolError:
    """Have a person confirm a change, whoever asks for it; gives the error that says so.

    Raises:
        ToolError: `too_many_waiting`.
    """
    change = exchange.host.policy_changes.propose(proposal, exchange.principal, apply)
    return ToolError(
        "confirmation_required",
        "a person confirms this in the approval view; it waits there, and counts once it is confirmed",
        changeId=change.change_id,
        expiresAt=change.expires_at_ms,
    )

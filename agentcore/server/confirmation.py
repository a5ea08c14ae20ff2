"""Changes of what is allowed: made at once for whoever may, laid before a person for whoever may only ask for it."""

from agentcore.api.errors import ToolError
from agentcore.host.policy import authorise
from agentcore.host.policy_changes import Apply, Proposal
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
    try:
        authorise(exchange.principal, "change_policy")
    except ToolError as exc:
        if exc.type != "confirmation_required":
            raise
        change = exchange.host.policy_changes.propose(proposal, exchange.principal, apply)
        message = f"{exc.message}; it waits there, and counts once it is confirmed"
        raise ToolError(
            "confirmation_required", message, changeId=change.change_id, expiresAt=change.expires_at_ms
        ) from exc
    await apply()

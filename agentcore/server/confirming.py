"""Changes of what is allowed, from whoever may only ask for them: laid before a person in the approval view."""

from http import HTTPStatus

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from agentcore.api.errors import ToolError
from agentcore.host.policy import authorise
from agentcore.host.policy_changes import Apply, Proposal
from agentcore.server.answer import Answer
from agentcore.server.exchange import Exchange
from agentcore.server.refusal import to_json


class Confirmation(BaseModel, alias_generator=to_camel, populate_by_name=True):
    """A change that waits in the approval view, until `expiresAt` (ms since 1970); `policy.decided` tells the rest."""

    change_id: str
    expires_at: int


class Unconfirmed(BaseModel):
    """The answer, with status 202, to a change that a person has to confirm first. Nothing was changed yet."""

    confirmation: Confirmation


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


async def applied_or_waiting(exchange: Exchange, proposal: Proposal, apply: Apply) -> Answer | None:
    """Apply a change of the policy, or lay it before a person.

    Args:
        exchange: Who asks.
        proposal: What a person is shown.
        apply: Carries it out: now for who may change the policy, else once it is confirmed.
    Returns:
        None: it is done. Else the answer that says that it waits.
    Raises:
        ToolError: `forbidden`, `too_many_waiting`.
    """
    if not needs_confirmation(exchange):
        await apply()
        return None
    return lay(exchange, proposal, apply)


def lay(exchange: Exchange, proposal: Proposal, apply: Apply) -> Answer:
    """Lay a change before a person, whoever asks; gives the answer that says so."""
    change = exchange.host.policy_changes.propose(proposal, exchange.principal, apply)
    waiting = Confirmation(change_id=change.change_id, expires_at=change.expires_at_ms)
    return Answer(to_json(Unconfirmed(confirmation=waiting)), HTTPStatus.ACCEPTED)

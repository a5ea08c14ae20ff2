"""Routes for the approval policy: explaining decisions, trying rules, and grants."""

from typing import Any

from pydantic import BaseModel

from agentcore.chat import policy
from agentcore.core.dry_run.explanation import Explanation, Question
from agentcore.core.dry_run.rule_trial import Trial, TrialResult
from agentcore.encoding import to_json
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.route_table import ServerRoute


class Grants(BaseModel, defer_build=True):
    """What users have allowed for later calls, oldest first, and the rules of app.json.

    Of a grant, `givenTitle` is the title of the chat in which it was given: empty without a title, null for a chat that
    is gone or not known.
    """

    grants: list[dict[str, Any]]
    rules: list[dict[str, Any]]


async def explain_call(exchange: Exchange) -> Answer:
    """Send the decision that the policy would make on a call."""
    return Answer(to_json(await policy.explain_call(exchange.core, exchange.parts.chat.setup.settings, exchange.body)))


async def try_new_rule(exchange: Exchange) -> Answer:
    """Send the recorded calls that a rule would decide differently."""
    return Answer(to_json(await policy.try_new_rule(exchange.core, exchange.parts.chat.setup.settings, exchange.body)))


async def list_grants(exchange: Exchange) -> Answer:
    """Send the grants, each with the title of its chat, and the rules."""
    core = exchange.core
    grants = [grant.to_json() for grant in core.policy.grants]
    titles = await core.store.chats.load_titles({grant["givenIn"] or grant.get("sessionId", "") for grant in grants})
    for grant in grants:
        grant["givenTitle"] = titles.get(grant["givenIn"] or grant.get("sessionId", ""))
    rules = [
        {"decision": rule.decision, "reason": rule.reason, "place": compiled.place, "criteria": rule.criteria}
        for rule, compiled in zip(core.policy.config.rules, core.policy.rules, strict=True)
    ]
    return Answer(to_json({"grants": grants, "rules": rules}))


async def revoke_grant(exchange: Exchange) -> Answer:
    """Revoke a grant; calls that it allowed need approval again."""
    grant_id = exchange.path_values["id"]
    await exchange.core.policy.revoke_grant(grant_id)
    exchange.core.events.publish("grant.revoked", {"grantId": grant_id})
    return Answer(to_json({"ok": True}))


ROUTES = (
    ServerRoute(
        "POST",
        "/api/approvals/explain",
        explain_call,
        "Say whether a call would run, be asked about or be refused, and which rule or mode says so. Nothing runs.",
        body=Question,
        answer=Explanation,
    ),
    ServerRoute(
        "POST",
        "/api/approvals/try",
        try_new_rule,
        "Say which of the recorded calls a rule would decide differently, before it is switched on.",
        body=Trial,
        answer=TrialResult,
    ),
    ServerRoute("GET", "/api/approvals/grants", list_grants, "What persons have allowed for later.", answer=Grants),
    ServerRoute(
        "DELETE",
        "/api/approvals/grants/{id}",
        revoke_grant,
        "Take back what was allowed for later.",
        action="revoke",
    ),
)

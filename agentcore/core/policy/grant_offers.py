"""What the user may allow for later along with one call, from narrow to wide; each is described completely."""

from agentcore.approval_rules.call_facts import CallFacts
from agentcore.approval_rules.command_pattern import escape_pattern
from agentcore.approval_rules.criteria import Effects, RunsOn, Url, suggest_patterns
from agentcore.approval_rules.decisions import MODES_THAT_READ
from agentcore.core.policy.authority import PERSONS, Decision
from agentcore.core.policy.grants import GrantOffer, GrantScope
from agentcore.net.url_pattern import origin_of

_SCOPES: tuple[GrantScope, ...] = ("session", "always")


def offers_for(facts: CallFacts, decision: Decision, roots: tuple[str, ...]) -> tuple[GrantOffer, ...]:
    """The offers for a call that is asked about; none for what always asks, and where a rule asks."""
    is_by_default = decision.by == "untrusted" or decision.by.startswith("mode:")
    if not is_by_default or facts.is_protected or "dangerous" in facts.effects or facts.principal.kind in PERSONS:
        return ()
    if facts.is_from_other_machine:
        return ()  # a grant is for callers of one kind, and does not apply to other machines
    tool = facts.definition.name
    found = [(tool, patterns) for patterns in suggest_patterns(facts, roots)]
    if facts.effects == frozenset(("read",)) and not facts.host:
        found.append(("*", {Effects.key: "read"}))
    return tuple(GrantOffer(scope, name, patterns) for scope in _SCOPES for name, patterns in found)


def host_offers(facts: CallFacts) -> tuple[GrantOffer, ...]:
    """Return what an approval grants implicitly if only writes ask: further reading from the same hosts."""
    if (
        facts.is_from_other_machine
        or facts.mode not in MODES_THAT_READ
        or not facts.is_previewed
        or not facts.effects <= frozenset(("read", "egress"))
    ):
        return ()
    origins = {origin for url in facts.urls if (origin := origin_of(url)) is not None}
    where = {RunsOn.key: escape_pattern(facts.host)} if facts.host else {}
    return tuple(GrantOffer("session", "*", {Url.key: origin, **where}) for origin in sorted(origins))

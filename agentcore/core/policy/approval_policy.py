"""Which calls run, which are asked about, and which are refused: deny beats ask, ask beats allow, unknown asks."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from agentcore.api import CallPreview, Effect, Principal, ToolDefinition
from agentcore.api.tool_context import PrincipalKind
from agentcore.approval_rules.call_facts import CallFacts
from agentcore.approval_rules.command_pattern import escape_pattern
from agentcore.approval_rules.criteria import Criteria, RunsOn, Url
from agentcore.approval_rules.decisions import MODES_THAT_READ, ApprovalMode, DecisionKind
from agentcore.config.app_json import ApprovalRule, ApprovalsConfig
from agentcore.core.policy.authority import PERSONS, Decision
from agentcore.core.policy.grants import Grants
from agentcore.core.policy.untrusted_sources import UntrustedSources, source_row
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.net.url_pattern import origin_of
from agentcore.store.approvals.approval_store import ApprovalStore

_READ: frozenset[Effect] = frozenset(("read",))
_READ_AND_EGRESS: frozenset[Effect] = frozenset(("read", "egress"))
_READ_AND_WRITE: frozenset[Effect] = frozenset(("read", "write"))
_REACHES_OUT: frozenset[Effect] = frozenset(("egress", "execute", "dangerous"))
"""Effects that untrusted content may try to cause."""

_CALLERS_IN_CHATS: frozenset[PrincipalKind] = frozenset(("chat", "view", "host"))
"""Callers that work for a chat: its model, views in it, and machines that work on a call of it."""

_USE_PRECISION_MS = 60_000
"""How precisely the last use of a grant is stored, so that not every call writes."""

OWN_CALL = Decision("allow", "own_call", "a person's own call")
"""The decision for a user's own call that no rule applies to."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of app.json that can be matched against calls.

    Args:
        place: Its location: `approvals.rules[2]`.
        decision: `allow`, `ask` or `deny`.
        reason: The explanation for the user.
    """

    place: str
    decision: DecisionKind
    reason: str
    criteria: Criteria

    @classmethod
    def compile(cls, place: str, rule: ApprovalRule, roots: Sequence[str]) -> "Rule":
        """Compile a rule."""
        reason = rule.reason or f"{place} of app.json says so"
        return cls(place, rule.decision, reason, Criteria(rule.criteria, roots))

    def explain_mismatch(self, facts: CallFacts) -> str | None:
        """Why it does not mean a call; None: it does."""
        return self.criteria.find_mismatch(facts, surely=self.decision == "allow")


@dataclass(frozen=True, slots=True)
class Considered:
    """A rule or a grant that was checked.

    Args:
        place: `approvals.rules[2]`, or `grant:ID`.
        decision: Its decision.
        differs: Why it does not match the call; None: it does.
    """

    place: str
    decision: str
    differs: str | None


_NO_CHANGES_IN_PLAN = (
    "the mode is plan: calls that change something or run code are refused until the user chooses another mode; "
    "look up what you need, then describe the plan"
)
"""The reason for the model and the user why a call does not run in the mode `plan`."""

_PREVIEW_FAILURES = {
    "failed": "its tool failed to work out what it would do",
    "timed_out": "its tool could not work out in time what it would do",
}
"""Why a call is asked about whose preview has failed, by `CallPreview.failure`."""


class ApprovalPolicy:
    """Decides on calls.

    Args:
        roots: Real paths of the workspace roots.
        page_is_scripted: True if scripts of a model have run in the page: then its calls may not be the user's.
    """

    def __init__(
        self, config: ApprovalsConfig, roots: Sequence[str], store: ApprovalStore, page_is_scripted: Callable[[], bool]
    ) -> None:
        self.roots = tuple(roots)
        self.grants = Grants(self.roots)
        self.sources = UntrustedSources()
        self._store = store
        self._page_is_scripted = page_is_scripted
        self._session_modes: dict[str, ApprovalMode | None] = {}
        self.version = 0
        self.apply_config(config)

    def apply_config(self, config: ApprovalsConfig) -> None:
        """Apply other rules and another mode; calls that have not begun are decided again."""
        self.config = config
        self.mode = config.mode
        rules = enumerate(config.rules)
        self.rules = tuple(Rule.compile(f"approvals.rules[{number}]", rule, self.roots) for number, rule in rules)
        self._group_rules()

    def with_rule(self, rule: ApprovalRule) -> "ApprovalPolicy":
        """Return a copy of the policy with one more rule, for a trial."""
        other = ApprovalPolicy(self.config, self.roots, self._store, self._page_is_scripted)
        other.grants = self.grants
        other.sources = self.sources
        other._session_modes = self._session_modes
        other.rules = (*self.rules, Rule.compile("the new rule", rule, self.roots))
        other._group_rules()
        return other

    def bump_version(self) -> None:
        """Invalidate the decisions of waiting calls after a change."""
        self.version += 1

    def set_session_mode(self, session_id: str, mode: ApprovalMode | None) -> None:
        """Set the mode of a chat, which applies to calls that wait there as well.

        Args:
            session_id: The chat.
            mode: Its own mode, or its agent's; None: that of app.json.
        """
        is_known = session_id in self._session_modes
        if is_known and self._session_modes[session_id] == mode:
            return
        self._session_modes[session_id] = mode
        self.bump_version()

    def find_session_mode(self, session_id: str, caller: PrincipalKind = "chat") -> ApprovalMode | None:
        """Return the mode that applies in a chat; None: this process does not know the chat yet, or the caller is not
        part of a chat.

        Any client may name the session of a chat in its calls, and does not get what the chat may do by that.
        """
        if caller not in _CALLERS_IN_CHATS or session_id not in self._session_modes:
            return None
        return self._session_modes[session_id] or self.mode

    @property
    def needs_paths(self) -> bool:
        """True if it needs the paths in arguments."""
        return self._looks_at_paths or any(grant.criteria.looks_at_paths for grant in self.grants)

    def allows_own_call(self, principal: Principal, preview: CallPreview | None) -> bool:
        """True if a call is allowed because the user makes it, and nothing else needs to be checked."""
        is_own = principal.kind in PERSONS and not self._may_be_a_script(principal)
        is_plain = preview is None or not (preview.is_protected or preview.caution or preview.failure)
        return is_own and not self.rules and is_plain

    def _may_be_a_script(self, principal: Principal) -> bool:
        return principal.kind == "page" and self._page_is_scripted()

    async def record_untrusted_source(self, session_id: str, source: str) -> None:
        """Record that the model of a session has read untrusted content.

        Args:
            source: Its name for the user, such as a host name.
        """
        if self.sources.is_known(session_id, source):
            return
        row = source_row(session_id, source)
        self.sources.add([row])
        self.bump_version()
        await self._store.add_source(row)

    async def revoke_grant(self, grant_id: str) -> None:
        """Revoke a grant; waiting calls are decided again.

        Raises:
            ToolError: `grant_not_found`.
        """
        if self.grants.find(grant_id) is None:
            message = f"there is no grant {grant_id!r}; `GET /api/approvals/grants` lists those there are"
            raise ToolError("grant_not_found", message, grant_id=grant_id)
        self.grants.drop(grant_id)
        self.bump_version()
        await self._store.delete_grant(grant_id)

    async def record_use(self, decision: Decision) -> None:
        """Record that a decision let a call run, if it rests on a grant; at most once a minute for each grant."""
        kind, _, grant_id = decision.by.partition(":")
        grant = self.grants.find(grant_id) if kind == "grant" else None
        if grant is None:
            return
        used_at_ms = time.time_ns() // 1_000_000
        if used_at_ms - (grant.row.last_used_at_ms or 0) < _USE_PRECISION_MS:
            return
        self.grants.set_last_use(grant_id, used_at_ms)
        await self._store.save_grant_use(grant_id, used_at_ms)

    def drop_granted_by(self, who: str) -> None:
        """Revoke all grants that a client gave; waiting calls are decided again."""
        self.grants.drop_granted_by(who)
        self.sources.open_accepted_by(who)
        self.bump_version()

    async def revoke_host_grants(self, name: str) -> None:
        """Revoke all grants for calls on a host, because another one may get its name."""
        found = [grant.row.grant_id for grant in self.grants if grant.patterns.get(RunsOn.key) == name]
        for grant_id in found:
            await self.revoke_grant(grant_id)

    async def delete_session_grants(self, session_id: str) -> None:
        """Let all that was granted and noted for a session end with it."""
        self.grants.drop_session(session_id)
        self.sources.drop_session(session_id)
        self._session_modes.pop(session_id, None)
        self.bump_version()
        await self._store.delete_session_rows(session_id)

    async def restore_grants(self) -> None:
        """Take what is stored."""
        self.grants.add(await self._store.load_grants())
        self.sources.add(await self._store.load_sources())

    def decide(self, facts: CallFacts) -> Decision:
        """Decide on one call."""
        return next(self._iterate_decisions(facts))

    def decide_for_chat(
        self,
        session_id: str,
        definition: ToolDefinition,
        arguments: dict[str, Any],
        *,
        agent_id: str = "",
    ) -> Decision:
        """Decide on a call of a chat's model that a client runs, not the core.

        Args:
            session_id: The chat.
            definition: The tool.
            arguments: Its arguments.
            agent_id: The agent that makes the call.
        """
        chat = Principal("chat", session_id)
        mode = self.find_session_mode(session_id) or self.mode
        return self.decide(CallFacts(chat, definition, arguments, None, session_id, agent_id, mode))

    def list_considered(self, facts: CallFacts) -> list[Considered]:
        """All rules, and the grants for its tool, with why each does or does not mean the call."""
        found = [Considered(rule.place, rule.decision, rule.explain_mismatch(facts)) for rule in self.rules]
        held = [grant.row.grant_id for grant in self.grants if grant.row.scope != "host" and grant.applies_to(facts)]
        return [*found, *(Considered(f"grant:{grant_id}", "allow", None) for grant_id in held)]

    # -- in the order of their strength ------------------------------------------------------------------------

    def _iterate_decisions(self, facts: CallFacts) -> Iterator[Decision]:
        """Yield all decisions about a call, the strongest first."""
        is_own = facts.principal.kind in PERSONS
        yield from self._decisions_by_rules(facts, self._denying)
        if not is_own:
            yield from _refusals_by_mode(facts)
        if facts.is_protected:
            yield Decision("ask", "protected", "it touches files that decide what runs or what is allowed")
        if facts.preview_failure:
            yield Decision("ask", f"preview:{facts.preview_failure}", _PREVIEW_FAILURES[facts.preview_failure])
        if facts.caution:
            yield Decision("ask", "caution", facts.caution)
        yield from self._decisions_by_rules(facts, self._asking)
        yield from self._decisions_by_doubt(facts)
        if is_own:
            is_harmless = facts.effects <= _READ or facts.touches_session_only
            if self._may_be_a_script(facts.principal) and not is_harmless:
                yield Decision("ask", "page_scripts", "a script of a model has run in the page, and may call too")
            yield OWN_CALL
        if facts.touches_session_only:
            yield Decision("allow", "session", "it touches nothing but its own session")
        yield from self._decisions_by_rules(facts, self._allowing)
        if facts.mode == "allow":
            yield Decision("allow", "mode:allow", "the mode lets calls run")
        yield from self._decisions_by_grants(facts)
        yield from self._permissions_by_mode(facts)
        yield self._ask_decision(facts, f"mode:{facts.mode}", _reason_to_ask(facts))

    def _decisions_by_rules(self, facts: CallFacts, rules: Sequence[Rule]) -> Iterator[Decision]:
        for rule in rules:
            if rule.explain_mismatch(facts) is None:
                yield self._with_source(facts, Decision(rule.decision, rule.place, rule.reason))

    def _decisions_by_doubt(self, facts: CallFacts) -> Iterator[Decision]:
        """Yield a question for each rule that denies or asks and of which only running the call would show a match."""
        for rule in (*self._denying, *self._asking):
            if rule.criteria.may_match(facts):
                reason = f"what the command runs is known only when it runs, and {rule.place} may be about it"
                yield self._ask_decision(facts, rule.place, reason)

    def _decisions_by_grants(self, facts: CallFacts) -> Iterator[Decision]:
        """Yield the decisions by grants; untrusted content suspends those for effects that reach out."""
        grant = self._find_grant(facts)
        if grant is None:
            return
        if self._find_untrusted_source(facts) is not None:
            yield self._ask_decision(facts, "untrusted", "what was allowed before waits for an answer")
        yield Decision("allow", f"grant:{grant}", "a person allowed it before")

    def _find_grant(self, facts: CallFacts) -> str | None:
        """The grant that lets a call run."""
        if "dangerous" in facts.effects or facts.is_from_other_machine:
            return None
        for grant in self.grants:
            if grant.row.scope != "host" and grant.applies_to(facts):
                return grant.row.grant_id
        return self._granted_hosts(facts) if facts.mode in MODES_THAT_READ else None

    def _permissions_by_mode(self, facts: CallFacts) -> Iterator[Decision]:
        """Yield the decisions of modes that let some calls run."""
        # results of a foreign machine's call are sent to that machine
        if facts.mode in MODES_THAT_READ and facts.effects <= _READ and not facts.is_from_other_machine:
            yield Decision("allow", f"mode:{facts.mode}", "it only reads")
        if facts.mode == "accept_edits" and self._changes_workspace_only(facts):
            yield Decision("allow", "mode:accept_edits", "it only changes files of the workspace")

    def _changes_workspace_only(self, facts: CallFacts) -> bool:
        """True if all that a call does is to read and change files in the workspace, as its tool itself reports."""
        # the workspace of a foreign machine is somebody else's, and its results are sent there
        if facts.is_from_other_machine or facts.host or not facts.effects <= _READ_AND_WRITE:
            return False
        if not facts.is_previewed or not facts.paths:
            return False
        roots = [PurePosixPath(root) for root in self.roots]
        return all(_is_below(PurePosixPath(path), roots) for path in facts.paths)

    def _granted_hosts(self, facts: CallFacts) -> str | None:
        """Return the grant for the host of a call that only reads from there; all its hosts must be granted."""
        if not facts.effects <= _READ_AND_EGRESS or not facts.is_previewed or not facts.urls:
            return None
        granted = {
            grant.patterns.get(Url.key): grant.row.grant_id
            for grant in self.grants
            if (grant.row.scope, grant.row.session_id, grant.row.principal_kind)
            == ("host", facts.session_id, facts.principal.kind)
            and grant.patterns.get(RunsOn.key, "") == escape_pattern(facts.host)
        }
        found = [granted.get(origin_of(url)) for url in facts.urls]
        return found[0] if all(found) else None

    # -- questions ---------------------------------------------------------------------------------------------

    def _ask_decision(self, facts: CallFacts, by: str, reason: str) -> Decision:
        return self._with_source(facts, Decision("ask", by, reason))

    def _with_source(self, facts: CallFacts, decision: Decision) -> Decision:
        source = self._find_untrusted_source(facts) if decision.kind == "ask" else None
        if source is None:
            return decision
        reason = f"{decision.reason}; the model has read untrusted content from {source}"
        return Decision("ask", decision.by, reason, source)

    def _find_untrusted_source(self, facts: CallFacts) -> str | None:
        if facts.principal.kind in PERSONS or facts.effects.isdisjoint(_REACHES_OUT):
            return None
        return self.sources.name_open_ones(facts.session_id)

    def _group_rules(self) -> None:
        self._denying = self._rules_deciding("deny")
        self._asking = self._rules_deciding("ask")
        self._allowing = self._rules_deciding("allow")
        self._looks_at_paths = any(rule.criteria.looks_at_paths for rule in self.rules)
        self.version += 1

    def _rules_deciding(self, decision: str) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule.decision == decision)


def _refusals_by_mode(facts: CallFacts) -> Iterator[Decision]:
    """Yield the decisions of modes that refuse some calls, or all."""
    if facts.mode == "deny":
        yield Decision("deny", "mode:deny", f"calls of a {facts.principal.kind} are refused")
    if facts.mode == "plan" and not facts.touches_session_only and not facts.effects <= _READ_AND_EGRESS:
        yield Decision("deny", "mode:plan", _NO_CHANGES_IN_PLAN)


def _is_below(path: PurePosixPath, folders: Sequence[PurePosixPath]) -> bool:
    """True if a real path is one of the folders or below one; a relative path, or one with `..`, is below none."""
    return path.is_absolute() and ".." not in path.parts and any(path.is_relative_to(folder) for folder in folders)


def _reason_to_ask(facts: CallFacts) -> str:
    if facts.is_from_other_machine:
        return f"host {facts.principal.id!r} makes this call, and its result goes to that machine"
    return f"calls of a {facts.principal.kind} need a person"

"""The rules of app.json, compiled, and which of them means a call."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from agentcore.config.model import ApprovalRule
from agentcore.rules.call_facts import CallFacts
from agentcore.rules.criteria import Criteria


@dataclass(frozen=True)
class Rule:
    """One rule that can be held against calls.

    Args:
        place: Where it stands: `approvals.rules[2]`.
        said: As app.json has it.
        criteria: Its patterns.
    """

    place: str
    said: ApprovalRule
    criteria: Criteria

    @classmethod
    def compile(cls, place: str, said: ApprovalRule, roots: Sequence[str]) -> "Rule":
        """Compile a rule.

        Args:
            place: Where it stands.
            said: As app.json has it.
            roots: Real paths of the workspace roots.
        """
        named = {"path": said.path, "command": said.command, "url": said.url, "cwd": said.cwd}
        patterns = {name: pattern for name, pattern in named.items() if pattern is not None}
        return cls(place, said, Criteria.compile(said.tool, patterns, roots, said.arguments))

    def differs(self, facts: CallFacts) -> str | None:
        """Why it does not mean a call; None: it does."""
        said = self.said
        if said.callers and facts.principal.kind not in said.callers:
            return f"it is for calls of: {', '.join(said.callers)}"
        if said.agents and not any(fnmatchcase(facts.agent_id, agent) for agent in said.agents):
            return f"it is for agents: {', '.join(said.agents)}"
        return self.criteria.differs(facts, surely=said.decision == "allow")

    @property
    def reason(self) -> str:
        """What a person is told of it."""
        return self.said.reason or f"{self.place} of app.json says so"


def compile_rules(rules: Sequence[ApprovalRule], roots: Sequence[str]) -> tuple[Rule, ...]:
    """Compile the rules of app.json, in their order."""
    return tuple(Rule.compile(f"approvals.rules[{index}]", rule, roots) for index, rule in enumerate(rules))

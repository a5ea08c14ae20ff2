"""Limits on the steps and tokens of a sub-agent."""

from collections.abc import Mapping
from typing import NamedTuple

from agentcore.chat.settings import AgentConfig
from agentcore.errors import ToolError


class Budget(NamedTuple):
    """Limits of one sub-agent.

    Args:
        steps: Requests to the model.
        tokens: Tokens, sent and received.
    """

    steps: int
    tokens: int


def read_budget(wanted: Mapping[str, int] | None, agent: AgentConfig) -> Budget:
    """Return the requested budget, capped by the limits of the session's agent.

    Raises:
        ToolError: `invalid_arguments`.
    """
    given = dict(wanted or {})
    if (unknown := set(given) - set(Budget._fields)) or any(value < 1 for value in given.values()):
        named = f"unknown: {sorted(unknown)}" if unknown else f"given: {given}"
        raise ToolError("invalid_arguments", f"a budget has steps and tokens, each at least 1; {named}")
    return Budget(
        min(given.get("steps", agent.max_steps), agent.max_steps),
        min(given.get("tokens", agent.max_tokens), agent.max_tokens),
    )

"""How much of its limits a turn has used, as shown to the user."""

from agentcore.chat.session.session_view import TurnView
from agentcore.chat.settings import AgentConfig


def turn_view(agent: AgentConfig, steps: int, tokens: int, worked_ms: int) -> TurnView:
    """Return the view of a turn, from its counts and the limits of its agent."""
    return TurnView(
        steps=steps,
        max_steps=agent.max_steps,
        tokens=tokens,
        max_tokens=agent.max_tokens,
        seconds=worked_ms // 1000,
        max_seconds=None if agent.max_minutes is None else agent.max_minutes * 60,
    )

"""Finds the agent and the approval mode of a session for the policy."""

from agentcore.approval_rules import ApprovalMode
from agentcore.chat.settings import ChatSettings
from agentcore.store.chat import ChatStore


async def agent_and_mode(
    chats: ChatStore, settings: ChatSettings, session_id: str, agent_id: str | None = None
) -> tuple[str, ApprovalMode | None]:
    """Return the agent and the approval mode of a session.

    Args:
        chats: The store of sessions.
        settings: The agents.
        session_id: The session; need not exist.
        agent_id: An agent to use instead of the session's.
    Returns:
        The agent's id, and the mode of the session or the agent; None: neither has one.
    """
    row = await chats.find_session(session_id)
    agent = agent_id or (row.agent_id if row is not None else "default")
    return agent, settings.mode_for(row.mode if row is not None else None, agent)

"""The agent and the approval mode of a session, as the policy needs them."""

from agentcore.approval_rules import ApprovalMode
from agentcore.chat.settings import ChatSettings
from agentcore.store.chat import ChatStore


async def agent_and_mode(
    chats: ChatStore, settings: ChatSettings, session_id: str, agent_id: str | None = None
) -> tuple[str, ApprovalMode | None]:
    """Whose calls a session's are, and what becomes of them.

    Args:
        chats: Where sessions are stored.
        settings: The agents.
        session_id: The session, known or not.
        agent_id: Another agent than the session's.
    Returns:
        The agent's id, and the mode of the session or the agent; None: neither has one.
    """
    row = await chats.find_session(session_id)
    agent = agent_id or (row.agent_id if row is not None else "default")
    return agent, settings.mode_for(row.mode if row is not None else None, agent)

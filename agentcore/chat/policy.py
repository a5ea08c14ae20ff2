"""Explains the policy's decisions on calls, by the agents and modes of their sessions."""

from typing import Any

from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.chat.settings import ChatSettings
from agentcore.core.core import Core
from agentcore.core.dry_run.explanation import Question, explain_policy_decision
from agentcore.core.dry_run.rule_trial import Trial, try_rule
from agentcore.store.chat.chat_store import ChatStore


async def explain_call(core: Core, settings: ChatSettings, question: Question) -> dict[str, Any]:
    """Explain what would happen to a call, as JSON values (`Explanation`).

    Raises:
        ToolError: `agent_not_found`, or the reason why the call could not run.
    """
    if question.agent_id is not None:
        settings.get_agent(question.agent_id)
    chats = core.store.chats
    agent_id, mode = await _find_agent_and_mode(chats, settings, question.session_id, question.agent_id)
    explanation = await explain_policy_decision(
        core.call_review, core.policy, question, agent_id, question.mode or mode
    )
    return explanation.model_dump(by_alias=True)


async def try_new_rule(core: Core, settings: ChatSettings, trial: Trial) -> dict[str, Any]:
    """Return the recorded calls that a rule would change, as JSON values (`TrialResult`)."""
    store = core.store
    result = await try_rule(
        core.call_review,
        core.policy,
        store.record,
        trial,
        lambda session: _find_agent_and_mode(store.chats, settings, session),
    )
    return result.model_dump(by_alias=True)


async def _find_agent_and_mode(
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

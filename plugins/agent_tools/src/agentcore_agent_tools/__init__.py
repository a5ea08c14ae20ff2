"""The module `agent_tools`: to-do list, memory, artifacts, questions to the user, sub-agents and compaction."""

from agentcore_agent_tools.module import AgentTools

__all__ = ["AgentTools"]

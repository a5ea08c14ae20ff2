"""What an agent needs for long work: things to do, a memory, its person, sub-agents, a shorter history."""

from agentcore_agent_tools.module import AgentTools

__all__ = ["AgentTools"]

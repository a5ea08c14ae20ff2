"""The desktop for agents: the module `system_tools` of agentcore."""

from agentcore_system_tools.module import SystemTools

__all__ = ["SystemTools"]

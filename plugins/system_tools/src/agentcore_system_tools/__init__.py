"""The module `system_tools`: screenshots and the file manager for agents."""

from agentcore_system_tools.module import SystemTools

__all__ = ["SystemTools"]

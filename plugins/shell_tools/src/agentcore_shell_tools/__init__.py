"""A shell for agents: the module `shell_tools` of agentcore."""

from agentcore_shell_tools.module import ShellTools

__all__ = ["ShellTools"]

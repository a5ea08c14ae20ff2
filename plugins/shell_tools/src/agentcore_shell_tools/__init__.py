"""The agentcore module `shell_tools`: a shell for agents."""

from agentcore_shell_tools.module import ShellTools

__all__ = ["ShellTools"]

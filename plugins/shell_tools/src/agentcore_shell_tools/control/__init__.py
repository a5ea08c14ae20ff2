"""Files that decide what runs outside of the sandbox: found, kept from commands by the kernel, else put aside."""

from agentcore_shell_tools.control.guard import Guard, Run
from agentcore_shell_tools.control.holding import Hold
from agentcore_shell_tools.control.put_aside import PutAside, describe

__all__ = ["Guard", "Hold", "PutAside", "Run", "describe"]

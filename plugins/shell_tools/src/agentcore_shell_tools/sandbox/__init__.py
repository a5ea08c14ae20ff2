"""The sandbox of commands: how it is made and tried, what is seen in it, and what holds where there is none."""

from agentcore_shell_tools.sandbox.caches import Caches
from agentcore_shell_tools.sandbox.consent import Consent
from agentcore_shell_tools.sandbox.denials import why_sandbox
from agentcore_shell_tools.sandbox.sandbox import Confinement, Sandbox, SandboxMode, writable_paths

__all__ = ["Caches", "Confinement", "Consent", "Sandbox", "SandboxMode", "why_sandbox", "writable_paths"]

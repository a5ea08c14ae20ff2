"""The shell's additions to the sandbox: consent to run without it, and explanations of failures that it may cause."""

from agentcore_shell_tools.sandbox.consent import Consent
from agentcore_shell_tools.sandbox.denials import explain_denial

__all__ = ["Consent", "explain_denial"]

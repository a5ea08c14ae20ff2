"""What the shell adds to the sandbox: a person's word where there is none, and telling that it may be in the way."""

from agentcore_shell_tools.sandbox.consent import Consent
from agentcore_shell_tools.sandbox.denials import explain_denial

__all__ = ["Consent", "explain_denial"]

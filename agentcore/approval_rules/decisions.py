"""Possible decisions on a call, and the modes for calls that no rule matches."""

from typing import Literal

DecisionKind = Literal["allow", "ask", "deny"]
"""Decision on a call: it runs, the user is asked, or it is rejected."""

ApprovalMode = Literal["ask", "ask_writes", "allow", "deny"]
"""Approval mode for the calls of models; the default asks about every call."""

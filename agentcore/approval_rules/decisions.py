"""Possible decisions on a call, and the modes for calls that no rule matches."""

from typing import Literal, get_args

DecisionKind = Literal["allow", "ask", "deny"]
"""Decision on a call: it runs, the user is asked, or it is rejected."""

ApprovalMode = Literal["ask", "accept_edits", "ask_writes", "plan", "allow", "deny"]
"""Approval mode for the calls of models; the default asks about every call."""

APPROVAL_MODES: tuple[ApprovalMode, ...] = get_args(ApprovalMode)
"""All modes, in the order in which menus and messages list them."""

MODES_THAT_READ: frozenset[ApprovalMode] = frozenset(("ask_writes", "accept_edits", "plan"))
"""Modes in which reading here runs, and reading from the network is asked about once a host and session."""

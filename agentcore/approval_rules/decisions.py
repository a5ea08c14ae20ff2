"""What can become of a call, and of the calls that no rule speaks of."""

from typing import Literal

DecisionKind = Literal["allow", "ask", "deny"]
"""What becomes of a call: it runs, a person is asked, or it is refused."""

ApprovalMode = Literal["ask", "ask_writes", "allow", "deny"]
"""What becomes of a call that a model wants; the default asks about every one."""

"""What a rule of approval can say of a call: the kinds of criteria, and the facts of a call that they look at."""

from agentcore.approval_rules.criteria import Touched, list_touched
from agentcore.approval_rules.decisions import ApprovalMode

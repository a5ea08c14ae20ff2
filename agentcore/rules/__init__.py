"""What a rule of approval can say of a call: the kinds of criteria, and the facts of a call that they look at."""

from agentcore.rules.criteria import Touched, touched
from agentcore.rules.decisions import ApprovalMode

"""Approval rules: the kinds of criteria, and the facts about a call that they check."""

from agentcore.approval_rules.criteria import Touched, list_touched
from agentcore.approval_rules.decisions import APPROVAL_MODES, ApprovalMode

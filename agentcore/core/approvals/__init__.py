"""Requests that wait for the user: calls, policy changes, pairings."""

from agentcore.core.approvals.approval_queue import ApprovalQueue
from agentcore.core.approvals.client_pairings import Pairing, PairingRequest
from agentcore.core.approvals.definition_review import DefinitionReview, definition_fingerprint, definition_text
from agentcore.core.approvals.host_pairings import HostOffer, HostPairing, OfferedModule
from agentcore.core.approvals.network_approval import check_approver
from agentcore.core.approvals.policy_changes import Apply, PolicyChange, PolicyChanges, Proposal
from agentcore.core.approvals.request import ApprovalRequest, Changed, Verdict

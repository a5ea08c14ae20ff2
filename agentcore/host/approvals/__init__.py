"""What waits for a person: calls, changes of what is allowed, pairings."""

from agentcore.host.approvals.approving import check_approver
from agentcore.host.approvals.definition_review import definition_text, fingerprint
from agentcore.host.approvals.host_pairings import HostOffer, HostPairing, OfferedModule
from agentcore.host.approvals.pairings import Pairing, PairingRequest
from agentcore.host.approvals.policy_changes import Apply, PolicyChange, Proposal
from agentcore.host.approvals.request import ApprovalRequest, Changed, Verdict

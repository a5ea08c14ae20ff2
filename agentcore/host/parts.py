"""What the parts of a host share."""

from dataclasses import dataclass

from agentcore.config.app_config import AppConfig
from agentcore.files.workspace import Workspace
from agentcore.host.approvals.queue import ApprovalQueue
from agentcore.host.calls.conversation import ConversationSlot
from agentcore.host.events import EventBus
from agentcore.host.modules.tool_registry import ToolRegistry
from agentcore.host.policy.approval_policy import ApprovalPolicy
from agentcore.host.resources.registry import ResourceRegistry
from agentcore.store import StateDir, Store


@dataclass(frozen=True, slots=True)
class Parts:
    """Made once by the host, and handed to those who carry out calls and keep modules."""

    config: AppConfig
    state: StateDir
    store: Store
    workspace: Workspace
    events: EventBus
    registry: ToolRegistry
    resources: ResourceRegistry
    approvals: ApprovalQueue
    policy: ApprovalPolicy
    conversation: ConversationSlot

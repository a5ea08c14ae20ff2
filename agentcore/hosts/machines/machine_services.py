"""The parts of the core that serve the modules of foreign machines."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from agentcore.core.approvals.definition_review import DefinitionReview
from agentcore.core.calls.continued_calls import CarriedOnCalls
from agentcore.core.events import EventBus
from agentcore.core.modules.modules import Modules
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.late_dataclasses import dataclass
from agentcore.net.url_policy import OwnOrigins
from agentcore.store.record.record import Record
from agentcore.supervision.blocking_module import Holder

if TYPE_CHECKING:
    from agentcore.supervision.control_files.control_files import ControlReport


@dataclass(frozen=True, slots=True)
class MachineServices:
    """The parts of the core that foreign machines use.

    Args:
        carried_on: Calls that an earlier server began.
        review: Decides which of their definitions models are shown.
        own_origins: The server's own origins, which modules on other machines must not contact.
        on_blocked: Counts a module that blocked the event loop of its machine, for so many seconds.
        on_control_files: Reports files that a machine has quarantined, with its name.
    """

    modules: Modules
    registry: ToolRegistry
    resources: ResourceRegistry
    events: EventBus
    record: Record
    carried_on: CarriedOnCalls
    review: DefinitionReview
    own_origins: OwnOrigins
    on_blocked: Callable[[Holder, float], None]
    on_control_files: "Callable[[ControlReport, str], None]"

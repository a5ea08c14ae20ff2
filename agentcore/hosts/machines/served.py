"""A module of a foreign machine, as it is served here."""

from dataclasses import dataclass

from agentcore.core.modules.module_record import ModuleRecord
from agentcore.hosts.machines.module import HostedModule
from agentcore.hosts.places.linked_module import LinkedModule


@dataclass(eq=False)
class Served:
    """A module of the host, as it is served here."""

    record: ModuleRecord
    plugin: HostedModule
    linked: LinkedModule

    def is_other_than(self, number: int | None) -> bool:
        """True if it cannot be the module that the host has under this number now."""
        return number != self.linked.number or self.record.state != "ready"

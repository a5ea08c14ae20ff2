"""The worker of a shared host for one of its servers: runs the modules that it requests, and calls with a lease."""

from typing import Any

from agentcore.errors import ToolError
from agentcore.hosts.machine_program.machine_worker import MachineWorker
from agentcore.hosts.wire.peer import Message
from agentcore.hosts.wire.values import error_to_wire

_LEASES = 1_000
"""How many leases of ended resources are stored, at least."""


class SharedWorker(MachineWorker):
    """Runs modules for a server that shares this host with others."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._leases: dict[str, int] = {}

    @property
    def resource_count(self) -> int:
        """The number of resources here."""
        return len(self._resources.list())

    @property
    def session_ids(self) -> set[str]:
        """The sessions that have any."""
        return {each.session_id for each in self._resources.list()}

    def _start_call(self, message: Message) -> None:
        """See `Worker._start_call`: a call on a resource that another server owns by now is not carried out."""
        resource_id = message.get("resourceId")
        lease = message.get("lease")
        if resource_id is not None:
            known = self._leases.get(resource_id, 0)
            if type(lease) is not int or lease < known:
                self._highest = max(self._highest, message["n"])
                said = f"another start of the server owns {resource_id!r} by now; nothing was done"
                error = error_to_wire(ToolError("lease_lost", said, resource_id=resource_id))
                head = {"type": "tool.result", "id": message["call"], "n": message["n"], "resourceId": resource_id}
                self.line.send_message({**head, "ok": False, "error": error})
                return
            self._leases[resource_id] = lease
            if len(self._leases) > 2 * self.resource_count + _LEASES:
                living = {each.resource_id for each in self._resources.list()}
                self._leases = {name: number for name, number in self._leases.items() if name in living}
        super()._start_call(message)

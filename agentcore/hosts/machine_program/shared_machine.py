"""The machine of a host that servers share, as the program of an added kind of hosts uses it."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from agentcore import __version__
from agentcore.config.loading import AppConfig
from agentcore.errors import ToolError
from agentcore.files.workspace import Workspace
from agentcore.hosts.machine_program.machine_worker import MachineWorker
from agentcore.hosts.machine_program.own_modules import OwnModules
from agentcore.hosts.machine_program.user_messages import HostCallbacks
from agentcore.hosts.wire.peer import Message
from agentcore.hosts.wire.values import error_to_wire
from agentcore.hosts.worker.module_environment import HostSurroundings

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
                text = f"another start of the server owns {resource_id!r} by now; nothing was done"
                error = error_to_wire(ToolError("lease_lost", text, resource_id=resource_id))
                head = {"type": "tool.result", "id": message["call"], "n": message["n"], "resourceId": resource_id}
                self.line.send_message({**head, "ok": False, "error": error})
                return
            self._leases[resource_id] = lease
            if len(self._leases) > 2 * self.resource_count + _LEASES:
                living = {each.resource_id for each in self._resources.list()}
                self._leases = {name: number for name, number in self._leases.items() if name in living}
        super()._start_call(message)


class SharedMachine:
    """Starts modules for servers; implements `HostMachine`.

    Args:
        config: The app.json of this machine.
        state: The folder in which modules have their data and secrets, in a separate folder for each server.
    """

    version = __version__

    def __init__(self, config: AppConfig, state: Path, workspace: Workspace, told: HostCallbacks) -> None:
        self._config = config
        self._state = state
        self._workspace = workspace
        self._told = told

    async def start_worker(self, name: str, server: str, modules: Collection[str]) -> SharedWorker:
        if not server.isalnum():
            raise ValueError(f"{server!r} cannot be the name of a folder")
        folder = self._state / "servers" / server
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        surroundings = HostSurroundings(self._workspace, folder, (self._state,), self._config.locale, name)
        surroundings.stores_at_server = True
        worker = SharedWorker(name, surroundings)
        config = self._config.model_copy(
            update={"modules": tuple(each for each in self._config.modules if each in modules)}
        )
        await OwnModules(worker, config).start()
        if self._told.resource is not None:
            worker.watch_resources(self._told.resource)
        self._told.offers(worker.tools, worker.failed, self._workspace.roots)
        return worker

    def report_state(self, state: str) -> None:
        self._told.state(state)

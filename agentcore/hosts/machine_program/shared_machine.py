"""The machine of a host that servers share, as the program of an added kind of hosts uses it."""

from collections.abc import Collection
from pathlib import Path

from agentcore import __version__
from agentcore.config.loading import AppConfig
from agentcore.files.workspace import Workspace
from agentcore.hosts.machine_program.own_modules import OwnModules
from agentcore.hosts.machine_program.shared_worker import SharedWorker
from agentcore.hosts.machine_program.user_messages import HostCallbacks
from agentcore.hosts.worker.module_environment import HostSurroundings


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

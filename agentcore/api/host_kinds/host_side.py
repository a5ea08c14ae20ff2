"""The machine of a host: what a kind's program does there, and what it can use."""

from collections.abc import Callable, Collection
from typing import Protocol

from agentcore.api.host_kinds.frames import FramePeer, Transport


class HostWorker(Protocol):
    """The modules of this machine, started for one server, with their own data and resources.

    It refuses a call on a resource with an older lease than before: another start of the server owns that resource
    then.
    """

    @property
    def resource_count(self) -> int:
        """The number of its resources."""
        ...

    @property
    def session_ids(self) -> set[str]:
        """The sessions that have any."""
        ...

    def attach(self, transport: Transport, on_end: Callable[[str], None]) -> FramePeer:
        """Serve the server over this connection, which replaces an earlier one.

        Args:
            on_end: Called with the reason why it has ended.
        """
        ...

    def send_hello(self) -> None:
        """Greet the server over the attached connection, once frames can be carried."""
        ...

    def disconnect(self, reason: str) -> None:
        """End the connection for good: the server treats what lives here as lost."""
        ...

    async def stop(self) -> None:
        """End all calls, and stop the modules."""
        ...


class HostMachine(Protocol):
    """The machine on which `agentcore host` runs.

    Attributes:
        version: The version of agentcore.
    """

    version: str

    async def start_worker(self, name: str, server: str, modules: Collection[str]) -> HostWorker:
        """Start modules for a server; one that fails is reported to the server, and the others continue.

        Args:
            name: The host's name at the server, `GROUP.HOST`.
            server: Identifies the server; its modules have data of their own. Letters and digits.
            modules: The requested modules; those that app.json here lists are started.
        """
        ...

    def report_state(self, state: str) -> None:
        """Show the state of the connection to the user."""
        ...


class HostProgram(Protocol):
    """The program of a host, made for one run of `agentcore host`."""

    async def run(self) -> None:
        """Serve servers until it is cancelled."""
        ...

    async def stop(self) -> None:
        """End what lives here, for all servers; called once, after `run`."""
        ...


MakeProgram = Callable[[HostMachine], HostProgram]
"""Makes the program; called in the event loop."""

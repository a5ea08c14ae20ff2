"""Where modules run that do not run in the process of their server, as far as the host has to know."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from agentcore.api.hosts import HostInfo
from agentcore.core.discovery.finding import Found
from agentcore.errors import ToolError

PlaceState = Literal[
    "stopped", "starting", "running", "failed", "waiting", "away", "draining", "drained", "disconnected"
]
"""Of one on another machine: `waiting`: nobody has let it in yet; `away`: it is not connected; `disconnected`: a person
keeps it out."""
"""How a place stands; `failed`: it is not started again by itself."""


@dataclass(frozen=True, slots=True)
class HostReport:
    """What is known of a place just now.

    Args:
        modules: The names of the modules that run there and nowhere else, whether they are on or not; of a pool, those
            of its hosts that app.json lists.
        reason: Why it has failed, or why it ended the last time; empty: it never did.
        last_words: The end of what it wrote before that.
        since_ms: Since when its state is what it is, in milliseconds since 1970.
        python: The program that runs it.
        version: What of agentcore it runs, as it says; empty: it does not run.
        ends_in_last_hour: How often it ended without being told to.
        address: Of one on another machine: where it dialled in from.
        platform: The system of that machine, as it says.
        workspace: The folders there that its tools may touch.
        paired_at_ms: When a person let it in, in milliseconds since 1970; None: they have not.
        last_seen_ms: When it was connected last.
        failed: Modules that it could not start, and why.
        capacity: Of a host of a pool: how many resources may live in it, of all servers; None: it has not said.
        used: How many do; None: it is not known just now.
        labels: What a host of a pool is labelled with; of a pool: which labels its hosts need to be used here.
        may_use_chats: True if the user allowed a host on another machine to use chats.
    """

    name: str
    kind: str
    modules: tuple[str, ...]
    state: PlaceState
    reason: str = ""
    last_words: str = ""
    since_ms: int = 0
    pid: int | None = None
    python: str = ""
    version: str = ""
    memory_bytes: int | None = None
    memory_max_bytes: int | None = None
    latency_ms: float | None = None
    ends_in_last_hour: int = 0
    address: str = ""
    platform: str = ""
    workspace: tuple[str, ...] = ()
    paired_at_ms: int | None = None
    last_seen_ms: int | None = None
    failed: Mapping[str, str] = field(default_factory=dict)
    capacity: int | None = None
    used: int | None = None
    labels: tuple[str, ...] = ()
    may_use_chats: bool = False


class ModuleProxy(Protocol):
    """A module that runs elsewhere: what stands for it here implements the hooks, and says these things besides.

    Attributes:
        place: The name of where it runs.
        problems: What was wrong with definitions of its that were left out there, one sentence each.
        looks_first: Names of its tools that are asked about each call before it runs, though they may have no preview.
        reads_arguments: Names of its tools whose arguments are read there by a model of the module's, so that it says
            whether it takes what a schema refuses.
        fingerprint: Of the code that runs there; one that outlived a server may be older than that on the disk.
        outlives: Whether it goes on when this server ends.
        goes_on: Whether this server is about to end without it: then nothing of it is ended.
        is_away: Whether its machine is not connected just now, and may come back.
        roots: The workspace folders of its machine, as that says; none: they are the server's.
        takes_nothing_new: Whether only calls on what lives there already are to go there.
    """

    @property
    def host_name(self) -> str: ...
    @property
    def problems(self) -> Sequence[str]: ...
    @property
    def prechecked_tools(self) -> Collection[str]: ...
    @property
    def reads_arguments(self) -> Collection[str]: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def survives_server(self) -> bool: ...
    @property
    def is_left_running(self) -> bool: ...
    @property
    def is_away(self) -> bool: ...
    @property
    def is_draining(self) -> bool: ...
    @property
    def roots(self) -> Sequence[str]: ...

    async def wait_until_there(self, timeout_s: float) -> None:
        """Wait for a machine that is away.

        Raises:
            ToolError: `host_away`: it did not come back in time.
        """
        ...

    async def check_settings(self, values: dict[str, Any]) -> Sequence[Mapping[str, Any]]:
        """What is wrong with settings, as pydantic says it (`type`, `loc`, `msg`); none: all is right."""
        ...

    async def clear_up(self) -> Sequence[str] | None:
        """Find what it left there once it was stopped, and end what can be ended.

        Returns:
            What was found, each in a few words; None: others share its code, and run.
        """
        ...


class ModuleHost(Protocol):
    """A process, or a machine, in which modules run.

    Attributes:
        name: What it is called in app.json.
    """

    name: str

    async def find_module(self, name: str) -> Found | None:
        """What stands behind a module's name there; None: the same as here.

        Raises:
            ToolError: `host_unavailable`.
            ModuleNotInstalled: There is nothing.
        """
        ...

    async def load_module(self, name: str, found: Found, fingerprint: str, locale: str) -> ModuleProxy:
        """Have a module's code imported there, and give what stands for it here.

        Args:
            fingerprint: Of the code that is meant: code that was loaded there stays to be had until its place ends.
        Raises:
            ToolError: `host_unavailable`: the place cannot be had.
            BaseException: What the import raised there.
        """
        ...

    def describe_host(self) -> HostReport:
        """What is known of it just now."""
        ...

    async def stop(self) -> None:
        """End it in order, its modules having stopped; what it did before does not keep it from starting again."""
        ...


class ModuleHosts(Protocol):
    """Knows where modules run."""

    def find_module_host(self, name: str) -> ModuleHost | None:
        """Where a module runs; None: in the process of the server."""
        ...

    def list_hosts(self) -> Sequence[ModuleHost]:
        """All of them, in the order of app.json."""
        ...

    def describe_hosts(self) -> Sequence[HostReport]:
        """What is known of all of them, of those on other machines too."""
        ...

    def machines_known(self) -> Sequence[HostInfo]:
        """The hosts on other machines that were let in, by name."""
        ...

    async def ask_machine(
        self, host: str, module: str, request: Mapping[str, Any], data: bytes | None
    ) -> tuple[dict[str, Any], bytes | None]:
        """Ask a module on another machine, by the name that it has there.

        Raises:
            ToolError: `host_not_found`, `host_away`, `host_has_no_module`, `host_failed`, or what the module raised.
        """
        ...

    async def member_for(self, pool: str, session_id: str, *, needs_room: bool) -> str:
        """The host of a pool to which the calls of a session go: where it has something already, else one with room.

        Args:
            needs_room: Whether the call may make something that lives on; else any host will do.
        Raises:
            ToolError: `pool_full`, `host_away`.
        """
        ...

    async def release_module_host(self, name: str) -> None:
        """A module has ended: a place in which none runs any more may end, too."""
        ...


class NoModuleHosts:
    """All modules run in the process of the server."""

    def find_module_host(self, name: str) -> ModuleHost | None:
        """See `ModuleHosts.find_module_host`."""
        return None

    def list_hosts(self) -> Sequence[ModuleHost]:
        """See `ModuleHosts.list_hosts`."""
        return ()

    def describe_hosts(self) -> Sequence[HostReport]:
        """See `ModuleHosts.describe_hosts`."""
        return ()

    def machines_known(self) -> Sequence[HostInfo]:
        """See `ModuleHosts.machines_known`."""
        return ()

    async def ask_machine(
        self, host: str, module: str, request: Mapping[str, Any], data: bytes | None
    ) -> tuple[dict[str, Any], bytes | None]:
        """See `ModuleHosts.ask_machine`."""
        raise ToolError("host_not_found", f"there is no host {host!r}", host=host, hosts=[])

    async def member_for(self, pool: str, session_id: str, *, needs_room: bool) -> str:
        """See `ModuleHosts.member_for`."""
        raise ToolError("host_not_found", f"there is no host {pool!r}", host=pool, hosts=[])

    async def release_module_host(self, name: str) -> None:
        """See `ModuleHosts.release_module_host`."""

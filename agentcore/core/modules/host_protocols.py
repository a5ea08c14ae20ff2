"""Protocols of the hosts that run modules outside the server process, as far as the core needs them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, Protocol

from agentcore.api.host_info import HostInfo
from agentcore.core.declarations.hosted_names import is_pool_kind
from agentcore.core.discovery.source_search import Found
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass

PlaceState = Literal[
    "stopped", "starting", "running", "failed", "waiting", "away", "draining", "drained", "disconnected"
]
"""Only of a foreign machine: `waiting`: it is not paired yet; `away`: it is not connected; `disconnected`: the user
has disconnected it."""
"""The state of a host; `failed`: it is not restarted automatically."""


@dataclass(frozen=True, slots=True)
class HostReport:
    """The current status of a host.

    Args:
        modules: The names of the modules that run only there, enabled or not; of a pool, those of its hosts that
            app.json lists.
        reason: Why it has failed, or why it ended the last time; empty: it never did.
        last_words: The end of its output before that.
        since_ms: When its state last changed, in milliseconds since 1970.
        python: The interpreter that runs it.
        version: The version of agentcore that it reports; empty: it is not running.
        ends_in_last_hour: How often it ended unexpectedly.
        address: The address that a foreign machine dialled in from.
        platform: The system that the machine reports.
        workspace: The folders there that its tools may touch.
        paired_at_ms: When the user paired it, in milliseconds since 1970; None: it is not paired.
        last_seen_ms: When it was last connected.
        failed: Modules that it could not start, and why.
        capacity: Of a host of a pool: how many resources it can have, for all servers; None: not reported yet.
        used: How many it has; None: unknown.
        labels: The labels of a host of a pool; of a pool: the labels that its hosts need to be used here.
        may_use_chats: True if the user allowed a foreign machine to use chats.
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

    @property
    def is_pool(self) -> bool:
        """True if it represents many hosts, each of kind `member`: its kind was added by a distribution."""
        return is_pool_kind(self.kind)


class ModuleProxy(Protocol):
    """The proxy of a module that runs in a host: it implements the hooks, and reports the following.

    Attributes:
        host_name: The name of its host.
        problems: What is wrong with definitions that the host left out, one sentence each.
        prechecked_tools: Names of its tools that check each call before it runs, even without a preview.
        reads_arguments: Names of its tools whose arguments a model of the module validates in the host, which may
            accept arguments that a schema refuses.
        fingerprint: The digest of the code that runs there; a host that survived a server may have older code than
            the disk.
        survives_server: True if it continues when this server ends.
        is_left_running: True if this server is about to end without it: then nothing of it is stopped.
        is_away: True if its machine is not connected, and may come back.
        is_draining: True if it accepts only calls on existing resources.
        roots: The workspace folders that its machine reports; none: they are the server's.
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
        """Return the errors of settings in pydantic's form (`type`, `loc`, `msg`); none: they are valid."""
        ...

    async def clear_up(self) -> Sequence[str] | None:
        """Find what it left there after it was stopped, and end what can be ended.

        Returns:
            A short description of each; None: running modules share its code.
        """
        ...


class ModuleHost(Protocol):
    """A process or machine in which modules run.

    Attributes:
        name: Its name in app.json.
    """

    name: str

    async def find_module(self, name: str) -> Found | None:
        """Return the source of a module there; None: the same as here.

        Raises:
            ToolError: `host_unavailable`.
            ModuleNotInstalled: There is none.
        """
        ...

    async def load_module(self, name: str, found: Found, fingerprint: str, locale: str) -> ModuleProxy:
        """Import a module's code there, and return its proxy.

        Args:
            fingerprint: Of the requested code: code that was loaded there stays available until its host ends.
        Raises:
            ToolError: `host_unavailable`: the host cannot be used.
            BaseException: Raised by the import there.
        """
        ...

    def describe_host(self) -> HostReport:
        """Return its current status."""
        ...

    async def stop(self) -> None:
        """Stop it after its modules have stopped; earlier failures do not prevent a new start."""
        ...


class ModuleHosts(Protocol):
    """Knows where modules run."""

    def find_module_host(self, name: str) -> ModuleHost | None:
        """Return the host in which a module runs; None: it runs in the server process."""
        ...

    def list_hosts(self) -> Sequence[ModuleHost]:
        """All of them, in the order of app.json."""
        ...

    def describe_hosts(self) -> Sequence[HostReport]:
        """Return the current status of all hosts, including foreign machines."""
        ...

    def machines_known(self) -> Sequence[HostInfo]:
        """Return the paired foreign machines, by name."""
        ...

    async def ask_machine(
        self, host: str, module: str, request: Mapping[str, Any], data: bytes | None
    ) -> tuple[dict[str, Any], bytes | None]:
        """Send a request to a module on a foreign machine, by the name that it has there.

        Raises:
            ToolError: `host_not_found`, `host_away`, `host_has_no_module`, `host_failed`, or raised by the module.
        """
        ...

    async def find_pool_host(self, pool: str, session_id: str, *, needs_room: bool) -> str:
        """Return the host of a pool for the calls of a session: the one with its resources, else one with free
        capacity.

        Args:
            needs_room: True if the call may create a resource; otherwise any host is suitable.
        Raises:
            ToolError: `pool_full`, `host_away`.
        """
        ...

    async def release_module_host(self, name: str) -> None:
        """Release the host of a module that has ended; without running modules, the host may end, too."""
        ...


class NoModuleHosts:
    """All modules run in the process of the server."""

    def find_module_host(self, name: str) -> ModuleHost | None:
        """Return None: all modules run in the server process."""
        return None

    def list_hosts(self) -> Sequence[ModuleHost]:
        """Return no hosts."""
        return ()

    def describe_hosts(self) -> Sequence[HostReport]:
        """Return no hosts."""
        return ()

    def machines_known(self) -> Sequence[HostInfo]:
        """Return no foreign machines."""
        return ()

    async def ask_machine(
        self, host: str, module: str, request: Mapping[str, Any], data: bytes | None
    ) -> tuple[dict[str, Any], bytes | None]:
        """Raise `host_not_found`."""
        raise ToolError("host_not_found", f"there is no host {host!r}", host=host, hosts=[])

    async def find_pool_host(self, pool: str, session_id: str, *, needs_room: bool) -> str:
        """Raise `host_not_found`."""
        raise ToolError("host_not_found", f"there is no host {pool!r}", host=pool, hosts=[])

    async def release_module_host(self, name: str) -> None:
        """Do nothing."""

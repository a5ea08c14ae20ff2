"""All foreign machines: those that are paired, and those that dial in for pairing."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import structlog

from agentcore.api.host_group_config import KEEP_MINUTES
from agentcore.config.host_config import RemoteHostConfig
from agentcore.core.approvals.approval_queue import ApprovalQueue
from agentcore.core.approvals.host_pairings import HostOffer, HostPairings
from agentcore.core.declarations.hosted_names import is_pooled_host, pool_of
from agentcore.core.modules.host_protocols import HostReport
from agentcore.core.policy.approval_policy import ApprovalPolicy
from agentcore.core.resources.tab_strip import Tabs
from agentcore.errors import ToolError
from agentcore.hosts.machines.machine_services import MachineServices
from agentcore.store.credentials.host_keys import HostKeys, KnownHost

# What machines need is imported with the first one: most servers have none.
if TYPE_CHECKING:
    from agentcore.hosts.machines.machine import Machine
    from agentcore.hosts.wire.web_socket_link import WebSocket

log = structlog.get_logger(__name__)

BACK_SECONDS = 60.0
"""How long calls that an earlier server sent wait for their host, once the server has started."""


RESERVED_NAMES = frozenset(("server", "agent"))
"""Names that mean the server, and the agent's setting, when a host is chosen."""


class Machines:
    """All foreign machines of a server.

    Args:
        services: The parts of the core that serve their modules.
        keys: The keys of paired hosts.
        pairings: Hosts that wait for the user to let them in.
        policy: Has grants for hosts.
        approvals: Has calls on hosts that wait for the user.
        tabs: Browser pages that may be on hosts.
        named: The hosts of kind `remote` in app.json.
        taken: Names of other hosts in app.json.
    """

    def __init__(
        self,
        services: MachineServices,
        *,
        keys: HostKeys,
        pairings: HostPairings,
        policy: ApprovalPolicy,
        approvals: ApprovalQueue,
        tabs: Tabs,
        named: Mapping[str, RemoteHostConfig],
        taken: Sequence[str],
    ) -> None:
        self._services = services
        self._keys = keys
        self._pairings = pairings
        self._policy = policy
        self._approvals = approvals
        self._tabs = tabs
        self._named = named
        self._taken = frozenset(taken)
        self._machines = {each.name: self._make_machine(each) for each in keys.list_hosts()}
        for machine in self._machines.values():
            machine.mark_unavailable()
        pairings.let_in = self._pair_host
        self._timer: asyncio.TimerHandle | None = None
        self._closing: asyncio.Task[None] | None = None

    def _make_machine(self, known: KnownHost) -> "Machine":
        from agentcore.hosts.machines.machine import Machine  # noqa: PLC0415 - as above

        self._services.registry.allow_chats(known.name, is_on=known.may_use_chats)
        named = self._named.get(known.name)
        keeps = {"": KEEP_MINUTES} if named is None else named.minutes_by_type()
        return Machine(known, keeps, self._services, self._keys)

    # -- what is known -----------------------------------------------------------------------------------------

    def get(self, name: str) -> "Machine | None":
        """Return the host of a name; None: none is paired."""
        return self._machines.get(name)

    def list_machines(self) -> "list[Machine]":
        """Return the paired hosts, by name."""
        return [self._machines[name] for name in sorted(self._machines)]

    def describe_unpaired_hosts(self) -> list[HostReport]:
        """Return those that app.json names, and that are not paired."""
        return [
            HostReport(name, "remote", (), "waiting", "it was not let in yet")
            for name in self._named
            if name not in self._machines
        ]

    def require_machine(self, name: str) -> "Machine":
        """Return the host of a name.

        Raises:
            ToolError: `host_not_found`.
        """
        machine = self._machines.get(name)
        if machine is None:
            message = f"no host {name!r} of another machine was let in; there are {sorted(self._machines)}"
            raise ToolError("host_not_found", message, hosts=sorted(self._machines))
        return machine

    # -- dialling in -------------------------------------------------------------------------------------------

    async def check_may_connect(self, known: KnownHost | None) -> None:
        """Check that a host may connect now; None: one that requests pairing.

        Raises:
            ToolError: `host_disconnected`, `host_connected`.
        """
        if known is not None:
            await self.require_machine(known.name).check_may_connect()

    async def serve_connection(self, known: KnownHost | None, socket: "WebSocket", address: str) -> None:
        """Carry a connection from its beginning to its end."""
        from agentcore.hosts.machines.pairing import pair_host  # noqa: PLC0415 - as above
        from agentcore.hosts.wire.web_socket_link import SocketLink  # noqa: PLC0415

        if known is None:
            await pair_host(self._pairings, self._check_name, socket, address)
        else:
            await self.require_machine(known.name).serve_connection(partial(SocketLink, socket), address)

    def _check_name(self, name: str) -> bool:
        """Check that a host can have a name; True if it replaces a paired one.

        Raises:
            ToolError: `host_taken`, `too_many_hosts`.
        """
        if name in RESERVED_NAMES:
            raise ToolError(
                "host_taken", f"{name!r} cannot be a host's name: it means something else where one is named"
            )
        if name in self._taken:
            raise ToolError(
                "host_taken", f"app.json has a host {name!r} already, on the server's own machine", host=name
            )
        if name not in self._machines and self._keys.is_full:
            raise ToolError("too_many_hosts", "too many hosts are paired already; forget one that is not used any more")
        return name in self._machines

    async def _pair_host(self, offer: HostOffer, *, may_use_chats: bool = False) -> str:
        """Pair a host, with the tools and instructions that the user has seen."""
        self._check_name(offer.name)
        if offer.name in self._machines:
            await self.unpair_host(offer.name)
        for module in offer.modules:
            name = f"{offer.name}/{module.name}"
            await self._services.review.accept_definitions(name, module.tools, module.instructions)
        key = await self._keys.create_key(offer.name, may_use_chats=may_use_chats)
        known = self._keys.find_host(offer.name)
        assert known is not None  # noqa: S101 - added above
        self._machines[offer.name] = self._make_machine(known)
        self._machines[offer.name].mark_unavailable()
        self._services.events.publish("hosts.changed", {"host": offer.name})
        return key

    # -- actions of the user ---------------------------------------------------------------------------------------

    async def unpair_host(self, name: str) -> None:
        """Revoke all permissions of a host: its key is no longer accepted.

        Raises:
            ToolError: `host_not_found`.
        """
        machine = self.require_machine(name)
        del self._machines[name]
        self._services.registry.allow_chats(name, is_on=False)
        await self._keys.delete_host(name)
        # another machine may get the name, and must not get the permissions
        await self._policy.revoke_host_grants(name)
        await self._approvals.withdraw_calls_on(name, f"host {name!r} was forgotten")
        await machine.unpair()
        self._services.review.delete_host_definitions(name)
        self._services.events.publish("hosts.changed", {"host": name})
        log.warning("host_forgotten", host=name)

    async def allow_chats(self, name: str, *, is_on: bool) -> None:
        """Let a host use chats, or no longer; running calls are affected at once.

        Raises:
            ToolError: `host_not_found`.
        """
        self.require_machine(name)
        self._services.registry.allow_chats(name, is_on=is_on)
        await self._keys.update_host(name, may_use_chats=is_on)
        self._services.modules.merge_again()
        self._services.events.publish("hosts.changed", {"host": name})
        log.warning("host_may_use_chats" if is_on else "host_may_not_use_chats", host=name)

    # -- the server --------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Let calls that an earlier server sent wait for their hosts, up to a limit."""
        self._timer = asyncio.get_running_loop().call_later(BACK_SECONDS, self._abandon_unresumed_calls)
        for name in self._services.carried_on.hosts_left - set(self._machines):
            if is_pooled_host(name) and pool_of(name) in self._taken:
                continue  # it may still be there
            self._services.carried_on.interrupt_remaining_calls(name)

    def _abandon_unresumed_calls(self) -> None:
        # in no TaskGroup: a timer starts it; `close` waits for it
        self._closing = asyncio.get_running_loop().create_task(self._tabs.close_dead(), name="hosts:tabs")
        for name in self._services.carried_on.hosts_left:
            self._services.carried_on.interrupt_remaining_calls(name)

    def send_origins(self) -> None:
        """Tell them where the server can be reached now."""
        for machine in self._machines.values():
            machine.send_origins()

    def detach_all(self) -> None:
        """Detach all hosts when the server ends; they keep running."""
        for machine in self._machines.values():
            machine.detach()

    async def close(self) -> None:
        """End what is done for them."""
        if self._timer is not None:
            self._timer.cancel()
        if self._closing is not None:
            await asyncio.wait({self._closing})
        for machine in self._machines.values():
            await machine.close()

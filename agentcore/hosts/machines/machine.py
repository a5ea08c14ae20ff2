"""One foreign machine: its connections, one after another, and the state between them.

A lost connection loses nothing: calls wait, resources stay, and the next connection of the same start of
the host's program continues with both. A message of the host about calls that were never sent to it, or about resources
of others, ends the connection, and all of the host's calls and resources.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import structlog

from agentcore.api import Background, HostInfo, ToolResult
from agentcore.api.host_info import HostState
from agentcore.api.host_kinds.frames import Carrier, LinkError, MakePeer, Transport
from agentcore.core.calls.call_context import CallContext
from agentcore.core.module_code.module_error import reason_of
from agentcore.core.modules.host_protocols import HostReport
from agentcore.core.modules.module_record import ModuleRecord, ModuleSource
from agentcore.core.modules.tool_registry import HostFacts
from agentcore.errors import ToolError
from agentcore.hosts.machines.event_filter import Hearing
from agentcore.hosts.machines.greeting_check import HELLO_SECONDS, check_hello
from agentcore.hosts.machines.machine_calls import MachineCalls, host_away
from agentcore.hosts.machines.machine_module_proxy import HostedModule, hosted_module
from agentcore.hosts.machines.machine_services import MachineServices
from agentcore.hosts.server_side.host_link import HostLink
from agentcore.hosts.server_side.host_status import HostStatus
from agentcore.hosts.server_side.linked_module import LinkedModule
from agentcore.hosts.server_side.operation_access import MachineAccess
from agentcore.hosts.server_side.replies import Hello, RunningModule
from agentcore.hosts.wire.peer import Peer
from agentcore.late_dataclasses import dataclass
from agentcore.store.credentials.host_keys import KnownHost, KnownHosts

log = structlog.get_logger(__name__)

_PING_SECONDS = 5.0
_STILL_THERE_SECONDS = 3.0
_PLATFORM_CHARS = 100
_FOLDERS = 20
_FOLDER_CHARS = 500


@dataclass(eq=False)
class Served:
    """A module of the host, as it is served here."""

    record: ModuleRecord
    plugin: HostedModule
    linked: LinkedModule

    def is_other_than(self, number: int | None) -> bool:
        """True if it cannot be the module that the host has under this number now."""
        return number != self.linked.number or self.record.state != "ready"


class Machine:
    """One foreign machine.

    Args:
        known: Its record in the store.
        keeps: How long its resources are kept while it is away, in minutes, by type of resource; empty: all others.
        services: The parts of the core that serve its modules.
        keys: The records of hosts.
        known_since_ms: Since when no other machine had its name, in milliseconds since 1970; None: since pairing.
    """

    def __init__(
        self,
        known: KnownHost,
        keeps: Mapping[str, float],
        services: MachineServices,
        keys: KnownHosts,
        *,
        known_since_ms: int | None = None,
    ) -> None:
        self.name = known.name
        self._services = services
        self._keeps = dict(keeps)
        self._keys = keys
        self._loop = asyncio.get_running_loop()
        self._standing = HostStatus(known.name, services.events)
        self._foreign = MachineAccess(
            known.name,
            lambda: services.registry.may_use_chats(known.name),
            lambda alias: services.registry.find_aliased_tool(alias, known.name),
        )
        self.calls = MachineCalls(self._foreign, services.resources, services.carried_on, lambda: self.is_connected)
        since_ms = known.paired_at_ms if known_since_ms is None else known_since_ms
        self._hearing = Hearing(known.name, self._module_names, services.resources, services.record, since_ms)
        self._link: HostLink | None = None
        self._there = asyncio.Event()
        self._instance = self._lost_instance = ""
        self._modules: dict[str, Served] = {}
        self._refused: dict[str, str] = {}
        self._over: set[str] = set()
        self._address = known.address
        self._told: Hello | None = None
        self._latency_s: float | None = None
        self._taking_up: asyncio.Task[None] | None = None
        self._changing = asyncio.Lock()
        self._background = Background(f"host:{known.name}")
        self._timers: list[asyncio.TimerHandle] = []
        self._is_closed = False
        self._standing.set_state("disconnected" if known.is_shut else "away", "it has not dialled in since the start")

    # -- what is known -----------------------------------------------------------------------------------------

    @property
    def known_host(self) -> KnownHost | None:
        """Its record in the store; None: it was removed."""
        return self._keys.find_host(self.name)

    @property
    def is_connected(self) -> bool:
        """True if it is connected, and accepts calls."""
        return self._there.is_set()

    def is_silent(self) -> bool:
        """True if it does not respond now, though it is connected."""
        return False

    @property
    def roots(self) -> Sequence[str]:
        """The workspace folders that it reports."""
        return () if self._told is None else self._told.workspace

    def describe_host(self) -> HostReport:
        latency_s = self._latency_s if self.is_connected else None
        modules = self._module_names()
        return report_of(
            self._standing,
            self.known_host,
            self._told,
            modules,
            self._refused,
            address=self._address,
            latency_s=latency_s,
        )

    def build_host_info(self) -> HostInfo:
        """Return the information for modules of the server."""
        ready = [name for name, served in self._modules.items() if served.record.state == "ready"]
        return info_of(self.name, self._standing, self.known_host, self._told, ready)

    def _module_names(self) -> list[str]:
        """The names of its modules here."""
        return [served.record.name for served in self._modules.values()]

    def list_module_records(self) -> list[ModuleRecord]:
        """Its modules."""
        return [served.record for served in self._modules.values()]

    def check_connected(self) -> None:
        """Check that it is connected.

        Raises:
            ToolError: `host_away`.
        """
        if self._link is None:
            raise host_away(self.name)

    async def wait_until_connected(self, timeout_s: float) -> None:
        """Wait until it accepts calls.

        Raises:
            ToolError: `host_away`.
        """
        if self.is_connected:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._there.wait()
        if not self.is_connected:
            raise host_away(self.name)

    # -- connections -------------------------------------------------------------------------------------------

    async def check_may_connect(self) -> None:
        """Check that it may connect now.

        Raises:
            ToolError: `host_disconnected`: the user has disconnected it; `host_connected`: another program has its key.
        """
        if (known := self.known_host) is None or known.is_shut:
            message = f"host {self.name!r} was disconnected by a person, who can let it in again"
            raise ToolError("host_disconnected", message, retryable=True, host=self.name)
        if self._link is not None and await self._is_responding(self._link):
            message = f"host {self.name!r} is connected already, from {self._address}: give this one another name"
            raise ToolError("host_connected", message, retryable=True, host=self.name)

    async def _is_responding(self, link: HostLink) -> bool:
        """True if the other side of a link still responds; it may be gone without having closed the link."""
        asking = self._loop.create_task(link.ping(), name=f"host:{self.name}:ping")
        await asyncio.wait({asking}, timeout=_STILL_THERE_SECONDS)
        if not asking.done():
            asking.cancel()
        return asking.done() and not asking.cancelled() and asking.exception() is None

    async def serve_connection(self, carrying: Callable[[MakePeer], Carrier], address: str) -> None:
        """Serve a connection from its start to its end; `address`: where the host is."""
        links: list[HostLink] = []

        def make_peer(transport: Transport) -> Peer:
            link = HostLink(
                self.name,
                transport,
                self._services.resources,
                outlives=True,
                prefix=f"{self.name}/",
                foreign=self._foreign,
                on_hello=lambda told: self._handle_hello(link, told, address),
                on_blocked=self._services.on_blocked,
                on_control_files=self._services.on_control_files,
                on_end=lambda reason: self._handle_link_end(link, reason),
            )
            link.resources.over = self._over
            link.pass_on = self._hearing.pass_on
            self._configure_link(link)
            links.append(link)
            return link.peer

        def end_silent() -> None:
            if links[0] is not self._link:
                links[0].peer.close("it did not greet")

        carrier = carrying(make_peer)
        late = self._loop.call_later(HELLO_SECONDS, end_silent)
        try:
            await carrier.carry_frames()
        finally:
            late.cancel()

    def _handle_hello(self, link: HostLink, told: Hello, address: str) -> None:
        """Handle the greeting of a host, before which no other message is accepted."""
        if self._is_closed:
            raise LinkError("the server is stopping")
        check_hello(told, self.name)
        self._check_offered_modules(told)
        former = self._link
        self._link = link
        if former is not None:
            former.peer.close("the host has dialled in again")
            former.remove_all_modules()
        if self._taking_up is not None:
            self._taking_up.cancel()
        is_same = told.instance == self._instance
        if not is_same:
            self.calls.fail_all(f"the program of host {self.name!r} was restarted")
            if told.instance != self._lost_instance:
                self._over.clear()  # what another start of its program had is gone
        self._instance = told.instance
        self._address = address
        self._told = told
        link.adopt_calls(self.calls.sent, told)
        for member in told.members if is_same else ():
            served = self._modules.get(member.name)
            if served is not None and served.linked.number == member.module:
                # at once: its next message may be about its resources
                link.add_module(served.linked)
                served.plugin.use_link(link)
        self._end_timers()
        # in no TaskGroup: a message starts it; the next connection ends it, or `close`
        self._taking_up = self._loop.create_task(
            self._activate_link(link, told, is_same=is_same), name=f"host:{self.name}:take_up"
        )

    def _configure_link(self, link: HostLink) -> None:
        """Let a new link answer the additional requests of this kind of host."""

    def _check_offered_modules(self, told: Hello) -> None:
        """Check that this host may provide its modules; `LinkError`: it may not."""

    async def _prepare_modules(self, told: Hello) -> None:
        """Do what has to be done before its modules are served."""

    async def _activate_link(self, link: HostLink, told: Hello, *, is_same: bool) -> None:
        """Serve the modules of a host, adopt its resources, and resume its calls."""
        done = asyncio.Event()
        link.on_done = done.set
        try:
            async with self._changing:
                await self._prepare_modules(told)
                await self._update_modules(link, told, is_same=is_same)
            link.peer.send_message(
                {"type": "hello.ok", "ownOrigins": sorted(self._services.own_origins()), "keepMinutes": self._keeps}
            )
            async with asyncio.timeout(HELLO_SECONDS):
                await done.wait()
        except TimeoutError:
            link.peer.close("it did not say what lives in it")
            return
        if link is not self._link:
            return
        self.calls.resume_all(told, [served.linked.name for served in self._modules.values()])
        self._there.set()
        self._standing.set_state("drained" if self.is_drained else "running")
        log.info("host_connected", host=self.name, address=self._address, version=told.version)
        said = {"address": self._address, "platform": told.platform, "version": told.version}
        await self._keys.mark_seen(self.name, **said)
        await self._monitor_link(link)

    async def _update_modules(self, link: HostLink, told: Hello, *, is_same: bool) -> None:
        """Serve the modules that it has now, and no others."""
        self._refused = {}
        numbers = {each.name: each.module for each in told.members} if is_same else {}
        leaving = [name for name, each in self._modules.items() if each.is_other_than(numbers.get(name))]
        if leaving:
            self.mark_unavailable()  # until its modules are back, no other machine may replace it
        for name in leaving:
            await self._remove_module(name, f"host {self.name!r} does not run it any more")
        for member in told.members:
            kept = self._modules.get(member.name)
            if kept is None:
                await self._add_module(link, member)
            else:
                await self._services.modules.read_hosted_again(kept.record)
        self._services.modules.know_host(self.name, None, facts_of(told.platform, told.workspace))

    async def _add_module(self, link: HostLink, told: RunningModule) -> None:
        linked = LinkedModule(f"{self.name}/{told.name}", told.module)
        link.add_module(linked)
        record = ModuleRecord(linked.name, self.name, ModuleSource(origin={"host": self.name}))
        try:
            plugin = hosted_module(self, link, linked, told)
        except (TypeError, ValueError, ToolError) as exc:
            link.remove_module(linked)
            self._refused[told.name] = reason_of(exc)
            log.warning("module_refused", host=self.name, module=told.name, reason=str(exc))
            return
        self._modules[told.name] = Served(record, plugin, linked)
        await self._services.modules.add_hosted_module(record, plugin)

    async def _remove_module(self, name: str, reason: str) -> None:
        served = self._modules.pop(name)
        await self._services.modules.remove_hosted_module(served.record, reason)

    async def _monitor_link(self, link: HostLink) -> None:
        """Ask for a sign of life again and again."""
        while link is self._link:
            self._latency_s = await link.ping()
            self._update_drain_state()
            await asyncio.sleep(_PING_SECONDS)

    def _handle_link_end(self, link: HostLink, reason: str) -> None:
        """A connection has ended."""
        if link is not self._link:
            return
        self._link = None
        self._there.clear()
        if self._taking_up is not None:
            self._taking_up.cancel()
        link.remove_all_modules()
        known = self.known_host
        is_shut = known is None or known.is_shut
        was_cut_off = bool(reason) and not link.peer.is_lost and not is_shut and not self._is_closed
        if link.is_over or was_cut_off:
            message = (
                f"host {self.name!r} was cut off: {reason}" if was_cut_off else f"the program of {self.name!r} ended"
            )
            log.warning("host_lost", host=self.name, reason=message)
            self._standing.set_state("away", message)
            self._mark_lost(message)
            return
        log.warning("host_away", host=self.name, reason=reason)
        self._standing.set_state("disconnected" if is_shut else "away", reason or "the connection was closed")
        if not self._is_closed:
            for kind, minutes in self._keeps.items():
                self._timers.append(self._loop.call_later(minutes * 60, self._expire_resources, kind))
        self._background.start(self._keys.mark_seen(self.name))

    # -- without a connection ------------------------------------------------------------------------------------

    def _expire_resources(self, kind: str) -> None:
        """Treat its resources as lost: those of one type, or (empty) all others."""
        reason = f"host {self.name!r} was away for {self._keeps[kind]:g} minutes"
        if not kind and set(self._keeps) == {""}:
            self._mark_lost(reason)
            return
        named = set(self._keeps)
        for record in self.list_module_records():
            for each in self._services.resources.list(owner=record.name):
                if each.resource_type == kind or (not kind and each.resource_type not in named):
                    self._background.start(
                        self._services.resources.release(each.resource_id, record.name, reason, lost_by=reason)
                    )

    def _mark_lost(self, reason: str) -> None:
        """Treat everything in it as lost: its calls end, and its modules are not served until it is back."""
        self._lost_instance = self._instance
        self._instance = ""
        self._end_timers()
        for record in self.list_module_records():
            # at once: resources that a call creates from now on replace these
            self._services.resources.record_lost(record.name, f"its host {self.name!r} was lost")
        self.calls.fail_all(reason)
        self.mark_unavailable()
        self._background.start(self._remove_all_modules(reason))

    def mark_unavailable(self) -> None:
        """Stop serving its modules, without letting another machine replace it."""
        review = self._services.review
        tools = frozenset(
            tool for module in review.modules_of(self.name) for tool in review.list_accepted_tools(module)
        )
        known = self.known_host
        if known is not None:
            self._services.modules.know_host(self.name, tools, facts_of(known.platform))

    async def _remove_all_modules(self, reason: str) -> None:
        async with self._changing:
            if self._instance:
                return  # it is back
            for name in list(self._modules):
                await self._remove_module(name, reason)

    def _end_timers(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    async def call_tool(
        self, module: LinkedModule, context: CallContext, tool: str, arguments: dict[str, Any]
    ) -> ToolResult:
        return await self.calls.call_tool(module, context, tool, arguments)

    async def ask_module(
        self, module: str, request: Mapping[str, Any], data: bytes | None
    ) -> tuple[dict[str, Any], bytes | None]:
        """Ask one of its modules, over the connection that there is.

        Args:
            module: Its name there.
        Raises:
            ToolError: `host_away`: there is no connection, or it was lost before the answer came; `host_has_no_module`;
                `host_failed`; or what the module raised.
        """
        if not self.is_connected:
            raise host_away(self.name)
        served = self._modules.get(module)
        if served is None or served.record.state != "ready":
            message = f"host {self.name!r} does not run module {module!r}; its owner can list it in the app.json there"
            raise ToolError("host_has_no_module", message, host=self.name, module=module)
        return await served.plugin.ask_module(request, data)

    # -- actions of the user ---------------------------------------------------------------------------------------

    async def set_drained(self, *, is_on: bool) -> None:
        """Drain it, or accept new work again."""
        await self._keys.update_host(self.name, is_drained=is_on)
        self._update_drain_state()
        if self.is_connected and not is_on:
            self._standing.set_state("running")

    @property
    def is_drained(self) -> bool:
        """True if it accepts no new work."""
        return (known := self.known_host) is not None and known.is_drained

    def _update_drain_state(self) -> None:
        if self.is_connected and self.is_drained:
            records = self.list_module_records()
            is_busy = any(record.calls or self._services.resources.list(owner=record.name) for record in records)
            self._standing.set_state("draining" if is_busy else "drained")

    async def disconnect(self) -> None:
        """Close the connection, and refuse the host until it is allowed to connect again."""
        await self._keys.update_host(self.name, is_shut=True)
        self._standing.set_state("disconnected")
        if self._link is not None:
            self._link.peer.close("a person has disconnected this host")

    async def allow_reconnect(self) -> None:
        """Let it in again."""
        await self._keys.update_host(self.name, is_shut=False)
        if self._link is None:
            self._standing.set_state("away", "it was let in again, and has not dialled in since")

    async def unpair(self) -> None:
        """It was forgotten: end all that is of it."""
        self._is_closed = True
        if self._link is not None:
            self._link.peer.close("this host was forgotten")
        self._mark_lost("its host was forgotten")
        self._services.modules.know_host(self.name, None, None)
        await self._remove_all_modules("its host was forgotten")

    def send_origins(self) -> None:
        """Send the host the current addresses of the server."""
        if self.is_connected:
            self.calls.sent.peer.send_message({"type": "origins", "ownOrigins": sorted(self._services.own_origins())})

    def detach(self) -> None:
        """The server ends: its calls end here, and not there."""
        self._is_closed = True
        self.calls.sent.detach_all()
        if self._link is not None:
            self._link.goes_on = True
            self._link.peer.close()

    async def close(self) -> None:
        """End what is done for it."""
        self._is_closed = True
        self._end_timers()
        if self._link is not None:
            self._link.peer.close()
        if self._taking_up is not None:
            self._taking_up.cancel()
            await asyncio.wait({self._taking_up})
        await self._background.stop()
        await self._hearing.close()


def report_of(
    standing: HostStatus,
    known: KnownHost | None,
    told: Hello | None,
    modules: Sequence[str],
    refused: Mapping[str, str],
    *,
    address: str,
    latency_s: float | None,
) -> HostReport:
    """Return the report for users.

    Args:
        known: Its record in the store; None: it was removed.
        told: Its last greeting; None: none since the server started.
        modules: Its served modules.
        refused: Modules that it runs and that cannot be served here, and why.
        latency_s: How long its last response took.
    """
    return standing.build_report(
        kind="remote",
        modules=tuple(modules),
        version=known.version if known else "",
        latency_ms=None if latency_s is None else round(latency_s * 1000, 1),
        address=address,
        platform=known.platform if known else "",
        workspace=() if told is None else tuple(told.workspace),
        paired_at_ms=known.paired_at_ms if known else None,
        may_use_chats=known is not None and known.may_use_chats,
        last_seen_ms=(known.last_seen_ms or None) if known else None,
        failed={**({} if told is None else {each.name: each.reason for each in told.failed}), **refused},
    )


def info_of(
    name: str, standing: HostStatus, known: KnownHost | None, told: Hello | None, ready: Sequence[str]
) -> HostInfo:
    """Return the information for modules of the server.

    Args:
        ready: The modules that are ready there.
    """
    return HostInfo(
        name,
        cast("HostState", standing.state),
        _on_one_line(known.platform if known else ""),
        facts_of("", () if told is None else told.workspace).folders,
        tuple(sorted(ready)),
    )


def facts_of(platform: str, workspace: Sequence[str] = ()) -> HostFacts:
    """Return the facts for models: the host's own words, limited in length, each on one line."""
    folders = tuple(_on_one_line(each[:_FOLDER_CHARS]) for each in workspace[:_FOLDERS])
    return HostFacts(_on_one_line(platform[:_PLATFORM_CHARS]), folders)


def _on_one_line(text: str) -> str:
    """Return text of a host on one line, without characters that would make it look like something else."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)

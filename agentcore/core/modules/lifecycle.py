"""The life of a module, from its name to its end; of several at once, in the order that they need one another."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager

import structlog

from agentcore.api import Module
from agentcore.core.approvals.definition_review import DefinitionReview
from agentcore.core.declarations.hosted_names import is_pooled_host
from agentcore.core.discovery.source_search import ModuleNotChosen, ModuleNotInstalled
from agentcore.core.module_code.module_error import failure_details, failure_text, log_failure
from agentcore.core.modules import loader
from agentcore.core.modules.hook_calls import bind_runtime, call_hook
from agentcore.core.modules.host_protocols import ModuleHosts, ModuleProxy, NoModuleHosts
from agentcore.core.modules.leftovers import Surroundings, clear_up
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.core.modules.module_runtime import HostedRuntime, HostServices, ModuleRuntime
from agentcore.core.modules.offers import Offers
from agentcore.core.modules.preparation import Preparation
from agentcore.core.modules.source_choice import SourceChoice
from agentcore.core.modules.tool_registry import HostFacts, ToolRegistry
from agentcore.errors import ToolError
from agentcore.limits import HOOK_SECONDS, LEFTOVERS_NAMED

log = structlog.get_logger(__name__)

_RUNNING = frozenset(("ready", "loading", "stopping"))

EndCalls = Callable[[Collection[str], ToolError, float], Awaitable[None]]
"""Ends calls, by their ids: within a grace in seconds by themselves, else with the error."""


class Lifecycle:
    """Starts and stops modules, each contained separately. Callers make only one change at a time.

    Args:
        on_code: Called with all modules whenever code or tools of some were loaded.
        given: Modules passed as objects, which are not searched for.
        places: The hosts of modules that do not run in this process.
    """

    def __init__(
        self,
        services: HostServices,
        registry: ToolRegistry,
        sources: SourceChoice,
        review: DefinitionReview,
        *,
        end_calls: EndCalls,
        on_code: Callable[[Iterable[ModuleRecord]], None],
        given: Sequence[Module] = (),
        places: ModuleHosts | None = None,
    ) -> None:
        self._places = places or NoModuleHosts()
        self._left: list[str] | None = None
        self._services = services
        self._registry = registry
        self._sources = sources
        self._review = review
        self._end_calls = end_calls
        self._on_code = on_code
        self._config = services.config
        self._settled: dict[str, asyncio.Event] = {}
        self._ready_count = 0
        self.given = {module.name: module for module in given if module.name is not None}
        self.records = registry.records
        self.offers = Offers(registry, review, services.events, on_code)
        self.preparation = Preparation(services.config, sources, self._places, self.given)

    # -- starting ----------------------------------------------------------------------------------------------

    async def start(self, records: Sequence[ModuleRecord]) -> None:
        """Start modules together, replacing those with the same names."""
        for record in records:
            if (former := self.records.get(record.name)) is not None:
                record.replace_former(former)
            record.watch(self.offers.publish_state)
            self.records[record.name] = record
            self._settled[record.name] = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for record in records:
                group.create_task(self._start_module(record), name=f"start:{record.name}")

    async def _start_module(self, record: ModuleRecord) -> None:
        """Start a module; its record says how that ended."""
        self.offers.publish_state(record)
        times = _StartTimes()
        try:
            await self._bring_up(record, times)
        except asyncio.CancelledError:
            record.fail("start-up was interrupted")
            raise
        except ModuleNotInstalled as exc:
            log.error("module_missing", module=record.name, reason=str(exc))  # noqa: TRY400 - no defect
            record.mark_missing(str(exc))
        except ModuleNotChosen as exc:
            log.error("module_waits", module=record.name, reason=str(exc))  # noqa: TRY400 - no defect
            record.wait_for_choice(str(exc), exc.candidates)
        except BaseException as exc:  # noqa: BLE001 - sys.exit() in a module must not stop the server
            await self._fail_start(record, exc)
        else:
            self._ready_count += 1
            _mark_ready(record, times, self._ready_count)
            self.offers.merge_tools()
            for problem in (*record.tool_errors, *record.conflicts):
                log.error("tool_left_out", module=record.name, reason=problem)
        finally:
            self._settled[record.name].set()

    async def _bring_up(self, record: ModuleRecord, times: "_StartTimes") -> None:
        """Carry out the steps of a start, in order. Each raises the reason why the module cannot start."""
        if record.must_be_prepared():
            await self.preparation.prepare_module(record)
        times.end_step("load")
        self._on_code(self.records.values())
        await self._wait_for_required(record)
        times.end_step("wait")
        # mypy sees no methods that are made from the table of operations
        runtime = ModuleRuntime(record, self._services, self.offers.refresh_later)  # type: ignore[abstract]
        record.begin_init(runtime)
        await bind_runtime(record)
        limit_s = record.manifest.init_timeout_s or self._config.limits.init_timeout
        await call_hook(record, "init", limit_s, runtime=record.runtime)
        times.end_step("init")
        await self.offers.read_offer(record)
        times.end_step("tools")
        component = await call_hook(record, "get_web_component", HOOK_SECONDS)
        record.show_component(await loader.load_component(record, component))
        await self._sources.record_loaded_version(record.name, record.found, record.origin.get("version", ""))

    async def _wait_for_required(self, record: ModuleRecord) -> None:
        for name in record.manifest.requires:
            if name not in self._settled:
                raise RuntimeError(f"it requires module {name!r}, which is not listed in app.json")
            if self._requires_module(name, record.name):
                raise RuntimeError(f"it requires module {name!r}, which requires it in turn")
            await self._settled[name].wait()
            other = self.records[name]
            if other.state != "ready":
                raise RuntimeError(f"it requires module {name!r}, which is {other.state}: {other.reason}")

    def _requires_module(self, name: str, wanted: str, seen: frozenset[str] = frozenset()) -> bool:
        record = self.records.get(name)
        if record is None or name in seen:
            return False
        required = record.manifest.requires
        return wanted in required or any(self._requires_module(other, wanted, seen | {name}) for other in required)

    async def _fail_start(self, record: ModuleRecord, exc: BaseException) -> None:
        output, traceback = failure_details(exc)
        reason = failure_text(exc)
        log_failure(log, "module_failed", exc, module=record.name, reason=reason)
        try:
            await self._release_module(record)
            await self._release_module_host(record.name)
        finally:
            record.fail(reason, traceback, output)

    # -- on other machines -------------------------------------------------------------------------------------

    async def add_hosted_module(self, record: ModuleRecord, plugin: ModuleProxy) -> None:
        """Serve a module that a foreign machine has started; none of its code runs here.

        Args:
            record: A new one, with its host.
            plugin: Its proxy.
        """
        self._registry.hosted[record.name] = record
        record.watch(self.offers.publish_state)
        self.offers.publish_state(record)
        times = _StartTimes()
        try:
            await self._bring_up_hosted(record, plugin)
        except asyncio.CancelledError:
            record.fail("it was not taken in")
            raise
        except BaseException as exc:  # noqa: BLE001 - what another machine says may be anything
            await self._fail_start(record, exc)
        else:
            _mark_ready(record, times, order=0)
        self.offers.merge_tools()

    async def _bring_up_hosted(self, record: ModuleRecord, plugin: ModuleProxy) -> None:
        """Carry out the steps of its start, in order. Each raises the reason why the module cannot be served."""
        record.load_in_host(plugin)
        record.adopt_plugin(plugin)
        record.declare(await loader.read_hosted_declarations(record, self._config.locale))
        runtime = HostedRuntime(record, self._services, self.offers.refresh_later)  # type: ignore[abstract]
        record.begin_init(runtime)
        await call_hook(record, "init", HOOK_SECONDS, runtime=record.runtime)
        await self.offers.read_offer(record)

    def know_host(self, host: str, absent: frozenset[str] | None, facts: HostFacts | None) -> None:
        self._registry.know_host(host, absent, facts)
        self.offers.merge_tools()

    async def remove_hosted_module(self, record: ModuleRecord, reason: str) -> None:
        """Remove a module of a foreign machine; its resources have ended with it."""
        record.fail(reason)
        self._registry.hosted.pop(record.name, None)
        self.offers.merge_tools()
        await self._services.resources.release_owned(record.name, reason, lost_by=f"its host {record.host!r} was lost")
        await self._release_module(record)

    # -- stopping ----------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def keep_hosts_running(self) -> AsyncIterator[None]:
        """Return a context in which hosts keep running although no module runs in them: they have the code from
        before."""
        self._left = []
        try:
            yield
        finally:
            left = self._left
            self._left = None
            for name in left:
                await self._places.release_module_host(name)

    async def _release_module_host(self, name: str) -> None:
        if self._left is None:
            await self._places.release_module_host(name)
        else:
            self._left.append(name)

    async def stop(self, names: Iterable[str]) -> None:
        """Stop modules in reverse order of readiness."""
        records = [self.records[name] for name in names if name in self.records]
        running = {record: record.ready.order for record in records if record.ready is not None}
        for record in running:
            record.mark_stopping()
        self.offers.merge_tools()
        for record in sorted(running, key=running.__getitem__, reverse=True):
            await self._stop_module(record)
        for record in records:
            if record.state in ("failed", "missing"):
                record.mark_stopped()

    async def _stop_module(self, record: ModuleRecord) -> None:
        if record.placed is not None and record.placed.is_left_running:
            record.mark_stopped("it keeps running without this server")
            return
        stopping = ToolError("module_stopping", f"module {record.name!r} was stopped meanwhile", module=record.name)
        await self._end_calls(record.calls, stopping, self._config.limits.stop_grace)
        await self._services.resources.release_owned(record.name, lost_by=f"module {record.name!r} was stopped")
        await self._release_module(record)
        await self._release_module_host(record.name)
        record.mark_stopped()
        log.info("module_stopped", module=record.name)

    async def release_lost_module(self, record: ModuleRecord, reason: str) -> None:
        """Release a module whose host has ended: its calls and its resources have ended with it."""
        record.fail(reason)
        self.offers.merge_tools()
        await self._services.resources.release_owned(record.name, reason, lost_by=f"its host was lost ({reason})")
        await self._release_module(record)

    async def _release_module(self, record: ModuleRecord) -> None:
        """Call `shutdown`, and remove everything that the module was given or has left."""
        try:
            await call_hook(record, "shutdown", self._config.limits.shutdown_timeout)
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            log_failure(log, "module_shutdown_failed", exc, module=record.name)
        await self.offers.end_refreshes(record)
        record.undo_registrations()
        await self._clear_up(record)
        if not is_pooled_host(record.host):  # pending definitions of a pool stay pending, whichever of its hosts ends
            self._review.withdraw_proposal(record.name)
        record.release()

    async def _clear_up(self, record: ModuleRecord) -> None:
        """Find what a module has left, where it ran; of modules that share their code, when the last one has ended."""
        try:
            left = await (self._left_here(record) if record.placed is None else record.placed.clear_up())
        except Exception as exc:  # noqa: BLE001 - inspected objects belong to a module, and may raise
            log_failure(log, "module_leftovers_unknown", exc, module=record.name)
            return
        if left is None:
            return
        record.report_leftovers(left[:LEFTOVERS_NAMED])
        if left:
            log.warning("module_left", module=record.name, left=list(record.left_behind), number=len(left))

    async def _left_here(self, record: ModuleRecord) -> Sequence[str] | None:
        """Return what it has left in this process; None: running modules share its code."""
        kin = [
            other
            for other in self.records.values()
            if other.name != record.name
            and (other.source_dirs == record.source_dirs != () or other.distribution == record.distribution != "")
        ]
        if any(other.state in _RUNNING for other in kin):
            record.end_period(Surroundings())
            return None
        owners = {record.name, *(other.name for other in kin)}
        others = [
            other.period
            for other in self.records.values()
            if other.name not in owners
            and other.period is not None
            and (other.period.after is not None or other.state in _RUNNING)
        ]
        before = None if record.period is None else record.period.before
        left = await clear_up(owners, record.source_dirs, before, others, self._services.state.path)
        record.end_period(Surroundings())
        return left

    def with_dependents(self, names: Sequence[str]) -> list[str]:
        """Modules, and those that require them."""
        dependents = [
            other.name
            for other in self.records.values()
            if any(self._requires_module(other.name, name) for name in names)
        ]
        return list(dict.fromkeys([*names, *dependents]))


class _StartTimes:
    """How long the start of a module takes, and its steps, in milliseconds of the clock: other modules start meanwhile.

    Attributes:
        steps: `load_ms` (its code is found, imported and checked), `wait_ms` (modules that it requires), `init_ms`,
            `tools_ms` (its definitions are read, their schemas compiled).
    """

    def __init__(self) -> None:
        self.steps: dict[str, float] = {}
        self._began = self._step_began = time.perf_counter()

    @property
    def total_ms(self) -> float:
        """Time since the start began."""
        return round((time.perf_counter() - self._began) * 1000, 1)

    def end_step(self, name: str) -> None:
        """A step has ended; the next one begins."""
        now = time.perf_counter()
        self.steps[f"{name}_ms"] = round((now - self._step_began) * 1000, 1)
        self._step_began = now


def _mark_ready(record: ModuleRecord, times: _StartTimes, order: int) -> None:
    started_ms = times.total_ms
    record.mark_ready(order, started_ms, time.time_ns() // 1_000_000)
    log.info("module_ready", module=record.name, tools=len(record.tools), duration_ms=started_ms, **times.steps)

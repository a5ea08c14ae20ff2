"""The life of a module, from its name to its end; of several at once, in the order that they need one another."""

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import structlog

from agentcore.api import Module
from agentcore.bounds import HOOK_SECONDS, IMPORT_SECONDS, LEFTOVERS_NAMED
from agentcore.config.errors import ConfigError
from agentcore.config.problems import problems_of_faults
from agentcore.core.approvals.definition_review import INSTRUCTIONS, DefinitionReview
from agentcore.core.containment.containment import run_contained
from agentcore.core.containment.foreign_error import log_failure
from agentcore.core.containment.ownership import source_dirs
from agentcore.core.declarations.hosted_names import is_member
from agentcore.core.discovery.families import FamilyMember
from agentcore.core.discovery.installed import InstalledModule
from agentcore.core.discovery.requirements import check_requirements
from agentcore.core.discovery.source_search import Found, ModuleNotChosen, ModuleNotInstalled
from agentcore.core.modules import loader
from agentcore.core.modules.host_protocols import ModuleHost, ModuleHosts, ModuleProxy, NoModuleHosts
from agentcore.core.modules.leftovers import RunPeriod, Surroundings, clear_up
from agentcore.core.modules.module_record import ModuleRecord, ModuleState
from agentcore.core.modules.runtime import HostedRuntime, HostServices, ModuleRuntime
from agentcore.core.modules.source_choice import SourceChoice
from agentcore.core.modules.tool_registry import HostFacts, ToolRegistry
from agentcore.core.modules.traceback import end_of_traceback, failure_text
from agentcore.errors import ToolError

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
        self._refreshes: dict[asyncio.Task[None], ModuleRecord] = {}
        self.given = {module.name: module for module in given if module.name is not None}
        self.records = registry.records

    # -- starting ----------------------------------------------------------------------------------------------

    async def start(self, records: Sequence[ModuleRecord]) -> None:
        """Start modules together, replacing those with the same names."""
        for record in records:
            if (former := self.records.get(record.name)) is not None:
                record.left_behind = former.left_behind
            self.records[record.name] = record
            self._settled[record.name] = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for record in records:
                group.create_task(self._start_module(record), name=f"start:{record.name}")

    async def _start_module(self, record: ModuleRecord) -> None:
        self._set_state(record, "loading")
        began = time.perf_counter()
        try:
            await self._bring_up(record)
        except asyncio.CancelledError:
            self._set_state(record, "failed", "start-up was interrupted")
            raise
        except ModuleNotInstalled as exc:
            log.error("module_missing", module=record.name, reason=str(exc))  # noqa: TRY400 - no defect
            self._set_state(record, "missing", str(exc))
        except ModuleNotChosen as exc:
            log.error("module_waits", module=record.name, reason=str(exc))  # noqa: TRY400 - no defect
            record.rivals = exc.candidates
            self._set_state(record, "failed", str(exc))
        except BaseException as exc:  # noqa: BLE001 - sys.exit() in a module must not stop the server
            await self._mark_failed(record, exc)
        else:
            self._ready_count += 1
            record.ready_order = self._ready_count
            record.started_ms = round((time.perf_counter() - began) * 1000, 1)
            record.ready_at_ms = time.time_ns() // 1_000_000
            self._set_state(record, "ready")
            self.merge_tools()
            log.info("module_ready", module=record.name, tools=len(record.tools), duration_ms=record.started_ms)
            for problem in (*record.tool_errors, *record.conflicts):
                log.error("tool_left_out", module=record.name, reason=problem)
        finally:
            self._settled[record.name].set()

    async def _bring_up(self, record: ModuleRecord) -> None:
        if record.failure is not None:
            raise record.failure
        if record.plugin is None:
            await self.prepare_module(record)
        self._on_code(self.records.values())
        await self._wait_for_required(record)
        record.runtime = ModuleRuntime(record, self._services, self._refresh_later)  # type: ignore[abstract]  # its operations are made from the table
        if isinstance(record.plugin, Module):
            await bind_runtime(record)
        limit_s = record.manifest.init_timeout_s or self._config.limits.init_timeout
        await call_hook(record, "init", limit_s, runtime=record.runtime)
        await self._apply_definitions(record, await call_hook(record, "get_tool_definitions", HOOK_SECONDS))
        await loader.load_component(record, await call_hook(record, "get_web_component", HOOK_SECONDS))
        if record.found is not None:
            version = record.origin.get("version", "")
            await self._sources.record_loaded_version(record.name, record.found.source, version)

    async def prepare_module(self, record: ModuleRecord) -> None:
        """Find, import and check a module's code, and read its settings: everything before its `init`.

        Raises:
            BaseException: The reason why it cannot be started.
        """
        record.before = Surroundings()
        record.after = None
        if (place := self._places.find_module_host(record.name)) is not None:
            await self._prepare_elsewhere(record, place)
            return
        if record.name in self.given:
            await loader.adopt_plugin(record, self.given[record.name], self._config.locale)
        else:
            if record.loaded is None:
                await self._load_module(record)
            assert record.loaded is not None  # noqa: S101 - loaded above
            record.source_dirs = source_dirs(record.loaded.target)
            plugin = await loader.make_plugin(record, record.loaded.target, self._config)
            await loader.adopt_plugin(record, plugin, self._config.locale)
        if record.settings is None:
            read = asyncio.to_thread(loader.load_settings, record, self._config)
            record.settings = await run_contained(read, HOOK_SECONDS, f"settings:{record.name}", record.name)

    async def _prepare_elsewhere(self, record: ModuleRecord, place: ModuleHost) -> None:
        """Prepare a module that runs in a host, without running any of its code here."""
        if record.found is None:
            finding = place.find_module(record.name)
            found = await run_contained(finding, IMPORT_SECONDS, f"find:{record.name}", record.name)
            if found is None:
                found = await self._find_module(record)
            record.found, record.origin = found, await asyncio.to_thread(found.describe_origin)
            record.fingerprint = await asyncio.to_thread(found.compute_fingerprint)
        assert record.found is not None  # noqa: S101 - found above, or before
        loading = place.load_module(record.name, record.found, record.fingerprint, self._config.locale)
        record.placed = await run_contained(loading, IMPORT_SECONDS, f"import:{record.name}", record.name)
        record.fingerprint = record.placed.fingerprint
        await loader.adopt_plugin(record, record.placed, self._config.locale)
        if record.settings is None:
            raw = await asyncio.to_thread(loader.raw_settings, record, self._config)
            checking = record.placed.check_settings(raw.values)
            faults = await run_contained(checking, HOOK_SECONDS, f"settings:{record.name}", record.name)
            if faults and record.manifest.settings is not None:
                raise ConfigError(problems_of_faults(faults, record.manifest.settings, raw.values, raw.origins))
            record.settings = raw.values

    async def _find_module(self, record: ModuleRecord) -> Found:
        """Find a module's code on the disk; nothing is imported."""
        found, record.rivals = await self._sources.find_module_source(record.name)
        # in a thread: the folder of the package is known once no other thread imports it, which takes time
        record.found, record.origin = found, await asyncio.to_thread(found.describe_origin)
        installed = found.entry if isinstance(found, FamilyMember) else found
        if isinstance(installed, InstalledModule):
            await asyncio.to_thread(check_requirements, installed)
        return found

    async def _load_module(self, record: ModuleRecord) -> None:
        record.loaded = await loader.load_code(await self._find_module(record))
        record.origin = dict(record.loaded.origin)
        record.fingerprint = record.loaded.fingerprint

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

    async def _mark_failed(self, record: ModuleRecord, exc: BaseException) -> None:
        # invalid settings are not a defect: the reason has file, line and key, and a traceback of our code would not
        # help
        record.traceback = "" if isinstance(exc, ConfigError) else end_of_traceback(exc)
        reason = failure_text(exc)
        log_failure(log, "module_failed", exc, module=record.name, reason=reason)
        await self._release_module(record)
        await self._release_module_host(record.name)
        self._set_state(record, "failed", reason)

    # -- on other machines -------------------------------------------------------------------------------------

    async def add_hosted_module(self, record: ModuleRecord, plugin: ModuleProxy) -> None:
        """Serve a module that a foreign machine has started; none of its code runs here.

        Args:
            record: A new one, with its host.
            plugin: Its proxy.
        """
        self._registry.hosted[record.name] = record
        record.placed = plugin
        self._set_state(record, "loading")
        began = time.perf_counter()
        try:
            await loader.adopt_hosted_plugin(record, plugin, self._config.locale)
            record.runtime = HostedRuntime(record, self._services, self._refresh_later)  # type: ignore[abstract]  # its operations are made from the table
            await call_hook(record, "init", HOOK_SECONDS, runtime=record.runtime)
            await self._apply_definitions(record, await call_hook(record, "get_tool_definitions", HOOK_SECONDS))
        except asyncio.CancelledError:
            self._set_state(record, "failed", "it was not taken in")
            raise
        except BaseException as exc:  # noqa: BLE001 - what another machine says may be anything
            reason = failure_text(exc)
            log_failure(log, "module_failed", exc, module=record.name, reason=reason)
            await self._release_module(record)
            self._set_state(record, "failed", reason)
        else:
            record.started_ms = round((time.perf_counter() - began) * 1000, 1)
            record.ready_at_ms = time.time_ns() // 1_000_000
            self._set_state(record, "ready")
            log.info("module_ready", module=record.name, tools=len(record.tools), duration_ms=record.started_ms)
        self.merge_tools()

    async def read_hosted_again(self, record: ModuleRecord) -> None:
        """Read the definitions of a module again whose machine is back, and may offer other tools than before."""
        await self._refresh_tools(record)

    def know_host(self, host: str, absent: frozenset[str] | None, facts: HostFacts | None) -> None:
        self._registry.know_host(host, absent, facts)
        self.merge_tools()

    async def remove_hosted_module(self, record: ModuleRecord, reason: str) -> None:
        """Remove a module of a foreign machine; its resources have ended with it."""
        self._set_state(record, "failed", reason)
        self._registry.hosted.pop(record.name, None)
        self.merge_tools()
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
        running = [record for record in records if record.state == "ready"]
        for record in running:
            self._set_state(record, "stopping")
        self.merge_tools()
        for record in sorted(running, key=lambda record: record.ready_order, reverse=True):
            await self._stop_module(record)
        for record in records:
            if record.state in ("failed", "missing"):
                self._set_state(record, "stopped")

    async def _stop_module(self, record: ModuleRecord) -> None:
        if record.placed is not None and record.placed.is_left_running:
            self._set_state(record, "stopped", "it goes on without this server")
            return
        stopping = ToolError("module_stopping", f"module {record.name!r} was stopped meanwhile", module=record.name)
        await self._end_calls(record.calls, stopping, self._config.limits.stop_grace)
        await self._services.resources.release_owned(record.name, lost_by=f"module {record.name!r} was stopped")
        await self._release_module(record)
        await self._release_module_host(record.name)
        self._set_state(record, "stopped")
        log.info("module_stopped", module=record.name)

    async def _release_module(self, record: ModuleRecord) -> None:
        """Call `shutdown`, and remove everything that the module was given or has left."""
        try:
            await call_hook(record, "shutdown", self._config.limits.shutdown_timeout)
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            log_failure(log, "module_shutdown_failed", exc, module=record.name)
        refreshes = [task for task, module in self._refreshes.items() if module is record]
        for task in refreshes:
            task.cancel()
        if refreshes:
            await asyncio.wait(refreshes)
        record.is_refresh_due = False
        for undo in record.undo:
            undo()
        record.undo.clear()
        record.notes.clear()
        await self._clear_up(record)
        if not is_member(record.host):  # pending definitions of a pool stay pending, whichever of its hosts ends
            self._review.withdraw_proposal(record.name)
        record.hooks = {}
        record.tools = []
        record.component = None
        record.runtime = None
        record.withheld = []
        record.report = None
        record.login = None
        record.placed = None
        record.offered_instructions = record.instructions = ""

    async def _clear_up(self, record: ModuleRecord) -> None:
        """Find what a module has left, where it ran; of modules that share their code, when the last one has ended."""
        try:
            left = await (self._left_here(record) if record.placed is None else record.placed.clear_up())
        except Exception as exc:  # noqa: BLE001 - inspected objects belong to a module, and may raise
            log_failure(log, "module_leftovers_unknown", exc, module=record.name)
            return
        if left is None:
            return
        record.left_behind = list(left[:LEFTOVERS_NAMED])
        if left:
            log.warning("module_left", module=record.name, left=record.left_behind, number=len(left))

    async def _left_here(self, record: ModuleRecord) -> Sequence[str] | None:
        """Return what it has left in this process; None: running modules share its code."""
        kin = [
            other
            for other in self.records.values()
            if other.name != record.name
            and (other.source_dirs == record.source_dirs != () or other.distribution == record.distribution != "")
        ]
        if any(other.state in _RUNNING for other in kin):
            record.after = Surroundings()
            return None
        owners = {record.name, *(other.name for other in kin)}
        others = [
            RunPeriod(other.before, other.after)
            for other in self.records.values()
            if other.name not in owners and other.before is not None and (other.after or other.state in _RUNNING)
        ]
        left = await clear_up(owners, record.source_dirs, record.before, others, self._services.state.path)
        record.after = Surroundings()
        return left

    async def release_lost_module(self, record: ModuleRecord, reason: str) -> None:
        """Release a module whose host has ended: its calls and its resources have ended with it."""
        self._set_state(record, "failed", reason)
        self.merge_tools()
        await self._services.resources.release_owned(record.name, reason, lost_by=f"its host was lost ({reason})")
        await self._release_module(record)

    def with_dependents(self, names: Sequence[str]) -> list[str]:
        """Modules, and those that require them."""
        dependents = [
            other.name
            for other in self.records.values()
            if any(self._requires_module(other.name, name) for name in names)
        ]
        return list(dict.fromkeys([*names, *dependents]))

    # -- tools -------------------------------------------------------------------------------------------------

    def merge_tools(self) -> None:
        """Merge the tools of all modules, and publish the change."""
        self._registry.rebuild()
        self._on_code(self.records.values())
        self._services.events.publish("tools.changed", {"tools": len(self._registry.tools)})

    async def _apply_definitions(self, record: ModuleRecord, given: Any) -> None:
        """Read what a module offers; tools that the user has to review first are withheld."""
        await loader.load_definitions(record, given)
        record.withheld = []
        if not record.is_foreign:
            record.instructions = record.offered_instructions
            return
        others = [name for name, tool in self._registry.own.items() if tool.module is not record]
        others += [
            tool.definition.name for each in self.records.values() if each is not record for tool in each.withheld
        ]
        offered = [tool.definition for tool in record.tools]
        instructions = record.instructions_to_review
        is_shared = is_member(record.host)
        waits = self._review.withhold_unreviewed_tools(
            record.reviewed_as, offered, instructions, others, is_shared=is_shared
        )
        record.instructions = "" if INSTRUCTIONS in waits else instructions
        record.withheld = [tool for tool in record.tools if tool.definition.name in waits]
        record.tools = [tool for tool in record.tools if tool.definition.name not in waits]

    async def read_again(self, name: str) -> None:
        """Read a module's tools again, if it is ready."""
        meant = [record for record in self._registry.hosted.values() if record.reviewed_as == name]
        for record in [self.records[name]] if name in self.records else meant:
            if record.state == "ready":
                await self._refresh_tools(record)

    def _refresh_later(self, record: ModuleRecord) -> None:
        if record.state == "ready" and not record.is_refresh_due:
            record.is_refresh_due = True
            # in no TaskGroup: a module asks for it in the middle of its own code; `_release` ends it, and waits
            task = asyncio.get_running_loop().create_task(self._refresh_in_turn(record), name=f"tools:{record.name}")
            self._refreshes[task] = record
            task.add_done_callback(self._refreshes.pop)

    async def _refresh_in_turn(self, record: ModuleRecord) -> None:
        """Read a module's tools again, once for all changes that it reports until its turn comes."""
        await asyncio.sleep(record.refresh_pace.delay_s(asyncio.get_running_loop().time()))
        record.is_refresh_due = False
        await self._refresh_tools(record)

    async def _refresh_tools(self, record: ModuleRecord) -> None:
        try:
            given = await call_hook(record, "get_tool_definitions", HOOK_SECONDS)
            if record.state == "ready":
                await self._apply_definitions(record, given)
                self.merge_tools()
                self.publish_state(record)
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            log_failure(log, "tools_not_refreshed", exc, module=record.name)

    def _set_state(self, record: ModuleRecord, state: ModuleState, reason: str = "") -> None:
        record.state = state
        record.reason = reason
        self.publish_state(record)

    def publish_state(self, record: ModuleRecord) -> None:
        """Tell pages that something about a module is another now."""
        state = record.state
        reason = record.reason
        self._services.events.publish("module.stateChanged", {"module": record.name, "state": state, "reason": reason})


async def bind_runtime(record: ModuleRecord) -> None:
    """Give a module that is a `Module` its runtime, before its `init`."""
    await run_contained(_call_bind(record), HOOK_SECONDS, f"bind:{record.name}", record.name)


async def _call_bind(record: ModuleRecord) -> None:
    record.plugin.bind(record.runtime)


async def call_hook(module: ModuleRecord, hook: str, limit_s: float, **values: Any) -> Any:
    """Call one hook of one module: a sync one in a thread, both under the limit."""
    impl = module.hooks.get(hook)
    if impl is None:
        return None
    return await run_contained(_run_hook(impl, values), limit_s, f"{hook}:{module.name}", module.name)


async def _run_hook(impl: Any, values: dict[str, Any]) -> Any:
    arguments = [values[name] for name in impl.argnames]
    if inspect.iscoroutinefunction(impl.function):
        return await impl.function(*arguments)
    result = await asyncio.to_thread(impl.function, *arguments)
    return await result if inspect.isawaitable(result) else result

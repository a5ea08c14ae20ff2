"""The life of modules: started together, stopped in reverse, enabled, disabled and reloaded while the server runs."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Any

import structlog

from agentcore.api.module import Module
from agentcore.config.app_config import AppConfig
from agentcore.config.errors import ConfigError
from agentcore.config.settings import module_settings, validate_settings
from agentcore.errors import ToolError
from agentcore.host.containment.containment import run_contained
from agentcore.host.containment.foreign_error import log_failure
from agentcore.host.modules import loader
from agentcore.host.modules.discovery.finding import (
    ModuleNotChosen,
    ModuleNotInstalled,
    candidates,
    described,
    find_module,
    take_out,
)
from agentcore.host.modules.discovery.installed import InstalledModule, rescan
from agentcore.host.modules.discovery.requirements import check_requirements
from agentcore.host.modules.hooks import call_hook
from agentcore.host.modules.leftovers import Surroundings, clear_up
from agentcore.host.modules.record import ModuleRecord, ModuleState
from agentcore.host.modules.reloading import Reload
from agentcore.host.modules.runtime import ModuleRuntime
from agentcore.host.modules.traceback import end_of_traceback, failure_text
from agentcore.host.parts import Parts
from agentcore.limits import HOOK_SECONDS

log = structlog.get_logger(__name__)

CodeOnDisk = tuple[tuple[str, str, str], ...]
"""Each module that was found with its source in words and a digest of its code; equal ones: nothing changed."""


EndCalls = Callable[[Collection[str], ToolError, float], Awaitable[None]]
"""Ends calls, by their ids: within a grace in seconds by themselves, else with the error."""


class Modules:
    """All modules that are listed, each contained on its own."""

    def __init__(self, parts: Parts, end_calls: EndCalls, given: Sequence[Module] = ()) -> None:
        self._parts, self._end_calls = parts, end_calls
        self._given = {module.name: module for module in given if module.name is not None}
        self._change = asyncio.Lock()
        self._settled: dict[str, asyncio.Event] = {}
        self._ready_count = 0
        self._refreshes: set[asyncio.Task[None]] = set()
        self.records = parts.registry.records
        self.on_code: Callable[[], None] = lambda: None
        """Called whenever modules have brought code or tools."""

    def get(self, name: str) -> ModuleRecord:
        """The module's record.

        Raises:
            ToolError: `module_not_found`.
        """
        record = self.records.get(name)
        if record is None:
            known = sorted(self.records)
            raise ToolError("module_not_found", f"no module {name!r} is listed; listed are {known}", modules=known)
        return record

    async def start(self, names: Iterable[str]) -> None:
        """Start modules together; one that fails is marked, the others go on."""
        async with self._change:
            await self.start_all([ModuleRecord(name) for name in dict.fromkeys(names)])

    async def stop(self, names: Iterable[str] | None = None) -> None:
        """Stop modules (None: all), in reverse order of readiness. A module that others require takes them along."""
        async with self._change:
            await self.stop_all(self.records if names is None else names)

    async def enable(self, name: str) -> ModuleRecord:
        """Start one module that is not running."""
        async with self._change:
            record = self.records.get(name)
            if record is None or record.state not in ("ready", "loading"):
                await self._start_one(name, record)
            return self.records[name]

    async def disable(self, name: str) -> ModuleRecord:
        """Stop one module, and those that require it."""
        async with self._change:
            record = self.get(name)
            self._parts.sources.withdraw(name)
            await self.stop_all(self.with_dependents([name]))
            return record

    async def reload(self, name: str) -> list[ModuleRecord]:
        """Put the code of a module and of its distribution that is on the disk now in the place of what runs.

        Where that cannot be, what runs goes on, and says why in `reload_error`.
        """
        async with self._change:
            record = self.get(name)
            with self._parts.registry.page_scripts_kept():
                return await self._reload(record)

    def stopped_with(self, name: str, *, for_reload: bool) -> list[ModuleRecord]:
        """What stops when a module does: itself, those that require it, and for a reload those of its distribution.

        Raises:
            ToolError: `module_not_found`.
        """
        record = self.get(name)
        family = [name, *(other.name for other in self._running_family(record))] if for_reload else [name]
        return [self.records[other] for other in self.with_dependents(family)]

    async def is_same_code(self, name: str) -> bool:
        """Whether a reload would run the very code that was loaded; of modules that were handed over it always does.

        Raises:
            ToolError: `module_not_found`.
        """
        record = self.get(name)
        family = [each for each in (record, *self._running_family(record)) if each.name not in self._given]
        return await asyncio.to_thread(lambda: all(map(self._is_as_loaded, family)))

    def _is_as_loaded(self, record: ModuleRecord) -> bool:
        if record.found is None:
            return False
        rescan()
        try:
            now = find_module(record.name, self._parts.config.modules_folder, record.found.source)
        except (ModuleNotInstalled, ModuleNotChosen):
            return False
        return now.origin() == record.found.origin() and now.fingerprint() == record.fingerprint

    async def code_on_disk(self, name: str) -> CodeOnDisk:
        """All code on the disk that starting or reloading a module could load now.

        Args:
            name: A module, listed or not.
        """
        record = self.records.get(name)
        family = () if record is None else self._running_family(record)
        names = sorted({name, *(other.name for other in family)})
        return await asyncio.to_thread(self._code_of, names)

    def _code_of(self, names: Sequence[str]) -> CodeOnDisk:
        rescan()
        found = [each for name in names for each in candidates(name, self._parts.config.modules_folder)]
        return tuple((each.name, described(each), each.fingerprint()) for each in found)

    async def use_choice(self, name: str) -> None:
        """Run a listed module with what a person has chosen to stand behind its name."""
        async with self._change:
            record = self.records.get(name)
            if record is not None and record.state == "ready":
                await self._reload(record)
            elif record is not None and record.state != "stopped":
                await self._start_one(name, record)

    def arrange(self, names: Iterable[str]) -> None:
        """Put the modules into the order of app.json, by which the first of two tools with one name counts."""
        listed = [name for name in names if name in self.records]
        order = [*listed, *(name for name in self.records if name not in listed)]
        if order != list(self.records):
            records = {name: self.records[name] for name in order}
            self.records.clear()
            self.records.update(records)
            self._merge()

    async def has_changed(self, record: ModuleRecord) -> bool:
        """Whether the code of a running module on the disk is another than was loaded; a reload runs it."""
        if record.found is None or record.state != "ready":
            return False
        has_changed = await asyncio.to_thread(record.found.fingerprint) != record.fingerprint
        if has_changed and not record.is_change_known:
            record.is_change_known = True
            log.warning("module_changed", module=record.name, **record.origin)
        return has_changed

    # -- starting ----------------------------------------------------------------------------------------------

    async def start_all(self, records: Sequence[ModuleRecord]) -> None:
        """Start modules together, in place of those that had their names."""
        for record in records:
            if (former := self.records.get(record.name)) is not None:
                record.left_behind = former.left_behind
            self.records[record.name] = record
            self._settled[record.name] = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for record in records:
                group.create_task(self._start(record), name=f"start:{record.name}")

    async def _start_one(self, name: str, before: ModuleRecord | None) -> None:
        """Start a module that does not run, with the code that is on the disk now, unless its distribution runs."""
        family = [] if before is None else self._running_family(before)
        if before is not None and not family:
            await asyncio.to_thread(take_out, [before.found] if before.found is not None else [])
        record = ModuleRecord(name)
        await self.start_all([record])
        if family and record.origin:
            record.origin["version"] = family[0].origin.get("version", "")

    async def _reload(self, record: ModuleRecord) -> list[ModuleRecord]:
        family = [record.name, *(other.name for other in self._running_family(record))]
        names = [name for name in self.records if name in family]
        if record.name in self._given:  # an object: there is no other code of it
            dependents = self.with_dependents(names)
            running = [name for name in dependents if name in names or self.records[name].state == "ready"]
            await self.stop_all(running)
            await self.start_all([ModuleRecord(name) for name in running])
        else:
            await Reload(self, names).run()
        return [self.records[name] for name in names]

    def _running_family(self, record: ModuleRecord) -> list[ModuleRecord]:
        """The other modules of its distribution that are on."""
        return [
            other
            for other in self.records.values()
            if other is not record
            and other.state != "stopped"
            and record.distribution
            and other.distribution == record.distribution
        ]

    async def _start(self, record: ModuleRecord) -> None:
        self._mark(record, "loading")
        began = time.perf_counter()
        try:
            await self._bring_up(record)
        except asyncio.CancelledError:
            self._mark(record, "failed", "start-up was interrupted")
            raise
        except ModuleNotInstalled as exc:
            log.error("module_missing", module=record.name, reason=str(exc))  # noqa: TRY400 - no defect
            self._mark(record, "missing", str(exc))
        except ModuleNotChosen as exc:
            log.error("module_waits", module=record.name, reason=str(exc))  # noqa: TRY400 - no defect
            record.rivals = exc.candidates
            self._mark(record, "failed", str(exc))
        except BaseException as exc:  # noqa: BLE001 - sys.exit() in a module must not stop the server
            await self._fail(record, exc)
        else:
            self._ready_count += 1
            record.ready_order = self._ready_count
            record.started_ms = round((time.perf_counter() - began) * 1000, 1)
            record.ready_at_ms = time.time_ns() // 1_000_000
            self._mark(record, "ready")
            self._merge()
            log.info("module_ready", module=record.name, tools=len(record.tools), duration_ms=record.started_ms)
            for problem in (*record.tool_errors, *record.conflicts):
                log.error("tool_left_out", module=record.name, reason=problem)
        finally:
            self._settled[record.name].set()

    async def _bring_up(self, record: ModuleRecord) -> None:
        if record.failure is not None:
            raise record.failure
        if record.plugin is None:
            await self.prepare(record)
        self.on_code()
        await self._wait_for_required(record)
        record.runtime = ModuleRuntime(record, record.settings, self._parts, self._refresh_later)
        if issubclass(type(record.plugin), Module):
            await run_contained(_bind(record), HOOK_SECONDS, f"bind:{record.name}", record.name)
        limit_s = record.init_timeout_s or self._parts.config.limits.init_timeout
        await call_hook(record, "init", limit_s, runtime=record.runtime)
        await loader.definitions(record, await call_hook(record, "get_tool_definitions", HOOK_SECONDS))
        await loader.component(record, await call_hook(record, "get_web_component", HOOK_SECONDS))
        if record.found is not None:
            version = record.origin.get("version", "")
            await self._parts.sources.loaded(record.name, record.found.source, version)

    async def prepare(self, record: ModuleRecord) -> None:
        """Find, import and check a module's code, and read its settings: all that comes before its `init`.

        Raises:
            BaseException: Whatever keeps it from being started.
        """
        record.before = Surroundings()
        if record.name in self._given:
            await loader.adopt(record, self._given[record.name], self._parts.config.locale)
        else:
            if record.loaded is None:
                await self._load(record)
            assert record.loaded is not None  # noqa: S101 - loaded above
            record.source_dirs = loader.source_dirs(record.loaded.target)
            plugin = await loader.make(record.loaded, record.name)
            await loader.adopt(record, plugin, self._parts.config.locale)
        if record.settings is None:
            read = asyncio.to_thread(_settings, self._parts.config, record)
            record.settings = await run_contained(read, HOOK_SECONDS, f"settings:{record.name}", record.name)

    async def _load(self, record: ModuleRecord) -> None:
        standing = await self._parts.sources.find(record.name)
        found = record.found = standing.found
        record.rivals, record.origin = standing.rivals, found.origin()
        if isinstance(found, InstalledModule):
            await asyncio.to_thread(check_requirements, found)
        record.loaded = await loader.load(found)
        record.origin, record.fingerprint = dict(record.loaded.origin), record.loaded.fingerprint

    async def _wait_for_required(self, record: ModuleRecord) -> None:
        for name in record.requires:
            if name not in self._settled:
                raise RuntimeError(f"it requires module {name!r}, which is not listed in app.json")
            if self._requires(name, record.name):
                raise RuntimeError(f"it requires module {name!r}, which requires it in turn")
            await self._settled[name].wait()
            other = self.records[name]
            if other.state != "ready":
                raise RuntimeError(f"it requires module {name!r}, which is {other.state}: {other.reason}")

    def _requires(self, name: str, wanted: str, seen: frozenset[str] = frozenset()) -> bool:
        record = self.records.get(name)
        if record is None or name in seen:
            return False
        return any(other == wanted or self._requires(other, wanted, seen | {name}) for other in record.requires)

    async def _fail(self, record: ModuleRecord, exc: BaseException) -> None:
        # wrong settings are no defect: the reason says file, line and key, and a way through our code says nothing
        record.traceback = "" if issubclass(type(exc), ConfigError) else end_of_traceback(exc)
        reason = failure_text(exc)
        log_failure(log, "module_failed", exc, module=record.name, reason=reason)
        await self._release(record)
        self._mark(record, "failed", reason)

    # -- stopping ----------------------------------------------------------------------------------------------

    async def stop_all(self, names: Iterable[str]) -> None:
        """Stop modules in reverse order of readiness."""
        records = [self.records[name] for name in names if name in self.records]
        running = [record for record in records if record.state == "ready"]
        for record in running:
            self._mark(record, "stopping")
        self._merge()
        for record in sorted(running, key=lambda record: record.ready_order, reverse=True):
            await self._stop(record)
        for record in records:
            if record.state in ("failed", "missing"):
                self._mark(record, "stopped")

    async def _stop(self, record: ModuleRecord) -> None:
        stopping = ToolError("module_stopping", f"module {record.name!r} was stopped meanwhile", module=record.name)
        await self._end_calls(record.calls, stopping, self._parts.config.limits.stop_grace)
        await self._parts.resources.release_owned(record.name)
        await self._release(record)
        self._mark(record, "stopped")
        log.info("module_stopped", module=record.name)

    async def _release(self, record: ModuleRecord) -> None:
        """Call `shutdown`, and take back whatever the module was given; nothing of it stays behind."""
        try:
            await call_hook(record, "shutdown", self._parts.config.limits.shutdown_timeout)
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            log_failure(log, "module_shutdown_failed", exc, module=record.name)
        for undo in record.undo:
            undo()
        record.undo.clear()
        record.notes.clear()
        await self._clear_up(record)
        record.hooks, record.tools, record.component, record.runtime = {}, [], None, None

    async def _clear_up(self, record: ModuleRecord) -> None:
        """Find what a module has left; of modules that share their code, when the last one of them has ended."""
        kin = [
            other
            for other in self.records.values()
            if other.name != record.name
            and (other.source_dirs == record.source_dirs != () or other.distribution == record.distribution != "")
        ]
        if any(other.state in ("ready", "loading", "stopping") for other in kin):
            return
        try:
            owners = {record.name, *(other.name for other in kin)}
            record.left_behind = await clear_up(record, owners, self._parts.state)
        except Exception as exc:  # noqa: BLE001 - what is looked at is somebody else's, and may object
            log_failure(log, "module_leftovers_unknown", exc, module=record.name)

    def with_dependents(self, names: Sequence[str]) -> list[str]:
        """Modules, and those that require them."""
        dependents = [
            other.name for other in self.records.values() if any(self._requires(other.name, name) for name in names)
        ]
        return list(dict.fromkeys([*names, *dependents]))

    # -- tools -------------------------------------------------------------------------------------------------

    def _merge(self) -> None:
        self._parts.registry.rebuild()
        self.on_code()
        self._parts.events.publish("tools.changed", {"tools": len(self._parts.registry.tools)})

    def _refresh_later(self, record: ModuleRecord) -> None:
        if record.state == "ready":
            task = asyncio.get_running_loop().create_task(self._refresh(record), name=f"tools:{record.name}")
            self._refreshes.add(task)
            task.add_done_callback(self._refreshes.discard)

    async def _refresh(self, record: ModuleRecord) -> None:
        try:
            given = await call_hook(record, "get_tool_definitions", HOOK_SECONDS)
            if record.state == "ready":
                await loader.definitions(record, given)
                self._merge()
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            log_failure(log, "tools_not_refreshed", exc, module=record.name)

    def _mark(self, record: ModuleRecord, state: ModuleState, reason: str = "") -> None:
        record.state, record.reason = state, reason
        self.tell(record)

    def tell(self, record: ModuleRecord) -> None:
        """Tell pages that something about a module is another now."""
        state, reason = record.state, record.reason
        self._parts.events.publish("module.stateChanged", {"module": record.name, "state": state, "reason": reason})


def _settings(config: AppConfig, record: ModuleRecord) -> Any:
    """The module's validated settings; what is set, as a dict, where it declares no model."""
    raw = module_settings(config, record.name, record.config_key, record.settings_model)
    return raw.values if record.settings_model is None else validate_settings(record.settings_model, raw)


async def _bind(record: ModuleRecord) -> None:
    record.plugin.bind(record.runtime)

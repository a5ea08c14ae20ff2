"""The life of modules: started together, stopped in reverse, enabled, disabled and reloaded while the server runs."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from typing import Any

import structlog
from pydantic import BaseModel

from agentcore.api.errors import AgentcoreError, ToolError
from agentcore.api.module import Module
from agentcore.host import loader
from agentcore.host.calls import Calls
from agentcore.host.config import AppConfig
from agentcore.host.config_error import ConfigError
from agentcore.host.config_settings import module_settings, validate_settings
from agentcore.host.discovery import Found, ModuleNotInstalled, find_module, take_out
from agentcore.host.discovery_installed import InstalledModule
from agentcore.host.discovery_requirements import check_requirements
from agentcore.host.foreign_error import log_failure, reason_of, text_of, type_name
from agentcore.host.hooks import HookManager, call_hook
from agentcore.host.limits import HOOK_SECONDS
from agentcore.host.module_traceback import end_of_traceback
from agentcore.host.modules import ModuleRecord, ModuleState
from agentcore.host.parts import Parts
from agentcore.host.runtime import ModuleRuntime

log = structlog.get_logger(__name__)


class Modules:
    """All modules that are listed, each contained on its own."""

    def __init__(self, parts: Parts, calls: Calls, given: Sequence[Module] = ()) -> None:
        self._parts, self._calls = parts, calls
        self._hooks = HookManager()
        self._given = {module.name: module for module in given if module.name is not None}
        self._change = asyncio.Lock()
        self._settled: dict[str, asyncio.Event] = {}
        self._ready_count = 0
        self._refreshes: set[asyncio.Task[None]] = set()
        self.records = parts.registry.records

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
            await self._start_all(list(dict.fromkeys(names)))

    async def stop(self, names: Iterable[str] | None = None) -> None:
        """Stop modules (None: all), in reverse order of readiness. A module that others require takes them along."""
        async with self._change:
            await self._stop_all(self.records if names is None else names)

    async def enable(self, name: str) -> ModuleRecord:
        """Start one module that is not running."""
        async with self._change:
            record = self.records.get(name)
            if record is None or record.state not in ("ready", "loading"):
                await self._start_all([name])
            return self.records[name]

    async def disable(self, name: str) -> ModuleRecord:
        """Stop one module, and those that require it."""
        async with self._change:
            record = self.get(name)
            await self._stop_all(self._with_dependents([name]))
            return record

    async def reload(self, name: str) -> list[ModuleRecord]:
        """Stop a module and those of its distribution, import their code afresh, and start them again."""
        async with self._change:
            record = self.get(name)
            family = [
                other.name
                for other in self.records.values()
                if other is record or (record.distribution and other.distribution == record.distribution)
            ]
            names = self._with_dependents(family)
            running = [other for other in names if other in family or self.records[other].state == "ready"]
            await self._stop_all(names)
            await asyncio.to_thread(take_out, family)
            await self._start_all(running)
            return [self.records[other] for other in running]

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

    async def _start_all(self, names: list[str]) -> None:
        for name in names:
            self.records[name] = ModuleRecord(name)
            self._settled[name] = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for name in names:
                group.create_task(self._start(self.records[name]), name=f"start:{name}")

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
        if record.name in self._given:
            loader.adopt(record, self._given[record.name], self._hooks)
        else:
            found = await asyncio.to_thread(self._find, record)
            loaded = await loader.load(found)
            record.origin, record.fingerprint = loaded.origin, loaded.fingerprint
            record.source_dirs = loader.source_dirs(loaded.plugin)
            loader.adopt(record, loaded.plugin, self._hooks)
        settings = _settings(self._parts.config, record)
        await self._wait_for_required(record)
        record.runtime = ModuleRuntime(record, settings, self._parts, self._refresh_later)
        if isinstance(record.plugin, Module):
            record.plugin.bind(record.runtime)
        limit_s = getattr(record.plugin, "init_timeout_s", None) or self._parts.config.limits.init_timeout
        await call_hook(record, "init", limit_s, runtime=record.runtime)
        loader.definitions(record, await call_hook(record, "get_tool_definitions", HOOK_SECONDS))
        loader.component(record, await call_hook(record, "get_web_component", HOOK_SECONDS))

    def _find(self, record: ModuleRecord) -> Found:
        """Find a module's code, and see whether it has what it needs; reads the disk."""
        found = find_module(record.name, self._parts.config.modules_folder)
        if isinstance(found, InstalledModule):
            check_requirements(found)
        record.found, record.origin = found, found.origin()
        return found

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
        is_said = issubclass(type(exc), AgentcoreError | RuntimeError | TimeoutError)
        reason = (text_of(exc) or type_name(exc)) if is_said else reason_of(exc)
        log_failure(log, "module_failed", exc, module=record.name, reason=reason)
        await self._release(record)
        self._mark(record, "failed", reason)

    # -- stopping ----------------------------------------------------------------------------------------------

    async def _stop_all(self, names: Iterable[str]) -> None:
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
        grace_s = self._parts.config.limits.stop_grace
        if not await self._calls.drained(record.calls, grace_s):
            error = ToolError("module_stopping", f"module {record.name!r} was stopped meanwhile", module=record.name)
            for call in list(record.calls.values()):
                self._calls.cut(call, error)
            await self._calls.drained(record.calls, grace_s)
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
        self._hooks.remove(record.name)
        self._cancel_left_tasks(record)
        record.hooks, record.tools, record.component, record.runtime = {}, [], None, None

    def _cancel_left_tasks(self, record: ModuleRecord) -> None:
        """Cancel tasks that run the module's own code still: it should have ended them in `shutdown`."""
        if not record.source_dirs:
            return
        for task in asyncio.all_tasks():
            code = getattr(task.get_coro(), "cr_code", None)
            if code is not None and code.co_filename.startswith(record.source_dirs):
                log.warning("module_left_task", module=record.name, task=task.get_name())
                task.cancel()

    def _with_dependents(self, names: list[str]) -> list[str]:
        dependents = [
            other.name for other in self.records.values() if any(self._requires(other.name, name) for name in names)
        ]
        return list(dict.fromkeys([*names, *dependents]))

    # -- tools -------------------------------------------------------------------------------------------------

    def _merge(self) -> None:
        self._parts.registry.rebuild()
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
                loader.definitions(record, given)
                self._merge()
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            log_failure(log, "tools_not_refreshed", exc, module=record.name)

    def _mark(self, record: ModuleRecord, state: ModuleState, reason: str = "") -> None:
        record.state, record.reason = state, reason
        self._parts.events.publish("module.stateChanged", {"module": record.name, "state": state, "reason": reason})


def _settings(config: AppConfig, record: ModuleRecord) -> Any:
    """The module's validated settings; what is set, as a dict, where it declares no model."""
    declared = getattr(record.plugin, "Settings", None)
    model = declared if isinstance(declared, type) and issubclass(declared, BaseModel) else None
    raw = module_settings(config, record.name, record.config_key, model)
    return raw.values if model is None else validate_settings(model, raw)

"""The core: modules, calls, resources and events. Imports nothing about HTTP or models."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from agentcore.api import Effect, Module, Principal, ToolDefinition
from agentcore.config.app_json import ApprovalsConfig
from agentcore.config.loading import AppConfig
from agentcore.config.workspace_roots import open_workspace
from agentcore.core.approvals.approval_queue import ApprovalQueue
from agentcore.core.approvals.client_pairings import Pairings
from agentcore.core.approvals.definition_review import DefinitionReview
from agentcore.core.approvals.host_pairings import HostPairings
from agentcore.core.approvals.instruction_review import InstructionReview
from agentcore.core.approvals.policy_changes import PolicyChanges
from agentcore.core.calls.call import CallOutcome, CallRequest, Notify
from agentcore.core.calls.calls import Calls
from agentcore.core.calls.chat_protocols import ConversationSlot
from agentcore.core.discovery.families import nameless_blocks
from agentcore.core.dry_run.call_review import CallReview
from agentcore.core.dry_run.completing import Completed, Completion
from agentcore.core.event_loop.guard import LoopGuard
from agentcore.core.event_loop.watchdog import Watchdog
from agentcore.core.events import Event, EventBus
from agentcore.core.module_code.containment import report_loop_error
from agentcore.core.module_code.ownership import track_owners
from agentcore.core.module_code.threads import worker_threads
from agentcore.core.modules.host_protocols import ModuleHost, ModuleHosts, NoModuleHosts
from agentcore.core.modules.lifecycle import Lifecycle
from agentcore.core.modules.module_record import ModuleRecord, RegisteredTool
from agentcore.core.modules.module_routes import RouteTable
from agentcore.core.modules.module_runtime import HostServices
from agentcore.core.modules.modules import Modules
from agentcore.core.modules.source_choice import SourceChoice
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.core.policy.approval_policy import ApprovalPolicy
from agentcore.core.policy.authority import authorise
from agentcore.core.policy.page_scripts import PageScripts
from agentcore.core.requirements import Requirements
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.core.resources.tab_strip import Tabs
from agentcore.core.resources.used_indexes import UsedIndexes
from agentcore.core.storage_usage import StorageUse, measure_storage
from agentcore.errors import ToolError
from agentcore.files.listing import WorkspaceFiles
from agentcore.net.url_policy import OwnOrigins
from agentcore.store.record.call_row import make_notice_row
from agentcore.store.record.retention import RecordKeeper, RecordLimits
from agentcore.store.state.loop_report import read_loop_report
from agentcore.store.state.state_dir import StateDir
from agentcore.store.store import Store
from agentcore.supervision.blocking_module import Holder

if TYPE_CHECKING:
    from agentcore.supervision.control_files.control_files import ControlFiles, ControlReport

log = structlog.get_logger(__name__)


class ManagedModuleHosts(ModuleHosts, Protocol):
    """The hosts of a core, from its start to its end."""

    def attach_core(self, core: "Core") -> None:
        """Use this core; called before its modules start."""
        ...

    def may_survive_server(self, module: str) -> bool:
        """True if calls of a module may continue after the server that started them has ended."""
        ...

    @property
    def may_come_back(self) -> bool:
        """True if machines that were connected to an earlier server may dial in again."""
        ...

    async def resume_calls(self) -> None:
        """Go on with the calls that have gone on there without a server."""
        ...

    def detach_surviving_hosts(self) -> None:
        """Prepare for the end of the server: hosts that survive it keep running, and their calls end only on this
        side."""
        ...

    async def stop_surviving_hosts(self, reason: str) -> None:
        """Stop the hosts that would survive the server."""
        ...

    async def close(self) -> None:
        """End what runs there, once its modules have stopped."""
        ...


_MOVE_BACK = "Check it. If you want it, move it back while the program rests; `agentcore audit` lists all such files"
_GUARD_PATIENCE_SECONDS = 10.0  # the process ends itself at the limit; this is for one that cannot


class Core:
    """Loads modules and carries out calls for every surface.

    Created by `Core.open`, which also stops it. Its parts are public: `modules`, `calls`, `call_review`, `registry`,
    `resources`, `tabs`, `events`, `approvals`, `policy`, `policy_changes`, `page_scripts`, `pairings`, `host_pairings`,
    `sources`, `requirements`, `record_keeper`, `routes`, `own_origins`, `conversation`, `places`, `store`, `config`,
    `workspace`, `workspace_files`. `has_started` is true once the modules have started or failed, `is_stopping` once
    the core is stopping.
    """

    def __init__(
        self,
        config: AppConfig,
        state: StateDir,
        store: Store,
        given: Sequence[Module] = (),
        places: "ManagedModuleHosts | None" = None,
    ) -> None:
        self.config = config
        self.state = state
        self.store = store
        self.started_at = time.time()
        self.workspace, self.protected = open_workspace(config, state.path)
        self.workspace_files = WorkspaceFiles(self.workspace)
        self._control_files_state = state.path / "control_files" / "server.json"
        self._control_files: ControlFiles | None = None
        self.events = EventBus()
        self.registry = ToolRegistry()
        self.resources = ResourceRegistry(self.events, UsedIndexes(store.resource_indexes))
        self.tabs = Tabs(self.events, self.resources, store.tabs)
        roots = [str(root) for root in self.workspace.roots]
        self.policy = ApprovalPolicy(config.approvals, roots, store.approvals, lambda: self.page_scripts.may_act)
        self.page_scripts = PageScripts(state.path, lambda: self.registry.runs_page_scripts, self.policy.bump_version)
        self.approvals = ApprovalQueue(self.events, store, self.policy)
        limits = RecordLimits(config.limits.record_bytes, config.limits.record_days)
        self.record_keeper = RecordKeeper(store.database, store.record, limits)
        self.policy_changes = PolicyChanges(self.events, store.record)
        self.sources = SourceChoice(config, store.module_sources, self.policy_changes, self._use_choice)
        self.pairings = Pairings(self.events, store.record, store.client_keys)
        self.host_pairings = HostPairings(store.record)
        self.routes = RouteTable()
        self.own_origins = OwnOrigins(self.resources.list_services)
        self.places: ModuleHosts = places or NoModuleHosts()
        self.conversation = ConversationSlot()
        self.calls = Calls(
            limits=config.limits,
            store=store,
            events=self.events,
            workspace=self.workspace,
            registry=self.registry,
            resources=self.resources,
            policy=self.policy,
            approvals=self.approvals,
            conversation=self.conversation,
            places=self.places,
            page_scripts=self.page_scripts,
            explain=self._explain_error,
        )
        self.call_review = CallReview(
            self.calls.preparation, self.calls.permission, self.policy, self.approvals, self.resources
        )
        self.approvals.look_again = self.call_review.recheck_call
        self._completion = Completion()
        self._guard = LoopGuard(limit_s=config.limits.loop_blocked_max, grace_s=config.limits.stop_grace, state=state)
        services = HostServices(
            config=config,
            state=state,
            record=store.record,
            workspace=self.workspace,
            find_control_files=lambda: self.control_files,
            events=self.events,
            resources=self.resources,
            routes=self.routes,
            own_origins=self.own_origins,
            places=self.places,
        )
        self.definition_review = DefinitionReview(
            store.seen_definitions, self.policy_changes, self._read_again, self._save_effects, self._reload_block
        )
        self.instruction_review = InstructionReview(store.seen_definitions, self.policy_changes)
        self.events.subscribe("policy.decided", self._on_policy_decided)
        self.events.subscribe("tools.changed", lambda event: self.approvals.restore_calls(self._definition_of))
        lifecycle = Lifecycle(
            services,
            self.registry,
            self.sources,
            self.definition_review,
            end_calls=self.calls.end_calls,
            on_code=self._guard.send_modules,
            given=given,
            places=places,
        )
        self.modules = Modules(lifecycle, self.registry, self.sources, config)
        self.requirements = Requirements(
            self.registry,
            changes=self.policy_changes,
            events=self.events,
            record=store.record,
            state=state,
            locale=config.locale,
            start_again=self.modules.start_again,
        )
        self.has_started = False
        self.is_stopping = False
        self._places = places
        self.loop_blocked: dict[str, int] = {}
        self._watchdog = Watchdog(self._code_of_modules, self.count_blocked, self._guard)
        self._given = [module.name for module in given if module.name is not None]
        self.registry.announced = (*config.modules, *self._given)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        config: AppConfig,
        state: StateDir,
        given: Sequence[Module] = (),
        *,
        start: bool = True,
        places: ManagedModuleHosts | None = None,
    ) -> AsyncIterator["Core"]:
        """Open the store, start the modules, and stop everything at the end.

        Args:
            given: Modules passed as objects, beside those that app.json lists (for tests and embedding).
            start: True to start the modules before the core is returned; otherwise call `start()`.
            places: The hosts of modules outside this process; None: there are none.
        """
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(report_loop_error)
        track_owners()
        with worker_threads():
            goes_on = (lambda row: False) if places is None else (lambda row: places.may_survive_server(row.module))
            async with Store.open(state, goes_on=goes_on) as store:
                core = cls(config, state, store, given, places)
                await core.policy.restore_grants()
                await core.sources.load_decisions()
                await core.definition_review.load_decisions()
                await core.resources.indexes.load_stored()
                await core.instruction_review.load_decisions()
                if places is not None:
                    places.attach_core(core)
                core._watchdog.start()
                try:
                    async with (
                        core.record_keeper.run(must_verify=store.database.was_left_open),
                        core.tabs.persist_tabs(),
                    ):
                        if start:
                            await core.start()
                        yield core
                finally:
                    await core.stop()
                    if places is not None:
                        await places.close()
                    core._watchdog.stop()
                    core.workspace.close()

    @asynccontextmanager
    async def run_loop_guard(self, stop_limit_s: float) -> AsyncIterator[None]:
        """Watch this process from a separate one, which ends it if a module blocks the event loop for too long.

        Args:
            stop_limit_s: How long the process may take to end after a signal.
        """
        if (last := read_loop_report(self.state.path)) is not None and last.ended:
            log.warning("last_server_was_ended", reason=str(last), module=last.module, tool=last.tool)
        self.state.loop_report_path.unlink(missing_ok=True)
        try:
            try:
                await self._guard.start(stop_limit_s + _GUARD_PATIENCE_SECONDS, self._watchdog.record_holder)
            except OSError as exc:
                log.warning("loop_guard_missing", reason=str(exc))
            yield
        finally:
            await self._guard.close()

    def during_imports(self) -> AbstractContextManager[None]:
        """Return a context in which threads import a lot, so that delays are not attributed to code in the event
        loop."""
        return self._watchdog.during_imports()

    @property
    def control_files(self) -> "ControlFiles":
        """The guard of control files; created for the first confined program, or for what an earlier server left."""
        if self._control_files is None:
            from agentcore.supervision.control_files.control_files import ControlFiles  # noqa: PLC0415 - as above

            self._control_files = ControlFiles(self.workspace, self._control_files_state, self.report_control_files)
        return self._control_files

    async def start(self) -> None:
        """Start the modules that app.json lists, and those passed as objects."""
        names = [*self.config.modules, *self._given]
        if not names:
            log.warning("no_modules", config=str(self.config.file), hint='list some under "modules"')
        for problem in await asyncio.to_thread(nameless_blocks, self.config):
            log.error("block_refused", reason=str(problem))
        # before a module runs anything, and before the user works on in what an earlier server left
        if self._control_files_state.exists():
            await self.control_files.restore()
        await self.approvals.load_calls()
        for session_id, resource_id, host in self.approvals.targets_left():
            self.resources.reserve_id(session_id, resource_id, host)
        with self.during_imports():
            await self.modules.start(names)
        if self._places is not None:
            await self._places.resume_calls()
        self.calls.carried_on.interrupt_remaining_calls()
        await self.tabs.close_dead(may_come_back=self._places is not None and self._places.may_come_back)
        self.has_started = True
        await self.approvals.finish_restoring(self._definition_of)

    async def run_call(self, request: CallRequest, notify: Notify | None = None) -> CallOutcome:
        """Carry out one call: the one way in, for every surface."""
        return await self.calls.run_call(request, notify)

    async def complete_argument(
        self, tool: RegisteredTool, argument: str, begun: str, given: Mapping[str, str]
    ) -> Completed:
        """Complete an argument of a tool; see `Completion.complete_argument`."""
        is_off = self.calls.stopped is not None
        return await self._completion.complete_argument(tool, argument, begun, given, is_off=is_off)

    async def stop(self) -> None:
        """End calls within the grace, then stop the modules. May be called twice."""
        self.is_stopping = True
        self.calls.stopped = "the server is stopping"
        self.approvals.close()
        self.policy_changes.refuse_all("shutdown")
        self.pairings.refuse_all("shutdown")
        self.host_pairings.refuse_all()
        if self._places is not None:
            self._places.detach_surviving_hosts()
        await self.requirements.stop()
        stopping = ToolError("module_stopping", "the server was stopped meanwhile")
        await self.calls.end_calls(self.calls.in_flight, stopping, self.config.limits.stop_grace)
        # resources that end with the server were not closed by the user
        self.tabs.stop_following()
        await self.modules.stop()
        await self.resources.indexes.wait_until_saved()
        if self._control_files is not None:
            await self._control_files.close()

    async def emergency_stop(self, by: Principal) -> dict[str, int]:
        """End all calls and all resources, reject pending approvals, and refuse new calls; the server keeps running.

        Raises:
            ToolError: `forbidden`.
        """
        authorise(by, "stop")
        self.calls.stopped = (
            "everything was stopped; the user resumes it in the approval view or the terminal of the server"
        )
        rejected = await self.approvals.reject_all(f"stop:{by.kind}")
        rejected += self.policy_changes.refuse_all(f"stop:{by.kind}")
        rejected += self.pairings.refuse_all(f"stop:{by.kind}")
        rejected += self.host_pairings.refuse_all()
        self.requirements.cancel_all()
        ended = self.calls.cancel_all_calls(ToolError("cancelled", "everything was stopped"))
        resources = self.resources.list()
        for resource in resources:
            await self.resources.release(resource.resource_id)
        if self._places is not None:
            await self._places.stop_surviving_hosts("everything was stopped")
        log.warning("emergency_stop", by=by.kind, calls=ended, resources=len(resources), rejected=rejected)
        self.events.publish("stop.changed", {"stopped": True, "by": by.kind})
        return {"calls": ended, "resources": len(resources), "rejected": rejected}

    def resume_after_stop(self, by: Principal) -> None:
        """Accept calls again after an emergency stop. Only the user may do this.

        Raises:
            ToolError: `forbidden`.
        """
        authorise(by, "resume")
        self.calls.stopped = None
        self.definition_review.ask_again()
        self.events.publish("stop.changed", {"stopped": False, "by": by.kind})

    async def end_session(self, session_id: str) -> None:
        """End everything of a session: waiting calls, resources that do not keep running, its grants."""
        await self.approvals.end_session(session_id)
        await self.tabs.end_session(session_id)
        await self.policy.delete_session_grants(session_id)

    async def revoke_client(self, name: str, disconnect: Callable[[], None]) -> list[str]:
        """Revoke the permissions of a paired client at once: its calls, and its grants.

        Args:
            disconnect: Closes its connections, before the change is written to disk.
        Returns:
            The ids of its sessions, which are kept and belong to the user.
        Raises:
            ToolError: `approver_not_found`.
        """

        owner = self.store.client_keys.get_client(name).principal.name

        def stop_client() -> None:
            reason = f"the client {name!r} was revoked"
            self.calls.cancel_calls(owner, ToolError("cancelled", reason))
            self.approvals.withdraw_calls(owner, reason)
            self.policy.drop_granted_by(owner)
            self.policy_changes.withdraw_all_of(owner)
            disconnect()

        sessions = await self.store.client_keys.revoke_client(name, stop_client)
        self.store.chats.owners.remove_owner(owner)
        return sessions

    def find_host(self, name: str) -> ModuleHost:
        """Return the host of this name.

        Raises:
            ToolError: `host_not_found`; `host_not_local`: it is not on this machine.
        """
        known = {place.name: place for place in self.places.list_hosts()}
        if name not in known and any(report.name == name for report in self.places.describe_hosts()):
            message = f"host {name!r} is not on this machine; restart `agentcore host` there"
            raise ToolError("host_not_local", message, host=name)
        if name not in known:
            message = f"app.json names no host {name!r}; named are {sorted(known)}"
            raise ToolError("host_not_found", message, hosts=sorted(known))
        return known[name]

    async def restart_host(self, name: str) -> None:
        """Stop a host, and start its modules again, with those that require them.

        Raises:
            ToolError: `host_not_found`.
        """
        place = self.find_host(name)
        await self.modules.restart_modules(place.describe_host().modules, place.stop)

    async def apply_approvals(self, approvals: ApprovalsConfig) -> None:
        """Apply saved settings of `approvals` now, because changes that the user confirmed must not wait for a
        restart."""
        has_other_mode = approvals.mode != self.policy.mode
        self.policy.apply_config(approvals)
        self.config = self.config.model_copy(update={"approvals": approvals})
        if has_other_mode:
            await self.call_review.decide_waiting_calls()

    async def measure_storage(self) -> StorageUse:
        """Measure what the state folder holds."""
        return await measure_storage(self.store, self.state, self.record_keeper, self.config.limits)

    def collect_metrics(self) -> dict[str, Any]:
        """Return figures of the core for metrics: calls by outcome, in flight, waiting, resources, modules by state."""
        states: dict[str, int] = {}
        for record in self.modules.records.values():
            states[record.state] = states.get(record.state, 0) + 1
        return {
            "calls": dict(self.calls.counts),
            "calls_in_flight": len(self.calls.in_flight),
            "approvals_waiting": len(self.approvals.waiting),
            "resources": len(self.resources.list()),
            "modules": states,
            "tools": len(self.registry.tools),
            "loop_blocked": dict(self.loop_blocked),
        }

    def report_control_files(self, report: "ControlReport", host: str = "") -> None:
        """Report to the user what was quarantined, and which limits were reached, wherever the programs run.

        Args:
            host: Where they run; empty: in the server.
        """
        for record in filter(None, map(self.registry.records.get, report.modules)):
            if report.limit:
                record.add_note("control files", report.limit, report.advice)
            if report.quarantined:
                record.add_note("quarantined files", str(report.quarantined[-1]), _MOVE_BACK)
        files = [each.to_json() for each in report.quarantined]
        where = {"modules": list(report.modules), "host": host}
        module = report.modules[0] if len(report.modules) == 1 else ""
        for file in files:
            row = make_notice_row("control_file_quarantined", details={**file, **where})
            self.store.record.append(row._replace(module=module))
        if files:
            self.events.publish("workspace.quarantined", {**where, "files": files})

    async def _use_choice(self, module: str) -> None:
        # a method, because the modules are created from what was found, and so after it
        await self.modules.use_choice(module)

    def _on_policy_decided(self, event: Event) -> None:
        """Read pending reviews again after a decision, which may have freed capacity; after a stop, they were
        refused."""
        if event.data.get("outcome") != "refused":
            asyncio.get_running_loop().call_soon(self.definition_review.ask_again)

    def _explain_error(self, record: ModuleRecord, error: ToolError, by: Principal) -> None:
        # a method, because requirements are created after the calls
        self.requirements.explain_error(record, error, by)

    async def _read_again(self, module: str) -> None:
        # a method for the same reason
        await self.modules.read_again(module)

    async def _save_effects(self, module: str, effects: Mapping[tuple[str, ...], Collection[Effect]]) -> None:
        # a start needs none of it
        from agentcore.core.settings.display import to_json_pointer  # noqa: PLC0415
        from agentcore.core.settings.settings_change import SettingChange, save_block_settings  # noqa: PLC0415

        path = self.modules.find_block(module)
        changes = [SettingChange((*path, *setting), sorted(each)) for setting, each in effects.items()]
        await asyncio.to_thread(save_block_settings, self.config, self.modules.block_models(), changes)
        paths = [to_json_pointer(change.path) for change in changes]
        self.store.record.append(make_notice_row("settings_changed", module=None, paths=paths))
        self.events.publish("settings.changed", {"module": None, "paths": paths})

    async def _reload_block(self, module: str) -> None:
        await self.modules.reload_changed_blocks([self.modules.find_block(module)])

    def _definition_of(self, tool: str, host: str) -> ToolDefinition | None:
        registered = self.registry.tools_at(host).get(tool)
        return None if registered is None or registered.module.host != host else registered.definition

    def _code_of_modules(self) -> dict[str, tuple[str, ...]]:
        return {record.name: record.source_dirs for record in list(self.registry.records.values())}

    def count_blocked(self, holder: Holder, seconds: float) -> None:
        """Count a module that blocked an event loop: that of this process, or of the worker in which it runs."""
        self.loop_blocked[holder.module] = self.loop_blocked.get(holder.module, 0) + 1
        record = self.registry.find_module(holder.module)
        if record is not None:
            record.count_blocked(seconds, holder.tool, holder.place)
        self.events.publish(
            "module.blocked", {"module": holder.module, "tool": holder.tool, "durationMs": round(seconds * 1000)}
        )

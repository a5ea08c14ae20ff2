"""The implementation of `Runtime`, the part of the core that a module sees."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pydantic_core

from agentcore.api.host_info import HostInfo
from agentcore.api.login import Login
from agentcore.api.operation import Operation
from agentcore.api.report import ReadReport
from agentcore.api.web import Route
from agentcore.config.loading import AppConfig
from agentcore.core.declarations.hosted_names import host_in
from agentcore.core.declarations.module_login import ModuleLogin
from agentcore.core.declarations.module_requirement import ModuleRequirement
from agentcore.core.declarations.module_storage import ModuleStorage
from agentcore.core.events import Event, EventBus
from agentcore.core.module_code.module_error import clean_end
from agentcore.core.modules.host_protocols import ModuleHosts
from agentcore.core.modules.module_record import ChatStart, ModuleRecord, Waiting
from agentcore.core.modules.module_routes import ModuleRoute, RouteTable
from agentcore.core.modules.runtime_arguments import ReadingRuntime
from agentcore.core.resources.module_resources import ModuleResources
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.files.workspace import Workspace
from agentcore.late_dataclasses import dataclass
from agentcore.limits import ARGUMENTS_RECORDED_CHARS, MODULE_NOTES, MODULE_REQUIREMENTS
from agentcore.net.url_policy import OwnOrigins
from agentcore.secrets import masked_json
from agentcore.store.credentials.module_secrets import ModuleSecrets
from agentcore.store.record.call_row import make_notice_row
from agentcore.store.record.record import Record
from agentcore.store.state.state_dir import StateDir, locate_state_dir
from agentcore.store.state.stored_files import StoredFiles

if TYPE_CHECKING:
    from agentcore.supervision.control_files.control_files import ControlFiles

_SESSION_CHARS = 64


@dataclass(frozen=True, slots=True)
class HostServices:
    """The services of the core that the runtimes of modules use."""

    config: AppConfig
    state: StateDir
    record: Record
    workspace: Workspace
    find_control_files: Callable[[], "ControlFiles"]
    events: EventBus
    resources: ResourceRegistry
    routes: RouteTable
    own_origins: OwnOrigins
    places: ModuleHosts


class ModuleRuntime(ReadingRuntime):
    """Implements `agentcore.api.Runtime` for one module. Everything that it provides is removed when the module
    stops."""

    def __init__(
        self, record: ModuleRecord, services: HostServices, tools_changed: Callable[[ModuleRecord], None]
    ) -> None:
        resources = ModuleResources(services.resources, record.name)
        super().__init__(record.name, record.settings, resources, record.manifest.claims)
        self._record = record
        self._services = services
        self._tools_changed = tools_changed
        self._secrets: ModuleSecrets | None = None
        self._effects: Mapping[str, Callable[..., None]] = {
            "event.publish": self._publish_event,
            "note": self._add_diagnostic,
            "waiting": self._set_waiting,
            "record": self._append_notice,
            "definitions": self._refresh_tools,
            "instruct": self._set_instructions,
            "chats.tell": self._set_chat_start,
            "served.changed": self._publish_served_change,
        }

    @property
    def data_dir(self) -> Path:
        """The module's own folder, created at first use."""
        return self._services.state.data_dir(self._record.name)

    @property
    def private_folders(self) -> tuple[Path, ...]:
        """Folders with the server's keys and records: also those of a server that runs beside this core."""
        config = self._services.config
        kept = locate_state_dir(config.file, config.sources.environ)
        return tuple(dict.fromkeys((self._services.state.path, kept)))

    @property
    def secrets(self) -> ModuleSecrets:
        """The module's stored secrets."""
        if self._secrets is None:
            self._secrets = ModuleSecrets(self._services.state.path, self.name)
            self._record.undo.append(self._secrets.close)
        return self._secrets

    @property
    def storage(self) -> ModuleStorage:
        """The module's persistent storage."""
        return ModuleStorage(StoredFiles(self.data_dir), self.name)

    @property
    def workspace(self) -> Workspace:
        """The folders that tools may touch."""
        return self._services.workspace

    @property
    def control_files(self) -> "ControlFiles":
        """The guard of the files that decide what runs outside of the sandbox."""
        return self._services.find_control_files()

    @property
    def locale(self) -> Literal["en", "zh"]:
        """The language of texts for users and models."""
        return self._services.config.locale

    def _add_route(self, route: ModuleRoute) -> Route:
        added = self._services.routes.add_route(route)
        self._record.undo.append(added.remove)
        return added

    @property
    def _own_origins(self) -> OwnOrigins:
        return self._services.own_origins

    def hosts(self) -> Sequence[HostInfo]:
        return () if self._record.placed is not None else tuple(self._services.places.machines_known())

    def _perform_operation(self, operation: Operation, arguments: dict[str, Any]) -> None:
        self._effects[operation.name](**arguments)

    def _publish_event(self, event: str, data: dict[str, Any], session_id: str | None) -> None:
        publisher = host_in(self.name) or self.name
        self._services.events.publish(f"{self.name}.{event}", data, session_id=session_id, publisher=publisher)

    def _subscribe(self, pattern: str, handler: Callable[[Mapping[str, Any]], None]) -> Callable[[], None]:
        def call_handler(event: Event) -> None:
            handler(pydantic_core.from_json(event.encode()))  # a separate copy, because all listeners share the event

        unsubscribe = self._services.events.subscribe(pattern, call_handler)
        undo = self._record.undo
        undo.append(unsubscribe)

        def end_subscription() -> None:
            unsubscribe()
            if unsubscribe in undo:
                undo.remove(unsubscribe)

        return end_subscription

    def _add_diagnostic(self, subject: str, said: str, advice: str) -> None:
        self._record.notes.pop(subject, None)
        if len(self._record.notes) >= MODULE_NOTES:
            raise ValueError(f"module {self.name!r} has {MODULE_NOTES} notes already, which is the bound")
        self._record.notes[subject] = said, advice

    def _set_waiting(self, reason: str, said: str, output: str, retry_in_s: float | None) -> None:
        now_ms = time.time_ns() // 1_000_000
        at_ms = None if retry_in_s is None else now_ms + int(retry_in_s * 1000)
        self._record.set_waiting(Waiting(reason, said, clean_end(output), at_ms) if reason else None)

    def _set_report_reader(self, read: ReadReport) -> None:
        self._record.set_report_reader(read)

    def _offer_login(self, login: Login) -> None:
        self._record.offer_login(ModuleLogin(login, self.name))

    def _declare_requirement(self, requirement: ModuleRequirement) -> None:
        declared = self._record.requirements
        name = requirement.info.name
        if name not in declared and len(declared) >= MODULE_REQUIREMENTS:
            raise ValueError(
                f"module {self.name!r} has declared {MODULE_REQUIREMENTS} requirements, which is the limit"
            )
        declared[name] = requirement
        self._services.events.publish("requirement.declared", {"name": name, "module": self.name})

    def _append_notice(self, outcome: str, details: dict[str, Any], call_id: str, session_id: str) -> None:
        row = make_notice_row(outcome, details=details)
        self._services.record.append(
            row._replace(
                module=self.name,
                call_id=call_id,
                session_id=session_id[:_SESSION_CHARS],
                arguments=masked_json(row.arguments, ARGUMENTS_RECORDED_CHARS),
            )
        )

    def _refresh_tools(self) -> None:
        self._tools_changed(self._record)

    def _set_instructions(self, text: str) -> None:
        if text != self._record.offered_instructions:
            self._record.offer_instructions(text)
            self._tools_changed(self._record)

    def _set_chat_start(self, tool: str, text: str, untrusted: str) -> None:
        self._record.set_chat_start(ChatStart(tool, text, untrusted))

    def _publish_served_change(self, address: str) -> None:
        self._services.events.publish("tools.servedChanged", {"module": self.name, "address": address}, kept=False)


class HostedRuntime(ModuleRuntime):
    """Implements `agentcore.api.Runtime` at the server for one module of a foreign machine.

    Its routes are separate from those of the server's own modules of the same name.
    """

    def __init__(
        self, record: ModuleRecord, services: HostServices, tools_changed: Callable[[ModuleRecord], None]
    ) -> None:
        super().__init__(record, services, tools_changed)
        host, _, module = record.name.partition("/")
        self._home = f"/api/modules/{module}/"
        self._home_here = f"/api/hosts/{host}/modules/{module}/"
        self._claims = (self._home,)

    def _add_route(self, route: ModuleRoute) -> Route:
        """Serve `/api/modules/NAME/…` of the machine as `/api/hosts/HOST/modules/NAME/…`.

        Raises:
            ValueError: It is for paired clients, which no foreign machine serves, or it is served already.
        """
        if route.scope is not None:
            message = f"route path {route.path!r} is for paired clients, which a host on another machine cannot serve"
            raise ValueError(message)
        if not route.path.startswith(self._home):
            message = (
                f"route path {route.path!r} is outside of {self._home}, which a host on another machine cannot serve"
            )
            raise ValueError(message)
        return super()._add_route(replace(route, path=self._home_here + route.path.removeprefix(self._home)))

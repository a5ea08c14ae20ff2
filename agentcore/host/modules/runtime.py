"""What a module sees of its host: the implementation of `Runtime`."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pydantic_core
from pydantic import BaseModel

from agentcore.api.context import KeyScope
from agentcore.api.login import Login
from agentcore.api.report import ReadReport
from agentcore.api.web import Route, RouteHandler, RouteKind
from agentcore.bounds import ARGUMENTS_RECORDED_CHARS, FOREIGN_INSTRUCTIONS_CHARS, MODULE_NOTES
from agentcore.config.loading import AppConfig
from agentcore.files.workspace import Workspace
from agentcore.host.containment import ModuleLogin
from agentcore.host.containment.reading import WrongValueError, read_mapping, read_text
from agentcore.host.event_types import OWN_TOPICS
from agentcore.host.events import Event, EventBus
from agentcore.host.modules.module_record import ModuleRecord
from agentcore.host.modules.routes import RouteTable
from agentcore.host.resources.module_resources import ModuleResources
from agentcore.host.resources.registry import ResourceRegistry
from agentcore.net.url_policy import OwnOrigins, UrlPolicy
from agentcore.secrets import masked_json
from agentcore.store.credentials import ModuleSecrets
from agentcore.store.record import Record
from agentcore.store.record.call_row import notice
from agentcore.store.state import StateDir, locate_state_dir

_OUTCOME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_ADDRESS = re.compile(r"\S{1,2000}")
_EVENT = re.compile(r"[A-Za-z0-9_.-]{1,100}")


@dataclass(frozen=True, slots=True)
class HostServices:
    """What of the host the runtimes of modules draw on."""

    config: AppConfig
    state: StateDir
    record: Record
    workspace: Workspace
    events: EventBus
    resources: ResourceRegistry
    routes: RouteTable
    own_origins: OwnOrigins


class ModuleRuntime:
    """Implements `agentcore.api.Runtime` for one module. What it hands out is taken back when the module stops."""

    def __init__(
        self, record: ModuleRecord, services: HostServices, tools_changed: Callable[[ModuleRecord], None]
    ) -> None:
        self._record, self._services, self._tools_changed = record, services, tools_changed
        self._settings = record.settings
        self._resources = ModuleResources(services.resources, record.name)
        self._secrets: ModuleSecrets | None = None

    @property
    def name(self) -> str:
        """The module's name."""
        return self._record.name

    @property
    def settings(self) -> Any:
        """The validated settings."""
        return self._settings

    @property
    def data_dir(self) -> Path:
        """A folder of the module's own, made at first use."""
        return self._services.state.data_dir(self._record.name)

    @property
    def private_folders(self) -> tuple[Path, ...]:
        """Folders with the server's keys and records: also those of a server that runs beside this host."""
        config = self._services.config
        kept = locate_state_dir(config.file, config.sources.environ)
        return tuple(dict.fromkeys((self._services.state.path, kept)))

    @property
    def secrets(self) -> ModuleSecrets:
        """What the module keeps to itself."""
        if self._secrets is None:
            self._secrets = ModuleSecrets(self._services.state.path, self.name)
            self._record.undo.append(self._secrets.close)
        return self._secrets

    @property
    def workspace(self) -> Workspace:
        """The folders that tools may touch."""
        return self._services.workspace

    @property
    def locale(self) -> Literal["en", "zh"]:
        """The language for texts that a person or a model reads."""
        return self._services.config.locale

    @property
    def resources(self) -> ModuleResources:
        """The module's resources."""
        return self._resources

    def add_route(
        self,
        method: str,
        path: str,
        handler: RouteHandler,
        *,
        body: type[BaseModel] | None = None,
        query: type[BaseModel] | None = None,
        kind: RouteKind = "json",
        watching: type[BaseModel] | None = None,
        scope: KeyScope | None = None,
    ) -> Route:
        """See `agentcore.api.Runtime.add_route`."""
        route = self._services.routes.add(
            self._record.name,
            self._record.manifest.claims,
            method,
            path,
            handler,
            body=body,
            query=query,
            kind=kind,
            watching=watching,
            scope=scope,
        )
        self._record.undo.append(route.remove)
        return route

    def url_policy(
        self,
        *,
        allow_private: bool = False,
        allowed_hosts: Sequence[str] = (),
        blocked_hosts: Sequence[str] = (),
        schemes: frozenset[str] = frozenset(("http", "https")),
    ) -> UrlPolicy:
        """See `agentcore.api.Runtime.url_policy`."""
        return UrlPolicy(
            allow_private=allow_private,
            allowed_hosts=allowed_hosts,
            blocked_hosts=blocked_hosts,
            schemes=schemes,
            own_origins=self._services.own_origins,
        )

    def publish(self, event: str, data: Mapping[str, Any], *, session_id: str | None = None) -> None:
        """See `agentcore.api.Runtime.publish`."""
        if self.name in OWN_TOPICS:
            message = f"events that begin with {self.name!r} are the server's own; call the module something else"
            raise ValueError(message)
        where = f"of publish in module {self.name!r}"
        name = read_text(event, f"event {where}", "the name of an event", pattern=_EVENT)
        session = None if session_id is None else read_text(session_id, f"session_id {where}")
        self._services.events.publish(
            f"{self.name}.{name}", read_mapping(data, f"data {where}", mends_text=True), session_id=session
        )

    def subscribe(self, pattern: str, handler: Callable[[Mapping[str, Any]], None]) -> Callable[[], None]:
        """See `agentcore.api.Runtime.subscribe`."""

        wanted = read_text(pattern, f"pattern of subscribe in module {self.name!r}")
        if not callable(handler):
            raise WrongValueError(f"handler of subscribe in module {self.name!r}", "a function", handler)

        def listen(event: Event) -> None:
            handler(pydantic_core.from_json(event.encoded()))  # a copy of its own: the event is everybody's

        unsubscribe = self._services.events.subscribe(wanted, listen)
        self._record.undo.append(unsubscribe)
        return unsubscribe

    def note(self, subject: str, said: str, *, advice: str = "") -> None:
        """See `agentcore.api.Runtime.note`."""
        where = f"of note in module {self.name!r}"
        about = read_text(subject, f"subject {where}")
        found = read_text(said, f"said {where}"), read_text(advice, f"advice {where}")
        self._record.notes.pop(about, None)
        if len(self._record.notes) >= MODULE_NOTES:
            raise ValueError(f"module {self.name!r} has {MODULE_NOTES} notes already, which is the bound")
        self._record.notes[about] = found

    def give_report(self, read: ReadReport) -> None:
        """See `agentcore.api.Runtime.give_report`."""
        if not callable(read):
            raise WrongValueError(f"read of give_report in module {self.name!r}", "a function", read)
        self._record.report = read

    def offer_login(self, login: Login) -> None:
        """See `agentcore.api.Runtime.offer_login`."""
        self._record.login = ModuleLogin(login, self.name)

    def record(self, outcome: str, details: Mapping[str, Any], *, call_id: str = "", session_id: str = "") -> None:
        """See `agentcore.api.Runtime.record`."""
        where = f"of record in module {self.name!r}"
        what = read_text(outcome, f"outcome {where}", "a word in snake_case", pattern=_OUTCOME)
        row = notice(what, details=read_mapping(details, f"details {where}"))
        self._services.record.append(
            row._replace(
                module=self.name,
                call_id=read_text(call_id, f"call_id {where}"),
                session_id=read_text(session_id, f"session_id {where}")[:64],
                arguments=masked_json(row.arguments, ARGUMENTS_RECORDED_CHARS),
            )
        )

    def tools_changed(self) -> None:
        """See `agentcore.api.Runtime.tools_changed`."""
        self._tools_changed(self._record)

    def instruct(self, text: str) -> None:
        """See `agentcore.api.Runtime.instruct`."""
        said = read_text(text, f"text of instruct in module {self.name!r}").strip()
        if len(said) > FOREIGN_INSTRUCTIONS_CHARS:
            raise ValueError(f"the text has {len(said):,} characters, and may have {FOREIGN_INSTRUCTIONS_CHARS:,}")
        if said != self._record.offered_instructions:
            self._record.offered_instructions = said
            self._tools_changed(self._record)

    def served_changed(self, address: str) -> None:
        """See `agentcore.api.Runtime.served_changed`."""
        where = f"address of served_changed in module {self.name!r}"
        uri = read_text(address, where, "an address without spaces", pattern=_ADDRESS)
        self._services.events.publish("tools.servedChanged", {"module": self.name, "address": uri}, kept=False)

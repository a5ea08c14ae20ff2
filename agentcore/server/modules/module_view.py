"""Modules as the API shows them: those that app.json lists, and installed ones that it could list."""

import asyncio
from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from agentcore.api import Principal, WebComponent
from agentcore.config.config_errors import ConfigError
from agentcore.config.loading import AppConfig
from agentcore.core.core import Core
from agentcore.core.declarations.components import policy_lines
from agentcore.core.discovery.families import FamilyMember
from agentcore.core.discovery.source_search import Found, choose_command, find_candidates, installed_names, title_of
from agentcore.core.modules.host_protocols import ModuleHosts
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.core.modules.module_routes import RouteTable
from agentcore.core.modules.modules import Modules
from agentcore.core.modules.source_choice import SourceChoice
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.core.policy.authority import PERSONS
from agentcore.core.settings.settings_document import SettingsSubject
from agentcore.encoding import to_json
from agentcore.server.modules.blocks import BlockView, block_view, subject_of_blocks
from agentcore.server.modules.enabling import is_passed_as_object, listed_names
from agentcore.server.modules.host_views import host_of


class ComponentView(BaseModel, defer_build=True, alias_generator=to_camel, populate_by_name=True):
    """A module's element in the page; its files are below `/modules/NAME/`."""

    tag: str
    script: str
    title: str | dict[str, str]
    icon: str
    resource_views: dict[str, str]
    page_script: str | None
    group: Literal["work", "manage"]


class RouteView(BaseModel, defer_build=True):
    """A route that a module serves."""

    method: str
    path: str
    kind: str


class DiagnosticView(BaseModel, defer_build=True):
    """What a module says about its surroundings; with advice, something is to be done."""

    subject: str
    said: str
    advice: str


class SourceView(BaseModel, defer_build=True, alias_generator=to_camel, populate_by_name=True):
    """A distribution, or a folder of local modules, that has a module's name and was not chosen."""

    source: str
    version: str
    file: str
    is_refused: bool
    """True if the user refused it: then it no longer waits for a decision."""
    command: str
    """The command that chooses it."""


class WaitingView(BaseModel, defer_build=True, alias_generator=to_camel, populate_by_name=True):
    """Why a module cannot work although it runs."""

    reason: Literal["login", "network", "program", "retry"]
    said: str
    retry_at: int | None
    """When it is tried again, in milliseconds since 1970; None: that is not known."""


class ModuleView(BaseModel, defer_build=True, alias_generator=to_camel, populate_by_name=True):
    """A module: its state, why it is not ready, what it brought, where it came from."""

    name: str
    title: str
    description: str = ""
    state: str
    reason: str = ""
    waiting: WaitingView | None = None
    """What it waits for although it is ready; null: it works."""
    reload_error: str = ""
    """The reason why the code on the disk did not replace the code that runs."""
    traceback: str = ""
    """The traceback behind `reason` or `reloadError`, if any, from the module's own code on; only sent to users."""
    output: str = ""
    """The end of what the program wrote whose failure `reason` or `reloadError` describes, line by line; only sent to
    users."""
    listed: bool
    """True if app.json lists it."""
    distribution: str = ""
    version: str = ""
    file: str = ""
    version_on_disk: str | None = ""
    """The version that a reload would run; None: it is no longer installed."""
    is_changed_on_disk: bool = False
    """True if the code on the disk differs from the code that runs; checked for a single module, not in the list."""
    version_before: str = ""
    """The version that ran before this one, if any."""
    version_since: int | None = None
    """When this version first ran, in milliseconds since 1970."""
    others: list[SourceView] = []
    """Other sources of the name, which are loaded only if the user chooses them."""
    requires: list[str] = []
    tools: list[str] = []
    withheld: list[str] = []
    """Tools that are not offered until the user has accepted their current definitions."""
    problems: list[str] = []
    """Problems although it may run, one sentence each, including `reloadError`."""
    notes: list[DiagnosticView] = []
    routes: list[RouteView] = []
    calls_in_flight: int = 0
    start_ms: float | None = None
    """Duration of its start in milliseconds."""
    ready_at: int | None = None
    """When it became ready, in milliseconds since 1970; if this changes, its code may have changed."""
    component: ComponentView | None = None
    page_additions: list[str] = []
    """Additions of its element to the page beyond itself: sources for the page's policy, a script before all others."""
    settings_key: str = ""
    host: str = ""
    """The name of the host in which it runs; empty: it runs in the server."""
    block: BlockView | None = None
    """The block of app.json that defines it, if it belongs to a family."""


class ModuleViews:
    """Describes modules.

    Args:
        config: app.json, as the server started with it.
        sources: Which source of each module the user has chosen.
        routes: The routes of modules.
        places: Where modules run.
    """

    def __init__(
        self,
        *,
        config: AppConfig,
        modules: Modules,
        registry: ToolRegistry,
        sources: SourceChoice,
        routes: RouteTable,
        places: ModuleHosts,
    ) -> None:
        self._config = config
        self._modules = modules
        self._registry = registry
        self._sources = sources
        self._routes = routes
        self._places = places

    @classmethod
    def of_core(cls, core: Core) -> "ModuleViews":
        """Describe the modules of a core."""
        return cls(
            config=core.config,
            modules=core.modules,
            registry=core.registry,
            sources=core.sources,
            routes=core.routes,
            places=core.places,
        )

    async def list_modules(self, principal: Principal) -> list[bytes]:
        """Return all listed and installed modules as JSON text, the listed ones first and in their order."""
        listed = await asyncio.to_thread(self._read_listed_names)
        installed = await asyncio.to_thread(installed_names, self._config)
        names = dict.fromkeys([*self._modules.records, *installed])
        found = await asyncio.to_thread(self._find_candidates, names)
        blocks = subject_of_blocks(
            self._config, self._modules, (each for several in found.values() for each in several)
        )
        views = [
            self._describe_record(record, listed, found[record.name], blocks)
            for record in self._modules.records.values()
        ]
        views += [
            self._describe_unlisted(name, found[name], blocks)
            for name in installed
            if name not in self._modules.records
        ]
        return [_encode(view, principal) for view in views]

    async def show_module(self, name: str, principal: Principal) -> bytes:
        """Return one module as JSON text.

        Raises:
            ToolError: `module_not_found`.
        """
        found = (await asyncio.to_thread(self._find_candidates, [name]))[name]
        blocks = subject_of_blocks(self._config, self._modules, found)
        if name not in self._modules.records and found:
            return _encode(self._describe_unlisted(name, found, blocks), principal)
        record = self._modules.get_record(name)
        listed = await asyncio.to_thread(self._read_listed_names)
        view = self._describe_record(record, listed, found, blocks)
        view.is_changed_on_disk = await self._modules.has_changed(record)
        return _encode(view, principal)

    def _find_candidates(self, names: Iterable[str]) -> dict[str, tuple[Found, ...]]:
        """Return the candidates for names; reads their origins here, which keeps file access off the event loop."""
        found = {name: find_candidates(name, self._config) for name in names}
        for each in (each for several in found.values() for each in several):
            each.describe_origin()
        return found

    def _read_listed_names(self) -> tuple[str, ...]:
        if self._config.origin_of(("modules",)).is_read_only:
            return self._config.modules
        try:
            return listed_names(self._config.file)
        except ConfigError:  # the file is being edited; the list that was read at the start still applies
            return self._config.modules

    def _describe_record(
        self, record: ModuleRecord, listed: tuple[str, ...], found: tuple[Found, ...], blocks: SettingsSubject
    ) -> ModuleView:
        tools = [tool.definition.name for tool in self._registry.tools.values() if tool.module is record]
        found = () if is_passed_as_object(record) else found
        # a module that is off, or was not found, explains itself by its state
        is_on = record.found is not None or len(found) > 1 or bool(record.rivals)
        ready = record.ready
        history = self._sources.find_choice(record.name) if ready is not None and record.found is not None else None
        return ModuleView(
            name=record.name,
            title=record.manifest.title or title_of(record.name, record.found),
            description=record.manifest.description,
            state=record.state,
            reason=record.reason,
            waiting=_describe_waiting(record),
            reload_error=record.reload_error,
            traceback=record.traceback,
            output=record.output,
            listed=record.name in listed or is_passed_as_object(record),
            distribution=record.distribution,
            version=record.origin.get("version", ""),
            file=record.origin.get("file", ""),
            version_on_disk=_version_on_disk(record, found),
            version_before="" if history is None else history.before,
            version_since=None if history is None else history.since_ms,
            others=[self._describe_source(record.name, each) for each in found if not _is_used(record, each)]
            if is_on
            else [],
            requires=list(record.manifest.requires),
            tools=tools,
            withheld=[tool.definition.name for tool in record.withheld],
            problems=[*record.list_problems(), *record.problems_of_models()],
            notes=[
                DiagnosticView(subject=about, said=said, advice=advice)
                for about, (said, advice) in record.notes.items()
            ],
            routes=[
                RouteView(method=r.method, path=r.path, kind=r.kind) for r in self._routes.routes_of_module(record.name)
            ],
            calls_in_flight=len(record.calls),
            start_ms=None if ready is None else ready.started_ms,
            ready_at=None if ready is None else ready.at_ms,
            component=None if record.component is None else _describe_component(record.name, record.component),
            page_additions=policy_lines(record.component),
            settings_key=record.manifest.config_key,
            host=host_of(self._places, record.name),
            block=block_view(blocks, found, record),
        )

    def _describe_source(self, name: str, found: Found) -> SourceView:
        return SourceView(
            source=found.source,
            version=found.version,
            file=found.describe_origin().get("file", ""),
            is_refused=self._sources.is_refused(name, found),
            command=choose_command(name, found.source),
        )

    def _describe_unlisted(self, name: str, found: tuple[Found, ...], blocks: SettingsSubject) -> ModuleView:
        origin = found[0].describe_origin() if len(found) == 1 else {}
        return ModuleView(
            name=name,
            title=title_of(name, found[0] if len(found) == 1 else None),
            state="stopped",
            reason=_why_unlisted(found),
            listed=False,
            distribution=origin.get("distribution", ""),
            version=origin.get("version", ""),
            version_on_disk=origin.get("version", ""),
            file=origin.get("file", ""),
            others=[self._describe_source(name, each) for each in found] if len(found) > 1 else [],
            host=host_of(self._places, name),
            block=block_view(blocks, found),
            problems=_find_block_errors(found),
        )


def _encode(view: ModuleView, principal: Principal) -> bytes:
    if principal.kind not in PERSONS:
        view.output = ""
        view.traceback = ""  # calls of a model never receive one, so this route must not send it either
    return to_json(view.model_dump(mode="json", by_alias=True))


def _describe_waiting(record: ModuleRecord) -> WaitingView | None:
    waiting = record.waiting
    if waiting is None:
        return None
    return WaitingView.model_validate({"reason": waiting.reason, "said": waiting.said, "retry_at": waiting.retry_at_ms})


def _is_used(record: ModuleRecord, found: Found) -> bool:
    return record.found is not None and record.found.source == found.source


def _version_on_disk(record: ModuleRecord, found: Iterable[Found]) -> str | None:
    if record.found is None:
        return ""
    return next((each.version for each in found if _is_used(record, each)), None)


def _describe_component(name: str, component: WebComponent) -> ComponentView:
    base = f"/modules/{name}/"
    return ComponentView(
        tag=component.tag,
        script=base + component.script,
        title=component.title if isinstance(component.title, str) else dict(component.title),
        icon=base + component.icon if "." in component.icon else component.icon,
        resource_views=dict(component.resource_views),
        page_script=None if component.page_script is None else base + component.page_script,
        group=component.group,
    )


def _find_block_errors(found: tuple[Found, ...]) -> list[str]:
    """Return the errors in blocks that cannot become modules."""
    problems = []
    for member in (each for each in found if isinstance(each, FamilyMember)):
        try:
            member.check_block()
        except ConfigError as exc:
            problems.append(str(exc))
    return problems


def _why_unlisted(found: tuple[Found, ...]) -> str:
    blocks = [each.description for each in found if isinstance(each, FamilyMember)]
    what = f"block {blocks[0]} makes it" if blocks else "it is installed"
    return f"{what}, and app.json does not list it"

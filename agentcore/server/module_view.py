"""Modules as the API shows them: those that app.json lists, and those that are installed and could be listed."""

import asyncio
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from agentcore.api.web import WebComponent
from agentcore.host.config_error import ConfigError
from agentcore.host.discovery import ModuleNotChosen, ModuleNotInstalled, find_module, installed_names
from agentcore.host.host import Host
from agentcore.host.modules import ModuleRecord
from agentcore.server.module_switch import is_given, listed_names


class ComponentView(BaseModel, defer_build=True, alias_generator=to_camel, populate_by_name=True):
    """A module's element in the page; its files are below `/modules/NAME/`."""

    tag: str
    script: str
    title: str | dict[str, str]
    icon: str
    resource_views: dict[str, str]
    page_script: str | None


class RouteView(BaseModel, defer_build=True):
    """A route that a module serves."""

    method: str
    path: str
    kind: str


class NoteView(BaseModel, defer_build=True):
    """What a module says about its surroundings; with advice, something is to be done."""

    subject: str
    said: str
    advice: str


class ModuleView(BaseModel, defer_build=True, alias_generator=to_camel, populate_by_name=True):
    """A module: its state, why it is not ready, what it brought, where it came from."""

    name: str
    title: str
    description: str = ""
    state: str
    reason: str = ""
    traceback: str = ""
    """The end of the traceback behind `reason`, if there was one."""
    listed: bool
    """Whether app.json lists it."""
    distribution: str = ""
    version: str = ""
    file: str = ""
    requires: list[str] = []
    tools: list[str] = []
    problems: list[str] = []
    notes: list[NoteView] = []
    """Tools that were left out, one sentence each."""
    routes: list[RouteView] = []
    calls_in_flight: int = 0
    start_ms: float | None = None
    """How long its start took."""
    ready_at: int | None = None
    """When it got ready, in milliseconds since 1970; another value: its code may be another one."""
    component: ComponentView | None = None
    settings_key: str = ""


async def list_modules(host: Host) -> list[dict[str, Any]]:
    """All modules that are listed or installed, the listed ones first and in their order."""
    listed = await asyncio.to_thread(_listed, host)
    installed = await asyncio.to_thread(installed_names, host.config.modules_folder)
    views = [_of_record(record, host, listed) for record in host.modules.records.values()]
    views += [await asyncio.to_thread(_unlisted, name, host) for name in installed if name not in host.modules.records]
    return [view.model_dump(mode="json", by_alias=True) for view in views]


async def show_module(host: Host, name: str) -> dict[str, Any]:
    """One module.

    Raises:
        ToolError: `module_not_found`.
    """
    if name not in host.modules.records:
        installed = await asyncio.to_thread(installed_names, host.config.modules_folder)
        if name in installed:
            view = await asyncio.to_thread(_unlisted, name, host)
            return view.model_dump(mode="json", by_alias=True)
    listed = await asyncio.to_thread(_listed, host)
    return _of_record(host.modules.get(name), host, listed).model_dump(mode="json", by_alias=True)


def _listed(host: Host) -> tuple[str, ...]:
    if host.config.origin_of(("modules",)).is_read_only:
        return host.config.modules
    try:
        return listed_names(host.config.file)
    except ConfigError:  # somebody edits it just now; what was read at the start still runs
        return host.config.modules


def _of_record(record: ModuleRecord, host: Host, listed: tuple[str, ...]) -> ModuleView:
    tools = [tool.definition.name for tool in host.registry.tools.values() if tool.module is record]
    return ModuleView(
        name=record.name,
        title=record.title or _title_of(record.name),
        description=record.description,
        state=record.state,
        reason=record.reason,
        traceback=record.traceback,
        listed=record.name in listed or is_given(record),
        distribution=record.distribution,
        version=record.origin.get("version", ""),
        file=record.origin.get("file", ""),
        requires=list(record.requires),
        tools=tools,
        problems=record.problems(),
        notes=[NoteView(subject=about, said=said, advice=advice) for about, (said, advice) in record.notes.items()],
        routes=[RouteView(method=r.method, path=r.path, kind=r.kind) for r in host.routes.of(record.name)],
        calls_in_flight=len(record.calls),
        start_ms=record.started_ms if record.state == "ready" else None,
        ready_at=record.ready_at_ms if record.state == "ready" else None,
        component=None if record.component is None else _component(record.name, record.component),
        settings_key=record.config_key,
    )


def _component(name: str, component: WebComponent) -> ComponentView:
    base = f"/modules/{name}/"
    return ComponentView(
        tag=component.tag,
        script=base + component.script,
        title=component.title if isinstance(component.title, str) else dict(component.title),
        icon=base + component.icon if "." in component.icon else component.icon,
        resource_views=dict(component.resource_views),
        page_script=None if component.page_script is None else base + component.page_script,
    )


def _unlisted(name: str, host: Host) -> ModuleView:
    try:
        origin = find_module(name, host.config.modules_folder).origin()
    except (ModuleNotInstalled, ModuleNotChosen):
        origin = {}
    return ModuleView(
        name=name,
        title=_title_of(name),
        state="stopped",
        reason="it is installed, and app.json does not list it",
        listed=False,
        distribution=origin.get("distribution", ""),
        version=origin.get("version", ""),
        file=origin.get("file", ""),
    )


def _title_of(name: str) -> str:
    return name.replace("_", " ").capitalize()

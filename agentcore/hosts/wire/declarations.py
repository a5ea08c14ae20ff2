"""Encoding of a module's declarations: attributes, definitions of tools, previews, its web component.

A host has validated all of it, and the server validates it again: these functions only convert it and back.
"""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from agentcore.api.definition import CallPreview, HostAlias, ResourceUse, ToolAnnotations, ToolDefinition
from agentcore.api.readable_resource import ReadableResource
from agentcore.api.tool_icon import ToolIcon
from agentcore.api.tool_view import ToolView
from agentcore.api.web import WebComponent
from agentcore.core.module_code.value_reading import read_flag, read_mapping, read_plain

Wire = dict[str, Any]

ATTRIBUTES = (
    *("name", "title", "requires", "config_key", "claims", "stands_in_for", "instructions", "translations", "examples"),
    *("skills_folder", "runs_scripts_in_page", "definitions_need_review", "init_timeout_s"),
)
"""The attributes of a module that a server reads."""


def _field_names(kind: Any, *without: str) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind) if each.name not in without)


_CONVERTED = (
    *("effects", "annotations", "preview", "resource", "arguments", "display", "view", "complete", "icons"),
    *("needs_chat", "parallel", "host_alias", "reads"),
)
"""The fields of a definition that are not sent as they are."""

_PLAIN = _field_names(ToolDefinition, *_CONVERTED)
_HINTS = _field_names(ToolAnnotations)
_RESOURCE = _field_names(ResourceUse)
_VIEW = _field_names(ToolView)
_ICON = _field_names(ToolIcon)
_ALIAS = _field_names(HostAlias)
_READABLE = _field_names(ReadableResource)
_PREVIEW = _field_names(CallPreview, "effects", "paths", "urls", "services", "failure")
_COMPONENT = _field_names(WebComponent, "folder")


def attributes_to_wire(plugin: Any) -> Wire:
    """Encode the declarations of a module's object, which `read_manifest` has read."""
    given = {name: getattr(plugin, name, None) for name in ATTRIBUTES}
    return {name: read_plain(value, name) for name, value in given.items() if value is not None}


def settings_to_wire(model: type[BaseModel] | None) -> Wire | None:
    """The JSON Schema of a module's settings; None: it declares none."""
    return None if model is None else model.model_json_schema(by_alias=True)


def definition_to_wire(definition: ToolDefinition, *, checks_arguments: bool) -> Wire:
    """Encode a definition from `read_definition`.

    Args:
        checks_arguments: True if the tool checks more of its arguments than its schema can express.
    """
    wire: Wire = {name: getattr(definition, name) for name in _PLAIN}
    hints = definition.annotations
    use = definition.resource
    view = definition.view
    wire["effects"] = sorted(definition.effects)
    wire["annotations"] = {name: getattr(hints, name) for name in _HINTS}
    wire["display"] = dict(definition.display)
    wire["icons"] = [{"src": icon.src, "sizes": list(icon.sizes), "theme": icon.theme} for icon in definition.icons]
    wire["reads"] = [{name: getattr(each, name) for name in _READABLE} for each in definition.reads]
    wire["resource"] = None if use is None else {name: getattr(use, name) for name in _RESOURCE}
    wire["view"] = view if view is None or isinstance(view, str) else {name: getattr(view, name) for name in _VIEW}
    wire["previews"] = definition.preview is not None
    wire["completes"] = definition.complete is not None
    wire["checks_arguments"] = checks_arguments
    wire["reads_arguments"] = definition.arguments is not None
    wire["needs_chat"] = definition.needs_chat
    wire["parallel"] = definition.parallel
    alias = definition.host_alias
    wire["host_alias"] = None if alias is None else {"name": alias.name, "arguments": dict(alias.arguments)}
    return wire


def definition_of(wire: Any, preview: Any, complete: Any) -> ToolDefinition:
    """Decode a definition, for `read_definition` to validate.

    Args:
        preview: Requests a preview from the host.
        complete: Requests suggestions for an argument from the host.
    Raises:
        TypeError: It is invalid.
    """
    given = read_mapping(wire, "a definition of a host")
    use = given.get("resource")
    view = given.get("view")
    alias = given.get("host_alias")
    return ToolDefinition(
        **{name: given.get(name) for name in _PLAIN},  # type: ignore[arg-type]  # read after this
        effects=given.get("effects"),  # type: ignore[arg-type]  # read after this
        annotations=ToolAnnotations(**_pick_fields(given.get("annotations", {}), _HINTS)),
        display=given.get("display", {}),
        icons=tuple(ToolIcon(**_pick_fields(icon, _ICON)) for icon in given.get("icons", ())),
        resource=None if use is None else ResourceUse(**_pick_fields(use, _RESOURCE)),
        view=ToolView(**_pick_fields(view, _VIEW)) if type(view) is dict else view,
        preview=preview if needs_precheck(given) or reads_arguments(given) else None,
        complete=complete if _has_flag(given, "completes") else None,
        needs_chat=_has_flag(given, "needs_chat"),
        parallel=_has_flag(given, "parallel"),
        host_alias=None if alias is None else HostAlias(**_pick_fields(alias, _ALIAS)),
        reads=tuple(ReadableResource(**_pick_fields(each, _READABLE)) for each in given.get("reads", ())),
    )


def needs_precheck(definition: Any) -> bool:
    """True if the host checks each call of a tool before it runs."""
    given = read_mapping(definition, "a definition of a host")
    return _has_flag(given, "previews") or _has_flag(given, "checks_arguments")


def reads_arguments(definition: Any) -> bool:
    """True if a model of the module validates a tool's arguments, which may accept what its schema does not."""
    return _has_flag(read_mapping(definition, "a definition of a host"), "reads_arguments")


def preview_to_wire(preview: CallPreview) -> Wire:
    """Encode a preview."""
    wire: Wire = {name: getattr(preview, name) for name in _PREVIEW}
    wire["paths"] = list(preview.paths)
    wire["urls"] = list(preview.urls)
    wire["services"] = list(preview.services)
    wire["effects"] = None if preview.effects is None else sorted(preview.effects)
    return wire


def preview_of(wire: Any) -> CallPreview:
    """Decode a preview; it is validated as strictly as a module's own.

    Raises:
        TypeError: It is invalid.
    """
    given = read_mapping(wire, "a preview of a host", mends_text=True)
    effects = given.get("effects")
    return CallPreview(
        effects=None if effects is None else frozenset(effects),
        paths=tuple(given.get("paths", ())),
        urls=tuple(given.get("urls", ())),
        services=tuple(given.get("services", ())),
        **_pick_fields(given, _PREVIEW),
    )


def component_to_wire(component: WebComponent | None) -> Wire | None:
    """Encode a module's web component from `read_component`, and its files by their names."""
    if component is None:
        return None
    wire: Wire = {name: getattr(component, name) for name in _COMPONENT}
    return wire | {"csp": {name: list(sources) for name, sources in component.csp.items()}}


def component_of(wire: Any, folder: Path) -> WebComponent | None:
    """Decode a web component.

    Args:
        folder: The folder of its files, as far as the server has them.
    Raises:
        TypeError: It is invalid.
    """
    if wire is None:
        return None
    return WebComponent(folder=folder, **_pick_fields(read_mapping(wire, "a web component of a host"), _COMPONENT))


def _pick_fields(given: Any, names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise TypeError("an object was expected in what a host says")
    return {name: given[name] for name in names if name in given}


def _has_flag(given: Wire, name: str) -> bool:
    return read_flag(given.get(name, False), f"{name} of a definition of a host")

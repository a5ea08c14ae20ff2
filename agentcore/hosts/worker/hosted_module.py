"""One module in a host: loaded, started, called, stopped."""

import asyncio
import importlib
import inspect
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from agentcore.api import ToolDefinition, ToolResult
from agentcore.api.definition import CallPreview
from agentcore.api.module import Module, find_tool_errors
from agentcore.core.calls.result_conversion import to_result
from agentcore.core.declarations.components import read_component
from agentcore.core.declarations.definitions import read_definition
from agentcore.core.declarations.manifest import Manifest, read_manifest
from agentcore.core.module_code.module_error import reason_of, type_name
from agentcore.core.module_code.ownership import CALL, OWNER, source_dirs
from agentcore.core.module_code.preview_state import previewing
from agentcore.core.modules.validation import Validate, validator_of
from agentcore.errors import ToolError
from agentcore.hosts.wire.declarations import (
    attributes_to_wire,
    component_to_wire,
    definition_to_wire,
    settings_to_wire,
)
from agentcore.hosts.worker.remote_context import RemoteContext
from agentcore.hosts.worker.remote_runtime import RemoteRuntime
from agentcore.limits import TOOLS_PER_MODULE

_FORMATS = frozenset(
    ("date", "time", "datetime", "timedelta", "uuid", "url", "multi-host-url", "decimal", "bytes", "is-instance")
)
"""Types that pydantic parses from a text, and JSON Schema expresses at most as a format."""

FILES_BYTES = 32 * 1024 * 1024
"""All files together that a module shows in the page."""


class HostedModule:
    """One start of a module.

    Args:
        number: Its number at the server.
        target: The object that its entry point names.
        fingerprint: Of the code, as the server sent it.
    """

    def __init__(self, name: str, number: int, target: Any, fingerprint: str) -> None:
        self.name = name
        self.number = number
        self.target = target
        self.fingerprint = fingerprint
        self.source_dirs = source_dirs(target)
        self.plugin: Any = None
        self.manifest = Manifest()
        self.runtime: RemoteRuntime | None = None
        self.settings: dict[str, Any] | None = None
        self._definitions: dict[str, tuple[ToolDefinition, Validate | None]] = {}
        self.folder: Path | None = None

    def make_plugin(self, locale: str) -> dict[str, Any]:
        """Create the object that implements the hooks, and read its declarations. Runs module code: call it in a
        thread."""
        OWNER.set(self.name)
        self.plugin = self.target() if isinstance(self.target, type) else self.target
        if isinstance(self.plugin, Module) and getattr(self.plugin, "name", None) is None:
            vars(self.plugin)["name"] = self.name
        self.manifest = read_manifest(self.plugin, self.name, locale, self.name)
        return self.describe()

    def describe(self) -> dict[str, Any]:
        """Describe it for a server."""
        own = {"name": self.name}
        if self.manifest.skills_folder:
            own["skills_folder"] = self.manifest.skills_folder
        return {
            "attributes": attributes_to_wire(self.plugin) | own,
            "description": self.manifest.description,
            "settings": settings_to_wire(self.manifest.settings),
            "config_key": self.manifest.config_key,
            "hooks": sorted(self.manifest.hooks),
        }

    def check_settings(self, values: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the errors of settings in pydantic's form; none: they are valid."""
        model = self.manifest.settings
        if model is None:
            return []
        try:
            model.model_validate(values)
        except ValidationError as exc:
            problems = exc.errors(include_url=False, include_context=False, include_input=False)
            return [{"type": each["type"], "loc": list(each["loc"]), "msg": each["msg"]} for each in problems]
        return []

    def settings_of(self, values: dict[str, Any]) -> Any:
        """The settings as the module gets them."""
        model: type[BaseModel] | None = self.manifest.settings
        return values if model is None else model.model_validate(values)

    async def init(self, runtime: RemoteRuntime) -> None:
        """Start it."""
        self.runtime = runtime
        if isinstance(self.plugin, Module):
            self.plugin.bind(runtime)
        await self._call_hook("init", runtime=runtime)

    async def shutdown(self) -> None:
        """Stop it, and remove what it was given."""
        try:
            await self._call_hook("shutdown")
        finally:
            if self.runtime is not None:
                for undo in self.runtime.undo:
                    undo()
                self.runtime.undo.clear()

    async def collect_definitions(self) -> dict[str, Any]:
        """Its tools, and what is wrong with those that are left out."""
        given = await self._call_hook("get_tool_definitions")
        return await asyncio.to_thread(self._read_definitions, given)

    async def load_component(self) -> dict[str, Any] | None:
        """Its element in the page, and the files of that by name and size."""
        given = await self._call_hook("get_web_component")
        runs_scripts = self.manifest.runs_scripts_in_page
        found = await asyncio.to_thread(read_component, given, self.name, runs_scripts_in_page=runs_scripts)
        wire = component_to_wire(found)
        if found is None or wire is None:
            return None
        self.folder = found.folder
        return wire | {"files": await asyncio.to_thread(_files_in, found.folder)}

    def read_file(self, name: str) -> bytes:
        """A file of its element."""
        if self.folder is None or name not in _files_in(self.folder):
            raise ToolError("file_not_found", f"module {self.name!r} has no file {name!r} for the page")
        return (self.folder / name).read_bytes()

    def require_definition(self, tool: str) -> tuple[ToolDefinition, Validate | None]:
        """A tool of its own.

        Raises:
            ToolError: `module_stopping`: it has none of this name any more.
        """
        found = self._definitions.get(tool)
        if found is None:
            raise ToolError("module_stopping", f"tool {tool!r} changed meanwhile; try again", retryable=True)
        return found

    def validate_arguments(self, tool: str, given: dict[str, Any]) -> tuple[ToolDefinition, dict[str, Any]]:
        """The arguments as the tool gets them.

        Raises:
            ToolError: `invalid_arguments`.
        """
        definition, validate = self.require_definition(tool)
        return definition, given if validate is None else validate(given)

    async def execute_call(self, context: RemoteContext, tool: str, given: dict[str, Any]) -> tuple[ToolResult, bytes]:
        """Carry out a call; return the result and its data as JSON text.

        Raises:
            BaseException: Raised by the module.
        """
        _, arguments = self.validate_arguments(tool, given)
        impl = self.manifest.hooks["execute_tool_call"]
        values = {"ctx": context, "tool_name": tool, "args": arguments}
        ordered = [values[name] for name in impl.argnames]
        OWNER.set(self.name)
        CALL.set(context.call_id)
        if self.manifest.executes_async:
            return to_result(await impl.function(*ordered))
        made = await asyncio.to_thread(_make_in_thread, impl.function, ordered)
        return made if isinstance(made, tuple) else to_result(await made)

    async def preview_call(self, context: RemoteContext, tool: str, given: dict[str, Any]) -> CallPreview | None:
        """Return the preview of a call; None: the tool has only checked its arguments.

        Raises:
            BaseException: Raised by the module.
        """
        definition, arguments = self.validate_arguments(tool, given)
        if definition.preview is None:
            return None
        OWNER.set(self.name)
        with previewing():
            made = await _call_function(definition.preview, context, arguments)
        if not isinstance(made, CallPreview):
            raise TypeError(f"a preview must give a CallPreview, not {type_name(made)}")
        found: CallPreview = made
        return found

    async def complete_argument(self, tool: str, argument: str, begun: str, given: dict[str, str]) -> list[Any]:
        """Return suggestions for an argument."""
        definition, _ = self.require_definition(tool)
        if definition.complete is None:
            return []
        OWNER.set(self.name)
        return list(await _call_function(definition.complete, tool, argument, begun, given))

    async def _call_hook(self, hook: str, **values: Any) -> Any:
        impl = self.manifest.hooks.get(hook)
        if impl is None:
            return None
        OWNER.set(self.name)
        return await _call_function(impl.function, *[values[name] for name in impl.argnames])

    def _read_definitions(self, given: Any) -> dict[str, Any]:
        faults = find_tool_errors(self.plugin) if isinstance(self.plugin, Module) else []
        problems = [f"tool {where} is left out: {reason_of(exc)}" for where, exc in faults]
        if given is not None and not isinstance(given, list | tuple):
            raise TypeError(f"get_tool_definitions gave {type_name(given)}, not a list")
        entries = list(given or ())
        if entries and "execute_tool_call" not in self.manifest.hooks:
            raise TypeError("it defines tools, but does not implement execute_tool_call")
        found: dict[str, tuple[ToolDefinition, Validate | None]] = {}
        wires = []
        for entry in entries[: TOOLS_PER_MODULE + 1]:
            try:
                definition = read_definition(entry)
            except Exception as exc:  # noqa: BLE001 - whatever a module gives is contained
                problems.append(reason_of(exc))
                continue
            wires.append(
                definition_to_wire(definition, checks_arguments=_checks_more_than_schema(definition.arguments))
            )
            validate = None if definition.arguments is None else validator_of(definition)
            found.setdefault(definition.name, (definition, validate))
        self._definitions = found
        return {"tools": wires, "problems": problems}


def find_installed(name: str) -> list[dict[str, str]]:
    """Return what is registered for this interpreter under a module's name. Call it in a thread."""
    from agentcore.core.discovery.installed import installed_entries  # noqa: PLC0415 - only another interpreter's

    return [
        {
            "value": entry.value,
            "metadata": str(getattr(entry.metadata, "_path", "")),
            "file": str(entry.file or ""),
            "package": entry.package,
        }
        for entry in installed_entries().get(name, ())
    ]


def import_target(name: str, entry: str, file: str, fresh: list[str]) -> Any:
    """Import the object of an entry point (`package.module:object`), or a local module by its file. Call it in a
    thread.

    Args:
        fresh: Packages whose code on disk has changed since they were imported here.
    Raises:
        BaseException: Raised by the import.
    """
    from agentcore.core.discovery.code import unload_code  # noqa: PLC0415 - needed again only where code has changed

    taken = unload_code(fresh)
    try:
        if file:
            from agentcore.core.discovery.local import LocalModule  # noqa: PLC0415 - few modules are local

            return LocalModule(name, Path(file)).load()
        module, _, path = entry.partition(":")
        found = importlib.import_module(module)
        for part in filter(None, path.split(".")):
            found = getattr(found, part)
    except BaseException:
        taken.put_back()
        raise
    return found


async def _call_function(function: Callable[..., Any], *values: Any) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(*values)
    result = await asyncio.to_thread(function, *values)
    return await result if inspect.isawaitable(result) else result


def _make_in_thread(function: Callable[..., Any], arguments: list[Any]) -> tuple[ToolResult, bytes] | Awaitable[Any]:
    returned = function(*arguments)
    return returned if asyncio.iscoroutine(returned) else to_result(returned)


def _checks_more_than_schema(model: type[BaseModel] | None) -> bool:
    """True if a model refuses values that its schema accepts: it has validators, or types of text that are only
    formats."""
    if model is None:
        return False
    return any(
        kind.startswith("function-") or kind in _FORMATS for kind in _list_schema_types(model.__pydantic_core_schema__)
    )


def _list_schema_types(schema: Any) -> list[str]:
    found: list[str] = []
    open_parts: list[Any] = [schema]
    while open_parts:
        part = open_parts.pop()
        if isinstance(part, Mapping):
            if isinstance(part.get("type"), str):
                found.append(part["type"])
            open_parts += [value for key, value in part.items() if key not in ("serialization", "metadata")]
        elif isinstance(part, list | tuple):
            open_parts += part
    return found


def _files_in(folder: Path) -> dict[str, int]:
    """Return the files below a folder that the page may request, with their sizes."""
    found: dict[str, int] = {}
    for at, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith((".", "__pycache__"))]
        for name in files:
            path = Path(at) / name
            if not name.startswith(".") and path.is_file():
                found[path.relative_to(folder).as_posix()] = path.stat().st_size
    if sum(found.values()) > FILES_BYTES:
        raise ValueError(f"the files of its web component have more than {FILES_BYTES:,} bytes")
    return found

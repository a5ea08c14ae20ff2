"""From a name to an object that implements the hooks: found, imported, named, checked."""

import asyncio
import inspect
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentcore.api.definition import ToolDefinition
from agentcore.api.module import Module
from agentcore.api.web import WebComponent
from agentcore.host.containment import run_contained
from agentcore.host.discovery import Found
from agentcore.host.foreign_error import reason_of
from agentcore.host.hooks import HookManager
from agentcore.host.limits import IMPORT_SECONDS
from agentcore.host.modules import ModuleRecord
from agentcore.host.registry import RegisteredTool, prepare

_TAG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A module's code, imported.

    Args:
        target: What its entry point names: a class, or the object itself.
        origin: Where it is from, for people.
        fingerprint: What the code on the disk was.
    """

    target: Any
    origin: dict[str, str]
    fingerprint: str


async def load(found: Found) -> Loaded:
    """Import a module's code in a thread.

    Raises:
        TimeoutError: The import takes too long.
        BaseException: What the import raised.
    """
    return await run_contained(asyncio.to_thread(_import, found), IMPORT_SECONDS, f"import:{found.name}", found.name)


async def make(loaded: Loaded, name: str) -> Any:
    """The object that implements a module's hooks: made in a thread of the class, each time another one.

    Raises:
        TimeoutError: It takes too long.
        BaseException: What it raised.
    """
    if not isinstance(loaded.target, type):
        return loaded.target
    return await run_contained(asyncio.to_thread(loaded.target), IMPORT_SECONDS, f"make:{name}", name)


def adopt(record: ModuleRecord, plugin: Any, hooks: HookManager) -> None:
    """Register the object that implements a module's hooks, and fill the record with what it says of itself.

    Raises:
        TypeError: It is no module: a wrong name, or a hook with a wrong signature.
    """
    own_name = getattr(plugin, "name", None)
    if own_name is not None and own_name != record.name:
        raise TypeError(f"it calls itself {own_name!r}, but is registered as {record.name!r}; the two must be equal")
    record.plugin = plugin
    record.hooks = hooks.add(record.name, plugin)
    if not record.hooks:
        raise TypeError(
            f"{type(plugin).__name__} implements none of the hooks; subclass Module, or mark with @hookimpl"
        )
    execute = record.hooks.get("execute_tool_call")
    record.executes_async = execute is not None and inspect.iscoroutinefunction(execute.function)
    record.title = getattr(plugin, "title", None) or record.name.replace("_", " ").capitalize()
    record.description = _summary(plugin)
    record.config_key = getattr(plugin, "config_key", None) or record.name
    record.requires = tuple(getattr(plugin, "requires", ()))
    record.stands_in_for = tuple(getattr(plugin, "stands_in_for", ()))
    record.claims = tuple(getattr(plugin, "claims", ()))
    record.runs_scripts_in_page = bool(getattr(plugin, "runs_scripts_in_page", False))


def definitions(record: ModuleRecord, given: Any) -> None:
    """Check what `get_tool_definitions` gave, and put it into the record; invalid ones are named there.

    Raises:
        TypeError: It gave no sequence; or tools without `execute_tool_call`.
    """
    record.tools, record.tool_errors = [], []
    if given is None:
        return
    if not isinstance(given, list | tuple):
        raise TypeError(f"get_tool_definitions gave {type(given).__name__}, not a list")
    if given and "execute_tool_call" not in record.hooks:
        raise TypeError("it defines tools, but does not implement execute_tool_call")
    seen: set[str] = set()
    for entry in given:
        tool = _definition(record, entry)
        if tool is None:
            continue
        if tool.definition.name in seen:
            record.tool_errors.append(f"tool {tool.definition.name!r} is defined twice; the first counts")
            continue
        seen.add(tool.definition.name)
        record.tools.append(tool)


def component(record: ModuleRecord, given: Any) -> None:
    """Check what `get_web_component` gave, and put it into the record.

    Raises:
        TypeError: It is no `WebComponent`, or one that cannot be shown.
    """
    record.component = None
    if given is None:
        return
    if not isinstance(given, WebComponent):
        raise TypeError(f"get_web_component gave {type(given).__name__}, not a WebComponent")
    prefix = record.name.replace("_", "-")
    if not _TAG.fullmatch(given.tag) or not given.tag.startswith(f"{prefix}-"):
        raise TypeError(f"the tag {given.tag!r} of its web component must begin with {prefix + '-'!r}")
    if not (given.folder / given.script).is_file():
        raise TypeError(f"the script {given.script!r} of its web component is not in {given.folder}")
    record.component = given


def _import(found: Found) -> Loaded:
    found.make_importable()
    origin, fingerprint = found.origin(), found.fingerprint()
    return Loaded(found.load(), origin, fingerprint)


def _definition(record: ModuleRecord, entry: Any) -> RegisteredTool | None:
    try:
        definition = entry if isinstance(entry, ToolDefinition) else ToolDefinition.from_openai(entry)
        return prepare(definition, record)
    except Exception as exc:  # noqa: BLE001 - whatever a module gives is contained
        record.tool_errors.append(reason_of(exc))
        return None


def _summary(plugin: Any) -> str:
    """The first paragraph of the docstring, on one line."""
    own = plugin if inspect.ismodule(plugin) else type(plugin)
    if own is Module or not own.__doc__:
        return ""
    return " ".join(inspect.cleandoc(own.__doc__).split("\n\n")[0].split())


def source_dirs(target: Any) -> tuple[str, ...]:
    """The folder of the package that a class or an object is from, or its file: code from there is the module's own."""
    kind = target if isinstance(target, type) else type(target)
    module = target if inspect.ismodule(target) else sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    if file is None:
        return ()
    return (f"{Path(file).parent}/",) if Path(file).name == "__init__.py" or _has_package(module) else (file,)


def _has_package(module: Any) -> bool:
    return bool(getattr(module, "__package__", ""))

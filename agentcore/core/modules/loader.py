"""From a name to an object that implements the hooks: found, imported, named, checked.

Functions that run module code raise `TimeoutError` if it takes too long, and whatever that code raises.
"""

import asyncio
from dataclasses import replace
from typing import Any

from agentcore.api import WebComponent
from agentcore.api.module import Module, find_tool_errors
from agentcore.config.loading import AppConfig
from agentcore.config.settings_of_modules import RawSettings, module_settings, validate_settings
from agentcore.config.written_secrets import secrets_to_mask
from agentcore.core.declarations.components import read_component
from agentcore.core.declarations.definitions import count_parts, read_definition, without_session
from agentcore.core.declarations.manifest import Manifest, read_manifest
from agentcore.core.discovery.families import FamilyMember
from agentcore.core.discovery.reference_values import references_of
from agentcore.core.discovery.source_search import Found, title_of
from agentcore.core.module_code.containment import run_contained
from agentcore.core.module_code.module_error import reason_of, type_name
from agentcore.core.module_code.ownership import source_dirs
from agentcore.core.modules.family_block import block_model, make_member, raw_block
from agentcore.core.modules.module_record import LoadedCode, ModuleRecord, Offer, RegisteredTool
from agentcore.core.modules.tool_registry import compile_tool
from agentcore.limits import HOOK_SECONDS, IMPORT_SECONDS, MODULE_PARTS, TOOLS_PER_MODULE
from agentcore.quick_imports import quick_imports


async def load_code(found: Found) -> LoadedCode:
    """Import a module's code in a thread."""
    imported = asyncio.to_thread(_import_code, found)
    with quick_imports():  # until the limit: a thread that never ends leaves the collector on
        return await run_contained(imported, IMPORT_SECONDS, f"import:{found.name}", found.name)


async def make_plugin(record: ModuleRecord, target: Any, config: AppConfig) -> Any:
    """Create the object that implements a module's hooks in a thread, from the class or by the family, a new one each
    time.

    Args:
        target: The object that its entry point names.
        config: Resolves the references of a block.
    """

    async def made(*work: Any) -> Any:
        run = asyncio.to_thread(*work)
        return await run_contained(run, IMPORT_SECONDS, f"make:{record.name}", record.name)

    if isinstance(record.found, FamilyMember):
        record.use_block_model(await made(block_model, target))
        return await made(_make_member, record, record.found, target, config)
    return await made(target) if isinstance(target, type) else target


def _make_member(record: ModuleRecord, member: FamilyMember, family: Any, config: AppConfig) -> Any:
    block = resolve_settings(record, config, raw_block(member))
    return make_member(member, family, record.block_model, block)


def resolve_settings(record: ModuleRecord, config: AppConfig, raw: RawSettings) -> RawSettings:
    """Return a module's settings with resolved references, which stay masked in its texts while it exists.

    Raises:
        ConfigError: A reference has no value.
        StateDirError: The secrets cannot be read.
    """
    found = references_of(config).resolve(raw.values, raw.origins)
    record.mask_secrets(found.secrets)
    model = record.block_model or record.manifest.settings
    record.mask_written(secrets_to_mask(model, raw.values))
    return RawSettings(raw.key, found.values, raw.origins)


def raw_settings(record: ModuleRecord, config: AppConfig) -> RawSettings:
    """Return the settings of a module, with resolved references."""
    given = module_settings(config, record.name, record.manifest.config_key, record.manifest.settings)
    return resolve_settings(record, config, given)


def load_settings(record: ModuleRecord, config: AppConfig) -> Any:
    """The module's validated settings, references resolved; what is set, as a dict, where it declares no model."""
    raw = raw_settings(record, config)
    return raw.values if record.manifest.settings is None else validate_settings(record.manifest.settings, raw)


async def read_declarations(record: ModuleRecord, locale: str) -> Manifest:
    """Read the declarations of the object that implements a module's hooks.

    Raises:
        TypeError: It is not a module: a wrong name or attribute, or a hook with a wrong signature.
    """
    return await _read_manifest(record, record.name, locale, title_of(record.name, record.found))


async def read_hosted_declarations(record: ModuleRecord, locale: str) -> Manifest:
    """Read the declarations of a foreign machine's module, which adds nothing to the page, and claims no paths.

    Raises:
        TypeError: Its declarations are invalid.
    """
    own_name = record.name.partition("/")[2]
    manifest = await _read_manifest(record, own_name, locale, title_of(own_name, None))
    return replace(manifest, claims=(), requires=(), runs_scripts_in_page=False, settings=None, config_key="")


async def _read_manifest(record: ModuleRecord, own_name: str, locale: str, untitled: str) -> Manifest:
    read = asyncio.to_thread(read_manifest, record.plugin, own_name, locale, untitled)
    return await run_contained(read, HOOK_SECONDS, f"attributes:{record.name}", record.name)


async def read_offer(record: ModuleRecord, given: Any) -> Offer:
    """Read the result of `get_tool_definitions`; invalid definitions are listed in it, and nothing is withheld yet.

    Raises:
        TypeError: It returned no sequence; or tools without `execute_tool_call`.
    """
    read = asyncio.to_thread(_read_definitions, record, given)
    return await run_contained(read, HOOK_SECONDS, f"tools:{record.name}", record.name)


async def load_component(record: ModuleRecord, given: Any) -> WebComponent | None:
    """Read the result of `get_web_component`.

    Raises:
        TypeError: It is not a `WebComponent`, or cannot be shown.
        ValueError: It adds to the page's policy what no module may add.
    """
    runs_scripts = record.manifest.runs_scripts_in_page
    read = asyncio.to_thread(read_component, given, record.name, runs_scripts_in_page=runs_scripts)
    return await run_contained(read, HOOK_SECONDS, f"component:{record.name}", record.name)


def _import_code(found: Found) -> LoadedCode:
    found.make_importable()
    origin = found.describe_origin()
    fingerprint = found.compute_fingerprint()
    target = found.load()
    return LoadedCode(target, origin, fingerprint, source_dirs(target))


def _read_definitions(record: ModuleRecord, given: Any) -> Offer:
    plugin = record.plugin
    faults = find_tool_errors(plugin) if isinstance(plugin, Module) else []
    problems = [f"tool {where} is left out: {reason_of(exc)}" for where, exc in faults]
    problems += () if record.placed is None else record.placed.problems
    entries = _list_entries(given)
    if entries and "execute_tool_call" not in record.hooks:
        raise TypeError("it defines tools, but does not implement execute_tool_call")
    tools: dict[str, RegisteredTool] = {}
    claims: set[str] = set()
    parts = 0
    for number, entry in enumerate(entries[:TOOLS_PER_MODULE]):
        try:
            definition = read_definition(entry)
            parts += count_parts(definition)
            if parts > MODULE_PARTS:
                left_out = f"{len(entries) - number} tools are left out: the schemas of a module may have"
                problems.append(f"{left_out} {MODULE_PARTS:,} values together")
                break
            if record.has_outside_definitions and "session" in definition.effects:
                claims.add(definition.name)
                definition = without_session(definition)
            tool = compile_tool(definition, record)
        except Exception as exc:  # noqa: BLE001 - whatever a module gives is contained
            problems.append(reason_of(exc))
            continue
        if tool.definition.name in tools:
            problems.append(f"tool {tool.definition.name!r} is defined twice; the first counts")
        tools.setdefault(tool.definition.name, tool)
    if len(entries) > TOOLS_PER_MODULE:
        problems.append(f"{len(entries) - TOOLS_PER_MODULE} tools are left out: a module may have {TOOLS_PER_MODULE}")
    return Offer(tuple(tools.values()), errors=tuple(problems), session_claims=frozenset(claims))


def _list_entries(given: Any) -> list[Any]:
    if given is None:
        return []
    if not isinstance(given, list | tuple):
        raise TypeError(f"get_tool_definitions gave {type_name(given)}, not a list")
    return list(given)

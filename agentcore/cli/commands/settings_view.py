"""Effective settings of modules with all secrets masked, which requires each module's own model."""

import json
import os
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from pydantic import BaseModel, SecretStr

from agentcore.config.json_source import JsonPath
from agentcore.config.layers import Origin
from agentcore.config.loading import AppConfig
from agentcore.config.references import has_reference
from agentcore.config.settings_of_modules import RawSettings, module_settings, validate_settings
from agentcore.config.written_secrets import secrets_to_mask
from agentcore.core.discovery.families import FamilyMember
from agentcore.core.discovery.source_search import find_module
from agentcore.core.module_code.module_error import text_of, type_name
from agentcore.core.modules.family_block import block_model, settings_in_code
from agentcore.core.modules.source_choice import remembered_sources
from agentcore.core.settings.app_schema import module_schema
from agentcore.core.settings.display import masked_part
from agentcore.core.settings.settings_document import SettingsSubject
from agentcore.core.settings.settings_schema import SettingsSchema
from agentcore.late_dataclasses import dataclass
from agentcore.secrets import MASK, mask_named_secrets, register_masked_values
from agentcore.store.state.state_dir import locate_state_dir


@dataclass
class SettingsView:
    """The effective `config` of app.json.

    Args:
        values: Settings by key of `config`, with defaults included and secrets masked.
        origins: Origins of values by their path below `config`.
        problems: Settings that could not be shown, one sentence each.
        blocks: Block models of the families whose modules are listed.
    """

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[JsonPath, Origin] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    blocks: dict[str, type[BaseModel] | None] = field(default_factory=dict)


def view_settings(config: AppConfig) -> SettingsView:
    """Return the settings of all modules, importing those that app.json lists.

    Settings whose model is not known (of a module that is not listed, or cannot be imported) are hidden: any of
    them may be a secret.
    """
    view = SettingsView()
    chosen = remembered_sources(config, locate_state_dir(config.file, os.environ))
    for name in config.modules:
        _add_module(view, config, name, chosen.get(name, ""))
    for key, values in config.config.items():
        view.values.setdefault(key, _hide_values(values))
    view.values = mask_named_secrets(view.values)
    return view


def _add_module(view: SettingsView, config: AppConfig, name: str, chosen: str) -> None:
    raw: RawSettings | None = None
    try:
        found = find_module(name, config, chosen)
        if isinstance(found, FamilyMember):
            view.blocks[found.family.key] = block_model(found.load())
        key, model = settings_in_code(found, config)
        raw = module_settings(config, name, key, model)
        register_masked_values(secrets_to_mask(model, raw.values))  # the model's own validators may quote them
        values = _mask_settings(config, model, raw)
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # noqa: BLE001 - a module that calls sys.exit() when imported must not end the command
        view.problems.append(f"the settings of module {name} are hidden: {text_of(exc) or type_name(exc)}")
        raw = raw or module_settings(config, name)
        values = _hide_values(raw.values)
    if values:
        view.values[raw.key] = values
        view.origins.update({(raw.key, *path): origin for path, origin in raw.origins.items()})


def _mask_settings(config: AppConfig, model: type[BaseModel] | None, raw: RawSettings) -> Mapping[str, Any]:
    if model is None:
        return raw.values  # a plain Python module without a model declares no secrets; they are masked by name later
    if has_reference(raw.values):
        return _mask_with_references(config, model, raw)
    text = validate_settings(model, raw).model_dump_json(by_alias=True)
    shown: dict[str, Any] = json.loads(text.replace(f'"{SecretStr("x")}"', f'"{MASK}"'))  # replace pydantic's own mask
    return shown


def _mask_with_references(config: AppConfig, model: type[BaseModel], raw: RawSettings) -> Mapping[str, Any]:
    """Mask only the values that are set, without defaults: a model may reject a reference, whose value is not shown."""
    schema = module_schema(model)
    found = None if schema is None else SettingsSchema(schema)
    shown: dict[str, Any] = masked_part(SettingsSubject(config, raw.key, raw.key, model, found), (), raw.values)
    return shown


def _hide_values(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _hide_values(part) for key, part in value.items()}
    return MASK

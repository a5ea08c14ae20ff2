"""Settings of one module: merged from app.json, modules/NAME.json and the environment, then validated."""

import json
from collections.abc import Iterator
from dataclasses import field, replace
from pathlib import Path
from typing import Any, TypeVar

import structlog
from pydantic import BaseModel, ValidationError

from agentcore.config.config_errors import ConfigError, ConfigProblem
from agentcore.config.config_file import ConfigFile
from agentcore.config.environment import Variable, merge_variables
from agentcore.config.json_source import JsonPath
from agentcore.config.layers import Layers, Origin, Origins
from agentcore.config.loading import AppConfig
from agentcore.config.problems import kind_of, problems_of
from agentcore.late_dataclasses import dataclass

log = structlog.get_logger(__name__)

S = TypeVar("S", bound=BaseModel)


@dataclass(frozen=True)
class RawSettings:
    """A module's settings before validation by its model.

    Args:
        values: The merged document; may contain secrets.
        origins: The origin of each value, by its path in `values`.
    """

    key: str
    values: dict[str, Any] = field(repr=False)
    origins: Origins = field(repr=False)


def settings_folder(config: AppConfig) -> Path:
    """Return the folder beside app.json whose files override settings of modules, whether or not it exists."""
    return config.folder / "modules"


def settings_file(config: AppConfig, key: str) -> Path:
    """Return the file beside app.json that overrides a module's settings, whether or not it exists."""
    return settings_folder(config) / f"{key}.json"


def module_settings(
    config: AppConfig, name: str, config_key: str | None = None, model: type[BaseModel] | None = None
) -> RawSettings:
    """Merge the settings of a module: app.json, then `modules/KEY.json` beside it, then the environment.

    Both files are read again each time, so that reloading the module applies their current content.

    Raises:
        ConfigError: A file cannot be read, the settings are not an object, or a variable's name matches no key.
    """
    key = config_key or name
    if key != name:
        _warn_of_other_key(config, name, key)
    return merge_settings(
        config, key, model, app=ConfigFile.read(config.file), own=ConfigFile.read(settings_file(config, key))
    )


def merge_settings(
    config: AppConfig, key: str, model: type[BaseModel] | None, *, app: ConfigFile, own: ConfigFile
) -> RawSettings:
    """Merge the settings of two files and the environment under one key.

    Args:
        model: The settings class, used to match the environment's names to keys.
        own: `modules/KEY.json`.
    Raises:
        ConfigError: The settings are not an object, or a variable's name matches no key.
    """
    layers = _app_layer(app, key)
    layers.merge_file(own, "module")
    merge_variables(layers, list(_variables_for(config, key)), model)
    return RawSettings(key, layers.values, layers.origins)


def validate_settings(model: type[S], raw: RawSettings) -> S:
    """Validate a module's settings.

    Raises:
        ConfigError: A setting is invalid; each problem names file, line, key, the type found and what was expected, and
            never shows a value.
    """
    try:
        return model.model_validate(raw.values)
    except ValidationError as exc:
        # not chained: pydantic's message quotes the values, and one may be a secret
        raise ConfigError(problems_of(exc, model, raw.values, raw.origins)) from None


def _app_layer(app: ConfigFile, key: str) -> Layers:
    path: JsonPath = ("config", key)
    known = Layers()
    known.merge_file(app, "app")
    given = known.get_value(path)
    if given is None and path not in known.origins:
        return Layers(origins={(): Origin("app", app.path, path=path)})
    if not isinstance(given, dict):
        origin = known.origins[path]
        message = f"expected an object of settings, found {kind_of(given)}"
        raise ConfigError([ConfigProblem(message, origin.file, origin.line, origin.column, path)])
    return known.get_subtree(path)


def _variables_for(config: AppConfig, key: str) -> Iterator[Variable]:
    """Yield the environment's settings for one key, each with the rest of its path."""
    for variable in config.sources.settings_variables:
        if len(variable.segments) > 1 and variable.segments[1].lower() == key.lower():
            yield _object_or_deeper(replace(variable, segments=variable.segments[2:]))
        elif len(variable.segments) == 1 and key in variable.value:
            yield _object_or_deeper(replace(variable, segments=(), text=json.dumps(variable.value[key])))


def _object_or_deeper(variable: Variable) -> Variable:
    if not variable.segments and not isinstance(variable.value, dict):
        raise variable.make_error(f"expected an object of settings, found {kind_of(variable.value)}")
    return variable


def _warn_of_other_key(config: AppConfig, name: str, key: str) -> None:
    if name in config.config or settings_file(config, name).exists():
        log.warning("settings_unused", module=name, used=f"config.{key}", unused=f"config.{name}")

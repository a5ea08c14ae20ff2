"""`agentcore config`: shows the effective configuration with its origins, and the JSON Schema of app.json."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentcore.cli.options import config_option, json_option

if TYPE_CHECKING:
    from agentcore.config.json_source import JsonPath
    from agentcore.config.layers import Origin
    from agentcore.config.loading import AppConfig


_MAY_HOLD_KEYS = ("models", "agents")


@click.group()
def config() -> None:
    """The configuration: app.json, modules/NAME.json and the environment."""


@config.command()
@config_option
@json_option
def show(config_path: Path, as_json: bool) -> None:
    """Show each value that counts and where it comes from; secrets are masked.

    Settings of a module that cannot be imported, or that is not on, are hidden, for any of them may be a secret.
    """
    import json

    from agentcore.cli.terminal.output import print_json, print_notice, print_table
    from agentcore.config.json_source import format_path
    from agentcore.config.layers import DEFAULT
    from agentcore.core.discovery.families import load_config

    loaded = load_config(config_path, os.environ)
    values, origins = _load_effective_values(loaded)
    for notice in loaded.notices:
        print_notice(notice)
    if as_json:
        places = {format_path(path): str(origins.get(path, DEFAULT)) for path, _ in _iterate_leaves(values)}
        print_json({"file": str(loaded.file), "values": values, "origins": places})
        return
    rows = [
        (format_path(path), json.dumps(value, ensure_ascii=False), str(origins.get(path, DEFAULT)))
        for path, value in _iterate_leaves(values)
    ]
    print_table(("key", "value", "from"), rows)


@config.command()
@config_option
def schema(config_path: Path) -> None:
    """Print the JSON Schema of app.json, with the settings of every installed module.

    \b
    For editors:
      agentcore config schema > app.schema.json      and in app.json: "$schema": "./app.schema.json"
    """
    from agentcore.cli.own_stdout import reserve_stdout
    from agentcore.cli.terminal.output import print_json, print_warning
    from agentcore.core.discovery.families import load_config
    from agentcore.core.modules.source_choice import remembered_sources
    from agentcore.core.settings.app_schema import installed_schema
    from agentcore.store.state.state_dir import locate_state_dir

    reserve_stdout(click.get_current_context())
    loaded = load_config(config_path, os.environ)
    chosen = remembered_sources(loaded, locate_state_dir(config_path, os.environ))
    found, failures = installed_schema(loaded, chosen)
    for name, reason in failures.items():
        print_warning(f"module {name} could not be imported, its settings are left open: {reason}")
    print_json(found)


def _load_effective_values(loaded: "AppConfig") -> tuple[dict[str, Any], dict["JsonPath", "Origin"]]:
    """Return the masked configuration with the effective settings of modules, and the origins of its values."""
    from agentcore.cli.commands.settings_view import view_settings
    from agentcore.cli.terminal.output import print_warning
    from agentcore.core.settings.display import masked_part
    from agentcore.core.settings.settings_document import SettingsSubject
    from agentcore.secrets import mask_named_secrets

    values = loaded.model_dump(mode="json", by_alias=True, exclude_none=True)
    settings = view_settings(loaded)
    for problem in settings.problems:
        print_warning(problem)
    for part in _MAY_HOLD_KEYS:
        values[part] = mask_named_secrets(values[part])
    subject = SettingsSubject.of_app(loaded, blocks=settings.blocks)
    values |= {key: masked_part(subject, (key,), values.get(key, {})) for key in loaded.family_keys}
    values["config"] = settings.values
    return values, {**loaded.origins, **{("config", *path): origin for path, origin in settings.origins.items()}}


def _iterate_leaves(value: Any, path: "JsonPath" = ()) -> Iterator[tuple["JsonPath", Any]]:
    """Yield the leaf values with their paths; an empty object or a list counts as one value."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from _iterate_leaves(part, (*path, key))
    else:
        yield path, value

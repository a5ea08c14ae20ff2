"""Finds secrets written out in app.json and module files, and those that other users of the machine can see."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from agentcore.cli.diagnosis.finding import Finding
from agentcore.config.config_errors import ConfigError
from agentcore.config.config_file import ConfigFile
from agentcore.config.json_source import JsonPath, format_path
from agentcore.config.loading import AppConfig
from agentcore.config.settings_of_modules import module_settings
from agentcore.config.written_secrets import secrets_to_mask
from agentcore.core.discovery.families import FamilyMember, name_of_block
from agentcore.core.discovery.installed import installed_families
from agentcore.core.discovery.source_search import find_module
from agentcore.core.modules.family_block import block_model, raw_block, settings_in_code
from agentcore.core.modules.source_choice import remembered_sources
from agentcore.errors import AgentcoreError
from agentcore.server.modules.pasted import exposure_warning, secrets_in
from agentcore.store.credentials.secret_table import read_secrets
from agentcore.store.state.state_dir import locate_state_dir

_SUBJECT = "secrets in settings"
_ADVICE = "put it into env of the block where the program reads it there"


def check_written_secrets(config: AppConfig) -> Iterator[Finding]:
    """Report the location of each value that looks like a secret and the command that stores it, never the value."""
    try:
        taken = set(read_secrets(locate_state_dir(config.file)))
    except AgentcoreError:
        taken = set()  # modules that refer to a secret report the error
    declared = _declared_secrets(config)
    app = ConfigFile.read(config.file)
    for top in ("config", *config.family_keys):
        blocks = app.source.value.get(top)
        for key, block in blocks.items() if isinstance(blocks, dict) else ():
            yield from _spelled_out(app, (top, key), block, taken, declared)
    for path in sorted(config.modules_folder.glob("*.json")):
        try:
            own = ConfigFile.read(path)
        except ConfigError:
            continue  # the file's module reports the error
        yield from _spelled_out(own, (), own.source.value, taken, declared)
    yield from _exposed(config, app)


def _declared_secrets(config: AppConfig) -> frozenset[str]:
    """Return the setting values that the models of enabled modules declare as secrets; imports these modules."""
    chosen = remembered_sources(config, locate_state_dir(config.file))
    found: set[str] = set()
    for name in config.modules:
        try:
            found.update(secrets_to_mask(*_model_and_values(config, name, chosen.get(name, ""))))
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001, S112 - what keeps a module from being imported is a finding of its own
            continue
    return frozenset(found)


def _model_and_values(config: AppConfig, name: str, chosen: str) -> tuple[type[BaseModel] | None, Any]:
    module = find_module(name, config, chosen)
    if isinstance(module, FamilyMember):
        return block_model(module.load()), raw_block(module).values
    key, model = settings_in_code(module, config)
    return model, module_settings(config, name, key, model).values


def _spelled_out(
    file: ConfigFile, path: JsonPath, block: Any, taken: set[str], declared: frozenset[str]
) -> Iterator[Finding]:
    if not isinstance(block, dict):
        return
    key = str(path[-1]) if path else file.path.stem
    for secret in secrets_in(key, block, taken, declared):
        taken.add(secret.name)
        place = (*path, *secret.path)
        line, _ = file.source.locate(place)
        said = f"{file.path}:{line}: {format_path(place)} looks like a secret that anyone who can read the file can see"
        advice = f"agentcore secrets set {secret.name} stores it; then write ${{secret:{secret.name}}} in its place"
        yield Finding("note", _SUBJECT, said, advice)


def _exposed(config: AppConfig, app: ConfigFile) -> Iterator[Finding]:
    """Report exposed secrets of disabled modules' blocks; an enabled module reports its own."""
    for family in installed_families():
        blocks = app.source.value.get(family.key)
        for key, block in blocks.items() if isinstance(blocks, dict) else ():
            is_on = name_of_block(family, key) in config.modules
            if isinstance(block, dict) and not is_on and (warning := exposure_warning(block)):
                yield Finding("note", _SUBJECT, f"{format_path((family.key, key))}: {warning}", _ADVICE)

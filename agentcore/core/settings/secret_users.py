"""Which modules name which secrets in their current settings."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from agentcore.config.config_errors import ConfigError
from agentcore.config.loading import AppConfig
from agentcore.config.references import secrets_named
from agentcore.config.settings_of_modules import module_settings
from agentcore.core.discovery.families import FamilyMember
from agentcore.core.discovery.source_search import ModuleNotChosen, ModuleNotInstalled, find_module


def users_of_secrets(config: AppConfig, keys: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the enabled modules that name a secret, by its name.

    Args:
        keys: The key of a module's settings, by its name; the default is its name.
    """
    users: dict[str, list[str]] = {}
    for module in dict.fromkeys((*config.modules, *keys)):
        named = {
            name
            for settings in _settings_values(config, module, keys.get(module, module))
            for name in secrets_named(settings)
        }
        for name in named:
            users.setdefault(name, []).append(module)
    return users


def _settings_values(config: AppConfig, module: str, key: str) -> Iterator[Any]:
    with suppress(ConfigError):  # they cannot be read, which the module reports
        yield module_settings(config, key).values
    try:
        found = find_module(module, config)
    except (ConfigError, ModuleNotChosen, ModuleNotInstalled):
        return
    if isinstance(found, FamilyMember):
        yield found.block

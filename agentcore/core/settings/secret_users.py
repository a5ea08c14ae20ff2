"""Which modules name which secrets in their settings, as the files say now."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from agentcore.config.errors import ConfigError
from agentcore.config.loading import AppConfig
from agentcore.config.references import secrets_named
from agentcore.config.settings_of_modules import module_settings
from agentcore.core.discovery.families import FamilyMember
from agentcore.core.discovery.finding import ModuleNotChosen, ModuleNotInstalled, find_module


def users_of_secrets(config: AppConfig, keys: Mapping[str, str]) -> dict[str, list[str]]:
    """The modules that are on and name a secret, by its name.

    Args:
        keys: Under which key the settings of a module stand, by its name; another's are looked for under its name.
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
    with suppress(ConfigError):  # they cannot be read, and the module says so
        yield module_settings(config, key).values
    try:
        found = find_module(module, config)
    except (ConfigError, ModuleNotChosen, ModuleNotInstalled):
        return
    if isinstance(found, FamilyMember):
        yield found.block

"""The core: loads modules, carries out calls, manages resources."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentcore.config.errors import ConfigError
    from agentcore.config.loading import AppConfig
    from agentcore.core.calls.call import CallOutcome, CallRequest
    from agentcore.core.core import Core
    from agentcore.core.declarations.hosted_names import host_in
    from agentcore.core.discovery.families import load_config

__all__ = ["AppConfig", "CallOutcome", "CallRequest", "ConfigError", "Core", "host_in", "load_config"]

_HOMES = {
    "AppConfig": "agentcore.config.loading",
    "CallOutcome": "agentcore.core.calls.call",
    "CallRequest": "agentcore.core.calls.call",
    "ConfigError": "agentcore.config.errors",
    "Core": "agentcore.core.core",
    "host_in": "agentcore.core.declarations.hosted_names",
    "load_config": "agentcore.core.discovery.families",
}


def __getattr__(name: str) -> object:
    # at first use: code that only finds modules, such as shell completion, needs no core
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)

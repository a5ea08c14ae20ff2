"""For authors of modules: fixtures for pytest that run a module in the real core, and over real HTTP.

pytest finds the plugin (`agentcore.testing.plugin`) automatically once agentcore is installed; the fixtures need
pytest-asyncio and pytest-aiohttp (`pip install agentcore-runtime[testing]`):

- `agentcore_host` starts a core: after `host = await agentcore_host(modules=[Weather()])`, the call
  `await host.call("weather_now", city="Bonn")` returns the `ToolResult` or raises the `ToolError`; see `RunningHost`.
- `agentcore_client` starts a server on loopback, and returns a client of it that uses the API token:
  `client = await agentcore_client(modules=[Weather()])`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentcore.testing.events import EventLog
    from agentcore.testing.hosting import HostFactory, ModuleNotReadyError, RunningHost
    from agentcore.testing.serving import ClientFactory, ServerClient

__all__ = ["ClientFactory", "EventLog", "HostFactory", "ModuleNotReadyError", "RunningHost", "ServerClient"]

_HOMES = {
    "ClientFactory": "serving",
    "EventLog": "events",
    "HostFactory": "hosting",
    "ModuleNotReadyError": "hosting",
    "RunningHost": "hosting",
    "ServerClient": "serving",
}


def __getattr__(name: str) -> object:
    # at first use: pytest imports this package in every run, also of projects that have nothing to do with agentcore
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

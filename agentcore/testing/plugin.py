"""The pytest plugin: light, because every run of pytest imports it wherever agentcore is installed."""

from importlib import import_module
from importlib.util import find_spec

import pytest

_FIXTURES = "agentcore.testing.fixtures"
_NEEDED = ("pytest_asyncio", "pytest_aiohttp")


def pytest_configure(config: pytest.Config) -> None:
    """Add the fixtures where what they need is installed, and name what the marker `spec` means."""
    if all(find_spec(name) is not None for name in _NEEDED) and not config.pluginmanager.has_plugin(_FIXTURES):
        config.pluginmanager.register(import_module(_FIXTURES), _FIXTURES)

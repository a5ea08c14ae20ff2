"""Servers of the tests, mounted in the real host."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agentcore.testing import HostFactory, RunningHost

HERE = Path(__file__).parent

Block = dict[str, Any]
Mount = Callable[..., Awaitable[RunningHost]]


@pytest.fixture
def example() -> Callable[..., Block]:
    """Make the block of the example, with what agentcore is to make of it."""
    return lambda **ours: {"command": sys.executable, "args": [str(HERE / "example_server.py")], "agentcore": ours}


@pytest.fixture
def odd() -> Callable[..., Block]:
    """Make the block of a server that goes wrong in a way."""
    program = str(HERE / "odd_server.py")
    return lambda way, **ours: {"command": sys.executable, "args": [program, way], "agentcore": ours}


@pytest.fixture
def mount(agentcore_host: HostFactory, example: Callable[..., Block]) -> Mount:
    """Mount one server under the key `Example`."""

    async def mounted(block: Block | None = None, **options: Any) -> RunningHost:
        servers = {"Example": example() if block is None else block}
        return await agentcore_host(["mcp_example"], config={"mcpServers": servers}, **options)

    return mounted

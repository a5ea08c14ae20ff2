"""Hosts with the module, one for the tests of a file that only call tools, and ways to look at what came of a call."""

import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from agentcore.api import Text, ToolError, ToolResult
from agentcore.testing import HostFactory, RunningHost

CallTool = Callable[..., Awaitable[ToolResult]]


class StartHost(Protocol):
    """Starts a host with the module, and settings for it."""

    async def __call__(self, *roots: Path, **settings: Any) -> RunningHost: ...


@pytest.fixture
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The first workspace root: an empty folder."""
    if "call" not in request.fixturenames:
        (tmp_path / "root").mkdir()
        return tmp_path / "root"
    shared: RunningHost = request.getfixturevalue("shared_host")
    for path in shared.workspace.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    return shared.workspace


@pytest.fixture
def start(agentcore_host: HostFactory, root: Path) -> StartHost:
    """Start a host with the module; without roots it has `root`."""

    async def make(*roots: Path, **settings: Any) -> RunningHost:
        config = {"config": {"fs_tools": settings}}
        return await agentcore_host(modules=["fs_tools"], config=config, roots=roots or (root,))

    return make


@pytest.fixture
def call(shared_host: RunningHost, root: Path) -> CallTool:
    """Call a tool of the file's host as a person does: `await call("read_file", path="a.txt")`."""
    return shared_host.call


@pytest.fixture
def failure(call: CallTool) -> Callable[..., Awaitable[ToolError]]:
    """Call a tool that fails, and give its error."""

    async def run(tool: str, /, **arguments: Any) -> ToolError:
        with pytest.raises(ToolError) as caught:
            await call(tool, **arguments)
        return caught.value

    return run


@pytest.fixture
def text() -> Callable[[ToolResult], str]:
    """All text of a result."""
    return lambda result: "\n".join(block.text for block in result.blocks() if isinstance(block, Text))

"""A host with the module, and short ways to call its tools and to look for processes."""

import contextlib
import shutil
import subprocess
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import psutil
import pytest

from agentcore.api import Text, ToolError, ToolResult
from agentcore.testing import HostFactory, RunningHost


class StartHost(Protocol):
    """Starts a host with the module, and settings for it."""

    async def __call__(self, **settings: Any) -> RunningHost: ...


@pytest.fixture(scope="session")
def sandbox_works() -> bool:
    """Whether commands can be confined on this system at all."""
    program = shutil.which("bwrap")
    if program is None:
        return False
    command = [program, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture
def needs_sandbox(sandbox_works: bool) -> None:
    """Leave a test out where commands cannot be confined."""
    if not sandbox_works:
        pytest.skip("bubblewrap is not installed, or does not work on this system")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The first workspace root."""
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.fixture
def config(sandbox_works: bool) -> dict[str, Any]:
    """The part of app.json without which each first command would wait for approval, where there is no sandbox."""
    return {"config": {"shell_tools": {} if sandbox_works else {"sandbox": "off"}}}


@pytest.fixture
def start(agentcore_host: HostFactory, root: Path, config: dict[str, Any]) -> StartHost:
    """Start a host with the module."""

    async def make(**settings: Any) -> RunningHost:
        config["config"]["shell_tools"].update(settings)
        return await agentcore_host(modules=["shell_tools"], config=config, roots=[root])

    return make


@pytest.fixture
async def host(start: StartHost) -> RunningHost:
    return await start()


@pytest.fixture
def call(host: RunningHost) -> Callable[..., Awaitable[ToolResult]]:
    """Call a tool of the module as a person does: `await call("bash", command="ls")`."""
    return host.call


@pytest.fixture
def spawn(call) -> Callable[..., Awaitable[str]]:
    """Start a command in the background, and give its process_id."""

    async def run(command: str, **options: Any) -> str:
        return (await call("bash", command=command, background=True, **options)).data["process_id"]

    return run


@pytest.fixture
def failure(call) -> Callable[..., Awaitable[ToolError]]:
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


@pytest.fixture
def mark() -> str:
    """A word by which the processes of one test are found."""
    return f"mark{uuid.uuid4().hex}"


@pytest.fixture
def living(mark: str) -> Callable[[], int]:
    """How many processes have the mark in their name; others may have it in their arguments."""

    def count() -> int:
        found = 0
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                is_gone = process.status() == psutil.STATUS_ZOMBIE
                found += not is_gone and any(mark in word for word in process.cmdline()[:1])
        return found

    return count

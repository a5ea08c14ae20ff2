"""The fixtures that authors of modules use; documented in `agentcore.testing`."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

if TYPE_CHECKING:
    from agentcore.testing.hosting import HostFactory, HostPlan, ModuleLike, RunningHost
    from agentcore.testing.serving import ClientFactory, ServerClient


class _Running:
    """What one test has started, to be stopped in reverse order when it ends."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self.stack = AsyncExitStack()

    async def start(self, home: str, way: str, plan: "HostPlan") -> Any:
        """Enter `agentcore.testing.HOME.WAY`, which is imported now: pytest loads these fixtures in every run."""
        opened = import_module("agentcore.host.context_task").ContextTask.open(
            getattr(import_module(f"agentcore.testing.{home}"), way)(plan, self._folders.mktemp("agentcore")), way
        )
        held = await opened
        self.stack.push_async_callback(held.close)
        return held.value


@pytest_asyncio.fixture
async def agentcore_host(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator["HostFactory"]:
    """Start real hosts with the modules of a test; see `agentcore.testing.HostFactory` and `RunningHost`."""
    running = _Running(tmp_path_factory)

    async def make(
        modules: Sequence["ModuleLike"] = (),
        *,
        config: Mapping[str, Any] | None = None,
        roots: Sequence[Path] = (),
        environ: Mapping[str, str] | None = None,
        is_failure_expected: bool = False,
    ) -> "RunningHost":
        plan = _plan(modules, config, roots, environ, is_failure_expected=is_failure_expected)
        host: RunningHost = await running.start("hosting", "running_host", plan)
        return host

    async with running.stack:
        yield make


@pytest_asyncio.fixture
async def agentcore_client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator["ClientFactory"]:
    """Start real servers with the modules of a test; see `agentcore.testing.ClientFactory` and `ServerClient`."""
    running = _Running(tmp_path_factory)

    async def make(
        modules: Sequence["ModuleLike"] = (),
        *,
        config: Mapping[str, Any] | None = None,
        roots: Sequence[Path] = (),
        environ: Mapping[str, str] | None = None,
        is_failure_expected: bool = False,
    ) -> "ServerClient":
        plan = _plan(modules, config, roots, environ, is_failure_expected=is_failure_expected)
        client: ServerClient = await running.start("serving", "running_server", plan)
        return client

    async with running.stack:
        yield make


def _plan(*wanted: Any, is_failure_expected: bool) -> "HostPlan":
    plan: HostPlan = import_module("agentcore.testing.hosting").HostPlan(
        *wanted, is_failure_expected=is_failure_expected
    )
    return plan

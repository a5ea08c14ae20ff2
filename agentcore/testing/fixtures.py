"""The fixtures that authors of modules use; documented in `agentcore.testing`."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

if TYPE_CHECKING:
    from agentcore.testing.hosting import HostFactory, ModuleLike
    from agentcore.testing.serving import ClientFactory


@pytest_asyncio.fixture
async def agentcore_host(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator["HostFactory"]:
    """Start the real core with the modules of a test; see `agentcore.testing.HostFactory` and `RunningHost`."""
    async with AsyncExitStack() as running:
        yield _create_factory(running, tmp_path_factory, "hosting", "running_host")


@pytest_asyncio.fixture
async def agentcore_client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator["ClientFactory"]:
    """Start real servers with the modules of a test; see `agentcore.testing.ClientFactory` and `ServerClient`."""
    async with AsyncExitStack() as running:
        yield _create_factory(running, tmp_path_factory, "serving", "running_server")


def _create_factory(running: AsyncExitStack, folders: pytest.TempPathFactory, home: str, way: str) -> Any:
    """Enters `agentcore.testing.HOME.WAY` for each plan; what was entered is left in reverse order."""

    async def make(modules: Sequence["ModuleLike"] = (), **wanted: Any) -> Any:
        # imported now: pytest loads these fixtures in every run
        plan = import_module("agentcore.testing.hosting").HostPlan(modules, **wanted)
        context = getattr(import_module(f"agentcore.testing.{home}"), way)(plan, folders.mktemp("agentcore"))
        held = await import_module("agentcore.core.context_task").ContextTask.open(context, way)
        running.push_async_callback(held.close)
        return held.value

    return make

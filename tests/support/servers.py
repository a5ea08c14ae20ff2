"""Servers and hosts for tests, described in the test file."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

if TYPE_CHECKING:
    from agentcore.testing import ClientFactory, HostFactory, RunningHost, ServerClient

SHARED = {"shared_server", "shared_host", "shared_bare_server"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests that share a server in the event loop of that server."""
    for item in items:
        is_async = isinstance(item, pytest.Function) and iscoroutinefunction(item.obj)
        if is_async and SHARED.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)


@pytest.fixture
async def server(request: pytest.FixtureRequest, agentcore_client: "ClientFactory") -> "ServerClient":
    """The server that the test file describes as `SERVER`, for one test."""
    return await agentcore_client(**getattr(request.module, "SERVER", {}))


@pytest.fixture
async def host(request: pytest.FixtureRequest, agentcore_host: "HostFactory") -> "RunningHost":
    """The host that the test file describes as `HOST`, for one test."""
    return await agentcore_host(**getattr(request.module, "HOST", {}))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator["ServerClient"]:
    """The server that the test file describes as `SERVER`, for all tests of the file."""
    from agentcore.testing.serving import running_server

    async with _started(running_server, getattr(request.module, "SERVER", {}), tmp_path_factory) as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_host(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator["RunningHost"]:
    """The host that the test file describes as `HOST`, for all tests of the file."""
    from agentcore.testing.hosting import running_host

    async with _started(running_host, getattr(request.module, "HOST", {}), tmp_path_factory) as host:
        yield host


def _started(
    start: Any, described: dict[str, Any], folders: pytest.TempPathFactory
) -> AbstractAsyncContextManager[Any]:
    from agentcore.testing.hosting import HostPlan

    started: AbstractAsyncContextManager[Any] = start(HostPlan(**described), folders.mktemp("agentcore"))
    return started

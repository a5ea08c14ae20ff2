"""A host with both modules and a real browser, shared by the tests of a file; and a small site for it to visit."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib.util import module_from_spec, spec_from_file_location
from inspect import iscoroutinefunction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import pytest_asyncio

from agentcore.api import Text, ToolError, ToolResult
from agentcore.testing import RunningHost
from agentcore.testing.hosting import HostPlan, running_host

_HERE = Path(__file__).parent


def _beside(name: str) -> ModuleType:
    """A file beside this one: the folder of a plugin's tests is no package."""
    spec = spec_from_file_location(f"agentcore_chrome_test_{name}", _HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


site_module, manual_module, elsewhere_module = _beside("site"), _beside("manual"), _beside("elsewhere")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of a file share one host and its browser, which live in one event loop."""
    for item in items:
        if item.path.is_relative_to(_HERE) and isinstance(item, pytest.Function) and iscoroutinefunction(item.obj):
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)


@pytest.fixture(scope="session")
def browser_program(chromium: str) -> str:
    """The browser's program."""
    return chromium


@pytest.fixture(name="site_module", scope="session")
def _site_module() -> ModuleType:
    """What the site's pages are made from."""
    return site_module


@pytest.fixture(name="elsewhere", scope="session")
def _elsewhere() -> ModuleType:
    """What starts Playwright servers and links that can be cut."""
    return elsewhere_module


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[Any]:
    """The site."""
    async with site_module.running_site() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def other_site() -> AsyncIterator[Any]:
    """The same site at a port of its own."""
    async with site_module.running_site() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def manual() -> AsyncIterator[str]:
    """The address of a manual of many pages."""
    async with manual_module.running_manual() as address:
        yield address


@asynccontextmanager
async def _hosting(
    folder: Path, modules: tuple[str, ...] = ("chrome", "browser"), **settings: Any
) -> AsyncIterator[RunningHost]:
    config = {"config": {"chrome": {"allow_private": True, "blocked_hosts": ["blocked.test"], **settings}}}
    folder.mkdir(exist_ok=True)
    async with running_host(HostPlan(modules, config), folder) as host:
        yield host


@pytest.fixture
def hosting(browser_program: str) -> Callable[..., AbstractAsyncContextManager[RunningHost]]:
    """Run a host with both modules in a folder, and settings for them."""
    return _hosting


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def start_host(
    tmp_path_factory: pytest.TempPathFactory, browser_program: str
) -> AsyncIterator[Callable[..., Awaitable[RunningHost]]]:
    """Start hosts with both modules, and settings for them."""
    async with AsyncExitStack() as stack:

        async def start(*modules: tuple[str, ...], **settings: Any) -> RunningHost:
            return await stack.enter_async_context(_hosting(tmp_path_factory.mktemp("host"), *modules, **settings))

        yield start


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host(start_host: Callable[..., Awaitable[RunningHost]]) -> RunningHost:
    """One host for the tests of a file."""
    return await start_host()


@pytest.fixture
def call(host: RunningHost) -> Callable[..., Awaitable[ToolResult]]:
    """Call a tool as a person does."""
    return host.call


@pytest.fixture
def failure(call: Callable[..., Awaitable[ToolResult]]) -> Callable[..., Awaitable[ToolError]]:
    """Call a tool that fails, and give its error."""

    async def run(tool: str, /, **arguments: Any) -> ToolError:
        with pytest.raises(ToolError) as caught:
            await call(tool, **arguments)
        return caught.value

    return run


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser_id(host: RunningHost) -> str:
    """A browser that was launched by id, for the tests of a file."""
    return str((await host.call("chrome_launch")).data["browserId"])


@pytest_asyncio.fixture(loop_scope="module")
async def tab(host: RunningHost, browser_id: str) -> AsyncIterator[str]:
    """A new tab, closed after the test."""
    tab_id = (await host.call("chrome_new_tab", browserId=browser_id)).data["tabId"]
    yield tab_id
    if any(tab_id == tab["tabId"] for tab in (await host.call("chrome_list_tabs", browserId=browser_id)).data["tabs"]):
        await host.call("chrome_close_tab", tabId=tab_id)


@pytest.fixture
def text() -> Callable[[ToolResult], str]:
    """All text of a result."""
    return lambda result: "\n".join(block.text for block in result.blocks() if isinstance(block, Text))


@pytest.fixture
def session(request):
    """A session of the test's own."""
    return "s-" + "".join(letter if letter.isalnum() else "-" for letter in request.node.name)[:50]


@pytest.fixture
def act(host: RunningHost, session):
    """Call a tool in the test's session."""

    async def run(tool, /, session_id=session, **arguments):
        outcome = await host.outcome(tool, arguments, session_id=session_id)
        return outcome.unwrap()

    return run


@pytest.fixture
def fails(act):
    async def run(tool, /, **arguments):
        with pytest.raises(ToolError) as caught:
            await act(tool, **arguments)
        return caught.value

    return run

"""A host with both modules and a real browser, shared by all tests; and a small site for it to visit.

A file that starts hosts of its own says `STARTS_HOSTS = True`: its tests run in an event loop of their own, for the end
of a host takes along what other hosts of the same loop have of its modules; and `host` is one for that file.

A file whose tests each begin by opening an address says `SHARES_PAGE = True`: they do so in one page, because a new one
costs more than most tests do in it.
"""

import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib.util import module_from_spec, spec_from_file_location
from inspect import iscoroutinefunction
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest
import pytest_asyncio

from agentcore.api import Text, ToolError, ToolResult
from agentcore.testing import RunningHost
from agentcore.testing.hosting import HostPlan, running_host
from tests import programs
from tests.support.collected import items_below

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
    """Tests that share a host and its browser run in the event loop that these live in, and before the other ones."""
    # sorted by this key, all other tests stay where they are: those of this folder follow one another
    own = set(items_below(_HERE, items))
    items.sort(key=lambda item: item in own and _starts_hosts(getattr(item, "module", None)))
    for item in own:
        if isinstance(item, pytest.Function) and iscoroutinefunction(item.obj):
            loop_scope = "module" if _starts_hosts(item.module) else "session"
            item.add_marker(pytest.mark.asyncio(loop_scope=loop_scope), append=False)


def _starts_hosts(module: ModuleType | None) -> bool:
    return getattr(module, "STARTS_HOSTS", False)


def _shares_page(module: ModuleType) -> bool:
    return getattr(module, "SHARES_PAGE", False)


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


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def session_site() -> AsyncIterator[Any]:
    """The site, for all tests that share a host."""
    async with site_module.running_site() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def file_site() -> AsyncIterator[Any]:
    """The site, for the tests of a file that starts hosts."""
    async with site_module.running_site() as running:
        yield running


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Any:
    """The site."""
    return request.getfixturevalue("file_site" if _starts_hosts(request.module) else "session_site")


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
async def file_host(start_host: Callable[..., Awaitable[RunningHost]]) -> RunningHost:
    """A host for the tests of a file that starts further ones."""
    return await start_host()


class SharedHost:
    """The host that tests share, in one event loop.

    The end of any other host of this process that has the same modules ends its browsers too: the core knows what a
    module started by the module's name. It is started again then.
    """

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders, self._stack = folders, AsyncExitStack()
        self._host: RunningHost | None = None
        self._pids: list[int] = []
        self._browser_id = ""

    async def get(self) -> RunningHost:
        """The host; started where there is none, or its browsers have ended."""
        if not all(_is_running(pid) for pid in self._pids):
            await self.stop()
        if self._host is None:
            # the headless shell where it is installed: a third less work, and a second browser to try the tools in
            shell = programs.find("chromium-headless-shell")
            settings = {"executable": shell} if shell else {}
            self._host = await self._stack.enter_async_context(_hosting(self._folders.mktemp("host"), **settings))
        return self._host

    async def browser_id(self) -> str:
        """A browser that was launched by id."""
        if not self._browser_id and self._host is not None:
            self._browser_id = str((await self._host.call("chrome_launch")).data["browserId"])
        return self._browser_id

    async def clean(self, kept_session: str = "") -> None:
        """Close the pages of chats, and browsers that a test has launched.

        Args:
            kept_session: Whose page stays open, if it is the only one of this session.
        """
        if self._host is None:
            return
        resources = self._host.host.resources
        kept = resources.list(session_id=kept_session, resource_type="browser") if kept_session else []
        for resource in resources.list(resource_type="browser"):
            if len(kept) != 1 or resource.resource_id != kept[0].resource_id or resource.status != "ready":
                await resources.release(resource.resource_id)
        self._pids = []
        for browser in (await self._host.call("chrome_list")).data["browsers"]:
            if browser["isShared"] or browser["browserId"] == self._browser_id:
                self._pids.append(browser["pid"])
            else:
                await self._host.call("chrome_close", browserId=browser["browserId"])

    async def stop(self) -> None:
        """End the host; safe to call twice."""
        self._host, self._pids, self._browser_id = None, [], ""
        await self._stack.aclose()


def _is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def session_host(tmp_path_factory: pytest.TempPathFactory, browser_program: str) -> AsyncIterator[SharedHost]:
    """Keeps the host that all tests share but those of files that start hosts."""
    shared = SharedHost(tmp_path_factory)
    yield shared
    await shared.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def clean_host(
    request: pytest.FixtureRequest, session_host: SharedHost, session: str
) -> AsyncIterator[RunningHost]:
    """The shared host; what a test opens in it is closed after the test, but for the page that the file shares."""
    yield await session_host.get()
    await session_host.clean(kept_session=session if _shares_page(request.module) else "")


@pytest.fixture
def host(request: pytest.FixtureRequest) -> RunningHost:
    """A host with both modules."""
    host: RunningHost = request.getfixturevalue("file_host" if _starts_hosts(request.module) else "clean_host")
    return host


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


@pytest_asyncio.fixture(loop_scope="session")
async def browser_id(session_host: SharedHost, clean_host: RunningHost) -> str:
    """A browser that was launched by id, for the tests that share the host."""
    return await session_host.browser_id()


@pytest_asyncio.fixture(loop_scope="session")
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
    """A session of the test's own, or of its file."""
    name = request.module.__name__ if _shares_page(request.module) else request.node.name
    return "s-" + "".join(letter if letter.isalnum() else "-" for letter in name)[-50:]


@pytest.fixture
def act(host: RunningHost, session):
    """Call a tool in the test's session."""

    async def run(tool, /, session_id=session, **arguments):
        outcome = await host.outcome(tool, arguments, session_id=session_id)
        return outcome.unwrap()

    return run


@pytest.fixture
def show(act, site):
    """Show a page with some HTML in the test's session."""

    async def run(html):
        await act("browser_navigate", url=site.url("/"))
        await act("browser_evaluate", script=f"document.title = ''; document.body.innerHTML = {json.dumps(html)}; 1")

    return run


@pytest.fixture
def value(act):
    """The value of an expression in the page of the test's session."""

    async def run(script):
        return (await act("browser_evaluate", script=script)).data["value"]

    return run


@pytest.fixture
def ref_of(act):
    """The reference that a snapshot shows beside a role and name."""

    async def run(said, **arguments):
        text = (await act("browser_snapshot", **arguments)).blocks()[0].text
        return re.search(rf"{said}.* \[ref=(\w+)\]", text)[1]

    return run


@pytest.fixture
def fails(act):
    async def run(tool, /, **arguments):
        with pytest.raises(ToolError) as caught:
            await act(tool, **arguments)
        return caught.value

    return run

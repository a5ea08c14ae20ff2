"""A server with the module, browser sessions that are logged in, and the real page in Chromium."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page

from agentcore.testing import ServerClient
from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import running_server
from tests.support.collected import items_below
from tests.support.waiting import wait_until

_HERE = Path(__file__).parent
WAIT_MS, START_MS = 30_000, 60_000

LogIn = Callable[[], Awaitable[aiohttp.ClientSession]]
OpenPage = Callable[..., Awaitable[Page]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of a run share one browser, which lives in one event loop."""
    for item in items_below(_HERE, items):
        if isinstance(item, pytest.Function) and iscoroutinefunction(item.obj):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(loop_scope="session")
async def server(tmp_path: Path) -> AsyncIterator[ServerClient]:
    """A server with the module."""
    async with running_server(HostPlan(["ui_page"]), tmp_path) as client:
        yield client


@pytest_asyncio.fixture(loop_scope="session")
async def log_in(server: ServerClient) -> AsyncIterator[LogIn]:
    """Give clients that hold the session of a browser each, as the page does."""
    async with AsyncExitStack() as stack:

        async def enter() -> aiohttp.ClientSession:
            code = server.running.host.store.page_sessions.create_code()
            client = aiohttp.ClientSession(server.make_url("/"), cookie_jar=aiohttp.CookieJar(unsafe=True))
            await stack.enter_async_context(client)
            async with client.post("/api/session", json={"code": code}) as answer:
                client.headers["X-Agentcore-Session"] = (await answer.json())["session"]
            return client

        yield enter


@asynccontextmanager
async def opening(server: ServerClient, browser: Browser) -> AsyncIterator[OpenPage]:
    """Open agentcore's page, logged in, and return when it can be given commands."""
    contexts: list[BrowserContext] = []

    async def enter(prepare: Callable[[Page], Awaitable[Any]] | None = None) -> Page:
        context = await browser.new_context(viewport={"width": 1000, "height": 700}, locale="en-US")
        contexts.append(context)
        context.set_default_timeout(WAIT_MS)
        context.set_default_navigation_timeout(START_MS)
        page = await context.new_page()
        if prepare is not None:
            await prepare(page)
        code = server.running.host.store.page_sessions.create_code()
        before = await known(server)
        await page.goto(f"{server.make_url('/')}#code={code}")
        await page.locator("ac-app nav").first.wait_for(state="attached", timeout=START_MS)

        async def is_known() -> bool:
            return await known(server) > before

        await wait_until(is_known)
        return page

    try:
        yield enter
    finally:
        for context in contexts:
            await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(server: ServerClient, browser: Browser) -> AsyncIterator[OpenPage]:
    """Open pages of the test's own server."""
    async with opening(server, browser) as enter:
        yield enter


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def common_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServerClient]:
    """One server for the tests of a file that do not change it."""
    async with running_server(HostPlan(["ui_page"]), tmp_path_factory.mktemp("server")) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def common_page(common_server: ServerClient, browser: Browser) -> AsyncIterator[Page]:
    """The one page of that server that is always there; a test that changes it loads it again."""
    async with opening(common_server, browser) as enter:
        yield await enter()


@pytest_asyncio.fixture(loop_scope="session")
async def open_another(common_server: ServerClient, common_page: Page, browser: Browser) -> AsyncIterator[OpenPage]:
    """Open pages of the common server beside the common one; they are closed with the test."""
    async with opening(common_server, browser) as enter:
        yield enter


async def known(server: ServerClient) -> int:
    """How many pages the module has heard of."""
    async with server.get("/api/modules/ui_page/state") as answer:
        return len((await answer.json())["pages"])

"""A server with the module, browser sessions that are logged in, and the real page in Chromium."""

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from agentcore.testing import ClientFactory, ServerClient

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WAIT_MS = 30_000

LogIn = Callable[[], Awaitable[aiohttp.ClientSession]]
OpenPage = Callable[..., Awaitable[Page]]


@pytest.fixture
async def server(agentcore_client: ClientFactory) -> ServerClient:
    """A server with the module."""
    return await agentcore_client(modules=["ui_page"])


@pytest.fixture
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


@pytest_asyncio.fixture
async def browser() -> AsyncIterator[Browser]:
    """Chromium."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium on PATH")
    expect.set_options(timeout=WAIT_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()


@pytest.fixture
async def open_page(server: ServerClient, browser: Browser) -> OpenPage:
    """Open agentcore's page, logged in, and return when it can be given commands."""

    async def enter(prepare: Callable[[Page], Awaitable[Any]] | None = None) -> Page:
        context = await browser.new_context(viewport={"width": 1000, "height": 700}, locale="en-US")
        context.set_default_timeout(WAIT_MS)
        page = await context.new_page()
        if prepare is not None:
            await prepare(page)
        code = server.running.host.store.page_sessions.create_code()
        before = await known(server)
        await page.goto(f"{server.make_url('/')}#code={code}")
        await page.locator("ac-app nav").first.wait_for(state="attached")
        while await known(server) <= before:
            await page.wait_for_timeout(20)
        return page

    return enter


async def known(server: ServerClient) -> int:
    """How many pages the module has heard of."""
    async with server.get("/api/modules/ui_page/state") as answer:
        return len((await answer.json())["pages"])

"""The real page in Chromium, from the real server."""

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Error, Page, Route

from agentcore.core.context_task import ContextTask
from agentcore.core.core import Core
from agentcore.server.http.application import ServerApplication
from agentcore.testing.hosting import HostPlan, ModuleLike
from agentcore.testing.serving import ServerClient, running_server
from tests.support.pages import PagePool
from tests.support.ports import is_free

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 800}
WAIT_MS, START_MS = 30_000, 60_000
"""How long a test waits for an element, and for a page to start."""


@dataclass
class WebUi:
    """A running server, and pages of it.

    Attributes:
        held: The running server.
        plan: What it was started with.
        folder: Where app.json and `modules/` lie.
        allowed_errors: Texts of console messages and uncaught errors that a test wants; any other fails the test.
    """

    held: ContextTask[ServerClient]
    plan: HostPlan
    folder: Path
    browser: Browser | None
    pool: PagePool
    stack: AsyncExitStack
    allowed_errors: list[str] = field(default_factory=list)
    found_errors: list[str] = field(default_factory=list)

    @property
    def server(self) -> ServerClient:
        """The server, with `running`, the host behind it."""
        return self.held.value

    @property
    def host(self) -> Core:
        return self.server.running.host

    @property
    def address(self) -> str:
        return str(self.server.make_url("/")).rstrip("/")

    async def context(self, **options: Any) -> BrowserContext:
        """A context of its own, which no other test uses; `page` takes one that was used before."""
        assert self.browser is not None
        context = await self.browser.new_context(**_completed(options))
        self.stack.push_async_callback(context.close)
        context.set_default_timeout(WAIT_MS)
        context.set_default_navigation_timeout(START_MS)
        return context

    async def page(
        self, path: str = "#/", *, is_logged_in: bool = True, is_reused: bool = True, **options: Any
    ) -> Page:
        """A page in a context that no other page is in.

        Args:
            path: What the address says, such as `#/modules`.
            is_logged_in: Whether it logs in first.
            is_reused: Whether it may be used again; not where a test changes what cannot be reset: see `PagePool`.
            options: Of the browser context, such as `color_scheme`, `locale`, `viewport`.
        """
        page = await self._new_page(options, is_reused=is_reused)
        if is_logged_in:
            # a small document of the origin, which takes less than the page of its own that `storage_state` would open
            if not page.url.startswith(f"{self.address}/"):
                await page.goto(f"{self.address}/api/health")
            await self._log_in(page)
        await page.goto(f"{self.address}/{path}")
        if is_logged_in:
            await page.locator("ac-app nav").first.wait_for(state="attached", timeout=START_MS)
        return page

    async def bare_page(self, *, is_reused: bool = True, **options: Any) -> Page:
        """The document alone, logged in, without the application: for components, which need less and load sooner."""
        page = await self._new_page(options, is_reused=is_reused)
        await page.route(f"{self.address}/", _leave_out_application)
        await page.goto(f"{self.address}/")
        await self._log_in(page)
        await page.unroute(f"{self.address}/")
        return page

    def write(self, name: str, text: str) -> None:
        """Change a file of the modules' folder."""
        _write_modules(self.folder / "modules", {name: text})

    async def stop(self) -> None:
        """Stop the server; may be called twice."""
        await self.held.close()

    async def restart(self) -> None:
        """Stop the server, and start it again in the same folder, at another address."""
        await self.stop()
        self.held = await ContextTask.open(running_server(self.plan, self.folder), "server")

    async def lose_connection(self, page: Page) -> None:
        """Break the connections of the page and the approval view, which reach nothing until they are online again."""
        await page.context.set_offline(True)
        for app in (self.server.app, self.server.approval_app):
            assert isinstance(app, ServerApplication)
            for connection in app.dispatcher.connections.connections:
                connection.transport.abort()

    def unexpected_errors(self) -> list[str]:
        return [text for text in self.found_errors if not any(allowed in text for allowed in self.allowed_errors)]

    async def _new_page(self, options: dict[str, Any], *, is_reused: bool) -> Page:
        if is_reused:
            options = _completed(options)
            page = await self.pool.take(options, (WAIT_MS, START_MS))
            self.stack.push_async_callback(self._release, page, options)
        else:
            page = await (await self.context(**options)).new_page()
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)
        return page

    async def _release(self, page: Page, options: dict[str, Any]) -> None:
        page.remove_listener("console", self._on_console)
        page.remove_listener("pageerror", self._on_error)
        await self.pool.release(page, options, [self.address, self.server.approval_address])

    async def _log_in(self, page: Page) -> None:
        """Give the page's browser what it keeps of a log-in: a cookie, and the header's value."""
        sessions = self.host.store.page_sessions
        session = await sessions.exchange_code(sessions.create_code())
        assert session is not None
        assert isinstance(self.server.app, ServerApplication)
        name = self.host.state.cookie_name("page")
        cookie = {"name": name, "value": session.cookie, "url": self.address, "httpOnly": True, "sameSite": "Strict"}
        await page.context.add_cookies([cookie])
        await page.evaluate("header => localStorage.setItem('agentcore.session', header)", session.header)

    def _on_error(self, error: Error) -> None:
        self.found_errors.append(str(error))

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.found_errors.append(message.text)


@asynccontextmanager
async def starting(
    browser: Browser | None, tmp_path_factory: pytest.TempPathFactory, pool: PagePool | None = None
) -> AsyncIterator[Callable[..., Any]]:
    """See `start_webui`; without a browser there are only servers."""
    pool = pool or PagePool(browser)
    async with AsyncExitStack() as stack:
        started: list[WebUi] = []

        async def start(
            modules: Sequence[ModuleLike] = (),
            *,
            files: Mapping[str, str] | None = None,
            config: Mapping[str, Any] | None = None,
            ports: tuple[int, int] | None = None,
            **plan: Any,
        ) -> WebUi:
            folder = tmp_path_factory.mktemp("agentcore")
            _write_modules(folder / "modules", files or {})
            listed = [
                *(module for module in modules if isinstance(module, str)),
                *(name for name in files or {} if "/" not in name),
            ]
            document = {"modules": listed, **(config or {})}
            wanted = HostPlan(modules, document, is_failure_expected=True, **plan)
            if ports is None:
                ports = pool.ports if all(map(is_free, pool.ports)) else (0, 0)
            held = await ContextTask.open(running_server(wanted, folder, ports=ports), "server")
            ui = WebUi(held, wanted, folder, browser, pool, AsyncExitStack())
            stack.push_async_callback(ui.stop)
            await stack.enter_async_context(ui.stack)
            started.append(ui)
            return ui

        yield start
        for ui in started:
            assert ui.unexpected_errors() == [], ui.unexpected_errors()


def _completed(options: dict[str, Any]) -> dict[str, Any]:
    return {"viewport": DESKTOP, "locale": "en-US", "reduced_motion": "reduce", **options}


async def _leave_out_application(route: Route) -> None:
    """The document with its policy, without the application's script and what comes early for it."""
    response = await route.fetch()
    text = re.sub(r'<link rel="modulepreload"[^>]*>|<script[^>]*app\.js[^>]*></script>', "", await response.text())
    await route.fulfill(response=response, body=text)


def _write_modules(folder: Path, files: Mapping[str, str]) -> None:
    for name, source in files.items():
        path = folder / (name if "/" in name else f"{name}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")

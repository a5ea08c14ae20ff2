"""The page in Firefox and in WebKit, the engine of Safari; in Chromium it is tried in the folders beside this one."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests import programs
from tests.support.collected import items_below
from tests.webui.engines.firefox import running_firefox
from tests.webui.engines.page import DriverHangsError, Page
from tests.webui.engines.webkit import running_webkit
from tests.webui.serving import starting

ENGINES = {
    "firefox": (running_firefox, ("firefox-esr",)),
    "webkit": (running_webkit, ("webkit2gtk-driver", "xvfb")),
}
"""How each is started, and the packages that it takes."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """They are as slow as they are seldom needed."""
    for item in items_below(Path(__file__).parent, items):
        item.add_marker("more")


@pytest_asyncio.fixture(params=ENGINES, scope="session", loop_scope="session")
async def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Any]:
    """An engine, one browser or driver for all tests of a worker."""
    start, packages = ENGINES[request.param]
    if missing := [package for package in packages if programs.find(package) is None]:
        pytest.skip(f"no {' or '.join(missing)} on PATH")
    program = programs.find(packages[0])
    async with start(program, tmp_path_factory.mktemp(request.param)) as running:
        yield running


@dataclass
class Visit:
    """A page of a server that runs."""

    ui: Any
    page: Page

    async def go(self, path: str) -> None:
        """Go to a view by its address, such as `#/modules`."""
        await self.page.evaluate("(hash) => { location.hash = hash; }", path)


OpenVisit = Callable[..., Awaitable[Visit]]


@pytest_asyncio.fixture(loop_scope="session")
async def start_ui(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Any]:
    """As `start_webui`, without Chromium."""
    async with starting(None, tmp_path_factory) as start:
        yield start


@pytest_asyncio.fixture(loop_scope="session")
async def visit(engine: Any, start_ui: Any) -> AsyncIterator[OpenVisit]:
    """Open the page of a server: `shown = await visit(path, modules=[…])`, logged in to both origins.

    `is_logged_in=False`: to none; `size`: of the view, in CSS pixels. What the console says is wrong fails the test.
    """
    async with AsyncExitStack() as stack:
        opened: list[Visit] = []
        known = len(engine.errors)

        async def make(
            path: str = "", *, is_logged_in: bool = True, size: tuple[int, int] = (1280, 800), **plan: Any
        ) -> Visit:
            ui = plan.pop("ui", None) or await start_ui(plan.pop("modules", ()), **plan)

            async def load() -> Visit:
                page = Page(await stack.enter_async_context(engine.tab()))
                await page.resize(*size)
                if is_logged_in:
                    store = ui.host.store
                    codes = f"#code={store.approval_sessions.create_code()}&page={store.page_sessions.create_code()}"
                    await page.open(f"{ui.server.approval_address}/{codes}")
                    await page.css("nav, header.top").seen()
                visit = Visit(ui, page)
                await (visit.go(path) if is_logged_in else page.open(f"{ui.address}/{path}"))
                return visit

            try:
                visit = await load()
            except DriverHangsError:
                visit = await load()  # by another start of the driver
            opened.append(visit)
            return visit

        yield make
        allowed = [text for each in opened for text in each.ui.allowed_errors]
        wrong = [text for text in engine.errors[known:] if not any(one in text for one in allowed)]
        assert wrong == []

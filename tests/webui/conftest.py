"""Fixtures of the page: servers, pages of them, components on a bare page, and what axe-core finds."""

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, Literal

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Frame, Page

from tests.core.installing import Site
from tests.support.collected import items_below
from tests.support.pages import PagePool, cached_page_files
from tests.webui.mounting import bare_page, mount
from tests.webui.serving import starting
from tests.webui.sharing import SharedUi, sharing

__all__ = ["bare_page", "mount"]

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
SERIOUS = ("serious", "critical")
OTHER_RULES = ("region", "aria-allowed-role")
"""What axe-core takes lightly, and a page of this kind does not."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of a run share one browser, which lives in one event loop."""
    for item in items_below(Path(__file__).parent, items):
        if isinstance(item, pytest.Function) and iscoroutinefunction(item.obj):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(scope="session")
def page_pool(browser: Browser) -> Iterator[PagePool]:
    """The pages of a worker."""
    with cached_page_files():
        yield PagePool(browser)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_bare_page(
    browser: Browser, page_pool: PagePool, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Page]:
    """See `bare_page`."""
    async with starting(browser, tmp_path_factory, page_pool) as start:
        ui = await start(ports=(0, 0))
        yield await ui.bare_page(is_reused=False)
        ui.found_errors.clear()  # each test has seen its own


@pytest_asyncio.fixture(loop_scope="session")
async def start_webui(
    browser: Browser, page_pool: PagePool, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Callable[..., Any]]:
    """Start servers: `ui = await start_webui(modules=[Weather], files={"clock": "…source…"})`, then `await ui.page()`.

    `files` are local modules by name, listed in app.json unless `config` has a list; a name with a slash is any file.
    """
    async with starting(browser, tmp_path_factory, page_pool) as start:
        yield start


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(
    request: pytest.FixtureRequest, browser: Browser, page_pool: PagePool, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[SharedUi]:
    """The server of a file, which describes it: `UI = {"modules": [Weather]}`, the arguments of `start_webui`."""
    async with sharing(browser, page_pool, tmp_path_factory, **request.module.UI) as ui:
        yield ui


@pytest_asyncio.fixture(loop_scope="session")
async def ui(shared: SharedUi) -> AsyncIterator[SharedUi]:
    """The server of the file, whose page is reset after each test."""
    yield shared
    await shared.leave()


@pytest.fixture
def axe_problems() -> Callable[[Page], Any]:
    """What axe-core says of a page, without its frames: what is serious, or of `OTHER_RULES`; one text each.

    The page is looked at in light and in dark, which differ only in their colours.
    """

    async def run(page: Page | Frame, options: str = "") -> list[str]:
        result = await page.evaluate(f"axe.run(document, {{resultTypes: ['violations'], iframes: false, {options}}})")
        return [
            f"{found['id']}: {found['help']}\n  " + "\n  ".join(str(node["html"])[:200] for node in found["nodes"][:5])
            for found in result["violations"]
            if found["impact"] in SERIOUS or found["id"] in OTHER_RULES
        ]

    async def check(page: Page | Frame) -> list[str]:
        if not await page.evaluate("'axe' in window"):
            await page.evaluate(AXE.read_text())
        found = await run(page)
        is_dark = await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        schemes: list[Literal["light", "dark"]] = ["light", "dark"]
        window = page if isinstance(page, Page) else page.page
        await window.emulate_media(color_scheme=schemes[not is_dark])
        found += [f"in {schemes[not is_dark]}: {text}" for text in await run(page, "runOnly: ['color-contrast']")]
        await window.emulate_media(color_scheme=schemes[is_dark])
        return found

    return check


@pytest.fixture
def acme_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A folder of installed distributions, whose packages begin with `acme`, `evil` or `other`."""
    monkeypatch.syspath_prepend(tmp_path)
    yield Site(tmp_path)
    for name in [name for name in sys.modules if name.startswith(("acme_", "evil_", "other_"))]:
        del sys.modules[name]

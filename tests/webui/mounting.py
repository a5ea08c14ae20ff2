"""One component alone on a page of the real server."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest_asyncio
from playwright.async_api import ConsoleMessage, Error, Locator, Page

_PAGE = Path(__file__).resolve().parents[2] / "webui"
_MOUNT = """
async ([script, tag, properties, events]) => {
  await import(script);
  const element = Object.assign(document.createElement(tag), properties);
  window.heard = [];
  for (const name of events) element.addEventListener(name, (event) => window.heard.push(event.detail ?? null));
  const main = document.createElement('main');
  main.append(element);
  document.body.replaceChildren(main);
  await element.updateComplete;
}
"""


@dataclass
class Mounted:
    """A component, and the page that holds nothing else."""

    page: Page
    element: Locator

    async def heard(self) -> list[Any]:
        """Details of the events that were listened to, oldest first."""
        heard: list[Any] = await self.page.evaluate("window.heard")
        return heard

    async def put(self, **properties: Any) -> None:
        """Set properties of the component."""
        await self.element.evaluate(
            "async (element, properties) => { Object.assign(element, properties); await element.updateComplete; }",
            properties,
        )

    async def value(self) -> Any:
        """The component's property `value`."""
        return await self.element.evaluate("(element) => element.value")


def _script(tag: str) -> str:
    """The file of a component, which has the name of its tag."""
    (path,) = _PAGE.rglob(f"{tag}.js")
    return path.relative_to(_PAGE).as_posix()


Mount = Callable[..., Awaitable[Mounted]]


_RESET = """() => {
  document.body.replaceChildren();
  history.replaceState(null, '', '/');
  scrollTo(0, 0);
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def bare_page(start_webui, shared_bare_page) -> AsyncIterator[Callable[..., Awaitable[Page]]]:
    """A page of the server, logged in, whose modules can be imported.

    It is one page for all tests of a worker, emptied for each; with options, or `is_reused=False` where a test changes
    what stays, it is a page of another server.
    """
    found_errors: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            found_errors.append(message.text)

    def on_error(error: Error) -> None:
        found_errors.append(str(error))

    async def make(**options: Any) -> Page:
        if options:
            ui = await start_webui(options.pop("modules", ()))
            page: Page = await ui.bare_page(**options)
            return page
        await shared_bare_page.evaluate(_RESET)
        shared_bare_page.on("console", on_console)
        shared_bare_page.on("pageerror", on_error)
        return shared_bare_page

    yield make
    shared_bare_page.remove_listener("console", on_console)
    shared_bare_page.remove_listener("pageerror", on_error)
    assert found_errors == []


@pytest_asyncio.fixture(loop_scope="session")
async def mount(bare_page) -> AsyncIterator[Mount]:
    """`await mount("ac-table", table={…})`: the component with these properties.

    `on` names events that `heard()` gives; `page` is a page to mount it on; `options` are those of the context.
    """

    async def make(
        tag: str, *, on: tuple[str, ...] = (), page: Page | None = None, options: Any = None, **properties: Any
    ) -> Mounted:
        page = page or await bare_page(**(options or {}))
        await page.evaluate(_MOUNT, [f"/static/{_script(tag)}", tag, properties, list(on)])
        return Mounted(page, page.locator(tag).first)

    yield make

"""One server for the tests of a file, and a page of it that stays loaded: a test starts by a change of the address."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, Error, Page

from tests.support.pages import PagePool
from tests.webui.serving import DESKTOP, WebUi, starting

_NOWHERE = "#/between-tests"
_LEAVE = """async (nowhere) => {
  const session = localStorage.getItem('agentcore.session');
  for (const dialog of document.querySelectorAll('dialog, ac-confirm')) dialog.remove();
  document.activeElement?.blur();
  location.hash = nowhere;
  const {toasts} = await import('/static/ui/toasts.js');
  for (const {id} of toasts.shown) toasts.remove(id);
  const outlet = document.querySelector('ac-app').shadowRoot.querySelector('ac-outlet');
  await outlet.updateComplete;
  outlet._view = null;  // else the next test gets the same element, with what was typed into it
  sessionStorage.clear();
  localStorage.clear();
  localStorage.setItem('agentcore.session', session);
  const [{showLocale}, {showTheme}] = await Promise.all([
    import('/static/base/i18n.js'), import('/static/base/theme.js'),
  ]);
  showLocale('en');
  showTheme('system');
}"""
_SHOW_LOCALE = "async (locale) => (await import('/static/base/i18n.js')).showLocale(locale)"


class SharedUi:
    """A server that the tests of a file use one after the other; each ends with `leave`.

    It has what `WebUi` has. A page that is not logged in at first is one of the test's own.
    """

    def __init__(self, ui: WebUi) -> None:
        self._ui = ui
        self._pages: list[Page] = []
        self._taken: list[Page] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ui, name)

    async def page(self, path: str = "#/", *, is_logged_in: bool = True, **options: Any) -> Page:
        """The page that is loaded, at this address; for a second call in a test, a second one.

        Size, language and colours are changed in it, which costs less than a page that begins with them.
        """
        if not is_logged_in:
            return await self._ui.page(path, is_logged_in=False, **options)
        at = len(self._taken)
        if at < len(self._pages):
            page = self._pages[at]
        else:
            page = await self._ui.page("#/between-tests")
            self._pages.append(page)
        self._taken.append(page)
        if viewport := options.pop("viewport", None):
            await page.set_viewport_size(viewport)
        if color_scheme := options.pop("color_scheme", None):
            await page.emulate_media(color_scheme=color_scheme, reduced_motion="reduce")
        if locale := options.pop("locale", ""):
            await page.evaluate(_SHOW_LOCALE, locale.partition("-")[0])
        assert options == {}
        await page.goto(f"{self._ui.address}/{path}")
        return page

    def add_page(self, page: Page) -> None:
        """Have `page` return this page first, for example one that is logged in to both origins."""
        self._pages.insert(0, page)

    async def leave(self) -> None:
        """End a test: its pages show nothing of it, and no error that it did not allow was seen."""
        for page in self._taken:
            if not await self._is_reset(page):
                self._pages.remove(page)
        self._taken.clear()
        unexpected = self._ui.unexpected_errors()
        self._ui.found_errors.clear()
        self._ui.allowed_errors.clear()
        assert unexpected == [], unexpected

    async def _is_reset(self, page: Page) -> bool:
        try:
            await page.unroute_all(behavior="ignoreErrors")
            await page.context.set_offline(False)
            await page.mouse.move(-1, -1)
            await page.evaluate(_LEAVE, _NOWHERE)
            await page.emulate_media(color_scheme="light", reduced_motion="reduce")
            if page.viewport_size != DESKTOP:
                await page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
        except Error:
            return False
        return True


@asynccontextmanager
async def sharing(
    browser: Browser, pool: PagePool, folders: pytest.TempPathFactory, modules: Sequence[Any] = (), **plan: Any
) -> AsyncIterator[SharedUi]:
    """A server for a file; the arguments are those of `start_webui`."""
    async with starting(browser, folders, pool) as start:
        yield SharedUi(await start(modules, **plan))

"""The view of hosts on the bare page, answered from recordings."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest_asyncio
from playwright.async_api import Page

from tests.webui.mounting import Mount
from tests.webui.recorded.player import Player, Recording
from tests.webui.serving import DESKTOP

Show = Callable[..., Awaitable[tuple[Page, Player]]]

_SHOW_LOCALE = "async (locale) => (await import('/static/base/i18n.js')).showLocale(locale)"
_ADD_TOASTS = """async () => {
  await import('/static/ui/ac-toasts.js');
  document.querySelector('main').append(document.createElement('ac-toasts'));
}"""
_RESET = """async () => {
  document.body.replaceChildren();
  const {toasts} = await import('/static/ui/toasts.js');
  for (const {id} of toasts.shown) toasts.remove(id);
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def show(bare_page, mount: Mount) -> AsyncIterator[Show]:
    """`page, player = await show("machines", "running")`: the view, with the hosts of a state of a recording.

    `hosts` replaces the hosts of that state, `page` is one of the test's own; `locale` and `viewport` are set in it.
    """
    shown: list[tuple[Page, Player]] = []

    async def open_view(
        recording: str,
        state: str,
        *,
        hosts: list[dict[str, Any]] | None = None,
        page: Page | None = None,
        locale: str = "en",
        viewport: Any = DESKTOP,
    ) -> tuple[Page, Player]:
        page = page or await bare_page()
        player = Player(Recording(recording), state, None if hosts is None else {"/api/hosts": {"hosts": hosts}})
        shown.append((page, player))
        await player.attach(page)
        await page.set_viewport_size(viewport)
        await page.evaluate(_SHOW_LOCALE, locale)
        await mount("ac-view-hosts", page=page)
        await page.evaluate(_ADD_TOASTS)
        await page.locator("ac-view-hosts section").first.wait_for()
        return page, player

    yield open_view
    for page, player in shown:
        await page.evaluate(_RESET)
        await page.unroute_all(behavior="wait")
        await page.evaluate(_SHOW_LOCALE, "en")
        await page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
        assert player.unknown == []

"""Pages of one browser that tests use one after the other."""

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, Error, Page

from agentcore.server.http.response import Answer
from agentcore.server.page.static_files import answer_file
from tests.support.ports import find_restart_ports

IDLE_LIMIT = 3
"""How many idle pages are kept for each set of options."""


class PagePool:
    """Pages with their browser contexts, which are reset and used again.

    A context costs more than most tests do in it, and its cache has the page's files already, because each server of
    a worker listens at the same ports. What cannot be taken back (`clock.install`, `add_init_script`,
    `emulate_media`) needs a context of its own.

    Attributes:
        ports: Of the page and of the approval view, for the first server of each test.
    """

    def __init__(self, browser: Browser | None) -> None:
        self.ports = find_restart_ports()
        self._browser = browser
        self._idle: dict[str, list[Page]] = defaultdict(list)

    async def take(self, options: dict[str, Any], timeouts_ms: tuple[float, float]) -> Page:
        """An empty page with these options of a context, which is logged in nowhere."""
        if pages := self._idle[_key(options)]:
            return pages.pop()
        assert self._browser is not None
        context = await self._browser.new_context(**options)
        context.set_default_timeout(timeouts_ms[0])
        context.set_default_navigation_timeout(timeouts_ms[1])
        return await context.new_page()

    async def release(self, page: Page, options: dict[str, Any], origins: list[str]) -> None:
        """Reset a page, and keep it for the next test.

        Args:
            page: A page from `take`.
            options: What it was taken with.
            origins: Where it may have stored something.
        """
        idle = self._idle[_key(options)]
        if page.is_closed() or len(idle) >= IDLE_LIMIT:
            await page.context.close()
            return
        try:
            await _reset(page, options, origins)
        except Error:
            await page.context.close()
            return
        idle.append(page)


async def _reset(page: Page, options: dict[str, Any], origins: list[str]) -> None:
    context = page.context
    for other in context.pages:
        if other is not page:
            await other.close()
    await page.unroute_all(behavior="ignoreErrors")
    await context.unroute_all(behavior="ignoreErrors")
    await context.set_offline(False)
    await page.mouse.move(-1, -1)
    # a document of the same origin, whose process the next test's page shares
    await page.goto(f"{origins[0]}/api/health")
    await page.evaluate("sessionStorage.clear()")
    await context.clear_cookies()
    await context.clear_permissions()
    if "permissions" in options:
        await context.grant_permissions(options["permissions"])
    await page.emulate_media(
        color_scheme=options.get("color_scheme", "light"), reduced_motion=options.get("reduced_motion")
    )
    if page.viewport_size != options.get("viewport"):
        await page.set_viewport_size(options["viewport"])
    session = await context.new_cdp_session(page)
    for origin in origins:
        await session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage"})
    await session.detach()


def _key(options: dict[str, Any]) -> str:
    return json.dumps(options, sort_keys=True)


@contextmanager
def cached_page_files() -> Iterator[None]:
    """A block in which browsers may use the page's files again without asking for them: they do not change in a run."""

    async def answer_for_a_run(folder: Any, path: str, known_etag: str | None, *, is_own: bool = False) -> Answer:
        answer = await answer_file(folder, path, known_etag, is_own=is_own)
        if is_own:
            answer._head = answer._head.replace(b"Cache-Control: no-cache", b"Cache-Control: private, max-age=3600")
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agentcore.server.routes.page.answer_file", answer_for_a_run)
        yield

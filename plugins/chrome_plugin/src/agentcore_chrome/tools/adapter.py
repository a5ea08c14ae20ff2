"""`BrowserAdapter`: one API over the ways to drive a session's page, by resource id."""

import asyncio
from base64 import b64encode
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from agentcore.api import UrlPolicy
from agentcore_chrome.background import ignore_failure
from agentcore_chrome.browser.engine import Engine
from agentcore_chrome.browser.process import BrowserProcess
from agentcore_chrome.call_limit import work_ms
from agentcore_chrome.tab import waiting
from agentcore_chrome.tab.elements import Target, on_element
from agentcore_chrome.tab.navigation import NavigationResult, WaitUntil, go_to
from agentcore_chrome.tab.screenshot import ScreenshotOptions, take_screenshot
from agentcore_chrome.tab.tab import Tab, TabOptions
from agentcore_chrome.tools.arguments import DEFAULT_MS

if TYPE_CHECKING:
    from playwright.async_api import Locator


def typing_ms(text: str, delay_ms: int) -> int:
    """The limit of typing a text where its caller gives none: the usual one, and what the delays take."""
    return DEFAULT_MS + delay_ms * len(text)


@dataclass(frozen=True, slots=True)
class Screenshot:
    """A screenshot on the wire."""

    mime: str
    data: bytes

    def to_json(self) -> dict[str, str]:
        """`{"mime", "dataBase64"}`."""
        return {"mime": self.mime, "dataBase64": b64encode(self.data).decode("ascii")}


class BrowserAdapter(Protocol):
    """What any way of driving a browser page can do: launched, attached to, or on another machine."""

    async def ensure(self, resource_id: str, url: str | None = None) -> dict[str, Any]:
        """Have the page there, at an address if one is given."""
        ...

    async def click(self, resource_id: str, selector: str) -> dict[str, Any]:
        """Click an element."""
        ...

    async def type(self, resource_id: str, selector: str, text: str) -> dict[str, Any]:
        """Empty a field and type into it."""
        ...

    async def navigate(self, resource_id: str, url: str) -> dict[str, Any]:
        """Go to an address."""
        ...

    async def wait_for(self, resource_id: str, selector: str, timeout_ms: int = DEFAULT_MS) -> dict[str, Any]:
        """Wait until an element is seen."""
        ...

    async def screenshot(self, resource_id: str) -> dict[str, str]:
        """`{mime, dataBase64}` of what the window shows."""
        ...


class Pages(Protocol):
    """Who knows which tab stands for a resource, and how a new one is to be."""

    def tab_for(self, resource_id: str) -> Tab | None: ...
    def options_for(self, resource_id: str) -> TabOptions: ...
    async def process_for(self, resource_id: str) -> BrowserProcess: ...
    def run_in_background(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]: ...


class PlaywrightAdapter:
    """Drives pages of this host's engine, launched or attached."""

    def __init__(self, engine: Engine, policy: UrlPolicy, pages: Pages) -> None:
        self._engine, self._policy, self._pages = engine, policy, pages
        self._opening: dict[str, asyncio.Task[Tab]] = {}

    async def tab(self, resource_id: str) -> Tab:
        """The resource's tab; opened, with the browser, if it is not there or has crashed.

        What has begun to open goes on when a caller has no time left, and the next one finds it.

        Raises:
            ToolError: `browser_not_found`, `browser_launch_failed`, `too_many_tabs`, `too_many_browsers`.
        """
        tab = self._pages.tab_for(resource_id)
        if tab is not None and not tab.gone.done():
            return tab
        opening = self._opening.get(resource_id)
        if opening is None:
            opening = self._opening[resource_id] = self._pages.run_in_background(self._open(resource_id))
            opening.add_done_callback(lambda _: self._opening.pop(resource_id, None))
            opening.add_done_callback(ignore_failure)
        return await asyncio.shield(opening)

    async def _open(self, resource_id: str) -> Tab:
        process = await self._pages.process_for(resource_id)
        return await self._engine.open_tab(process, self._pages.options_for(resource_id))

    async def ensure(self, resource_id: str, url: str | None = None) -> dict[str, Any]:
        """See `BrowserAdapter`."""
        tab = await self.tab(resource_id)
        if url is not None:
            await go_to(tab, self._policy, url, "load", DEFAULT_MS)
        return {"resourceId": resource_id, "url": tab.page.url}

    async def click(self, resource_id: str, selector: str, timeout_ms: int = DEFAULT_MS, **how: Any) -> dict[str, Any]:
        """See `BrowserAdapter`; `how`: button, modifiers, click_count."""
        tab = await self.tab(resource_id)
        await on_element(tab, Target(selector), timeout_ms, lambda locator: locator.click(timeout=timeout_ms, **how))
        return {"clicked": True}

    async def type(
        self, resource_id: str, selector: str, text: str, delay_ms: int = 0, timeout_ms: int | None = None
    ) -> dict[str, Any]:
        """See `BrowserAdapter`; the limit left out, it is `typing_ms`."""
        limit_ms = typing_ms(text, delay_ms) if timeout_ms is None else timeout_ms

        async def type_in(locator: "Locator") -> None:
            await locator.fill("", timeout=limit_ms)
            await locator.press_sequentially(text, delay=delay_ms, timeout=work_ms(limit_ms))

        await on_element(await self.tab(resource_id), Target(selector), limit_ms, type_in)
        return {"typed": len(text)}

    async def navigate(
        self, resource_id: str, url: str, wait_until: WaitUntil = "load", timeout_ms: int = DEFAULT_MS
    ) -> dict[str, Any]:
        """See `BrowserAdapter`."""
        return (await self.go_to(resource_id, url, wait_until, timeout_ms)).to_json()

    async def go_to(self, resource_id: str, url: str, wait_until: WaitUntil, timeout_ms: int) -> NavigationResult:
        """Go to an address and say where the page got to.

        Raises:
            ToolError: Those of `agentcore_chrome.tab.navigation.go_to`.
        """
        return await go_to(await self.tab(resource_id), self._policy, url, wait_until, timeout_ms)

    async def wait_for(self, resource_id: str, selector: str, timeout_ms: int = DEFAULT_MS) -> dict[str, Any]:
        """See `BrowserAdapter`."""
        await waiting.for_selector(await self.tab(resource_id), selector, "visible", timeout_ms)
        return {"found": True}

    async def screenshot(self, resource_id: str) -> dict[str, str]:
        """See `BrowserAdapter`."""
        return (await self.capture(resource_id, ScreenshotOptions())).to_json()

    async def capture(self, resource_id: str, options: ScreenshotOptions) -> Screenshot:
        """A picture of the page, or of an element.

        Raises:
            ToolError: Those of `agentcore_chrome.tab.screenshot.take_screenshot`.
        """
        return Screenshot(options.mime, await take_screenshot(await self.tab(resource_id), options))

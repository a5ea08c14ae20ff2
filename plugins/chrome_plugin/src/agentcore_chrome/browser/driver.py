"""Playwright, imported and started on first use: it costs half a second and a separate process."""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Any

from agentcore.api import ToolError
from agentcore_chrome.browser.executable import REQUIREMENT
from agentcore_chrome.tab.refs import register_selector_engine

if TYPE_CHECKING:
    from playwright.async_api import Playwright

_START_SECONDS = 60.0
_STOP_SECONDS = 5.0


class Driver:
    """The driver process of an engine; browsers are connected to it by pipes and end with it."""

    def __init__(self) -> None:
        self._manager: Any = None
        self._playwright: Playwright | None = None
        self._starting = asyncio.Lock()

    async def get_playwright(self) -> "Playwright":
        """Return the running driver; start it if there is none or the last one died.

        Raises:
            ToolError: `browser_launch_failed`.
        """
        async with self._starting:
            if self._playwright is not None and self._is_alive():
                return self._playwright
            await self.stop()
            library = await asyncio.to_thread(import_module, "playwright.async_api")
            self._manager = library.async_playwright()
            try:
                async with asyncio.timeout(_START_SECONDS):
                    playwright = await self._manager.start()
                    await register_selector_engine(playwright)
            except Exception as exc:
                self._manager = None
                raise ToolError(
                    "browser_launch_failed", f"the driver of browsers did not start: {exc}", requirement=REQUIREMENT
                ) from exc
            self._playwright = playwright
            return self._playwright

    async def stop(self) -> None:
        """Stop the driver, and with it every browser; may be called twice."""
        manager = self._manager
        self._manager = None
        self._playwright = None
        if manager is None:
            return
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await manager.__aexit__()
        except Exception:  # noqa: BLE001, S110 - a driver that died cannot be told to end, and needs not be
            pass

    def _is_alive(self) -> bool:
        # There is no public API for this; the client's future is done once the pipe is closed.
        client = getattr(self._manager, "_client", None)
        closed = getattr(client, "_close_promise", None)
        return closed is None or not closed.done()

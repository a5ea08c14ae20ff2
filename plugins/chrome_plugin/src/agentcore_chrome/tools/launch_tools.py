"""The tools of `chrome` that act on browsers and their tabs as a whole: launch, list, open, close."""

from typing import Annotated, Any

from agentcore.api import CallPreview, Field, ToolContext, ToolError, ToolResult, tool
from agentcore_chrome.browser.launching import LaunchOptions
from agentcore_chrome.browser.process import BrowserProcess
from agentcore_chrome.failures import instance_not_found
from agentcore_chrome.settings import Viewport
from agentcore_chrome.tab.navigation import WaitUntil
from agentcore_chrome.tab.tab import Tab, TabOptions
from agentcore_chrome.tools import result_types as results
from agentcore_chrome.tools.arguments import DEFAULT_MS, LONGEST_S, TAB_AT_ONCE, BrowserId, PageLimitMs, TabId, Url
from agentcore_chrome.tools.engine_module import EngineModule
from agentcore_chrome.tools.result import ToolOutput


class LaunchTools(EngineModule):
    """The part of `chrome` that launches browsers, and opens and closes their tabs."""

    @tool(rank=2, effects=("egress",), destructive=False, idempotent=False, open_world=True, timeout_s=LONGEST_S)
    async def chrome_launch(
        self,
        ctx: ToolContext,
        headless: Annotated[bool | None, Field(description="Without a window; left out, as the settings say.")] = None,
        viewport: Annotated[Viewport | None, Field(description="Size of its pages, 1280 by 720 if left out.")] = None,
        locale: Annotated[str | None, Field(max_length=35, description="Language of its pages, such as de-DE.")] = None,
        userAgent: Annotated[str | None, Field(max_length=1000, description="How it names itself to servers.")] = None,
    ) -> ToolResult[results.StartedBrowser]:
        """Start a new browser process and give its id. It has no tab yet: open one with chrome_new_tab."""
        options = LaunchOptions(headless, viewport, locale, userAgent, ctx.session_id)
        process = await self.run_shielded(self.engine.launch_browser(options), BrowserProcess.close)
        text = f"Started browser {process.browser_id} (version {process.version}, process {process.pid})."
        return ToolResult(text, {"browserId": process.browser_id, "pid": process.pid, "version": process.version})

    @tool(effects=("egress",), destructive=True, idempotent=False, open_world=False)
    async def chrome_close(self, ctx: ToolContext, browserId: BrowserId) -> ToolResult[results.ClosedBrowser]:
        """Close a browser with all its tabs, and free everything."""
        lost = self.engine.lost.get(browserId)
        if lost is not None and self.may_reach(ctx, lost.session_id):
            self.engine.lost.remove(browserId)
            said = f"Gave up browser {browserId}, to which the connection is lost. What is open there stays open."
            return ToolResult(said, {"browserId": browserId, "closedTabs": 0})
        process = self._get_browser(ctx, browserId)
        tabs = len(process.tabs)
        await process.close()
        return ToolResult(f"Closed browser {browserId} with {tabs} tabs.", {"browserId": browserId, "closedTabs": tabs})

    @tool(rank=2, read_only=True, idempotent=True, open_world=False)
    async def chrome_list(self, ctx: ToolContext) -> ToolResult[results.BrowserList]:
        """List all browsers with their tabs, process ids and memory."""
        browsers: list[Any] = [
            browser | {"tabs": [tab for tab in browser["tabs"] if self.may_reach(ctx, tab["sessionId"])]}
            for browser in await self.engine.describe_browsers()
            if self.may_reach(ctx, browser["sessionId"])
        ]
        lines = [line for browser in browsers for line in _browser_lines(browser)]
        return ToolResult("\n".join(lines) or "No browser runs.", {"browsers": browsers}, untrusted=True)

    async def _preview_new_tab(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        if arguments["browserId"] not in self.engine.lost:
            self._get_browser(ctx, arguments["browserId"])
        return await self.preview_url(ctx, arguments)

    @tool(
        rank=2,
        effects=("egress",),
        destructive=False,
        idempotent=False,
        open_world=True,
        timeout_s=LONGEST_S,
        preview=_preview_new_tab,
    )
    async def chrome_new_tab(
        self,
        ctx: ToolContext,
        browserId: BrowserId,
        url: Url | None = None,
        waitUntil: WaitUntil = "load",
        timeoutMs: PageLimitMs = DEFAULT_MS,
    ) -> ToolResult[results.OpenedTab]:
        """Open a new tab in a browser, at an address if one is given, and give its id.

        If the address cannot be loaded, the tab is closed again.
        """
        process = self._get_browser(ctx, browserId)
        options = TabOptions(self.runtime.name, process.session_id or ctx.session_id)
        tab = await self.run_shielded(self.engine.open_tab(process, options), Tab.close)
        if url is None:
            return ToolResult(f"Opened tab {tab.tab_id}.", {"tabId": tab.tab_id, "browserId": browserId})
        try:
            return await self.run_for_result(
                ctx, tab, self.navigate_tab(ctx, tab, url, waitUntil, timeoutMs), browserId=browserId
            )
        except ToolError:
            await self.run_cleanup(tab.close())
            raise

    @tool(effects=("egress",), destructive=True, idempotent=False, open_world=False, resource=TAB_AT_ONCE)
    async def chrome_close_tab(self, ctx: ToolContext, tabId: TabId) -> ToolResult[results.ClosedTab]:
        """Close a tab, also one that hangs."""
        await self.named_tab(ctx).close()
        return ToolResult(f"Closed tab {tabId}.", {"tabId": tabId})

    @tool(read_only=True, idempotent=True, open_world=False)
    async def chrome_list_tabs(self, ctx: ToolContext, browserId: BrowserId) -> ToolResult[results.TabList]:
        """List the tabs of a browser: id, address, title, state."""
        process = self._get_browser(ctx, browserId)
        tabs: list[Any] = [
            tab.to_json()
            for tab in process.tabs.values()
            if tab.is_within_reach and self.may_reach(ctx, tab.session_id)
        ]
        text = "\n".join(_tab_line(tab) for tab in tabs) or f"Browser {browserId} has no tabs."
        return ToolResult(text, {"browserId": browserId, "tabs": tabs}, untrusted=True)

    # -- inside ------------------------------------------------------------------------------------------------

    def named_tab(self, ctx: ToolContext) -> Tab:
        """The tab that a call names."""
        assert ctx.resource is not None  # noqa: S101 - tabId is required, and the host has resolved it
        return self.engine.get_tab(ctx.resource.keys["tabId"])

    async def navigate_tab(
        self, ctx: ToolContext, tab: Tab, url: str, wait_until: WaitUntil, timeout_ms: int
    ) -> ToolOutput:
        """Go to an address in a tab, and tell where it led."""
        arrived = await self.go_to(ctx, tab, url, wait_until, timeout_ms)
        return ToolOutput(str(arrived), arrived.to_json())

    def _get_browser(self, ctx: ToolContext, browser_id: str) -> BrowserProcess:
        process = self.engine.get_browser(browser_id)
        if not self.may_reach(ctx, process.session_id):
            raise instance_not_found(browser_id)
        return process


def _browser_lines(browser: dict[str, Any]) -> list[str]:
    memory = browser["memoryBytes"]
    size = f", {memory / 1024 / 1024:.0f} MiB" if memory else ""
    return [
        f"{browser['browserId']}: version {browser['version']}, process {browser['pid']}{size}",
        *(f"  {_tab_line(tab)}" for tab in browser["tabs"]),
    ]


def _tab_line(tab: dict[str, Any]) -> str:
    return f"{tab['tabId']}: {tab['url']} – {tab['title']} ({tab['state']})"

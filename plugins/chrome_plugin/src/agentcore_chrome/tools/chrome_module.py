"""`Chrome` module: browsers and tabs addressed by explicit ids, for callers that manage several."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from agentcore.api import (
    CallPreview,
    Field,
    Request,
    Response,
    Runtime,
    ToolContext,
    ToolError,
    ToolResult,
    WebComponent,
    tool,
)
from agentcore_chrome.browser.attached_pages import LostPage
from agentcore_chrome.browser.engine import Engine
from agentcore_chrome.browser.launching import LaunchOptions
from agentcore_chrome.browser.process import BrowserProcess
from agentcore_chrome.call_limit import work_ms
from agentcore_chrome.failures import explain_tab_gone, instance_not_found
from agentcore_chrome.settings import Viewport
from agentcore_chrome.tab import wait_conditions
from agentcore_chrome.tab.clicking import click_element, click_point
from agentcore_chrome.tab.elements import ELEMENT_MS, Hit, Target, act_on_element, act_without_element
from agentcore_chrome.tab.navigation import WaitUntil, read_state
from agentcore_chrome.tab.pointing import find_shown_picture, locate_point
from agentcore_chrome.tab.reading import CONTENT_CHARS, ContentChunk, read_html, read_text
from agentcore_chrome.tab.screenshot import (
    Format,
    ScreenshotOptions,
    reduce_for_model,
    take_preview,
    take_screenshot,
)
from agentcore_chrome.tab.tab import Tab, TabOptions
from agentcore_chrome.tools import result_types as results
from agentcore_chrome.tools.arguments import (
    DEFAULT_MS,
    LONGEST_S,
    TAB,
    TAB_AT_ONCE,
    BrowserId,
    ElementLimitMs,
    LimitMs,
    PageLimitMs,
    Script,
    TabElement,
    TabId,
    TabSelector,
    Url,
)
from agentcore_chrome.tools.engine_module import EngineModule
from agentcore_chrome.tools.form_tools import fill_field
from agentcore_chrome.tools.script_tools import evaluate_script
from agentcore_chrome.tools.tab_result import ToolOutput, show_picture, with_image
from agentcore_chrome.tools.text_input import append_text
from agentcore_chrome.tools.translations import CHROME_ZH


class Chrome(EngineModule):
    """Browsers and their tabs by id: launch, open, read, click, fill, evaluate, close."""

    title = "Chrome"
    translations: ClassVar = {"zh": CHROME_ZH}
    instructions: ClassVar = {
        "en": (
            "`chrome_launch` gives a `browserId`, `chrome_new_tab` in it a `tabId`, and the other tools take "
            "that. Read with `chrome_get_text`, act with CSS selectors, and close what you opened."
        ),
        "zh": (
            "`chrome_launch` 返回 `browserId`，`chrome_new_tab` 在其中返回 `tabId`，其他工具使用这个 id。"
            "用 `chrome_get_text` 读取，用 CSS 选择器操作，并关闭你打开的浏览器。"
        ),
    }
    resource_type = "chrome_tab"

    async def init(self, runtime: Runtime) -> None:
        """Acquire the engine and add the route of the management page."""
        await super().init(runtime)
        runtime.add_route("GET", "browsers", self._get_browsers)

    async def close_browsers(self, engine: Engine) -> None:
        """Close the browsers that were launched by id."""
        for process in list(engine.processes.values()):
            if process.session_id:
                await process.close()

    def explain_gone(self, tab: Tab) -> str:
        """Return whether the tab was closed or crashed, and how to open its page again."""
        return explain_tab_gone(
            tab.tab_id,
            tab.page.url,
            tab.process.browser_id,
            has_crashed=tab.gone.result().type in {"browser_crashed", "browser_lost"},
            is_browser_gone=tab.process.crashed is not None,
        )

    def tab_added(self, tab: Tab) -> None:
        """Create the tab's resource, or mark that of a reattached tab as ready again."""
        if tab.owner == self.runtime.name and tab.resource_id is not None:
            try:
                self.runtime.resources.update(tab.resource_id, status="ready")
            except ToolError:
                self.run_in_background(tab.close())  # it was released meanwhile
        super().tab_added(tab)

    def page_gone(self, page: LostPage) -> None:
        """Release the resource of a page that disappeared while its browser was lost."""
        if page.options.owner == self.runtime.name and page.options.resource_id is not None:
            why = f"tab {page.tab_id!r} went while the connection to its browser was lost; it was at {page.url!r}"
            self.run_in_background(self.runtime.resources.release(page.options.resource_id, why))

    async def reattach_lost_browser(self, ctx: ToolContext, tool_name: str, args: dict[str, Any]) -> None:
        """Reattach the lost browser that a call names; `chrome_close` tolerates a failure."""
        lost = self.engine.lost
        page = lost.find_page(ctx.resource.keys.get("tabId", "")) if ctx.resource is not None else None
        found = page[0] if page is not None else lost.get(str(args.get("browserId")))
        if found is None or not self.may_reach(ctx, found.session_id):
            return
        try:
            await lost.reattach_browser(found.browser_id)
        except ToolError:
            if tool_name != "chrome_close":
                raise

    # -- browsers and their tabs -------------------------------------------------------------------------------

    @tool(rank=3, effects=("egress",), destructive=False, idempotent=False, open_world=True, timeout_s=LONGEST_S)
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
            message = f"Gave up browser {browserId}, to which the connection is lost. What is open there stays open."
            return ToolResult(message, {"browserId": browserId, "closedTabs": 0})
        process = self._get_browser(ctx, browserId)
        tabs = len(process.tabs)
        await process.close()
        return ToolResult(f"Closed browser {browserId} with {tabs} tabs.", {"browserId": browserId, "closedTabs": tabs})

    @tool(rank=3, read_only=True, idempotent=True, open_world=False)
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
        rank=3,
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

    # -- tools on a tab ----------------------------------------------------------------------------------------

    async def _preview_action(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        assert ctx.resource is not None  # noqa: S101 - tabId is required
        if (lost := self.engine.lost.find_page(ctx.resource.keys["tabId"])) is not None:
            return CallPreview(urls=(lost[1].url,))
        return CallPreview(urls=(self.named_tab(ctx).page.url,))

    _reads_tab = tool(
        rank=3, read_only=True, idempotent=True, open_world=True, timeout_s=LONGEST_S, keep="head", resource=TAB
    )
    _acts_on_tab = tool(
        rank=3, effects=("egress",), open_world=True, timeout_s=LONGEST_S, preview=_preview_action, resource=TAB
    )

    @tool(
        rank=3,
        effects=("egress",), idempotent=True, open_world=True, timeout_s=LONGEST_S,
        preview=EngineModule.preview_url, resource=TAB,
    )  # fmt: skip
    async def chrome_navigate(
        self,
        ctx: ToolContext,
        tabId: TabId,
        url: Url,
        waitUntil: Annotated[WaitUntil, Field(description="What to wait for.")] = "load",
        timeoutMs: PageLimitMs = DEFAULT_MS,
    ) -> ToolResult[results.TabArrival]:
        """Go to an address, and give the final address, HTTP status, title and load state."""
        tab = self.named_tab(ctx)
        return await self.run_for_result(ctx, tab, self.navigate_tab(ctx, tab, url, waitUntil, timeoutMs))

    @tool(read_only=True, idempotent=True, open_world=True, resource=TAB)
    async def chrome_get_url(self, ctx: ToolContext, tabId: TabId) -> ToolResult[results.TabArrival]:
        """Give the address, title and load state of a tab."""
        tab = self.named_tab(ctx)
        title, state = await read_state(tab)
        fields = {"url": tab.page.url, "title": title, "loadState": state}
        return await self.create_result(ctx, tab, ToolOutput(f"{tab.page.url} – {title}", fields))

    @_reads_tab
    async def chrome_screenshot(
        self,
        ctx: ToolContext,
        tabId: TabId,
        selector: Annotated[TabSelector | None, Field(description="Only this element.")] = None,
        fullPage: Annotated[bool, Field(description="All of the page, not just what fits the window.")] = False,
        format: Format = "png",  # noqa: A002
        inline: Annotated[bool, Field(description="Give the picture itself; else it is kept as an artifact.")] = True,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult[results.TabScreenshot]:
        """Take a picture of a tab, of the whole page, or of one element."""
        tab = self.named_tab(ctx)
        shot = ScreenshotOptions(Target(selector) if selector else None, fullPage, format, timeoutMs)
        return await self.run_for_result(ctx, tab, self._take_screenshot(ctx, tab, shot, inline=inline))

    @_reads_tab
    async def chrome_get_content(
        self,
        ctx: ToolContext,
        tabId: TabId,
        selector: TabSelector | None = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult[results.TabContent]:
        """Give the HTML of a page, or of the first element that matches a selector; long ones are cut."""
        tab = self.named_tab(ctx)
        return await self.run_for_result(
            ctx, tab, _read_content(read_html(tab, selector, CONTENT_CHARS, timeoutMs), "html")
        )

    @_reads_tab
    async def chrome_get_text(
        self,
        ctx: ToolContext,
        tabId: TabId,
        selector: TabSelector | None = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult[results.TabContent]:
        """Give the text of a page as a person sees it, or of the first element that matches a selector."""
        tab = self.named_tab(ctx)

        async def read() -> ContentChunk:
            found = await read_text(tab, selector, CONTENT_CHARS, timeoutMs)
            pdf = None if selector or found.length else await self.read_pdf(ctx, tab, timeoutMs)
            if pdf is None:
                return found
            text = pdf.text or pdf.notice
            return ContentChunk(text[:CONTENT_CHARS], len(text))

        return await self.run_for_result(ctx, tab, _read_content(read(), "text"))

    @_acts_on_tab
    async def chrome_click(
        self,
        ctx: ToolContext,
        tabId: TabId,
        selector: TabElement | None = None,
        x: Annotated[
            float | None,
            Field(ge=0, le=100_000, description="With y, instead of a selector: pixels of the last screenshot."),
        ] = None,
        y: Annotated[float | None, Field(ge=0, le=100_000)] = None,
        timeoutMs: ElementLimitMs = None,
    ) -> ToolResult[results.TabAction]:
        """Click an element, once it is there, visible and enabled; or a point of the last screenshot (x and y).

        From a program, x and y are CSS pixels of the window.
        """
        if selector is None:
            if x is None or y is None:
                raise ToolError("invalid_arguments", "give either selector, or x and y")
            return await self._click_at(ctx, x, y, timeoutMs or ELEMENT_MS)
        if x is not None or y is not None:
            raise ToolError("invalid_arguments", "give either selector, or x and y")

        async def click(tab: Tab, hit: Hit, wait_ms: int) -> str:
            await click_element(tab, hit, wait_ms)
            return f"Clicked {hit.description}."

        return await self._on_element(ctx, selector, timeoutMs, click)

    @_acts_on_tab
    async def chrome_type(
        self,
        ctx: ToolContext,
        tabId: TabId,
        selector: TabElement,
        text: Annotated[str, Field(max_length=100_000, description="What to type; it comes after what is there.")],
        timeoutMs: ElementLimitMs = None,
    ) -> ToolResult[results.TabAction]:
        """Type text into an element, key by key, after what it holds already."""

        async def append(tab: Tab, hit: Hit, wait_ms: int) -> str:
            await append_text(tab, hit, text, wait_ms=wait_ms, timeout_ms=timeoutMs or DEFAULT_MS)
            return f"Typed {len(text)} characters into {hit.description}."

        return await self._on_element(ctx, selector, timeoutMs, append, reads_field=True)

    @tool(
        rank=3,
        effects=("egress",), idempotent=True, open_world=True, timeout_s=LONGEST_S,
        preview=_preview_action, resource=TAB,
    )  # fmt: skip
    async def chrome_fill(
        self,
        ctx: ToolContext,
        tabId: TabId,
        selector: TabElement,
        text: Annotated[
            str,
            Field(
                max_length=1_000_000,
                description="The field's new content: text, the label of an option, or true or false for a check box.",
            ),
        ],
        timeoutMs: ElementLimitMs = None,
    ) -> ToolResult[results.TabAction]:
        """Empty a field and fill it with text at once, or choose an option, or check a box."""

        async def fill(tab: Tab, hit: Hit, wait_ms: int) -> str:
            filled = await fill_field(tab, hit, value=text, timeout_ms=wait_ms)
            became = f": {filled.became}" if filled.became else ""
            return f"Filled {hit.description}{became}. {filled.note}".rstrip()

        return await self._on_element(ctx, selector, timeoutMs, fill, reads_field=True)

    @tool(effects=("execute",), open_world=True, timeout_s=LONGEST_S, preview=_preview_action, resource=TAB)
    async def chrome_evaluate(
        self,
        ctx: ToolContext,
        tabId: TabId,
        script: Script,
        timeoutMs: PageLimitMs = DEFAULT_MS,
    ) -> ToolResult[results.TabEvaluation]:
        """Run JavaScript in a page and give its value. A function is called; `await` and `return` work."""
        tab = self.named_tab(ctx)
        return await self.run_for_result(ctx, tab, evaluate_script(tab, script, timeoutMs))

    @_reads_tab
    async def chrome_wait_for(
        self,
        ctx: ToolContext,
        tabId: TabId,
        selector: TabSelector | None = None,
        state: Annotated[wait_conditions.ElementState, Field(description="What the element shall be.")] = "visible",
        condition: Annotated[
            str | None, Field(max_length=100_000, description="JavaScript expression that shall be true.")
        ] = None,
        url: Annotated[
            str | None,
            Field(max_length=16_384, description="A part of the address; or all of it, with * and ** for anything."),
        ] = None,
        loadState: wait_conditions.LoadState | None = None,
        timeoutMs: PageLimitMs = DEFAULT_MS,
    ) -> ToolResult[results.TabAddress]:
        """Wait for one of: an element's state, a condition, an address, a load state."""
        tab = self.named_tab(ctx)
        given = [name for name in (selector, condition, url, loadState) if name is not None]
        if len(given) != 1:
            raise ToolError(
                "invalid_arguments", f"give one of selector, condition, url, loadState; {len(given)} were given"
            )

        async def wait() -> ToolOutput:
            if selector is not None:
                await wait_conditions.for_selector(tab, selector, state, timeoutMs)
            elif condition is not None:
                await wait_conditions.for_condition(tab, condition, timeoutMs)
            elif url is not None:
                await wait_conditions.for_url(tab, url, timeoutMs)
            elif loadState is not None:
                await wait_conditions.for_load_state(tab, loadState, timeoutMs)
            return ToolOutput("It is so now.", {"url": tab.page.url})

        return await self.run_for_result(ctx, tab, wait())

    # -- web component and routes ------------------------------------------------------------------------------

    def get_web_component(self) -> WebComponent:
        """Return the management page and the tab view."""
        return WebComponent(
            tag="chrome-panel",
            script="chrome-panel.js",
            folder=Path(__file__).parents[1] / "component",
            title={"en": "Browser windows", "zh": "浏览器窗口"},
            icon="globe",
            resource_views={self.resource_type: "chrome-tab-view"},
        )

    async def _get_browsers(self, _: Request) -> Response:
        return Response({"browsers": await self.engine.describe_browsers()})

    # -- internals ---------------------------------------------------------------------------------------------

    def named_tab(self, ctx: ToolContext) -> Tab:
        """Return the tab that the call names."""
        assert ctx.resource is not None  # noqa: S101 - tabId is required, and the host has resolved it
        return self.engine.get_tab(ctx.resource.keys["tabId"])

    async def navigate_tab(
        self, ctx: ToolContext, tab: Tab, url: str, wait_until: WaitUntil, timeout_ms: int
    ) -> ToolOutput:
        """Navigate the tab and describe where it ended up."""
        arrived = await self.go_to(ctx, tab, url, wait_until, timeout_ms)
        return ToolOutput(str(arrived), arrived.to_json())

    def _get_browser(self, ctx: ToolContext, browser_id: str) -> BrowserProcess:
        process = self.engine.get_browser(browser_id)
        if not self.may_reach(ctx, process.session_id):
            raise instance_not_found(browser_id)
        return process

    async def _take_screenshot(
        self, ctx: ToolContext, tab: Tab, shot: ScreenshotOptions, *, inline: bool
    ) -> ToolOutput:
        image = await take_screenshot(tab, shot)
        is_model = ctx.model_chars is not None
        if inline and is_model:
            image = await reduce_for_model(tab, image, shot)
        fields = {"mime": shot.mime, "sizeBytes": len(image.data), "url": tab.page.url, "picture": image.to_json()}
        if inline:
            output = ToolOutput("", fields)
            return show_picture(tab, output, image) if is_model else with_image(output, image)
        name = f"screenshot-{tab.tab_id}.{shot.format}"
        link = await ctx.artifacts.save(image.data, mime=shot.mime, name=name)
        output = ToolOutput(f"Kept as {link.name}.", {**fields, "artifactId": link.artifact_id}, (link,))
        small = await take_preview(tab, shot) if is_model else None
        return output if small is None else show_picture(tab, output, small)

    async def _click_at(self, ctx: ToolContext, x: float, y: float, wait_ms: int) -> ToolResult:
        tab = self.named_tab(ctx)

        async def click() -> ToolOutput:
            point = await locate_point(tab, find_shown_picture(ctx, tab), x, y)
            element = await click_point(tab, point.x, point.y, {})
            fields = {"url": tab.page.url, "element": element}
            return ToolOutput(f"Clicked {element} at {point.description}.", fields)

        return await self.run_for_result(ctx, tab, act_without_element(tab, wait_ms, "click", click))

    async def _on_element(
        self,
        ctx: ToolContext,
        selector: str,
        timeout_ms: int | None,
        work: Callable[[Tab, Hit, int], Awaitable[str]],
        *,
        reads_field: bool = False,
    ) -> ToolResult:
        """Run `work` on the tab, the element and the time left for it to be usable; it describes what it did."""
        tab = self.named_tab(ctx)
        wait_ms = timeout_ms or ELEMENT_MS

        async def act(hit: Hit) -> ToolOutput:
            text = await work(tab, hit, work_ms(wait_ms))
            return ToolOutput(text, {"url": tab.page.url, "element": hit.description})

        limit_ms = timeout_ms or DEFAULT_MS
        acting = act_on_element(tab, Target(selector), act, wait_ms=wait_ms, limit_ms=limit_ms, reads_field=reads_field)
        return await self.run_for_result(ctx, tab, acting)


async def _read_content(reading: Any, field: Literal["html", "text"]) -> ToolOutput:
    chunk: ContentChunk = await reading
    text = chunk.text
    if chunk.is_cut:
        text += f"\n[cut: {chunk.length:,} characters in all; name a selector for a part]"
    return ToolOutput(text, {field: chunk.text, "length": chunk.length, "isCut": chunk.is_cut}, is_cut=chunk.is_cut)


def _browser_lines(browser: dict[str, Any]) -> list[str]:
    memory = browser["memoryBytes"]
    size = f", {memory / 1024 / 1024:.0f} MiB" if memory else ""
    return [
        f"{browser['browserId']}: version {browser['version']}, process {browser['pid']}{size}",
        *(f"  {_tab_line(tab)}" for tab in browser["tabs"]),
    ]


def _tab_line(tab: dict[str, Any]) -> str:
    return f"{tab['tabId']}: {tab['url']} – {tab['title']} ({tab['state']})"

"""`Browser`: the chat session's own page, for an agent. Ids are optional."""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from agentcore.api import Field, Image, ToolContext, ToolDefinition, ToolError, ToolResult, tool
from agentcore_chrome.settings import Viewport
from agentcore_chrome.tab import waiting
from agentcore_chrome.tab.clicking import click_element
from agentcore_chrome.tab.elements import Target, on_element
from agentcore_chrome.tab.navigation import (
    NavigationResult,
    WaitUntil,
    go_back,
    go_forward,
    reload,
    state_of,
)
from agentcore_chrome.tab.reading import read_tree
from agentcore_chrome.tab.screenshot import Format, ScreenshotOptions, take_preview, take_screenshot
from agentcore_chrome.tab.scrolling import Direction, Scroll
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tools import result_types as results
from agentcore_chrome.tools.actions import (
    Button,
    Modifier,
    click_at,
    evaluate_script,
    evaluate_with_element,
    hover,
    keep,
    press,
    save_file,
    scroll_to,
    type_text,
    typing_ms,
)
from agentcore_chrome.tools.arguments import (
    DEFAULT_MS,
    LONGEST_S,
    PAGE,
    PAGE_IF_ANY,
    LimitMs,
    PageId,
    PageSelector,
    Script,
    ShowChanges,
    Url,
)
from agentcore_chrome.tools.form_tools import FormTools
from agentcore_chrome.tools.inspection_tools import InspectionTools
from agentcore_chrome.tools.page_tools import PageTools
from agentcore_chrome.tools.result import ToolOutput, output_of_dialog
from agentcore_chrome.tools.session_pages import SessionPages, acts_on_page, reads_page
from agentcore_chrome.tools.spellings import with_spellings
from agentcore_chrome.tools.telling import Brief

_WAIT_MS = 10_000
_RANKS: Mapping[str, int] = {
    "browser_navigate": 0,
    "browser_snapshot": 0,
    "browser_click": 0,
    "browser_type": 0,
    "browser_press_key": 0,
    "browser_screenshot": 0,
    "browser_wait_for": 0,
    "browser_tabs": 2,
    "browser_fill_form": 2,
    "browser_select_option": 2,
    "browser_file_upload": 3,
    "browser_handle_dialog": 3,
    "browser_console_messages": 4,
    "browser_pdf": 6,
}
"""What a model is given first; of the others, the fifteen go before the further ones."""
_RANK, _FURTHER_RANK = 1, 5


class Browser(PageTools, FormTools, InspectionTools):
    """The browser page of a chat session: go somewhere, read, click, type, look."""

    title = "Browser"
    instructions: ClassVar = {
        "en": (
            "`browser_navigate` first, then `browser_snapshot`: it names what can be acted on by references such "
            "as `e12`, which the other tools take as `selector`. An action's result says what it changed; look "
            "again only when you need more. Fill several fields at once with `browser_fill_form`. A snapshot "
            "tells more for less than a picture: take `browser_screenshot` to judge how something looks. Enter "
            "passwords and personal data only where the person told you to."
        ),
        "zh": (
            "先用 `browser_navigate`，再用 `browser_snapshot`："
            "它用 `e12` 这样的引用标明可以操作的元素，其他工具把它作为 `selector`。"
            "操作的结果会说明变化；需要更多信息时再查看。用 `browser_fill_form` 一次填写多个字段。"
            "快照比图片更省、信息更多：要判断外观时才用 `browser_screenshot`。"
            "只在用户要求的地方输入密码和个人数据。"
        ),
    }
    stands_in_for = ("chrome",)

    def get_tool_definitions(self) -> Sequence[ToolDefinition | dict[str, Any]]:
        """The fifteen tools, and the further ones if the settings want them."""
        definitions = [made for made in super().get_tool_definitions() if isinstance(made, ToolDefinition)]
        if not self.settings.extra_tools:
            definitions = [made for made in definitions if made.name in vars(Browser)]
        return [replace(with_spellings(made), rank=_rank(made.name)) for made in definitions]

    def limit_ms(self, tool_name: str, args: dict[str, Any]) -> int | None:
        """See `EngineModule.limit_ms`; typing with delays takes its time."""
        limit = super().limit_ms(tool_name, args)
        return typing_ms(args["text"], args["delay"]) if limit is None and "delay" in args else limit

    @tool(
        effects=("egress",), destructive=False, idempotent=True, open_world=True, timeout_s=LONGEST_S,
        preview=SessionPages.preview_url, resource=PAGE,
    )  # fmt: skip
    async def browser_launch(
        self,
        ctx: ToolContext,
        headless: Annotated[bool | None, Field(description="Without a window; left out, as the settings say.")] = None,
        viewport: Annotated[Viewport | None, Field(description="Size of the page, 1280 by 720 if left out.")] = None,
        new_page: Annotated[bool, Field(description="Open a further page, with a resourceId of its own.")] = False,
        url: Annotated[Url | None, Field(description="Go there at once.")] = None,
        resourceId: PageId = None,
    ) -> ToolResult[results.LaunchedPage]:
        """Start the session's browser. When it runs already, it says so and starts nothing, unless new_page is set."""
        resource = self.resource(ctx)
        is_running = self.open_page(ctx) is not None
        self.set_options(resource.session_id, headless, viewport)
        if new_page and is_running:
            resource = self.runtime.resources.create(
                self.resource_type, resource.session_id, on_release=self.release_tab
            )
        tab = await self.tab_for(resource.resource_id)
        if url is not None:
            return await self.on_tab(ctx, tab, lambda tab: self._opened_at(ctx, tab, url))
        started = not is_running or new_page
        text = f"Page {tab.resource_id} is open." if started else f"It runs already, at {tab.page.url}."
        return await self.result(ctx, tab, ToolOutput(text, {"started": started, "url": tab.page.url}))

    async def _opened_at(self, ctx: ToolContext, tab: Tab, url: str) -> ToolOutput:
        arrived = await self.go_to(ctx, tab, url)
        return ToolOutput(f"Page {tab.resource_id} is open: {arrived}", {"started": True, **arrived.to_json()})

    @tool(
        effects=("egress",), idempotent=True, open_world=True, timeout_s=LONGEST_S,
        preview=SessionPages.preview_url, resource=PAGE,
    )  # fmt: skip
    async def browser_navigate(
        self,
        ctx: ToolContext,
        url: Url,
        waitUntil: Annotated[WaitUntil, Field(description="What to wait for.")] = "load",
        snapshot: ShowChanges = None,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult[results.PageArrival]:
        """Go to an address, and give the final address, HTTP status and title."""
        return await self.on_page(
            ctx, lambda tab: _arrived(self.go_to(ctx, tab, url, waitUntil, timeoutMs)), snapshot=snapshot
        )

    @acts_on_page
    async def browser_click(
        self,
        ctx: ToolContext,
        selector: PageSelector | None = None,
        x: Annotated[
            float | None, Field(ge=0, le=100_000, description="Place in the window, with y, instead of a selector.")
        ] = None,
        y: Annotated[float | None, Field(ge=0, le=100_000)] = None,
        button: Button = "left",
        doubleClick: bool = False,
        modifiers: Annotated[list[Modifier], Field(max_length=4, description="Keys held meanwhile.")] = [],
        snapshot: ShowChanges = None,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult[results.ClickedPage]:
        """Click an element, or a place in the window."""
        is_place = x is not None and y is not None
        if (selector is None) != is_place:
            raise ToolError("invalid_arguments", "give either selector, or x and y")
        count = 2 if doubleClick else 1

        async def click(tab: Tab) -> ToolOutput:
            if selector is None:
                await click_at(tab, x or 0, y or 0, timeoutMs, count=count, button=button)
                return ToolOutput(f"Clicked at {x:g}, {y:g}.", {"clicked": True, "url": tab.page.url})
            await on_element(
                tab,
                Target(selector),
                timeoutMs,
                lambda locator: click_element(
                    locator, timeoutMs, button=button, modifiers=modifiers, click_count=count
                ),
            )
            return ToolOutput(f"Clicked {selector!r}.", {"clicked": True, "url": tab.page.url})

        return await self.on_page(ctx, click, snapshot=snapshot)

    @acts_on_page
    async def browser_type(
        self,
        ctx: ToolContext,
        text: Annotated[str, Field(max_length=100_000, description="What to type.")],
        selector: Annotated[
            PageSelector | None,
            Field(description="The field: CSS selector or reference. Left out, what has the focus, at its caret."),
        ] = None,
        delay: Annotated[int, Field(ge=0, le=1000, description="Milliseconds between the keys.")] = 0,
        submit: Annotated[bool, Field(description="Press Enter afterwards.")] = False,
        snapshot: ShowChanges = None,
        resourceId: PageId = None,
        timeoutMs: Annotated[
            LimitMs | None, Field(description="Limit in milliseconds; left out, 30,000 and what the delays take.")
        ] = None,
    ) -> ToolResult[results.TypedText]:
        """Empty a field and type text into it; without selector, type where the caret is (after a click on an editor).

        Several lines, and code in editors, are inserted at once, as a person pastes: nothing indents them again.
        """

        async def type_in(tab: Tab) -> ToolOutput:
            output = await type_text(tab, selector, text, delay, timeoutMs)
            if submit:
                await press(tab, "Enter", (), DEFAULT_MS)
            return output

        return await self.on_page(ctx, type_in, snapshot=snapshot)

    @acts_on_page
    async def browser_scroll(
        self,
        ctx: ToolContext,
        direction: Direction = "down",
        amount: Annotated[int, Field(ge=1, le=100_000_000, description="Pixels.")] = 500,
        selector: Annotated[
            PageSelector | None, Field(description="The area to scroll, or an element in it; left out, the page.")
        ] = None,
        to: Annotated[
            PageSelector | None,
            Field(description="Go on until this element is in view, also in grids that make rows as one scrolls."),
        ] = None,
        text: Annotated[str | None, Field(max_length=1000, description="Go on until this text is in view.")] = None,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult[results.ScrolledArea]:
        """Scroll the page or an area of it: by pixels, to an end, to an element or a text; says what is in view then.

        In a grid, `to: '[aria-rowindex="4321"]'` goes straight there.
        """
        if to is not None and text is not None:
            raise ToolError("invalid_arguments", "give to or text, not both")
        wanted = Scroll(direction, amount, selector, to, text)
        brief = Brief(sought=text)
        return await self.on_page(ctx, lambda tab: scroll_to(tab, wanted, timeoutMs), snapshot=None, brief=brief)

    @acts_on_page
    async def browser_hover(
        self,
        ctx: ToolContext,
        selector: PageSelector,
        snapshot: ShowChanges = None,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult[results.HoveredElement]:
        """Move the mouse over an element."""
        return await self.on_page(ctx, lambda tab: hover(tab, selector, timeoutMs), snapshot=snapshot)

    @tool(
        effects=("egress",), open_world=True, preview=SessionPages.preview_action, resource=PAGE,
    )  # fmt: skip
    async def browser_press_key(
        self,
        ctx: ToolContext,
        key: Annotated[str, Field(min_length=1, max_length=40, description="Such as a, Enter, ArrowDown, F5.")],
        modifiers: Annotated[list[Modifier], Field(max_length=4, description="Keys held meanwhile.")] = [],
        snapshot: ShowChanges = None,
        resourceId: PageId = None,
    ) -> ToolResult[results.PressedKey]:
        """Press a key, with others held if wanted, in whatever has the focus."""
        return await self.on_page(ctx, lambda tab: press(tab, key, modifiers, DEFAULT_MS), snapshot=snapshot)

    @tool(read_only=True, open_world=True, timeout_s=LONGEST_S, preview=SessionPages.preview_file, resource=PAGE)
    async def browser_screenshot(
        self,
        ctx: ToolContext,
        path: Annotated[
            str | None, Field(max_length=4096, description="File in the workspace; left out, an artifact is kept.")
        ] = None,
        selector: Annotated[PageSelector | None, Field(description="Only this element.")] = None,
        full_page: Annotated[bool, Field(description="All of the page, not just what fits the window.")] = False,
        format: Format = "png",  # noqa: A002
        inline: Annotated[bool, Field(description="Give the picture itself.")] = False,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult[results.PagePicture]:
        """Take a picture of the page, of all of it, or of one element, and show it small.

        The picture itself is kept, as an artifact or as a file.
        """
        options = ScreenshotOptions(Target(selector) if selector else None, full_page, format, timeoutMs)
        mime = options.mime

        async def look(tab: Tab) -> ToolOutput:
            picture = await take_screenshot(tab, options)
            if path is not None:
                shown = await asyncio.to_thread(save_file, ctx.workspace, path, picture)
                output = ToolOutput(f"Wrote {shown} ({len(picture):,} bytes).", {"path": shown, "mime": mime})
            elif inline:
                fields = {"mime": mime, "dataBase64": b64encode(picture).decode("ascii")}
                return ToolOutput("", fields, (Image(picture, mime),))
            else:
                output = await keep(ctx, picture, mime, f"{tab.resource_id}.{format}")
            # a program has no use for it
            small = None if ctx.model_chars is None else await take_preview(tab, options)
            return output if small is None else replace(output, blocks=(*output.blocks, Image(small, "image/jpeg")))

        return await self.on_page(ctx, look)

    @reads_page
    async def browser_get_dom(
        self,
        ctx: ToolContext,
        selector: Annotated[PageSelector, Field(description="Where the tree begins.")] = "body",
        max_depth: Annotated[int, Field(ge=1, le=50, description="How many levels.")] = 5,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult[results.ElementTree]:
        """Give a simplified tree of the page's elements: tag, id, classes and text, a line each."""

        async def read(tab: Tab) -> ToolOutput:
            text, is_cut = await read_tree(tab, selector, max_depth, timeoutMs)
            if is_cut:
                text += "\n[more elements are left out; name a selector for a part]"
            return ToolOutput(text, {"dom": text, "isCut": is_cut}, is_cut=is_cut)

        return await self.on_page(ctx, read)

    @tool(
        effects=("execute",), open_world=True, timeout_s=LONGEST_S,
        preview=SessionPages.preview_action, resource=PAGE,
    )  # fmt: skip
    async def browser_evaluate(
        self,
        ctx: ToolContext,
        script: Script,
        selector: Annotated[
            PageSelector | None, Field(description="An element that a function is called with.")
        ] = None,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult[results.PageEvaluation]:
        """Run JavaScript in the page and give its value. A function is called; `await` and `return` work."""

        async def run(tab: Tab) -> ToolOutput:
            if selector is not None:
                return await evaluate_with_element(tab, selector, script, timeoutMs)
            return await evaluate_script(tab, script, timeoutMs)

        return await self.on_page(ctx, run, snapshot=None, brief=Brief())

    @reads_page
    async def browser_wait_for(
        self,
        ctx: ToolContext,
        selector: PageSelector | None = None,
        state: Annotated[waiting.ElementState, Field(description="What the element shall be.")] = "visible",
        condition: Annotated[
            str | None, Field(max_length=100_000, description="JavaScript expression that shall be true.")
        ] = None,
        text: Annotated[str | None, Field(max_length=1000, description="Text that shall be seen.")] = None,
        textGone: Annotated[str | None, Field(max_length=1000, description="Text that shall be gone.")] = None,
        timeout: Annotated[int, Field(ge=1, le=300_000, description="Limit in ms.")] = _WAIT_MS,
        resourceId: PageId = None,
    ) -> ToolResult[results.PageAddress]:
        """Wait for an element, a condition, or a text."""
        given = [part for part in (selector, condition, text, textGone) if part is not None]
        if len(given) != 1:
            raise ToolError(
                "invalid_arguments", f"give one of selector, condition, text, textGone; {len(given)} were given"
            )

        async def wait(tab: Tab) -> ToolOutput:
            if condition is not None:
                await waiting.for_condition(tab, condition, timeout)
            elif text is not None:
                await waiting.for_selector(tab, f"text={text}", "visible", timeout)
            elif textGone is not None:
                await waiting.for_selector(tab, f"text={textGone}", "hidden", timeout)
            else:
                await waiting.for_selector(tab, str(selector), state, timeout)
            return ToolOutput("It is so now.", {"url": tab.page.url})

        return await self.on_page(ctx, wait)

    @acts_on_page
    async def browser_go_back(
        self, ctx: ToolContext, resourceId: PageId = None, timeoutMs: LimitMs = DEFAULT_MS
    ) -> ToolResult[results.PageArrival]:  # fmt: skip
        """Go one page back in the history, and give the address arrived at."""
        return await self.on_page(ctx, lambda tab: _arrived(go_back(tab, timeoutMs)), snapshot=None)

    @acts_on_page
    async def browser_go_forward(
        self, ctx: ToolContext, resourceId: PageId = None, timeoutMs: LimitMs = DEFAULT_MS
    ) -> ToolResult[results.PageArrival]:  # fmt: skip
        """Go one page forward in the history, and give the address arrived at."""
        return await self.on_page(ctx, lambda tab: _arrived(go_forward(tab, timeoutMs)), snapshot=None)

    @acts_on_page
    async def browser_reload(
        self, ctx: ToolContext, resourceId: PageId = None, timeoutMs: LimitMs = DEFAULT_MS
    ) -> ToolResult[results.PageArrival]:  # fmt: skip
        """Load the page again."""
        return await self.on_page(ctx, lambda tab: _arrived(reload(tab, timeoutMs)), snapshot=None)

    @tool(read_only=True, effects=("session",), idempotent=True, open_world=False, resource=PAGE_IF_ANY)
    async def browser_get_state(self, ctx: ToolContext, resourceId: PageId = None) -> ToolResult[results.PageState]:
        """Tell whether the page runs, its address, title and load state. It starts nothing."""
        tab = self.open_page(ctx)
        if tab is None:
            return ToolResult("No browser runs in this session.", {"running": False})
        title, state = await state_of(tab)
        fields = {"running": True, "url": tab.page.url, "title": title, "loadState": state, "state": tab.state}
        text = f"{tab.page.url} – {title} ({state})"
        if tab.dialogs.open is not None:
            held = output_of_dialog(tab.dialogs.open)
            text, fields = f"{text}\n{held.text}", fields | held.fields
        return await self.result(ctx, tab, ToolOutput(text, fields))


async def _arrived(going: Awaitable[NavigationResult]) -> ToolOutput:
    arrived = await going
    return ToolOutput(str(arrived), arrived.to_json())


def _rank(name: str) -> int:
    return _RANKS.get(name, _RANK if name in vars(Browser) else _FURTHER_RANK)

"""`Browser` module: the chat session's own page, for agents; ids are optional."""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from agentcore.api import Field, HostAlias, Image, Resource, ToolContext, ToolDefinition, ToolError, ToolResult, tool
from agentcore_chrome.live.picture import LIVE_VIEW
from agentcore_chrome.settings import Viewport
from agentcore_chrome.tab import wait_conditions
from agentcore_chrome.tab.clicking import click_element
from agentcore_chrome.tab.elements import Target, on_element
from agentcore_chrome.tab.navigation import (
    NavigationResult,
    WaitUntil,
    go_back,
    go_forward,
    read_state,
    reload_page,
)
from agentcore_chrome.tab.reading import read_tree
from agentcore_chrome.tab.screenshot import Format, ScreenshotOptions, take_preview, take_screenshot
from agentcore_chrome.tab.scrolling import Direction, Scroll
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tools import result_types as results
from agentcore_chrome.tools.action_report import Brief
from agentcore_chrome.tools.actions import (
    Button,
    Modifier,
    click_at,
    evaluate_script,
    evaluate_with_element,
    hover_element,
    press_key,
    save_artifact,
    save_file,
    scroll_to,
    type_text,
    typing_ms,
)
from agentcore_chrome.tools.argument_aliases import with_spellings
from agentcore_chrome.tools.arguments import (
    DEFAULT_MS,
    LONGEST_S,
    PAGE,
    PAGE_IF_ANY,
    LimitMs,
    PageId,
    PageLimitMs,
    PageSelector,
    Script,
    ShowChanges,
    Url,
    for_programs,
    known_field,
)
from agentcore_chrome.tools.form_tools import FormTools
from agentcore_chrome.tools.inspection_tools import InspectionTools
from agentcore_chrome.tools.live_picture import LiveViewTools
from agentcore_chrome.tools.page_tools import PageTools
from agentcore_chrome.tools.result import ToolOutput, describe_dialog
from agentcore_chrome.tools.session_pages import SessionPages, acts_on_page, reads_page
from agentcore_chrome.tools.translations import SESSION_PAGES_EXAMPLES, SESSION_PAGES_ZH

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
"""Ranks of tools, lowest offered first; others have `_RANK` if they are basic tools, else `_FURTHER_RANK`."""
_HOST_ALIASES: Mapping[str, HostAlias] = {
    "browser_launch": HostAlias("browser.ensure"),
    "browser_click": HostAlias("browser.click"),
    "browser_type": HostAlias("browser.type"),
    "browser_navigate": HostAlias("browser.navigate"),
    "browser_wait_for": HostAlias("browser.waitFor"),
    "browser_screenshot": HostAlias("browser.screenshot", {"inline": True}),
}
"""The tools that programs of other machines call by dotted names of the host protocol, with its arguments."""
_RANK = 1
_FURTHER_RANK = 5


class Browser(PageTools, FormTools, InspectionTools, LiveViewTools):
    """The browser page of a chat session: go somewhere, read, click, type, look."""

    title = "Browser"
    translations: ClassVar = {"zh": SESSION_PAGES_ZH}
    examples: ClassVar = SESSION_PAGES_EXAMPLES
    instructions: ClassVar = {
        "en": (
            "A `selector` is a reference such as `e12`, which `browser_snapshot` and other results give, or CSS. An "
            "action's result says what it changed; look again only when you need more, and take `browser_screenshot` "
            "only to judge how something looks. Enter passwords and personal data only where the person told you to."
        ),
        "zh": (
            "`selector` 是 `browser_snapshot` 等结果给出的引用（如 `e12`），或 CSS。"
            "操作的结果会说明变化；需要更多信息时再查看，要判断外观时才用 `browser_screenshot`。"
            "只在用户要求的地方输入密码和个人数据。"
        ),
    }
    stands_in_for = ("chrome",)

    def get_tool_definitions(self) -> Sequence[ToolDefinition | dict[str, Any]]:
        """Return the fifteen basic tools, those for views, and the others if `extra_tools` is set."""
        found = (made for made in super().get_tool_definitions() if isinstance(made, ToolDefinition))
        wanted = (each for each in found if self.settings.extra_tools or each.name in vars(Browser) or each.in_views)
        return [
            replace(with_spellings(made), rank=_tool_rank(made.name), host_alias=_HOST_ALIASES.get(made.name))
            for made in wanted
        ]

    def limit_ms(self, tool_name: str, args: dict[str, Any]) -> int | None:
        """Return the caller's limit; typing without one gets extra time for its delays."""
        limit = super().limit_ms(tool_name, args)
        return typing_ms(args["text"], args["delay"]) if limit is None and "delay" in args else limit

    @tool(
        effects=("egress",), destructive=False, idempotent=True, open_world=True, timeout_s=LONGEST_S,
        preview=SessionPages.preview_url, resource=PAGE, view=LIVE_VIEW,
    )  # fmt: skip
    async def browser_launch(
        self,
        ctx: ToolContext,
        headless: Annotated[bool | None, known_field("Without a window; left out, as the settings say.")] = None,
        viewport: Annotated[Viewport | None, known_field("Size of the page, 1280 by 720 if left out.")] = None,
        new_page: Annotated[bool, for_programs("Open a further page.")] = False,
        url: Annotated[Url | None, for_programs("Go there at once.")] = None,
        resourceId: Annotated[PageId, for_programs("The page; default: the first.")] = None,
    ) -> ToolResult[results.LaunchedPage]:
        """Start the browser with a window, or a size of its own. Other tools start it too."""
        resource = self.require_resource(ctx)
        is_running = self.find_open_page(ctx) is not None
        self.set_options(resource.session_id, headless, viewport)
        further = new_page and is_running
        tab = await (self.open_further_page(resource.session_id) if further else self.ensure_tab(resource.resource_id))
        if url is not None:
            return await self.on_tab(ctx, tab, lambda tab: self._opened_at(ctx, tab, url))
        started = not is_running or new_page
        text = f"Page {tab.resource_id} is open." if started else f"It runs already, at {tab.page.url}."
        return await self.create_result(ctx, tab, ToolOutput(text, {"started": started, "url": tab.page.url}))

    async def _opened_at(self, ctx: ToolContext, tab: Tab, url: str) -> ToolOutput:
        arrived = await self.go_to(ctx, tab, url)
        return ToolOutput(f"Page {tab.resource_id} is open: {arrived}", {"started": True, **arrived.to_json()})

    @tool(
        effects=("egress",), idempotent=True, open_world=True, timeout_s=LONGEST_S,
        preview=SessionPages.preview_url, resource=PAGE, view=LIVE_VIEW,
    )  # fmt: skip
    async def browser_navigate(
        self,
        ctx: ToolContext,
        url: Url,
        waitUntil: Annotated[WaitUntil, for_programs("What to wait for.")] = "load",
        snapshot: ShowChanges = None,
        resourceId: PageId = None,
        timeoutMs: PageLimitMs = DEFAULT_MS,
    ) -> ToolResult[results.PageArrival]:
        """Go to an address; gives the HTTP status and what the page shows."""
        return await self.on_page(
            ctx, lambda tab: _describe_arrival(self.go_to(ctx, tab, url, waitUntil, timeoutMs)), snapshot=snapshot
        )

    @acts_on_page
    async def browser_click(
        self,
        ctx: ToolContext,
        selector: PageSelector | None = None,
        x: Annotated[
            float | None, known_field("Place in the window, with y, instead of a selector.", ge=0, le=100_000)
        ] = None,
        y: Annotated[float | None, Field(ge=0, le=100_000)] = None,
        button: Button = "left",
        doubleClick: bool = False,
        modifiers: Annotated[list[Modifier], known_field("Keys held meanwhile.", max_length=2000)] = [],
        snapshot: ShowChanges = None,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult[results.ClickedPage]:
        """Click an element, or a point of the window (x and y)."""
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
        text: Annotated[str, known_field("What to type.", max_length=100_000)],
        selector: Annotated[
            PageSelector | None,
            known_field("The field: CSS selector or reference. Left out, what has the focus, at its caret."),
        ] = None,
        delay: Annotated[int, for_programs("Milliseconds between the keys.", ge=0, le=1000)] = 0,
        submit: Annotated[bool, Field(description="Press Enter after.")] = False,
        snapshot: ShowChanges = None,
        resourceId: PageId = None,
        timeoutMs: Annotated[
            LimitMs | None, for_programs("Limit in milliseconds; left out, 30,000 and what the delays take.")
        ] = None,
    ) -> ToolResult[results.TypedText]:
        """Empty a field and type into it; without selector, type at the caret, as in editors after a click.

        Several lines are inserted as if pasted: no editor indents them again.
        """

        async def type_in(tab: Tab) -> ToolOutput:
            output = await type_text(tab, selector, text, delay, timeoutMs)
            if submit:
                await press_key(tab, "Enter", (), DEFAULT_MS)
            return output

        return await self.on_page(ctx, type_in, snapshot=snapshot)

    @acts_on_page
    async def browser_scroll(
        self,
        ctx: ToolContext,
        direction: Direction = "down",
        amount: Annotated[int, known_field("Pixels.", ge=1, le=100_000_000)] = 500,
        selector: Annotated[
            PageSelector | None, known_field("The area to scroll, or an element in it; left out, the page.")
        ] = None,
        to: Annotated[
            PageSelector | None,
            known_field("Go on until this element is in view, also in grids that make rows as one scrolls."),
        ] = None,
        text: Annotated[str | None, known_field("Go on until this text is in view.", max_length=2000)] = None,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult[results.ScrolledArea]:
        """Scroll the page, or the area of `selector`, by pixels, or until the element `to` or a text is in view.

        In grids that make rows as one scrolls, `to: '[aria-rowindex="4321"]'` goes straight there.
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
        return await self.on_page(ctx, lambda tab: hover_element(tab, selector, timeoutMs), snapshot=snapshot)

    @tool(
        effects=("egress",), open_world=True, preview=SessionPages.preview_action, resource=PAGE,
    )  # fmt: skip
    async def browser_press_key(
        self,
        ctx: ToolContext,
        key: Annotated[
            str, Field(min_length=1, max_length=2000, description="Such as a, Enter, ArrowDown, F5, Control+k.")
        ],
        modifiers: Annotated[list[Modifier], for_programs("Keys held meanwhile.", max_length=4)] = [],
        snapshot: ShowChanges = None,
        resourceId: PageId = None,
    ) -> ToolResult[results.PressedKey]:
        """Press a key, or several at once, in whatever has the focus."""
        return await self.on_page(ctx, lambda tab: press_key(tab, key, modifiers, DEFAULT_MS), snapshot=snapshot)

    @tool(read_only=True, open_world=True, timeout_s=LONGEST_S, preview=SessionPages.preview_file, resource=PAGE)
    async def browser_screenshot(
        self,
        ctx: ToolContext,
        path: Annotated[
            str | None, known_field("File in the workspace; left out, an artifact is kept.", max_length=4096)
        ] = None,
        selector: Annotated[PageSelector | None, known_field("Only this element.")] = None,
        full_page: Annotated[bool, known_field("All of the page, not just what fits the window.")] = False,
        format: Format = "png",  # noqa: A002
        inline: Annotated[bool, known_field("Give the picture itself.", told="Show it in full size.")] = False,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult[results.PageScreenshot]:
        """Take a picture of the page or one element: shown small, kept as an artifact or in the file `path`."""
        options = ScreenshotOptions(Target(selector) if selector else None, full_page, format, timeoutMs)
        mime = options.mime

        async def capture(tab: Tab) -> ToolOutput:
            picture = await take_screenshot(tab, options)
            if path is not None:
                shown = await asyncio.to_thread(save_file, ctx.workspace, path, picture)
                output = ToolOutput(f"Wrote {shown} ({len(picture):,} bytes).", {"path": shown, "mime": mime})
            elif inline:
                fields = {"mime": mime, "dataBase64": b64encode(picture).decode("ascii")}
                return ToolOutput("", fields, (Image(picture, mime),))
            else:
                output = await save_artifact(ctx, picture, mime, f"{tab.resource_id}.{format}")
            # Programs have no use for a preview.
            small = None if ctx.model_chars is None else await take_preview(tab, options)
            return output if small is None else replace(output, blocks=(*output.blocks, Image(small, "image/jpeg")))

        return await self.on_page(ctx, capture)

    @reads_page
    async def browser_get_dom(
        self,
        ctx: ToolContext,
        selector: Annotated[PageSelector, known_field("Where the tree begins.")] = "body",
        max_depth: Annotated[int, known_field("How many levels.", ge=1, le=50)] = 5,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult[results.ElementTree]:
        """Give the page's elements as a tree: tag, id, classes and text, a line each."""

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
        selector: Annotated[PageSelector | None, known_field("An element that a function is called with.")] = None,
        resourceId: PageId = None,
        timeoutMs: PageLimitMs = DEFAULT_MS,
    ) -> ToolResult[results.PageEvaluation]:
        """Run JavaScript in the page and give its value: an expression, or statements with `await` and `return`.

        A function is called, with the element of `selector` if given.
        """

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
        state: Annotated[wait_conditions.ElementState, known_field("What the element shall be.")] = "visible",
        condition: Annotated[
            str | None, known_field("JavaScript expression that shall be true.", max_length=100_000)
        ] = None,
        text: Annotated[str | None, known_field("Text that shall be seen.", max_length=2000)] = None,
        textGone: Annotated[str | None, known_field("Text that shall be gone.", max_length=2000)] = None,
        timeout: Annotated[int, known_field("Limit in ms.", ge=1, le=300_000)] = _WAIT_MS,
        resourceId: PageId = None,
    ) -> ToolResult[results.PageAddress]:
        """Wait for an element, a text, the end of a text, or a JavaScript condition: one of them."""
        given = [part for part in (selector, condition, text, textGone) if part is not None]
        if len(given) != 1:
            raise ToolError(
                "invalid_arguments", f"give one of selector, condition, text, textGone; {len(given)} were given"
            )

        async def wait(tab: Tab) -> ToolOutput:
            if condition is not None:
                await wait_conditions.for_condition(tab, condition, timeout)
            elif text is not None:
                await wait_conditions.for_selector(tab, f"text={text}", "visible", timeout)
            elif textGone is not None:
                await wait_conditions.for_selector(tab, f"text={textGone}", "hidden", timeout)
            else:
                await wait_conditions.for_selector(tab, str(selector), state, timeout)
            return ToolOutput("It is so now.", {"url": tab.page.url})

        return await self.on_page(ctx, wait)

    @acts_on_page
    async def browser_go_back(
        self, ctx: ToolContext, resourceId: PageId = None, timeoutMs: LimitMs = DEFAULT_MS
    ) -> ToolResult[results.PageArrival]:  # fmt: skip
        """Go one page back in the history."""
        return await self.on_page(ctx, lambda tab: _describe_arrival(go_back(tab, timeoutMs)), snapshot=None)

    @acts_on_page
    async def browser_go_forward(
        self, ctx: ToolContext, resourceId: PageId = None, timeoutMs: LimitMs = DEFAULT_MS
    ) -> ToolResult[results.PageArrival]:  # fmt: skip
        """Go one page forward in the history."""
        return await self.on_page(ctx, lambda tab: _describe_arrival(go_forward(tab, timeoutMs)), snapshot=None)

    @acts_on_page
    async def browser_reload(
        self, ctx: ToolContext, resourceId: PageId = None, timeoutMs: LimitMs = DEFAULT_MS
    ) -> ToolResult[results.PageArrival]:  # fmt: skip
        """Load the page again."""
        return await self.on_page(ctx, lambda tab: _describe_arrival(reload_page(tab, timeoutMs)), snapshot=None)

    @tool(read_only=True, effects=("session",), idempotent=True, open_world=False, resource=PAGE_IF_ANY)
    async def browser_get_state(self, ctx: ToolContext, resourceId: PageId = None) -> ToolResult[results.PageState]:
        """Tell whether the page is open, its address and title; starts nothing."""
        tab = self.find_open_page(ctx)
        if tab is None:
            return ToolResult(_explain_not_open(ctx.resource), {"running": False})
        title, state = await read_state(tab)
        fields = {"running": True, "url": tab.page.url, "title": title, "loadState": state, "state": tab.state}
        text = f"{tab.page.url} – {title} ({state})"
        if tab.dialogs.open is not None:
            held = describe_dialog(tab.dialogs.open)
            text = f"{text}\n{held.text}"
            fields = fields | held.fields
        return await self.create_result(ctx, tab, ToolOutput(text, fields))


def _explain_not_open(resource: Resource | None) -> str:
    if resource is None or resource.status != "failed":
        return "No browser runs in this session."
    where = f" at {resource.last_url!r}" if resource.last_url else ""
    return f"The page has crashed; the next call opens it again{where}, without what was typed there."


async def _describe_arrival(going: Awaitable[NavigationResult]) -> ToolOutput:
    arrived = await going
    return ToolOutput(str(arrived), arrived.to_json())


def _tool_rank(name: str) -> int:
    return _RANKS.get(name, _RANK if name in vars(Browser) else _FURTHER_RANK)

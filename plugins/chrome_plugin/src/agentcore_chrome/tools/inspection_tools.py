"""Tools of `browser` that read the page: snapshot, elements, screenshot, PDF, console, requests; and waiting."""

import asyncio
from base64 import b64encode
from typing import Annotated, Literal

from agentcore.api import DocumentText, Field, ToolContext, ToolError, ToolResult, also_called, tool
from agentcore_chrome.tab import wait_conditions
from agentcore_chrome.tab.elements import Target, act_without_element
from agentcore_chrome.tab.reading import read_tree
from agentcore_chrome.tab.screenshot import (
    Format,
    ScreenshotOptions,
    reduce_for_model,
    take_preview,
    take_screenshot,
)
from agentcore_chrome.tab.snapshot import NOTHING_SHOWN, snapshot_of_pdf, take_snapshot
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tools import result_types as results
from agentcore_chrome.tools.arguments import (
    DEFAULT_MS,
    LONGEST_S,
    PAGE,
    LimitMs,
    PageId,
    PageSelector,
    element_field,
    for_programs,
    known_field,
)
from agentcore_chrome.tools.session_pages import SessionPages, reads_page
from agentcore_chrome.tools.tab_result import ToolOutput, save_artifact, save_file, show_picture

_SHOWN = 100
_TEXT_CHARS = 500
_LEVELS = ("error", "warning", "info", "debug")
WAIT_MS = 10_000
FILE_NAMES = also_called("filename")


@reads_page
async def browser_snapshot(
    pages: SessionPages,
    ctx: ToolContext,
    selector: Annotated[PageSelector | None, element_field("Only this part: a reference or a CSS selector.")] = None,
    depth: Annotated[int | None, known_field("How many levels.", ge=1, le=50)] = None,
    find: Annotated[
        str | None, Field(max_length=2000, description="Only lines with this text, or /regular expression/.")
    ] = None,
    offset: Annotated[int | None, Field(ge=0, le=1_000_000, description="Lines to leave out.")] = None,
    resourceId: PageId = None,
    timeoutMs: LimitMs = DEFAULT_MS,
) -> ToolResult[results.PageSnapshot]:
    """Show the page as a tree of roles and names, with references (e12) that other tools take as `selector`."""

    async def read_snapshot(tab: Tab) -> ToolOutput:
        made = await take_snapshot(tab, selector=selector, depth=depth, find=find, offset=offset, timeout_ms=timeoutMs)
        tree = made.tree
        pdf = await pages.read_pdf(ctx, tab, timeoutMs) if selector is None and not tree.lines else None
        notice = ""
        if pdf is not None:
            made = snapshot_of_pdf(pdf.text, tree, find=find, offset=offset)
            notice = f"{pdf.notice}\n"
        if selector is None and depth is None:
            pages.store_page_tree(tab, tree)
        fields = {"url": tree.url, "title": tree.title, "leftOut": made.left_out}
        shown = notice + (made.text or _describe_no_match(find, len(tree.lines), pdf))
        return ToolOutput(f"{tree.url} – {tree.title}\n{shown}".rstrip(), fields, is_cut=bool(made.left_out))

    return await pages.on_page(ctx, read_snapshot)


def _describe_no_match(find: str | None, lines: int, pdf: DocumentText | None) -> str:
    if find is not None and pdf is not None and pdf.text:
        return "Nothing in it has that."
    if find is not None and lines:
        return f"None of the {lines} lines of this snapshot has that."
    return NOTHING_SHOWN if pdf is None else ""


@reads_page
async def browser_get_dom(
    pages: SessionPages,
    ctx: ToolContext,
    selector: Annotated[PageSelector, element_field("Where the tree begins.")] = "body",
    max_depth: Annotated[int, known_field("How many levels.", names=also_called("maxDepth"), ge=1, le=50)] = 5,
    resourceId: PageId = None,
    timeoutMs: LimitMs = DEFAULT_MS,
) -> ToolResult[results.ElementTree]:
    """Give the page's elements as a tree: tag, id, classes and text, a line each."""

    async def read(tab: Tab) -> ToolOutput:
        text, is_cut = await read_tree(tab, selector, max_depth, timeoutMs)
        if is_cut:
            text += "\n[more elements are left out; name a selector for a part]"
        return ToolOutput(text, {"dom": text, "isCut": is_cut}, is_cut=is_cut)

    return await pages.on_page(ctx, read)


@tool(read_only=True, open_world=True, timeout_s=LONGEST_S, preview=SessionPages.preview_file, resource=PAGE)
async def browser_screenshot(
    pages: SessionPages,
    ctx: ToolContext,
    path: Annotated[
        str | None,
        known_field("File in the workspace; left out, an artifact is kept.", names=FILE_NAMES, max_length=4096),
    ] = None,
    selector: Annotated[PageSelector | None, element_field("Only this element.")] = None,
    full_page: Annotated[
        bool, known_field("All of the page, not just what fits the window.", names=also_called("fullPage"))
    ] = False,
    format: Annotated[Format, Field(json_schema_extra=also_called("type"))] = "png",  # noqa: A002
    inline: Annotated[bool, known_field("Give the picture itself.", told="Show it in full size.")] = False,
    resourceId: PageId = None,
    timeoutMs: LimitMs = DEFAULT_MS,
) -> ToolResult[results.PageScreenshot]:
    """Take a picture of the page or one element: shown small, kept as an artifact or in the file `path`."""
    options = ScreenshotOptions(Target(selector) if selector else None, full_page, format, timeoutMs)
    is_model = ctx.model_chars is not None

    async def capture(tab: Tab) -> ToolOutput:
        image = await take_screenshot(tab, options)
        if path is not None:
            shown = await asyncio.to_thread(save_file, ctx.workspace, path, image.data)
            fields = {"path": shown, "mime": image.mime, "picture": image.to_json()}
            output = ToolOutput(f"Wrote {shown} ({len(image.data):,} bytes).", fields)
        elif inline:
            # sent once: a model sees the image block, a program reads the field
            if is_model:
                image = await reduce_for_model(tab, image, options)
                return show_picture(tab, ToolOutput("", {"mime": image.mime, "picture": image.to_json()}), image)
            encoded = b64encode(image.data).decode("ascii")
            fields = {"mime": image.mime, "dataBase64": encoded, "picture": image.to_json()}
            width, height = image.size
            return ToolOutput(f"The picture, {width} × {height} pixels, is in `dataBase64` of the data.", fields)
        else:
            output = await save_artifact(ctx, image.data, image.mime, f"{tab.name_for(ctx)}.{format}")
            output = output.with_more(ToolOutput("", {"picture": image.to_json()}))
        # Programs have no use for a preview.
        small = await take_preview(tab, options) if is_model else None
        return output if small is None else show_picture(tab, output, small)

    return await pages.on_page(ctx, capture)


@tool(read_only=True, open_world=True, timeout_s=LONGEST_S, preview=SessionPages.preview_file, resource=PAGE)
async def browser_pdf(
    pages: SessionPages,
    ctx: ToolContext,
    path: Annotated[
        str | None,
        Field(
            max_length=4096,
            description="File in the workspace; left out, an artifact is kept.",
            json_schema_extra=FILE_NAMES,
        ),
    ] = None,
    resourceId: PageId = None,
) -> ToolResult[results.SavedFile]:
    """Print the page as a PDF. Needs a browser without a window."""

    async def to_pdf(tab: Tab) -> ToolOutput:
        data = await act_without_element(tab, DEFAULT_MS, "print the page", tab.page.pdf)
        if path is not None:
            shown = await asyncio.to_thread(save_file, ctx.workspace, path, data)
            return ToolOutput(f"Wrote {shown} ({len(data):,} bytes).", {"path": shown})
        return await save_artifact(ctx, data, "application/pdf", f"{tab.name_for(ctx)}.pdf")

    return await pages.on_page(ctx, to_pdf)


@tool(read_only=True, open_world=True, keep="tail", resource=PAGE)
async def browser_console_messages(
    pages: SessionPages,
    ctx: ToolContext,
    level: Annotated[Literal["error", "warning", "info", "debug"], known_field("This and what is worse.")] = "info",
    resourceId: PageId = None,
) -> ToolResult[results.ConsoleMessages]:
    """Give the JavaScript console of the page: messages, and errors that nobody caught, the newest last."""
    levels = _LEVELS[: _LEVELS.index(level) + 1]

    async def read(tab: Tab) -> ToolOutput:
        messages = await act_without_element(tab, DEFAULT_MS, "read the console", tab.page.console_messages)
        errors = await act_without_element(tab, DEFAULT_MS, "read the errors", tab.page.page_errors)
        shown = [
            {"type": message.type, "text": message.text[:_TEXT_CHARS]}
            for message in messages
            if _classify_level(message.type) in levels
        ]
        shown += [{"type": "uncaught", "text": str(error)[:_TEXT_CHARS]} for error in errors]
        lines = [f"[{message['type']}] {message['text']}" for message in shown[-_SHOWN:]]
        return ToolOutput("\n".join(lines) or "Nothing was written.", {"messages": shown[-_SHOWN:]})

    return await pages.on_page(ctx, read)


def _classify_level(kind: str) -> str:
    if kind in {"error", "assert"}:
        return "error"
    return {"warning": "warning", "debug": "debug", "verbose": "debug"}.get(kind, "info")


@tool(read_only=True, open_world=True, keep="tail", resource=PAGE)
async def browser_network_requests(
    pages: SessionPages,
    ctx: ToolContext,
    static: Annotated[bool, Field(description="Pictures, fonts, styles and scripts, too.")] = False,
    resourceId: PageId = None,
) -> ToolResult[results.MadeRequests]:
    """Give the requests that the page made lately: method, status, address."""

    async def read(tab: Tab) -> ToolOutput:
        found = tab.requests.list_requests(with_static=static)
        shown = found[-_SHOWN:]
        of_parts = tab.requests.count(is_static=True)
        hidden = 0 if static else of_parts
        earlier = tab.requests.count(is_static=False) + of_parts - hidden - len(shown)
        lines = [f"{one['method']} {one['status'] or one['failure'] or '…'} {one['url']}" for one in shown]
        lines = lines or ["No requests."]
        if earlier:
            lines.insert(0, f"[{earlier:,} earlier requests are left out]")
        if hidden:
            lines.append(f"[{hidden:,} for pictures, fonts, styles, scripts and media; static: true shows them]")
        fields = {"requests": shown, "leftOut": earlier, "staticLeftOut": hidden}
        return ToolOutput("\n".join(lines), fields, is_cut=earlier > 0)

    return await pages.on_page(ctx, read)


@reads_page
async def browser_wait_for(
    pages: SessionPages,
    ctx: ToolContext,
    selector: Annotated[PageSelector | None, element_field("CSS selector, or a reference such as e12.")] = None,
    state: Annotated[wait_conditions.ElementState, known_field("What the element shall be.")] = "visible",
    condition: Annotated[
        str | None,
        known_field("JavaScript expression that shall be true.", names=also_called("function"), max_length=100_000),
    ] = None,
    text: Annotated[str | None, known_field("Text that shall be seen.", max_length=2000)] = None,
    textGone: Annotated[str | None, known_field("Text that shall be gone.", max_length=2000)] = None,
    timeoutMs: Annotated[int | None, known_field("Limit in ms; left out, 10,000.", ge=1, le=300_000)] = None,
    timeout: Annotated[int | None, for_programs("The same as timeoutMs.", ge=1, le=300_000)] = None,
    resourceId: PageId = None,
) -> ToolResult[results.PageAddress]:
    """Wait for an element, a text, the end of a text, or a JavaScript condition: one of them."""
    given = [part for part in (selector, condition, text, textGone) if part is not None]
    if len(given) != 1:
        raise ToolError(
            "invalid_arguments", f"give one of selector, condition, text, textGone; {len(given)} were given"
        )

    limit_ms = timeoutMs or timeout or WAIT_MS

    async def wait(tab: Tab) -> ToolOutput:
        if condition is not None:
            await wait_conditions.for_condition(tab, condition, limit_ms)
        elif text is not None:
            await wait_conditions.for_text(tab, text, limit_ms)
        elif textGone is not None:
            await wait_conditions.for_text(tab, textGone, limit_ms, is_gone=True)
        else:
            await wait_conditions.for_selector(tab, str(selector), state, limit_ms)
        return ToolOutput("It is so now.", {"url": tab.page.url})

    return await pages.on_page(ctx, wait)

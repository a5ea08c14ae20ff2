"""Tools of `browser` that open the page, navigate it and report where it is."""

from collections.abc import Awaitable
from typing import Annotated

from agentcore.api import Resource, ToolContext, ToolResult, also_called, tool
from agentcore_chrome.browser.launching import require_display
from agentcore_chrome.live.live_images import LIVE_VIEW
from agentcore_chrome.settings import Viewport
from agentcore_chrome.tab.navigation import (
    NavigationResult,
    WaitUntil,
    go_back,
    go_forward,
    read_state,
    reload_page,
)
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tools import result_types as results
from agentcore_chrome.tools.arguments import (
    DEFAULT_MS,
    LONGEST_S,
    PAGE,
    PAGE_IF_ANY,
    LimitMs,
    PageId,
    PageLimitMs,
    ShowChanges,
    Url,
    for_programs,
    known_field,
)
from agentcore_chrome.tools.session_pages import SessionPages, acts_on_page
from agentcore_chrome.tools.tab_result import ToolOutput, describe_dialog


@tool(
    effects=("egress",), destructive=False, idempotent=True, open_world=True, timeout_s=LONGEST_S,
    preview=SessionPages.preview_url, resource=PAGE, view=LIVE_VIEW,
)  # fmt: skip
async def browser_launch(
    pages: SessionPages,
    ctx: ToolContext,
    headless: Annotated[bool | None, known_field("Without a window; left out, as the settings say.")] = None,
    viewport: Annotated[Viewport | None, known_field("Size of the page, 1280 by 720 if left out.")] = None,
    new_page: Annotated[bool, for_programs("Open a further page.", names=also_called("newPage"))] = False,
    url: Annotated[Url | None, for_programs("Go there at once.")] = None,
    resourceId: Annotated[PageId, for_programs("The page; default: the first.")] = None,
) -> ToolResult[results.LaunchedPage]:
    """Start the browser with a window, or a size of its own. Other tools start it too."""
    resource = pages.require_resource(ctx)
    if headless is False and not pages.settings.is_elsewhere:
        require_display()  # before the option is stored, which later calls would fail by
    is_running = pages.find_open_page(ctx) is not None
    pages.set_options(resource.session_id, headless, viewport)
    further = new_page and is_running
    tab = await (pages.open_further_page(resource.session_id) if further else pages.ensure_tab(resource.resource_id))
    if url is not None:
        return await pages.on_tab(ctx, tab, lambda tab: _opened_at(pages, ctx, tab, url))
    started = not is_running or new_page
    text = f"Page {tab.name_for(ctx)} is open." if started else f"It runs already, at {tab.page.url}."
    return await pages.create_result(ctx, tab, ToolOutput(text, {"started": started, "url": tab.page.url}))


async def _opened_at(pages: SessionPages, ctx: ToolContext, tab: Tab, url: str) -> ToolOutput:
    arrived = await pages.go_to(ctx, tab, url)
    return ToolOutput(f"Page {tab.name_for(ctx)} is open: {arrived}", {"started": True, **arrived.to_json()})


@tool(
    effects=("egress",), idempotent=True, open_world=True, timeout_s=LONGEST_S,
    preview=SessionPages.preview_url, resource=PAGE, view=LIVE_VIEW,
)  # fmt: skip
async def browser_navigate(
    pages: SessionPages,
    ctx: ToolContext,
    url: Url,
    waitUntil: Annotated[WaitUntil, for_programs("What to wait for.")] = "load",
    snapshot: ShowChanges = None,
    resourceId: PageId = None,
    timeoutMs: PageLimitMs = DEFAULT_MS,
) -> ToolResult[results.PageArrival]:
    """Go to an address; gives the HTTP status and what the page shows."""
    return await pages.on_page(
        ctx, lambda tab: _describe_arrival(pages.go_to(ctx, tab, url, waitUntil, timeoutMs)), snapshot=snapshot
    )


@acts_on_page
async def browser_go_back(
    pages: SessionPages, ctx: ToolContext, resourceId: PageId = None, timeoutMs: LimitMs = DEFAULT_MS
) -> ToolResult[results.PageArrival]:  # fmt: skip
    """Go one page back in the history."""
    return await pages.on_page(ctx, lambda tab: _describe_arrival(go_back(tab, timeoutMs)), snapshot=None)


@acts_on_page
async def browser_go_forward(
    pages: SessionPages, ctx: ToolContext, resourceId: PageId = None, timeoutMs: LimitMs = DEFAULT_MS
) -> ToolResult[results.PageArrival]:  # fmt: skip
    """Go one page forward in the history."""
    return await pages.on_page(ctx, lambda tab: _describe_arrival(go_forward(tab, timeoutMs)), snapshot=None)


@acts_on_page
async def browser_reload(
    pages: SessionPages, ctx: ToolContext, resourceId: PageId = None, timeoutMs: LimitMs = DEFAULT_MS
) -> ToolResult[results.PageArrival]:  # fmt: skip
    """Load the page again."""
    return await pages.on_page(ctx, lambda tab: _describe_arrival(reload_page(tab, timeoutMs)), snapshot=None)


@tool(read_only=True, effects=("session",), idempotent=True, open_world=False, resource=PAGE_IF_ANY)
async def browser_get_state(
    pages: SessionPages, ctx: ToolContext, resourceId: PageId = None
) -> ToolResult[results.PageState]:
    """Tell whether the page is open, its address and title; starts nothing."""
    tab = pages.find_open_page(ctx)
    if tab is None:
        return ToolResult(_explain_not_open(ctx.resource), {"running": False})
    title, state = await read_state(tab)
    fields = {"running": True, "url": tab.page.url, "title": title, "loadState": state, "state": tab.state}
    text = f"{tab.page.url} – {title} ({state})"
    if tab.dialogs.open is not None:
        held = describe_dialog(tab.dialogs.open)
        text = f"{text}\n{held.text}"
        fields = fields | held.fields
    return await pages.create_result(ctx, tab, ToolOutput(text, fields))


def _explain_not_open(resource: Resource | None) -> str:
    if resource is None or resource.status != "failed":
        return "No browser runs in this session."
    where = f" at {resource.last_url!r}" if resource.last_url else ""
    return f"The page has crashed; the next call opens it again{where}, without what was typed there."


async def _describe_arrival(going: Awaitable[NavigationResult]) -> ToolOutput:
    arrived = await going
    return ToolOutput(str(arrived), arrived.to_json())

"""Tools of `browser` that read a whole page: snapshot, console, requests, PDF."""

import asyncio
from typing import Annotated, Literal

from agentcore.api import Field, ToolContext, ToolResult, tool
from agentcore_chrome.tab.snapshot import NOTHING_SHOWN, take_snapshot
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tools import result_types as results
from agentcore_chrome.tools.actions import act_without_element, save_artifact, save_file
from agentcore_chrome.tools.arguments import DEFAULT_MS, LONGEST_S, PAGE, LimitMs, PageId, PageSelector, known_field
from agentcore_chrome.tools.result import ToolOutput
from agentcore_chrome.tools.session_pages import SessionPages, reads_page

_SHOWN = 100
_TEXT_CHARS = 500
_URL_CHARS = 2000
_LEVELS = ("error", "warning", "info", "debug")
_STATIC = frozenset(("image", "font", "stylesheet", "script", "media"))


class InspectionTools(SessionPages):
    """Tools of `browser` that read a whole page."""

    @reads_page
    async def browser_snapshot(
        self,
        ctx: ToolContext,
        selector: Annotated[PageSelector | None, known_field("Only this part: a reference or a CSS selector.")] = None,
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
            made = await take_snapshot(
                tab, selector=selector, depth=depth, find=find, offset=offset, timeout_ms=timeoutMs
            )
            tree = made.tree
            if selector is None and depth is None:
                self.store_page_tree(tab, tree)
            fields = {"url": tree.url, "title": tree.title, "leftOut": made.left_out}
            shown = made.text or _describe_no_match(find, len(tree.lines))
            return ToolOutput(f"{tree.url} – {tree.title}\n{shown}", fields, is_cut=bool(made.left_out))

        return await self.on_page(ctx, read_snapshot)

    @tool(read_only=True, open_world=True, keep="tail", resource=PAGE)
    async def browser_console_messages(
        self,
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

        return await self.on_page(ctx, read)

    @tool(read_only=True, open_world=True, keep="tail", resource=PAGE)
    async def browser_network_requests(
        self,
        ctx: ToolContext,
        static: Annotated[bool, Field(description="Pictures, fonts, styles and scripts, too.")] = False,
        resourceId: PageId = None,
    ) -> ToolResult[results.MadeRequests]:
        """Give the requests that the page made lately: method, status, address."""

        async def read(tab: Tab) -> ToolOutput:
            requests = await act_without_element(tab, DEFAULT_MS, "read the requests", tab.page.requests)
            shown = [
                {
                    "method": request.method,
                    "url": request.url[:_URL_CHARS],
                    "type": request.resource_type,
                    "status": response.status if (response := request.existing_response) is not None else None,
                    "failure": request.failure,
                }
                for request in requests[-_SHOWN:]
                if static or request.resource_type not in _STATIC
            ]
            lines = [f"{one['method']} {one['status'] or one['failure'] or '…'} {one['url']}" for one in shown]
            return ToolOutput("\n".join(lines) or "No requests.", {"requests": shown})

        return await self.on_page(ctx, read)

    @tool(read_only=True, open_world=True, timeout_s=LONGEST_S, preview=SessionPages.preview_file, resource=PAGE)
    async def browser_pdf(
        self,
        ctx: ToolContext,
        path: Annotated[
            str | None, Field(max_length=4096, description="File in the workspace; left out, an artifact is kept.")
        ] = None,
        resourceId: PageId = None,
    ) -> ToolResult[results.SavedFile]:
        """Print the page as a PDF. Needs a browser without a window."""

        async def to_pdf(tab: Tab) -> ToolOutput:
            data = await act_without_element(tab, DEFAULT_MS, "print the page", tab.page.pdf)
            if path is not None:
                shown = await asyncio.to_thread(save_file, ctx.workspace, path, data)
                return ToolOutput(f"Wrote {shown} ({len(data):,} bytes).", {"path": shown})
            return await save_artifact(ctx, data, "application/pdf", f"{tab.resource_id}.pdf")

        return await self.on_page(ctx, to_pdf)


def _classify_level(kind: str) -> str:
    if kind in {"error", "assert"}:
        return "error"
    return {"warning": "warning", "debug": "debug", "verbose": "debug"}.get(kind, "info")


def _describe_no_match(find: str | None, lines: int) -> str:
    if find is not None and lines:
        return f"None of the {lines} lines of this snapshot has that."
    return NOTHING_SHOWN

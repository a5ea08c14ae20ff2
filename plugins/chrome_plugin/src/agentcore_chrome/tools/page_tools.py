"""The tools of `browser` for the session's pages themselves: their list, and their dialogs."""

from typing import Annotated, Any, Literal

from agentcore.api import CallPreview, Field, ToolContext, ToolError, ToolResult, tool
from agentcore_chrome.tab.dialogs import DialogAnswer
from agentcore_chrome.tab.navigation import go_to
from agentcore_chrome.tools.arguments import DEFAULT_MS, LONGEST_S, PAGE_AT_ONCE, PAGE_IF_ANY, PageId
from agentcore_chrome.tools.result import ToolOutput
from agentcore_chrome.tools.session_pages import SessionPages

_SETTLE_S = 5.0


class PageTools(SessionPages):
    """The part of `browser` that lists, opens and closes pages, and answers their dialogs."""

    @tool(effects=("egress",), open_world=True, preview=SessionPages.preview_action, resource=PAGE_IF_ANY)
    async def browser_handle_dialog(
        self,
        ctx: ToolContext,
        accept: Annotated[bool, Field(description="OK, or Cancel.")],
        text: Annotated[str | None, Field(max_length=10_000, description="Text for a prompt.")] = None,
        next: Annotated[  # noqa: A002
            bool, Field(description="None is open: answer the next one so, as soon as it opens.")
        ] = False,
        resourceId: PageId = None,
    ) -> ToolResult:
        """Answer the dialog that is open; or, with next, say how one that opens later is to be answered."""
        tab = self.open_page(ctx)
        if tab is None:
            raise ToolError("no_dialog", "no page is open, so there is no dialog; browser_navigate opens one")
        answer = DialogAnswer(accept, text)
        answered = tab.dialogs.answer_open(answer)
        if answered is None and not next:
            raise ToolError(
                "no_dialog",
                "no dialog is open; with next: true the next one that opens is answered so",
                url=tab.page.url,
            )
        if answered is None:
            tab.dialogs.prepare(answer)
            output = ToolOutput("No dialog is open; the next one will be answered like that.", {"prepared": True})
        else:
            await tab.settle(_SETTLE_S)
            output = ToolOutput(f"Answered {answered}.", {"prepared": False, "dialog": answered.to_json()})
        return await self.result(ctx, tab, output)

    async def _preview_tabs(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        if arguments.get("action") == "list":
            return CallPreview(effects=frozenset(("session",)))
        return await self.preview_url(ctx, arguments)

    @tool(effects=("egress",), open_world=True, timeout_s=LONGEST_S, preview=_preview_tabs, resource=PAGE_AT_ONCE)
    async def browser_tabs(
        self,
        ctx: ToolContext,
        action: Annotated[Literal["list", "new", "close"], Field(description="What to do.")],
        url: Annotated[str | None, Field(max_length=16_384, description="Address for a new page.")] = None,
        resourceId: PageId = None,
    ) -> ToolResult:
        """List the session's pages, open a new one, or close one (resourceId). Other tools take the resourceId."""
        if action == "close":
            return await self._close_page(ctx)
        if action == "list":
            return self._list_pages(ctx)
        session_id = ctx.resource.session_id if ctx.resource is not None else ctx.session_id
        made = self.runtime.resources.create(self.resource_type, session_id, on_release=self.release_tab)
        tab = await self.tab_for(made.resource_id)

        async def go() -> ToolOutput:
            if url is None:
                return ToolOutput(f"Opened page {made.resource_id}.", {"url": tab.page.url})
            arrived = await go_to(tab, self.policy, url, "load", DEFAULT_MS)
            return ToolOutput(f"Opened page {made.resource_id}: {arrived}", arrived.to_json())

        return await self.run(ctx, tab, go())

    def _list_pages(self, ctx: ToolContext) -> ToolResult:
        session_id = ctx.resource.session_id if ctx.resource is not None else ctx.session_id
        pages = []
        for resource in self.runtime.resources.list(session_id=session_id, resource_type=self.resource_type):
            tab = self.tab_of(resource)
            state = tab.state if tab is not None else resource.status
            url = tab.page.url if tab is not None else resource.last_url
            title = tab.title if tab is not None else resource.title
            pages.append({"resourceId": resource.resource_id, "url": url, "title": title, "state": state})
        lines = [f"{page['resourceId']}: {page['url']} – {page['title']} ({page['state']})" for page in pages]
        return ToolResult("\n".join(lines) or "The session has no pages.", {"pages": pages}, untrusted=True)

    async def _close_page(self, ctx: ToolContext) -> ToolResult:
        resource_id = self.resource(ctx).resource_id
        await self.runtime.resources.release(resource_id)
        return ToolResult(f"Closed page {resource_id}.", {"resourceId": resource_id})

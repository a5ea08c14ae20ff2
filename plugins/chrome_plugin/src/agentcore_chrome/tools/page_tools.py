"""Tools of `browser` that manage the session's pages and answer their dialogs."""

from typing import Annotated, Any, Literal

from agentcore.api import CallPreview, Field, Resource, ToolContext, ToolError, ToolResult, also_called, tool
from agentcore_chrome.browser.attached_pages import OtherPage, target_not_found
from agentcore_chrome.tab.dialogs import DialogAnswer
from agentcore_chrome.tab.tab import Tab, TabOptions
from agentcore_chrome.tools import result_types as results
from agentcore_chrome.tools.arguments import LONGEST_S, PAGE_AT_ONCE, PAGE_IF_ANY, PageId, known_field
from agentcore_chrome.tools.session_pages import SessionPages
from agentcore_chrome.tools.tab_result import ToolOutput

_SETTLE_S = 5.0
_CAUTIONS = {
    "list_attached": {
        "en": "The agent is shown the titles and addresses of all pages that are open in the attached browser.",
        "zh": "代理将看到所连接浏览器中所有已打开页面的标题和网址。",
    },
    "attach": {
        "en": "The agent will read and act in this page of the attached browser, with its log-ins: “{title}” {url}",
        "zh": "代理将在所连接浏览器的这个页面中读取内容并操作，并使用其中的登录状态：“{title}” {url}",
    },
}


@tool(effects=("egress",), open_world=True, preview=SessionPages.preview_action, resource=PAGE_IF_ANY)
async def browser_handle_dialog(
    pages: SessionPages,
    ctx: ToolContext,
    accept: Annotated[bool, known_field("OK, or Cancel.")],
    text: Annotated[
        str | None, known_field("Text for a prompt.", names=also_called("promptText"), max_length=10_000)
    ] = None,
    next: Annotated[  # noqa: A002
        bool, known_field("None is open: answer the next one so, as soon as it opens.")
    ] = False,
    resourceId: PageId = None,
) -> ToolResult[results.AnsweredDialog]:
    """Answer the dialog that is open with OK or Cancel; with `next`, the next one that opens."""
    tab = pages.find_open_page(ctx)
    if tab is None:
        raise ToolError("no_dialog", "no page is open, so there is no dialog; browser_navigate opens one")
    answer = DialogAnswer(accept, text)
    if tab.dialogs.open is None:
        if not next:
            raise ToolError(
                "no_dialog",
                "no dialog is open; with next: true the next one that opens is answered so",
                url=tab.page.url,
            )
        tab.dialogs.set_next_answer(answer)
        output = ToolOutput("No dialog is open; the next one will be answered like that.", {"prepared": True})
        return await pages.create_result(ctx, tab, output)

    async def answer_it(tab: Tab) -> ToolOutput:
        answered = tab.dialogs.answer_open(answer)
        await tab.wait_for_blocked_work(_SETTLE_S)
        if answered is None:
            return ToolOutput("The dialog went away before it was answered.", {"prepared": False})
        return ToolOutput(f"Answered {answered}.", {"prepared": False, "dialog": answered.to_json()})

    return await pages.on_page(ctx, answer_it, snapshot=None)


async def _preview_tabs(pages: SessionPages, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
    action = arguments.get("action")
    if action == "list":
        return CallPreview(effects=frozenset(("session",)))
    if action == "list_attached":
        return CallPreview(effects=frozenset(("read",)), caution=_CAUTIONS["list_attached"][pages.runtime.locale])
    if action == "attach":
        requested = _listed_page(pages, arguments.get("target"))
        caution = _CAUTIONS["attach"][pages.runtime.locale].format(title=requested.title or "–", url=requested.url)
        return CallPreview(urls=(requested.url,), caution=caution)
    return await pages.preview_url(ctx, arguments)


@tool(effects=("egress",), open_world=True, timeout_s=LONGEST_S, preview=_preview_tabs, resource=PAGE_AT_ONCE)
async def browser_tabs(
    pages: SessionPages,
    ctx: ToolContext,
    action: Annotated[
        Literal["list", "new", "close", "list_attached", "attach"],
        known_field(
            "list_attached, attach: other pages of an attached browser; a person is asked each time.",
            told="list_attached, attach: of an attached browser; the person is asked.",
        ),
    ],
    url: Annotated[str | None, known_field("Address for a new page.", max_length=16_384)] = None,
    target: Annotated[str | None, Field(max_length=2000, description="From list_attached.")] = None,
    resourceId: PageId = None,
) -> ToolResult[results.PagesResult]:
    """List, open or close the session's pages. Browser tools act on the first, or on that of their `resourceId`."""
    if action == "close":
        return await _close_page(pages, ctx)
    if action == "list":
        return _list_pages(pages, ctx)
    session_id = ctx.resource.session_id if ctx.resource is not None else ctx.session_id
    if action == "list_attached":
        return await _list_attached(pages)
    if action == "attach":
        return await _attach_page(pages, ctx, session_id, _listed_page(pages, target))
    tab = await pages.open_further_page(session_id)
    text = f"Opened page {tab.name_for(ctx)}"
    if url is None:
        return await pages.create_result(ctx, tab, ToolOutput(f"{text}.", {"url": tab.page.url}))

    async def navigate(tab: Tab) -> ToolOutput:
        arrived = await pages.go_to(ctx, tab, url)
        return ToolOutput(f"{text}: {arrived}", arrived.to_json())

    return await pages.on_tab(ctx, tab, navigate)


def _list_pages(pages: SessionPages, ctx: ToolContext) -> ToolResult:
    session_id = ctx.resource.session_id if ctx.resource is not None else ctx.session_id
    listed = []
    lines = []
    for resource in pages.runtime.resources.list(session_id=session_id, resource_type=pages.resource_type):
        tab = pages.find_tab(resource)
        state = tab.state if tab is not None else resource.status
        url = tab.page.url if tab is not None else resource.last_url
        title = tab.title if tab is not None else resource.title
        listed.append({"resourceId": resource.resource_id, "url": url, "title": title, "state": state})
        lines.append(f"{_name_page(ctx, resource)}: {url} – {title} ({state})")
    return ToolResult("\n".join(lines) or "The session has no pages.", {"pages": listed}, untrusted=True)


async def _list_attached(pages: SessionPages) -> ToolResult:
    if pages.settings.cdp_endpoint is None:
        raise ToolError(
            "not_attached", "the browser is agentcore's own; other pages come with the setting cdp_endpoint"
        )
    found = await (await pages.engine.get_shared_browser()).other_pages()
    pages.listed_pages = {one.target_id: one for one in found}
    lines = [f"{one.target_id}: {one.url} – {one.title}" for one in found]
    text = "\n".join(lines) or "The attached browser shows no page that may be used."
    return ToolResult(text, {"pages": [one.to_json() for one in found]}, untrusted=True)


def _listed_page(pages: SessionPages, target: str | None) -> OtherPage:
    page = pages.listed_pages.get(target or "")
    if page is None:
        raise target_not_found(str(target))
    return page


async def _attach_page(pages: SessionPages, ctx: ToolContext, session_id: str, wanted: OtherPage) -> ToolResult:
    """Attach the session to a page of the attached browser, using the first of its resources without a tab."""
    resources = pages.runtime.resources.list(session_id=session_id, resource_type=pages.resource_type)
    free = next((one for one in resources if pages.find_tab(one) is None), None)
    resource = free or pages.runtime.resources.create(pages.resource_type, session_id, on_release=pages.release_tab)
    options = TabOptions(pages.runtime.name, session_id, pages.settings.dialog_timeout, resource.resource_id)
    try:
        tab = await (await pages.engine.get_shared_browser()).attach_page(wanted, options)
    except ToolError:
        if free is None:
            await pages.runtime.resources.release(resource.resource_id)
        raise
    text = f"Page {_name_page(ctx, resource)} is {tab.page.url}; closing it leaves it open in its browser."
    return await pages.create_result(ctx, tab, ToolOutput(text, {"url": tab.page.url}))


async def _close_page(pages: SessionPages, ctx: ToolContext) -> ToolResult:
    resource = pages.require_resource(ctx)
    await pages.runtime.resources.release(resource.resource_id)
    return ToolResult(f"Closed page {_name_page(ctx, resource)}.", {"resourceId": resource.resource_id})


def _name_page(ctx: ToolContext, resource: Resource) -> str:
    """Return the id of a page in texts: for a model the short one."""
    return resource.resource_id if ctx.model_chars is None else resource.short_id

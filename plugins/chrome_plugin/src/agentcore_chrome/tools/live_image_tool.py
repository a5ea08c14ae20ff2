"""The tool through which views in MCP clients get live images of a page."""

from base64 import b64encode
from typing import Annotated

from agentcore.api import Field, ToolContext, ToolResult, tool
from agentcore_chrome.failures import is_driver_error
from agentcore_chrome.live.live_images import HOLD_S, ViewState
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tools import result_types as results
from agentcore_chrome.tools.arguments import PAGE_AT_ONCE, PageId
from agentcore_chrome.tools.session_pages import SessionPages

_LIMIT_BYTES = 1024 * 1024


# Not `open_world`: no model gets the result, so the session has read no untrusted content through it.
@tool(
    read_only=True, open_world=False, timeout_s=3 * HOLD_S, limit_bytes=_LIMIT_BYTES, resource=PAGE_AT_ONCE,
    served_as="view", in_views="browser_live_picture",
)  # fmt: skip
async def browser_live_picture(
    pages: SessionPages,
    ctx: ToolContext,
    view: Annotated[
        str, Field(min_length=8, max_length=64, description="What the view calls itself; another one takes over.")
    ],
    resourceId: PageId = None,
) -> ToolResult[results.LiveViewData]:
    """Give the next live picture of the page, for views of clients: as soon as something changes, or after 20 s."""
    tab = pages.find_open_page(ctx)
    if tab is None or pages.live_views is None:
        return ToolResult("The page is not open.", {"state": "closed"})
    tab.check_reach()
    try:
        look = await pages.live_views.wait_for_update(tab, view)
    except Exception as exc:
        if not is_driver_error(exc):
            raise
        look = ViewState("closed")  # the page went away during the request
    if look.state == "open":
        tab.check_reach()  # it may have left the allowed addresses meanwhile
    return ToolResult(f"The page is {look.state}.", _describe_view(tab, look), resource_id=tab.resource_id)


def _describe_view(tab: Tab, look: ViewState) -> results.LiveViewData:
    resource_id = tab.resource_id or ""
    if look.state != "open":
        return {"resourceId": resource_id, "state": look.state}
    fields: results.LiveViewData = {
        "resourceId": resource_id, "state": "open", "url": tab.page.url, "title": tab.title,
    }  # fmt: skip
    if tab.dialogs.open is not None:
        fields["dialog"] = tab.dialogs.open.message
    if look.frame is not None:
        image = b64encode(look.frame.data).decode("ascii")
        fields |= {"picture": image, "width": look.frame.width, "height": look.frame.height}
    return fields

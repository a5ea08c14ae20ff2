"""The approval view: its document and the page's files, on an origin that no module has a script on."""

import asyncio
from html import escape

from aiohttp import hdrs

from agentcore.server.addresses import counterpart_url
from agentcore.server.exchange import Exchange
from agentcore.server.http.refusal import Refusal
from agentcore.server.http.response import Answer
from agentcore.server.page.document import approval_policy, page_folder
from agentcore.server.route_table import ServerRoute
from agentcore.server.routes.page import HTML, page_file

_PAGE_MARK = "PAGE_ORIGIN"


async def show_approval_view(exchange: Exchange) -> Answer:
    """Send the document, which nobody but the page may frame."""
    parts = exchange.parts
    if parts.gate.wants_redirect(exchange.request):
        return Answer(b"", 307, HTML, {hdrs.LOCATION: f"{parts.addresses.base_url}/"})
    page = parts.counterpart
    assert page is not None  # noqa: S101 - the approval view is served beside a page
    try:
        text = await asyncio.to_thread((page_folder() / "approval" / "index.html").read_text, encoding="utf-8")
    except OSError as exc:
        raise Refusal(404, "not_found", "the page's files are not installed; approve at the terminal") from exc
    text = text.replace(_PAGE_MARK, escape(counterpart_url(parts.addresses, exchange.request.headers[hdrs.HOST], page)))
    csp = approval_policy(page, text)
    return Answer(text.encode(), 200, HTML, {"Content-Security-Policy": csp, hdrs.CACHE_CONTROL: "no-cache"})


ROUTES = (
    ServerRoute("GET", "/", show_approval_view, "The approval view.", action=None, content_type=HTML),
    ServerRoute("GET", "/static/{path...}", page_file, "A file of the page.", action=None, content_type="*/*"),
)

"""Routes for the page and the approval view: their documents, their files, and those of modules' components.

Open to everyone, because they contain no secrets. No module has a script at the approval view's origin.
"""

import asyncio
import re
from html import escape

from aiohttp import hdrs

from agentcore.api import ToolView
from agentcore.server.addresses import counterpart_url
from agentcore.server.exchange import Exchange
from agentcore.server.http.refusal import Refusal
from agentcore.server.http.response import Answer
from agentcore.server.modules.tool_views import DOCUMENT_PATH, FRAME_PATH
from agentcore.server.page.page_document import approval_policy, page_folder, page_policy, page_version, render_page
from agentcore.server.page.static_files import answer_file
from agentcore.server.page.view_frame import (
    diagram_document,
    diagram_policy,
    frame_document,
    frame_policy,
    view_policy,
)
from agentcore.server.route_table import ServerRoute

_GENERATION = re.compile(r"^~[^/]*/")
HTML = "text/html; charset=utf-8"
"""The media type of documents."""
_PAGE_MARK = "PAGE_ORIGIN"


async def show_page(exchange: Exchange) -> Answer:
    """Send the document; a request under another name of this machine is redirected to the name that sessions use."""
    if exchange.parts.gate.must_redirect(exchange.request):
        return _redirect_answer(exchange)
    core = exchange.core
    try:
        version = page_version(core.modules, is_stopping=core.is_stopping)
        text = await asyncio.to_thread(
            render_page,
            core.modules,
            version,
            core.config.file,
            _counterpart_origin(exchange),
            _views_origin(exchange),
        )
    except OSError as exc:
        raise Refusal(
            404, "not_found", "the page's files are not installed; the API works, and a full installation has the page"
        ) from exc
    parts = exchange.parts
    framed = [addresses for addresses in (parts.counterpart, parts.apps) if addresses is not None]
    csp = page_policy(core.modules, parts.addresses, framed, text)
    return _document_answer(text, csp)


async def show_approval_view(exchange: Exchange) -> Answer:
    """Send the approval view's document, which only the page may frame."""
    page = exchange.parts.counterpart
    if exchange.parts.gate.must_redirect(exchange.request):
        return _redirect_answer(exchange)
    assert page is not None  # noqa: S101 - the approval view is served beside a page
    try:
        text = await asyncio.to_thread((page_folder() / "approval" / "index.html").read_text, encoding="utf-8")
    except OSError as exc:
        raise Refusal(404, "not_found", "the page's files are not installed; approve at the terminal") from exc
    text = text.replace(_PAGE_MARK, escape(_counterpart_origin(exchange)))
    return _document_answer(text, approval_policy(page, text))


async def send_page_file(exchange: Exchange) -> Answer:
    """Send a file of the page."""
    return await answer_file(page_folder(), exchange.path_values["path"], _known_etag(exchange), is_own=True)


async def send_component_file(exchange: Exchange) -> Answer:
    """Send a file of a module's component, while the module is ready.

    A first segment `~ANYTHING` is ignored: browsers run each script URL once, so a page that loads the new code of a
    reloaded module requests it at a new URL, which the imports of that script inherit.
    """
    record = exchange.core.modules.records.get(exchange.path_values["name"])
    if record is None or record.component is None:
        raise Refusal(404, "not_found", "there is no such file here; the module is not ready or has no page component")
    path = _GENERATION.sub("", exchange.path_values["path"])
    return await answer_file(record.component.folder, path, _known_etag(exchange))


def _redirect_answer(exchange: Exchange) -> Answer:
    return Answer(b"", 307, HTML, {hdrs.LOCATION: f"{exchange.parts.addresses.base_url}/"})


def _document_answer(text: str | bytes, csp: str) -> Answer:
    data = text.encode() if isinstance(text, str) else text
    return Answer(data, 200, HTML, {"Content-Security-Policy": csp, hdrs.CACHE_CONTROL: "no-cache"})


def _counterpart_origin(exchange: Exchange) -> str:
    """Return the counterpart's URL as the browser reaches it; empty if there is none."""
    parts = exchange.parts
    if parts.counterpart is None:
        return ""
    return counterpart_url(parts.addresses, exchange.request.headers[hdrs.HOST], parts.counterpart)


def _views_origin(exchange: Exchange) -> str:
    """Return the URL of tool views as the browser reaches it; empty if there are none."""
    parts = exchange.parts
    if parts.apps is None:
        return ""
    return counterpart_url(parts.addresses, exchange.request.headers[hdrs.HOST], parts.apps)


def _known_etag(exchange: Exchange) -> str | None:
    return exchange.request.headers.get(hdrs.IF_NONE_MATCH)


async def show_view_frame(exchange: Exchange) -> Answer:
    """Send the frame of a tool's view, which only the page may frame."""
    view = _find_view(exchange)
    own = exchange.parts.addresses.origins
    page = _page_origins(exchange)
    document_path = DOCUMENT_PATH + exchange.path_values["id"]
    try:
        text = await asyncio.to_thread(frame_document, view, document_path, page)
    except OSError as exc:
        raise Refusal(404, "not_found", "the page's files are not installed") from exc
    return _document_answer(text, frame_policy(text, document_path, own, page))


async def show_view_document(exchange: Exchange) -> Answer:
    """Send a tool's view, under the policy that it declared and the user has seen."""
    view = _find_view(exchange)
    return _document_answer(
        view.document, view_policy(view, (*exchange.parts.addresses.origins, *_page_origins(exchange)))
    )


async def show_diagram_frame(exchange: Exchange) -> Answer:
    """Send the document that draws diagrams, which only the page may frame."""
    try:
        document, hashes = await asyncio.to_thread(diagram_document)
    except OSError as exc:
        raise Refusal(404, "not_found", "the page's files are not installed") from exc
    return _document_answer(document, diagram_policy(hashes, _page_origins(exchange)))


def _find_view(exchange: Exchange) -> ToolView:
    view = exchange.parts.views.find_view(exchange.path_values["id"])
    if view is None:
        raise Refusal(404, "view_not_found", "no tool that is offered now has this view; open the chat anew")
    return view


def _page_origins(exchange: Exchange) -> frozenset[str]:
    page = exchange.parts.counterpart
    return frozenset() if page is None else page.origins


_STATIC = ServerRoute(
    "GET", "/static/{path...}", send_page_file, "A file of the page.", action=None, content_type="*/*"
)

APPROVAL_ROUTES = (
    ServerRoute("GET", "/", show_approval_view, "The approval view.", action=None, content_type=HTML),
    _STATIC,
)

APPS_ROUTES = (
    ServerRoute(
        "GET", f"{FRAME_PATH}{{id}}", show_view_frame, "The frame of a tool's view.", action=None, content_type=HTML
    ),
    ServerRoute("GET", f"{DOCUMENT_PATH}{{id}}", show_view_document, "A tool's view.", action=None, content_type=HTML),
    ServerRoute(
        "GET", "/views/diagrams", show_diagram_frame, "The frame that draws diagrams.", action=None, content_type=HTML
    ),
)

ROUTES = (
    ServerRoute("GET", "/", show_page, "The page.", action=None, content_type=HTML),
    _STATIC,
    ServerRoute(
        "GET",
        "/modules/{name}/{path...}",
        send_component_file,
        "A file of a module's page component.",
        action=None,
        content_type="*/*",
    ),
)

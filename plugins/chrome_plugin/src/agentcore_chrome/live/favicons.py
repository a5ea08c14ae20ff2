"""Icons of the sites that tabs show, loaded once the page is idle so that no call waits for them."""

import asyncio
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import structlog

from agentcore.api import Image, ToolError, UrlPolicy
from agentcore_chrome.tab.tab import Tab

log = structlog.get_logger(__name__)

_REST_SECONDS = 1.0
_LOAD_SECONDS = 10.0
_ICON_BYTES = 128 * 1024
_URL_CHARS = 4 * _ICON_BYTES
_REMEMBERED = 128
_SERVER_ERROR = 500
_NONE = Image(b"", "image/png")
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"GIF8", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"RIFF", "image/webp"),
)
_LINKED = """() => {
    const linked = [...document.querySelectorAll('link[rel~="icon" i]')].at(-1)?.href;
    return linked || (location.protocol.startsWith('http') ? `${location.origin}/favicon.ico` : '');
}"""


class Favicons:
    """Finds icons of tabs and caches those of the last sites.

    The browser itself fetches them, over its usual connections and with the site's cookies, as it would for its own
    tabs.

    Args:
        policy: Which addresses may be opened, also for icons.
        found: Called with a tab's icon; one without data means that the site has none.
    """

    def __init__(self, policy: UrlPolicy, found: Callable[[Tab, Image], None]) -> None:
        self._policy = policy
        self._found = found
        self._known: OrderedDict[str, Image] = OrderedDict()
        self._resting: dict[str, asyncio.TimerHandle] = {}
        self._seen: dict[str, str] = {}

    def schedule_lookup(self, tab: Tab) -> None:
        """Look up a tab's icon once nothing has changed for a second."""
        if tab.tab_id in self._resting:
            self._resting.pop(tab.tab_id).cancel()
        elif tab.tab_id not in self._seen:
            tab.gone.add_done_callback(lambda _: self._remove_tab(tab.tab_id))
        if not tab.gone.done() and self._seen.get(tab.tab_id) != tab.page.url:
            self._resting[tab.tab_id] = asyncio.get_running_loop().call_later(_REST_SECONDS, self._start_lookup, tab)

    def close(self) -> None:
        """Cancel all scheduled lookups."""
        for timer in self._resting.values():
            timer.cancel()
        self._resting.clear()

    def _start_lookup(self, tab: Tab) -> None:
        self._resting.pop(tab.tab_id, None)
        if not tab.gone.done():
            tab.process.run_in_background(self._find_icon(tab))

    async def _find_icon(self, tab: Tab) -> None:
        url = self._seen[tab.tab_id] = tab.page.url
        linked = await tab.run_or_default(lambda: tab.page.evaluate(_LINKED), None)
        if not isinstance(linked, str) or len(linked) > _URL_CHARS:
            self._seen.pop(tab.tab_id, None)  # no answer: ask again after the next change
            return
        icon = self._known.get(linked)
        if icon is None:
            icon = await self._load_icon(tab, linked)
        if icon is None:
            self._seen.pop(tab.tab_id, None)  # it may load after the next change
            icon = _NONE
        else:
            self._remember(linked, icon)
        if tab.page.url == url and not tab.gone.done():
            self._found(tab, icon)

    def _remember(self, linked: str, icon: Image) -> None:
        self._known[linked] = icon
        self._known.move_to_end(linked)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    async def _load_icon(self, tab: Tab, url: str) -> Image | None:
        """Return the icon, without data if the site has none; None if it cannot be loaded now."""
        try:
            if url.startswith("data:"):
                return _parse_icon(_decode_data_url(url))
            if urlsplit(url).scheme not in ("http", "https"):
                return _NONE
            await self._policy.resolve(url)
            async with asyncio.timeout(_LOAD_SECONDS):
                return _parse_icon(await _fetch_resource(tab, url))
        except ToolError:
            return _NONE  # the URL policy refuses the address
        except Exception as exc:  # noqa: BLE001 - whatever the driver says, there is no icon now
            log.debug("favicon_not_loaded", tab_id=tab.tab_id, reason=str(exc))
            return None

    def _remove_tab(self, tab_id: str) -> None:
        self._seen.pop(tab_id, None)
        if tab_id in self._resting:
            self._resting.pop(tab_id).cancel()


async def _fetch_resource(tab: Tab, url: str) -> bytes:
    """Return what the browser loads from an address.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Network/#method-loadNetworkResource
    """
    session: Any = await tab.get_session()
    frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    options = {"disableCache": False, "includeCredentials": True}
    request = {"frameId": frame, "url": url, "options": options}
    loaded = (await session.send("Network.loadNetworkResource", request))["resource"]
    status = loaded.get("httpStatusCode")
    if not loaded["success"] and (status is None or status >= _SERVER_ERROR):
        raise OSError(f"{url!r} could not be loaded: {loaded.get('netErrorName') or status}")
    handle = loaded.get("stream")
    if handle is None:
        return b""
    try:
        data = b""
        is_over = not loaded["success"]
        while not is_over and len(data) <= _ICON_BYTES:
            part = await session.send("IO.read", {"handle": handle, "size": _ICON_BYTES})
            data += b64decode(part["data"]) if part.get("base64Encoded") else part["data"].encode()
            is_over = part["eof"]
    finally:
        await session.send("IO.close", {"handle": handle})
    return data


def _decode_data_url(url: str) -> bytes:
    """Return the bytes of a `data:` address."""
    head, _, body = url.partition(",")
    data = unquote_to_bytes(body)
    return b64decode(data) if head.endswith(";base64") else data


def _parse_icon(data: bytes) -> Image:
    """Return an icon with its type by its first bytes, because the type that a site reports is often wrong."""
    if len(data) > _ICON_BYTES:
        return _NONE
    for signature, mime in _SIGNATURES:
        if data.startswith(signature):
            return Image(data, mime)
    is_drawing = b"<svg" in data[:1024] and data.lstrip()[:1] == b"<" and b"<html" not in data[:1024].lower()
    return Image(data, "image/svg+xml") if is_drawing else _NONE

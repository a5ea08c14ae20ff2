"""The URL policy for browsers whose connections bypass the guard: each request is checked before it is sent.

The browser's CDP session sees all requests, including each redirect, of pages, frames, workers and popups from their
first one on; in a browser that a server shares, also those of other clients. Only the driver's routes see WebSockets.

Source: https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#event-requestPaused
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import structlog

from agentcore.api import ToolError
from agentcore_chrome.failures import is_driver_error

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, WebSocketRoute

log = structlog.get_logger(__name__)

_WEB = ("http", "https", "ws", "wss")
_AS_HTTP = {"ws": "http", "wss": "https"}
_TLS = ("https", "wss")
_KNOWN_SECONDS = 30.0
_KNOWN = 512
_REMEMBERED = 512
_JUDGING_SECONDS = 5.0
_ANSWER_SECONDS = 2.0
_CLOSED_BY_POLICY = 1008


class Policy(Protocol):
    """The part of a URL policy that the filter uses."""

    def check(self, url: str) -> str:
        """Check an address as written."""
        ...

    async def resolve(self, url: str) -> list[str]:
        """Resolve and check the addresses of a URL's host."""
        ...


class RequestFilter:
    """Checks the requests of one browser.

    Args:
        policy: Which addresses may be reached.
        tell: Called with the id of a frame and the error when its navigation is refused.
        run: Runs work in the background.
        allow_unknown: Whether names that cannot be resolved locally are left to the browser's machine.
    Attributes:
        refused: The policy's errors by host and port, the newest last.
    """

    def __init__(
        self,
        policy: Policy,
        tell: Callable[[str, ToolError], None],
        run: Callable[[Coroutine[Any, Any, Any]], None],
        *,
        allow_unknown: bool,
    ) -> None:
        self._policy = policy
        self._tell = tell
        self._run = run
        self._allow_unknown = allow_unknown
        self._known: OrderedDict[tuple[str, str], float] = OrderedDict()
        self.refused: OrderedDict[tuple[str, int], ToolError] = OrderedDict()

    async def start(self, session: "CDPSession") -> None:
        """Check all requests of a browser from now on.

        Args:
            session: The browser's CDP session.
        """
        session.on("Fetch.requestPaused", lambda event: self._run(self._answer_request(session, event)))
        await session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})

    async def filter_web_sockets(self, context: "BrowserContext") -> None:
        """Check the WebSockets of a context's pages from now on; those of workers are not seen."""
        await context.route_web_socket("**/*", self._route_web_socket)

    async def find_refusal(self, url: str) -> ToolError | None:
        """Return the policy's error for a request; None: it is allowed."""
        parts = urlsplit(url)
        if parts.scheme not in _WEB:
            return None  # `data:`, `blob:`: the page's own data
        url = f"{_AS_HTTP.get(parts.scheme, parts.scheme)}:{url.partition(':')[2]}"
        try:
            self._policy.check(url)
            await self._resolve_host(url, (parts.scheme, parts.netloc))
        except ToolError as exc:
            if exc.type != "url_blocked" and self._allow_unknown:
                return None
            self._store_refusal(parts.hostname or "", parts.port or (443 if parts.scheme in _TLS else 80), exc)
            return exc
        return None

    async def _find_refusal_in_time(self, url: str) -> ToolError | None:
        try:
            async with asyncio.timeout(_JUDGING_SECONDS):
                return await self.find_refusal(url)
        except TimeoutError:
            return ToolError("host_not_found", f"nobody said in time where {url!r} leads", retryable=True, url=url)

    async def _resolve_host(self, url: str, place: tuple[str, str]) -> None:
        if self._known.get(place, 0.0) > time.monotonic():
            return
        await self._policy.resolve(url)
        self._known[place] = time.monotonic() + _KNOWN_SECONDS
        self._known.move_to_end(place)
        if len(self._known) > _KNOWN:
            self._known.popitem(last=False)

    def _store_refusal(self, host: str, port: int, error: ToolError) -> None:
        log.info("browser_connection_refused", host=host, port=port, reason=error.context.get("reason"))
        self.refused[host, port] = error
        self.refused.move_to_end((host, port))
        if len(self.refused) > _REMEMBERED:
            self.refused.popitem(last=False)

    async def _answer_request(self, session: "CDPSession", event: dict[str, Any]) -> None:
        request = {"requestId": event["requestId"]}
        refusal = await self._find_refusal_in_time(event["request"]["url"])
        if refusal is None:
            await _in_time(session.send("Fetch.continueRequest", request))
            return
        if event["resourceType"] == "Document":
            self._tell(event["frameId"], refusal)
        await _in_time(session.send("Fetch.failRequest", {**request, "errorReason": "BlockedByClient"}))

    async def _route_web_socket(self, socket: "WebSocketRoute") -> None:
        if await self.find_refusal(socket.url) is None:
            socket.connect_to_server()
        else:
            await _in_time(socket.close(code=_CLOSED_BY_POLICY, reason="refused by the URL policy"))


async def _in_time(answer: Any) -> None:
    """Answer a request that may have been cancelled meanwhile, with its page."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            await answer
    except TimeoutError:
        log.debug("request_not_answered")
    except Exception as exc:
        if not is_driver_error(exc):
            raise
        log.debug("request_given_up", reason=str(exc))

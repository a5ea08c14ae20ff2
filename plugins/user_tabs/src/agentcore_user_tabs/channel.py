"""`Channel`: the WebSocket on which paired browsers offer tabs and run calls, and the routes of the module's page."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import structlog
from pydantic import ValidationError

from agentcore.api import Request, Response, Runtime, Socket, ToolError
from agentcore_user_tabs.protocol import (
    INCOMING,
    VERSION,
    Hello,
    Incoming,
    Ping,
    Result,
    Share,
    TabScreenshot,
    Unshare,
    Update,
)
from agentcore_user_tabs.tab import Browser
from agentcore_user_tabs.tabs import SharedTabs

log = structlog.get_logger(__name__)

PREFIX = "/api/user-tabs"
OUT = 256
"""Maximum number of queued messages for a browser that does not read."""

PROTOCOL_ERROR = 1002
REPLACED = 4001
"""The close code of a connection that a newer one of the same browser replaces."""

_PICTURE_MS = 15_000


class Channel:
    """Serves the WebSocket of browsers and the routes of the module's page.

    Args:
        tabs: The shared tabs.
        runtime: The module's runtime.
    """

    def __init__(self, tabs: SharedTabs, runtime: Runtime) -> None:
        self._tabs = tabs
        self._runtime = runtime
        self._sockets: dict[Browser, Socket] = {}

    def add_routes(self) -> None:
        """Register the routes with the runtime."""
        self._runtime.add_route("GET", f"{PREFIX}/socket", self._handle_socket, kind="websocket", scope="tab")
        self._runtime.add_route("GET", "state", self._get_state)
        self._runtime.add_route("GET", "tabs/{resource_id}/picture", self._get_screenshot)

    async def _handle_socket(self, request: Request) -> None:
        """Handle one browser's messages and send it calls until it disconnects."""
        socket = request.socket
        client = request.principal
        assert socket is not None  # noqa: S101 - the route is one for WebSockets
        if client.kind != "client":
            raise ToolError("forbidden", "only a paired browser extension shares tabs here")
        outgoing: asyncio.Queue[str] = asyncio.Queue(OUT)
        conversation = _Conversation(self._tabs, client.id, outgoing)

        async def send() -> None:
            while True:
                await socket.send(await outgoing.get())
                if conversation.is_over and outgoing.empty():
                    await socket.close(PROTOCOL_ERROR, "protocol_error")
                    return

        try:
            async with asyncio.TaskGroup() as group:
                sending = group.create_task(send(), name="user_tabs:send")
                async for message in socket:
                    if not conversation.is_over:
                        conversation.handle_message(message)
                        await self._replace_connection(conversation, socket)
                sending.cancel()
        except* ConnectionError:
            pass  # the browser was closed, or the extension's worker stopped
        finally:
            conversation.disconnect()
            if conversation.browser is not None and self._sockets.get(conversation.browser) is socket:
                del self._sockets[conversation.browser]

    async def _replace_connection(self, conversation: "_Conversation", socket: Socket) -> None:
        """Close an older connection of the same browser."""
        browser = conversation.browser
        if browser is None or self._sockets.get(browser) is socket:
            return
        older = self._sockets.get(browser)
        self._sockets[browser] = socket
        if older is not None:
            await older.close(REPLACED, "replaced")

    async def _get_state(self, _: Request) -> Response:
        shown = [tab.to_json() for tab in self._tabs.tabs]
        return Response({"tabs": shown, "counts": dict(self._tabs.counts)})

    async def _get_screenshot(self, request: Request) -> Response:
        tab = self._tabs.get_tab(request.path_values["resource_id"])
        given = await self._tabs.request_screenshot(tab, timeout_ms=_PICTURE_MS, locale=self._runtime.locale)
        try:
            image = TabScreenshot.model_validate(given)
        except ValidationError as exc:
            raise ToolError("user_tab_failed", "the extension gave something else than a picture; update it") from exc
        return Response(image.model_dump(by_alias=True))


class _Conversation:
    """The protocol state of one connection; messages are validated strictly."""

    def __init__(self, tabs: SharedTabs, client: str, outgoing: "asyncio.Queue[str]") -> None:
        self._tabs = tabs
        self._client = client
        self._outgoing = outgoing
        self.browser: Browser | None = None
        self.is_over = False

    def queue_message(self, message: Mapping[str, Any]) -> None:
        """Queue a message; if the queue is full, end the connection."""
        try:
            self._outgoing.put_nowait(json.dumps(message))
        except asyncio.QueueFull:
            self._tabs.counts["unread_messages"] += 1
            self.is_over = True
            self.disconnect()

    def handle_message(self, text: str | bytes) -> None:
        """Handle one message; an invalid one is answered with `refused`."""
        try:
            message = _parse_message(text)
        except ValidationError as exc:
            first = exc.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            self._send_refusal(ToolError("invalid_message", f"{where or 'the message'}: {first['msg']}"), None)
            return
        share_id = message.share_id if isinstance(message, Share | Update | Unshare) else None
        try:
            self._dispatch_message(message)
        except ToolError as exc:
            self._send_refusal(exc, share_id)

    def disconnect(self) -> None:
        """Mark the browser as disconnected."""
        if self.browser is not None:
            self._tabs.disconnect_browser(self.browser, self.queue_message)

    def _dispatch_message(self, message: Incoming) -> None:
        if isinstance(message, Hello):
            return self._handle_hello(message)
        browser = self.browser
        if browser is None:
            self.is_over = True
            raise ToolError("invalid_message", "a conversation begins with `hello`")
        match message:
            case Ping():
                self.queue_message({"type": "pong"})
            case Share():
                self._tabs.share_tab(browser, message)
            case Update():
                self._tabs.update_tab(browser, message)
            case Unshare():
                self._tabs.unshare_tab(browser, message.share_id)
            case Result():
                self._tabs.resolve_call(browser, message)
        return None

    def _handle_hello(self, hello: Hello) -> None:
        if self.browser is not None:
            self.is_over = True
            raise ToolError("invalid_message", "`hello` is said once")
        if hello.version != VERSION:
            self.is_over = True
            spoken = f"this server speaks version {VERSION} of the protocol, the extension {hello.version}"
            raise ToolError("unsupported_version", f"{spoken}: update the older one", version=VERSION)
        self.browser = self._tabs.connect_browser(self._client, hello, self.queue_message)

    def _send_refusal(self, error: ToolError, share_id: str | None) -> None:
        self._tabs.counts["refused_messages"] += 1
        about = {} if share_id is None else {"shareId": share_id}
        self.queue_message({"type": "refused", **about, "error": {"type": error.type, "message": error.message}})


def _parse_message(text: str | bytes) -> Incoming:
    """Parse a message; lone surrogates, which a page's text may contain, are replaced.

    Raises:
        ValidationError: If it is not a valid message.
    """
    try:
        return INCOMING.validate_json(text)
    except ValidationError as exc:
        if exc.errors(include_url=False, include_input=False)[0]["type"] != "json_invalid":
            raise
        try:
            # Browsers and the standard library accept a lone `\ud83d` in JSON; pydantic does not.
            whole = json.dumps(json.loads(text), ensure_ascii=False)
        except (ValueError, RecursionError):
            raise exc from None
        return INCOMING.validate_json(whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))

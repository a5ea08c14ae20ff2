"""`CallbackServer`: the local endpoint to which a browser is redirected after a login."""

import asyncio
import secrets
from html import escape
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from aiohttp import web
from mcp.client.auth import OAuthFlowError
from mcp.shared.auth import AuthorizationCodeResult

from agentcore.api import ToolError

_PATH = "/callback"
_HOST = "127.0.0.1"
_EXCHANGE_SECONDS = 40.0
_SAID_CHARS = 500
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_PAGE = (
    '<!doctype html><html lang="{lang}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>agentcore</title><style>:root{{color-scheme:light dark;font:1rem/1.5 system-ui}}"
    "body{{max-width:34rem;margin:20vh auto 0;padding:0 1.5rem;overflow-wrap:anywhere}}</style>"
    "<h1>{title}</h1><p>{text}</p></html>"
)
_WORDS = {
    "en": {
        "done": "Logged in",
        "back": "agentcore can use {name} now. You can close this tab.",
        "failed": "That did not work",
        "other": "This address belongs to no log-in that waits here. Begin again in agentcore.",
    },
    "zh": {
        "done": "已登录",
        "back": "agentcore 现在可以使用 {name} 了。你可以关闭此标签页。",
        "failed": "登录没有成功",
        "other": "这个地址不属于任何正在等待的登录。请在 agentcore 中重新开始。",
    },
}


class CallbackServer:
    """Waits for the redirect of one login; listens from `open` to `close`.

    Args:
        name: The name that the page shows for the server.
        locale: The language of the page that the browser shows.
    """

    def __init__(self, name: str, locale: Literal["en", "zh"]) -> None:
        self._name = name
        self._locale = locale
        loop = asyncio.get_running_loop()
        self._landed: asyncio.Future[AuthorizationCodeResult] = loop.create_future()
        self._ended: asyncio.Future[str] = loop.create_future()
        self._state = ""
        self._runner: web.AppRunner | None = None

    async def open(self, ports: tuple[int, ...]) -> str:
        """Listen on a local port.

        Args:
            ports: The ports to try, in order; 0 is any free port.
        Returns:
            The redirect URI.
        Raises:
            ToolError: `login_failed` if all of them are in use.
        """
        app = web.Application()
        app.router.add_get(_PATH, self._handle_callback)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        for port in ports:
            site = web.TCPSite(self._runner, _HOST, port)
            try:
                await site.start()
            except OSError:
                continue
            return f"http://{_HOST}:{self._runner.addresses[0][1]}{_PATH}"
        taken = ", ".join(str(port) for port in ports)
        raise ToolError("login_failed", f"the browser could not come back: port {taken} is in use by another program")

    def expect_answer(self, authorization_url: str) -> None:
        """Accept only the redirect that has the `state` of this authorization URL."""
        self._state = _query_parameter(authorization_url, "state")

    async def wait_for_code(self) -> AuthorizationCodeResult:
        """Wait for the redirect and return its authorization code.

        Raises:
            OAuthFlowError: If the authorization server or the user refused.
        """
        return await asyncio.shield(self._landed)

    def accept_address(self, address: str) -> bool:
        """Handle the URL at which a browser ended; False if it is not for this login, or one was already accepted."""
        state = _query_parameter(address, "state")
        if not self._state or not secrets.compare_digest(state.encode(), self._state.encode()) or self._landed.done():
            return False
        if error := _query_parameter(address, "error"):
            said = f"{error}: {_query_parameter(address, 'error_description')}".rstrip(": ")
            self._landed.set_exception(OAuthFlowError(f"the authorization server said {said[:_SAID_CHARS]}"))
        else:
            found = AuthorizationCodeResult(
                code=_query_parameter(address, "code"), state=state, iss=_query_parameter(address, "iss") or None
            )
            self._landed.set_result(found)
        return True

    def set_outcome(self, failure: str) -> None:
        """Set the outcome that the browser's page shows; empty for success."""
        if not self._ended.done():
            self._ended.set_result(failure)

    async def close(self) -> None:
        """Stop listening; safe to call twice."""
        self.set_outcome("ended")
        if self._landed.done() and not self._landed.cancelled():
            self._landed.exception()  # mark as retrieved: the waiting task may be gone
        runner = self._runner
        self._runner = None
        if runner is not None:
            await runner.cleanup()

    async def _handle_callback(self, request: web.Request) -> web.Response:
        words = _WORDS[self._locale]
        if not self.accept_address(str(request.url)):
            return self._render_page(words["failed"], words["other"], 400)
        try:
            async with asyncio.timeout(_EXCHANGE_SECONDS):
                failure = await asyncio.shield(self._ended)
        except TimeoutError:
            failure = f"no answer within {_EXCHANGE_SECONDS:g} s"
        if failure:
            return self._render_page(words["failed"], failure, 400)
        return self._render_page(words["done"], words["back"].format(name=self._name), 200)

    def _render_page(self, title: str, text: str, status: int) -> web.Response:
        page = _PAGE.format(lang=self._locale, title=escape(title), text=escape(text))
        return web.Response(text=page, content_type="text/html", status=status, headers=_HEADERS)


def _query_parameter(address: str, name: str) -> str:
    try:
        return parse_qs(urlsplit(address).query).get(name, [""])[0]
    except ValueError:
        return ""

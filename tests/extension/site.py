"""Sites for the extension to be used on, all on loopback."""

import asyncio
from dataclasses import dataclass, field

from aiohttp import web

LIMIT_S = 60


@dataclass
class Site:
    """Pages by path; each host name of loopback shows the same ones, and is another site to a browser.

    Attributes:
        asked: Paths that were asked for, in order.
    """

    port: int = 0
    asked: list[str] = field(default_factory=list)
    _held: dict[str, asyncio.Event] = field(default_factory=dict)
    _asked: asyncio.Event = field(default_factory=asyncio.Event)
    _pages: dict[str, tuple[str | bytes, str, dict[str, str]]] = field(default_factory=dict)

    def show(self, path: str, body: str | bytes, mime: str = "text/html", **headers: str) -> None:
        """Have something under a path; `headers` are named with underscores, such as `content_security_policy`."""
        self._pages[path] = body, mime, {name.replace("_", "-"): value for name, value in headers.items()}

    def hold(self, path: str) -> asyncio.Event:
        """Let requests for a path wait until the event is set."""
        self._held[path] = asyncio.Event()
        return self._held[path]

    async def until_asked(self, path: str) -> None:
        """Wait until somebody asks for a path."""
        async with asyncio.timeout(LIMIT_S):
            while path not in self.asked:
                self._asked.clear()
                await self._asked.wait()

    def url(self, path: str = "/", host: str = "localhost") -> str:
        """Where a page is; the person has allowed `localhost` and what is below, not `127.0.0.1`."""
        return f"http://{host}:{self.port}{path}"

    async def answer(self, request: web.Request) -> web.Response:
        """A page, or 404."""
        self.asked.append(request.path)
        self._asked.set()
        if request.path in self._held:
            await self._held[request.path].wait()
        if request.path not in self._pages:
            return web.Response(status=404, text="<title>Not found</title>", content_type="text/html")
        body, mime, headers = self._pages[request.path]
        content = body.encode() if isinstance(body, str) else body
        return web.Response(body=content, content_type=mime, charset="utf-8", headers=headers)

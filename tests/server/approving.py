"""What tests of the approval origin share: a tool whose calls wait, and browsers that are logged in to one origin."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

from agentcore.api import CallPreview, Module, ToolContext, tool
from agentcore.api.context import Principal
from agentcore.host.call import CallRequest
from agentcore.testing.serving import ServerClient

MODEL = Principal("chat", "s1")


class Notes(Module):
    """Writes notes."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[str] = []

    def _look(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        return CallPreview(
            frozenset(("write",)),
            paths=("/notes/today.md",),
            cwd="/notes",
            diff=f"--- a/today.md\n+++ b/today.md\n@@ -0,0 +1 @@\n+{arguments['text']}\n",
        )

    @tool(effects=["write"], preview=_look)
    async def note_write(self, text: str, title: str = "today") -> str:
        """Write a note. It stays until it is deleted.

        Args:
            text: What it says.
            title: How it is found again.
        """
        self.written.append(text)
        return "written"


async def let_wait(server: ServerClient, text: str = "buy milk", tool: str = "note_write") -> str:
    """A call of a model that waits; gives its id."""
    outcome = await server.running.host.call(CallRequest(tool, {"text": text}, MODEL, session_id="s1"))
    assert outcome.error is not None, outcome
    assert outcome.error.type == "approval_required"
    return outcome.call_id


async def send_again(server: ServerClient, call_id: str, text: str = "buy milk") -> Any:
    """Send a call again after its approval; the outcome."""
    request = CallRequest("note_write", {"text": text}, MODEL, session_id="s1", call_id=call_id)
    return await server.running.host.call(request)


@dataclass
class Browser:
    """What a browser keeps of one origin, and requests with it."""

    address: str
    cookie: str = ""
    value: str = ""

    async def log_in(self, code: str) -> int:
        """Exchange a code; gives the status."""
        async with (
            aiohttp.ClientSession() as client,
            client.post(f"{self.address}/api/session", json={"code": code}) as response,
        ):
            if response.status == 200:
                self.value = (await response.json())["session"]
                self.cookie = response.headers["Set-Cookie"].partition(";")[0]
            return response.status

    async def ask(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Status and JSON of a request."""
        shown = {"Cookie": self.cookie, "X-Agentcore-Session": self.value, **(headers or {})}
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client,
            client.request(
                method, self.address + path, json=body, headers={k: v for k, v in shown.items() if v}
            ) as response,
        ):
            return response.status, await response.json()


async def approver(server: ServerClient) -> Browser:
    """A browser that is logged in to the approval view."""
    browser = Browser(server.approval_address)
    assert await browser.log_in(server.running.host.store.approval_sessions.create_code()) == 200
    return browser


async def page(server: ServerClient) -> Browser:
    """A browser that is logged in to the page."""
    browser = Browser(str(server.make_url("")).rstrip("/"))
    assert await browser.log_in(server.running.host.store.page_sessions.create_code()) == 200
    return browser

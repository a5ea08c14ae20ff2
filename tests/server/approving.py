"""What tests of the approval origin share: a tool whose calls wait, and browsers that are logged in to one origin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import aiohttp

from agentcore.api import CallPreview, Module, ToolContext, tool
from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest
from agentcore.testing.serving import ServerClient

MODEL = Principal("chat", "s1")
UNFORESEEN = "for this text, the preview fails"


class Notes(Module):
    """Writes notes."""

    translations: ClassVar = {
        "zh": {
            "module.title": "便条",
            "module": "记下要记的事。",
            "note_write": "写便条。",
            "*.text": "便条内容。",
            "note_write.title": "便条的标题。",
        }
    }
    examples: ClassVar = (
        {"tool": "note_write", "title": {"en": "Write a note", "zh": "写便条"}, "arguments": {"text": "Hi"}},
    )

    def __init__(self) -> None:
        super().__init__()
        self.written: list[str] = []

    def _look(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        if arguments["text"] == UNFORESEEN:
            raise RuntimeError("the preview does not work")
        return CallPreview(
            frozenset(("write",)),
            paths=("/notes/today.md",),
            cwd="/notes",
            diff=_diff(arguments["text"]),
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


def _diff(text: str) -> str:
    lines = text.split("\n")
    return f"--- a/today.md\n+++ b/today.md\n@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)


async def let_wait(server: ServerClient, text: str = "buy milk", tool: str = "note_write") -> str:
    """A call of a model that waits; gives its id."""
    outcome = await server.running.host.run_call(CallRequest(tool, {"text": text}, MODEL, session_id="s1"))
    assert outcome.error is not None, outcome
    assert outcome.error.type == "approval_required"
    return outcome.call_id


async def send_again(server: ServerClient, call_id: str, text: str = "buy milk") -> Any:
    """Send a call again after its approval; the outcome."""
    request = CallRequest("note_write", {"text": text}, MODEL, session_id="s1", call_id=call_id)
    return await server.running.host.run_call(request)


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


def a_client(server: ServerClient) -> Browser:
    """A program that shows no credential."""
    return Browser(str(server.make_url("")).rstrip("/"))


async def new_code(person: Browser) -> str:
    """A pairing code, as the approval view shows it."""
    return str((await person.ask("POST", "/api/approvers/code", {}))[1]["code"])


async def pair(client: Browser, person: Browser, name: str = "panel", scopes: Sequence[str] = ("approve",)) -> Any:
    """The whole way of pairing: the client shows the code, the person chooses the scopes, the client gets its key."""
    asked = await client.ask("POST", "/api/approvers", {"code": await new_code(person), "name": name})
    assert asked[0] == 202, asked
    decision = {"approved": True, "scopes": list(scopes)}
    assert (await person.ask("POST", f"/api/pairings/{asked[1]['pairingId']}/decision", decision))[0] == 200
    status, answer = await client.ask("POST", "/api/approvers/key", {"ticket": asked[1]["ticket"]})
    assert (status, answer["state"]) == (200, "paired"), answer
    return answer


async def paired(client: Browser, person: Browser, name: str = "panel", scopes: Sequence[str] = ("approve",)) -> Any:
    """The headers of a client that was paired."""
    return {"Authorization": f"Bearer {(await pair(client, person, name, scopes))['key']}"}

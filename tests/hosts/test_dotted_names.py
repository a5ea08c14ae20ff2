"""The dotted names of the host protocol, with bare WebSocket clients: hosts that offer them, and that call them."""

import asyncio
import contextlib
import re
import subprocess
import sys
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer

from agentcore.limits import RESULT_BYTES
from tests import programs
from tests.forking import run
from tests.hosts.test_dialled_lies import MEMBER, TOOL, Liar, Message, dialled
from tests.hosts.two_machines import WAIT_S, Place, Server, serving

pytestmark = [pytest.mark.spec("R5"), pytest.mark.asyncio(loop_scope="session")]

NAMES = (
    "browser.ensure",
    "browser.click",
    "browser.type",
    "browser.navigate",
    "browser.waitFor",
    "browser.screenshot",
)
PNG = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
SCREENSHOT = {"mime": "image/png", "dataBase64": b64encode(PNG).decode()}
BROWSER = {**MEMBER, "name": "remote_browser", "attributes": {"name": "remote_browser"}}


PRESSING = """
from agentcore.api import HostAlias, Module, tool


class Pressing(Module):
    \"\"\"Presses.\"\"\"

    @tool(read_only=True, host_alias=HostAlias("browser.navigate", {"times": 3}))
    def press(self, url: str, times: int = 1) -> dict:
        \"\"\"Press.\"\"\"
        return {"url": url, "times": times}

    @tool(read_only=True, host_alias=HostAlias("browser.type"))
    def say(self, selector: str, text: str) -> list[str]:
        \"\"\"Say.\"\"\"
        return [selector, text]
"""


class BareHost(Liar):
    """A program that speaks the protocol, without agentcore.

    Args:
        tools: What it offers.
    """

    def __init__(self, liar: Liar, tools: list[Any]) -> None:
        super().__init__(liar.socket)
        self.member = {**BROWSER, "tools": tools}
        self.tools = {1: tools}
        self._requests = 0

    async def connect(self, name: str) -> None:
        """Greet with its key."""
        await self.take_up(name=name, members=[self.member])

    async def answer(self, result: Any, **fields: Any) -> Message:
        """Answer the next call with a plain result; return the call."""
        call = await self.hear("tool.call")
        await self.say("tool.result", **{"id": call["id"], "n": call["n"], "ok": True, "result": result, **fields})
        return call

    async def ask(self, call: Message, tool: str, **arguments: Any) -> Message:
        """Make a nested call, and return the reply."""
        self._requests += 1
        await self.say("call.nested", id=self._requests, n=call["n"], tool=tool, arguments=arguments)
        while (reply := await self.hear("reply"))["id"] != self._requests:
            pass
        return reply


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dotted")
    rules = [{"decision": "ask", "tool": "browser_click", "callers": ["host"]}]
    place = Place(
        folder / "server",
        modules=["pressing"],
        hosts={"own": {"kind": "process", "modules": ["pressing"]}},
        approvals={"mode": "allow", "rules": rules},
    )
    place.add_module("pressing", PRESSING)
    async with serving(place) as running:
        running.place = place
        yield running


async def pair(server: Server, name: str, tools: list[Any]) -> tuple[str, Any]:
    """Pair a host; return its key, and what the user saw."""
    async with dialled(server) as liar:
        await liar.hello(name=name, members=[{**BROWSER, "tools": tools}])
        shown = await server.let_in((await liar.hear("pair.code"))["code"])
        key: str = (await liar.hear("pair.key"))["key"]
        await liar.say("pair.kept")
    return key, shown


@contextlib.asynccontextmanager
async def bare_host(server: Server, name: str, tools: list[Any]):
    """A host that is paired and connected."""
    key, shown = await pair(server, name, tools)
    async with dialled(server, key) as liar:
        host = BareHost(liar, tools)
        host.shown = shown
        await host.connect(name)
        await server.host_is(name, "running")
        yield host
    await server.delete(f"/api/hosts/{name}")


CALLS: list[tuple[str, str, Message, Any, Message]] = [
    ("browser_ensure", "browser.ensure", {"url": "https://example.org/"}, None, {}),
    ("browser_click", "browser.click", {"selector": "#go"}, {"clicked": True, "more": 1}, {"clicked": True}),
    ("browser_type", "browser.type", {"selector": "#name", "text": "Ada"}, {}, {}),
    ("browser_navigate", "browser.navigate", {"url": "https://example.org/a"}, {"status": 200}, {"status": 200}),
    ("browser_wait_for", "browser.waitFor", {"selector": "#done", "timeoutMs": 500}, {}, {}),
    ("browser_screenshot", "browser.screenshot", {}, SCREENSHOT, SCREENSHOT),
]


async def test_host_that_offers_the_dotted_names_is_a_browser_host(server):
    async with bare_host(server, "kiosk", list(NAMES)) as host:
        offered = [tool["name"] for module in host.shown["modules"] for tool in module["tools"]]
        assert offered == [tool for tool, *_ in CALLS]
        for tool, name, arguments, plain, data in CALLS:
            answering = asyncio.create_task(host.answer(plain))
            outcome = await server.call(tool, host="kiosk", **arguments)
            sent = await answering
            assert (sent["tool"], sent["args"], sent["resourceId"]) == (name, arguments, "browser_s0_0")
            assert (outcome["ok"], outcome["data"]) == (True, data), outcome
        assert {"type": "image", "mime": "image/png", "base64": SCREENSHOT["dataBase64"]} in outcome["content"]
        [page] = (await server.get("/api/resources"))["resources"]
        assert (page["resourceId"], page["host"]) == ("browser_s0_0", "kiosk")


async def test_named_page_is_sent_beside_the_arguments(server):
    async with bare_host(server, "kiosk", list(NAMES)) as host:
        answering = asyncio.create_task(host.answer(None))
        await server.call("browser_ensure", host="kiosk", session_id="named")
        await answering
        answering = asyncio.create_task(host.answer({"clicked": True}))
        clicked = await server.call("browser_click", selector="a", resourceId="browser_named_0", session_id="named")
        sent = await answering
        assert (sent["args"], sent["resourceId"]) == ({"selector": "a"}, "browser_named_0"), clicked


async def test_definition_of_a_host_replaces_what_it_names(server):
    own = {"name": "browser.click", "description": "Tap the kiosk.", "effects": ["execute"], "timeout_s": 5}
    async with bare_host(server, "kiosk", [own]) as host:
        [shown] = host.shown["modules"][0]["tools"]
        assert (shown["name"], shown["description"], shown["effects"]) == (
            "browser_click",
            "Tap the kiosk.",
            ["execute"],
        )
        refused = await server.call("browser_click", host="kiosk", selector="")
        assert refused["error"]["type"] == "invalid_arguments"


async def test_program_of_the_documentation_is_a_browser_host(server, tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "hosts.md").read_text()
    [program] = re.findall(r'^```python title="kiosk.py"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL)
    (tmp_path / "kiosk.py").write_text(program)
    running = await asyncio.create_subprocess_exec(
        *(sys.executable, "kiosk.py", server.address), cwd=tmp_path, stdout=subprocess.PIPE
    )
    try:
        assert running.stdout is not None
        async with asyncio.timeout(WAIT_S):
            code = (await running.stdout.readline()).decode().split()[-1]
        await server.let_in(code)
        await server.host_is("kiosk", "running")
        clicked = await server.call("browser_click", host="kiosk", selector="#go", session_id="documented")
        shown = await server.call("browser_screenshot", host="kiosk", session_id="documented")
    finally:
        running.terminate()
        await running.wait()
        await server.delete("/api/hosts/kiosk")
    assert clicked["data"] == {"clicked": True}
    assert [block["type"] for block in shown["content"]] == ["image"]


WRONG_RESULTS: dict[str, tuple[str, Any, str]] = {
    "no object": ("browser_click", "clicked", "is no object"),
    "not clicked": ("browser_click", {"clicked": 1}, "clicked: is not true"),
    "nothing": ("browser_screenshot", None, "mime: is not 'image/png'"),
    "another image": ("browser_screenshot", {**SCREENSHOT, "mime": "image/svg+xml"}, "mime: is not 'image/png'"),
    "no text": ("browser_screenshot", {"mime": "image/png", "dataBase64": 7}, "dataBase64: is no text"),
    "no Base64": ("browser_screenshot", {"mime": "image/png", "dataBase64": "%%"}, "dataBase64: is no Base64"),
    "too large": (
        "browser_screenshot",
        {"mime": "image/png", "dataBase64": "A" * (RESULT_BYTES + 4)},
        "dataBase64: has more than 2,097,152 characters",
    ),
    "no image": ("browser_screenshot", {"mime": "image/png", "dataBase64": "PHN2Zz4="}, "dataBase64: is no PNG image"),
}


async def test_result_of_another_shape_is_an_error_of_its_call_alone(server):
    async with bare_host(server, "kiosk", list(NAMES)) as host:
        for tool, plain, problem in WRONG_RESULTS.values():
            answering = asyncio.create_task(host.answer(plain))
            outcome = await server.call(tool, host="kiosk", **({"selector": "a"} if tool == "browser_click" else {}))
            await answering
            assert outcome["error"]["type"] == "invalid_result", outcome
            assert problem in outcome["error"]["message"]
        answering = asyncio.create_task(
            host.answer(None, ok=False, error={"type": "no_page", "message": "The kiosk is off."})
        )
        outcome = await server.call("browser_click", host="kiosk", selector="a")
        await answering
        assert outcome["error"]["type"] == "no_page"


LEFT_OUT: list[tuple[Any, str]] = [
    ("browser.fly", "'browser.fly' is a name without a definition, and none of browser.ensure"),
    ("bash", "'bash' is a name without a definition"),
    ({**TOOL, "name": "browser.fly"}, "'browser.fly' is a dotted name, and none of browser.ensure"),
    ({"name": "browser.type", "description": ""}, "description of tool 'browser_type'"),
    ({**TOOL, "name": "a b"}, "'a b'"),
    ({**TOOL, "name": "browser_click"}, "tool 'browser_click' is defined twice; the first counts"),
    (7, "is left out"),
]


async def test_definitions_that_are_left_out_are_listed_with_the_reason(server):
    offered = ["browser.click", *(entry for entry, _ in LEFT_OUT)]
    async with bare_host(server, "kiosk", offered) as host:
        [module] = (await server.host("kiosk"))["modules"]
        assert (module["name"], module["state"], module["tools"]) == ("remote_browser", "ready", 1)
        for _, reason in LEFT_OUT:
            assert any(reason in problem for problem in module["problems"]), (reason, module["problems"])
        printed = await asyncio.to_thread(
            run, "hosts", limit_s=WAIT_S, cwd=server.place.folder, env=server.place.environ
        )
        assert (
            "kiosk/remote_browser: tool 2 is left out: TypeError: 'browser.fly' is a name without" in printed.stdout
        ), printed
        [seen] = host.shown["modules"]
        for _, reason in LEFT_OUT:
            assert any(reason in problem for problem in seen["problems"]), (reason, seen["problems"])


async def test_module_whose_declarations_cannot_be_read_is_listed_with_the_reason(server):
    key, _ = await pair(server, "odd", ["browser.click"])
    async with dialled(server, key) as liar:
        host = BareHost(liar, ["browser.click"])
        host.member = {**host.member, "attributes": {"name": "remote_browser", "runs_scripts_in_page": True}}
        await host.connect("odd")
        [module] = (await server.host_is("odd", "running"))["modules"]
        assert (module["name"], module["state"]) == ("remote_browser", "failed")
        assert "runs in a server only" in module["reason"]


# -- nested calls ----------------------------------------------------------------------------------------------------

FORM = """<!doctype html><title>Log in</title><input id="name">
<button id="go" onclick="document.body.insertAdjacentHTML('beforeend', '<p id=done>Welcome, ' +
document.querySelector('#name').value)">Go</button>"""
ALLOWED = ("browser_launch", "browser_click", "browser_navigate", "browser_wait_for", "browser_screenshot")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site():
    """The address of a page with a form."""

    async def page(request):
        return web.Response(text=FORM, content_type="text/html")

    app = web.Application()
    app.router.add_get("/{name:.*}", page)
    async with TestServer(app, host="127.0.0.1") as served:
        yield str(served.make_url("/"))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def with_browser(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nested")
    executable = programs.find("chromium")
    if executable is None:
        pytest.skip("there is no browser on this machine")
    chrome = {"executable": executable, "args": ["--no-sandbox"], "allow_private": True}
    rules = [{"decision": "allow", "tool": tool, "callers": ["host"]} for tool in ALLOWED]
    rules += [
        {"decision": "deny", "tool": "browser_navigate", "url": "https://denied.example/*"},
        {"decision": "allow", "tool": "lie", "on_host": "puppeteer"},
    ]
    place = Place(
        folder / "server",
        modules=["browser", "chrome"],
        approvals={"mode": "ask", "rules": rules},
        config={"chrome": chrome},
    )
    async with serving(place) as running:
        yield running


async def approve_next(server: Server) -> Message:
    """Approve the next call that waits; return its card."""
    async with asyncio.timeout(WAIT_S):
        while True:
            async with server.person.get("/api/approvals") as response:
                if calls := (await response.json())["calls"]:
                    break
            await asyncio.sleep(0.05)
    [card] = calls
    decided = await server.decide(f"/api/approvals/{card['callId']}/decision", approved=True, digest=card["digest"])
    assert decided["ok"], decided
    return card


@pytest.mark.more
async def test_host_acts_on_the_browser_of_the_session_by_dotted_names(with_browser, site):
    server = with_browser
    async with bare_host(server, "puppeteer", [TOOL]) as host:
        calling = asyncio.create_task(server.call("lie", host="puppeteer", session_id="s7"))
        call = await host.hear("tool.call")
        data = {}
        for tool, arguments in (
            ("browser.ensure", {}),
            ("browser.navigate", {"url": site}),
            ("browser.ensure", {"url": f"{site}again"}),
            ("browser.click", {"selector": "#go"}),
            ("browser.waitFor", {"selector": "#done", "timeoutMs": 20_000}),
            ("browser.screenshot", {}),
            ("browser.screenshot", {"resourceId": "browser_s7_0"}),
        ):
            reply = await host.ask(call, tool, **arguments)
            assert reply["ok"], (tool, reply)
            data[tool] = reply["result"]["value"]["data"]
        assert data["browser.navigate"]["url"] == site
        assert data["browser.click"] == {"clicked": True}
        assert set(data["browser.screenshot"]) == {"mime", "dataBase64"}
        assert b64decode(data["browser.screenshot"]["dataBase64"]).startswith(PNG[:8])

        typing = asyncio.create_task(host.ask(call, "browser.type", selector="#name", text="Ada"))
        card = await approve_next(server)
        assert (card["tool"], card["askedBy"]["kind"], card["askedBy"]["id"]) == ("browser_type", "host", "puppeteer")
        assert "goes to that machine" in card["reason"]
        assert (await typing)["ok"]

        denied = await host.ask(call, "browser.navigate", url="https://denied.example/a")
        assert denied["error"]["type"] == "approval_denied", denied
        other = await host.ask(call, "browser.click", selector="#go", resourceId="browser_s8_0")
        assert other["error"]["type"] == "resource_not_found", other
        await host.result(call)
        assert (await calling)["ok"]
    state = await server.call("browser_get_state", session_id="s7")
    assert state["data"]["url"] == f"{site}again"
    rows = (await server.get("/api/calls?tool=browser_type&limit=5"))["calls"]
    assert {(row["principal_kind"], row["principal_id"], row["session_id"]) for row in rows} == {
        ("host", "puppeteer", "s7")
    }


WRONG_CALLS: list[tuple[str, Message, str, str]] = [
    ("browser.click", {}, "invalid_arguments", "selector"),
    ("browser.click", {"selector": "#go", "button": "right"}, "invalid_arguments", "button"),
    ("browser.screenshot", {"path": "app.json"}, "invalid_arguments", "path"),
    ("browser.waitFor", {"selector": "#go", "timeoutMs": "1"}, "invalid_arguments", "timeoutMs"),
    ("browser.fly", {}, "unknown_tool", "browser.fly"),
]


@pytest.mark.more
async def test_nested_call_by_a_dotted_name_has_the_arguments_of_the_protocol_only(with_browser):
    async with bare_host(with_browser, "puppeteer", [TOOL]) as host:
        calling = asyncio.create_task(with_browser.call("lie", host="puppeteer", session_id="s9"))
        call = await host.hear("tool.call")
        for tool, arguments, kind, word in WRONG_CALLS:
            reply = await host.ask(call, tool, **arguments)
            assert (reply["ok"], reply["error"]["type"]) == (False, kind), reply
            assert word in reply["error"]["message"]
        await host.result(call)
        await calling
    assert not [
        each for each in (await with_browser.get("/api/resources"))["resources"] if each["chatSessionId"] == "s9"
    ]


@pytest.mark.more
async def test_any_module_can_declare_a_dotted_name_also_in_a_process_of_its_own(server):
    async with bare_host(server, "kiosk", [TOOL]) as host:
        calling = asyncio.create_task(server.call("lie", host="kiosk"))
        call = await host.hear("tool.call")
        pressed = await host.ask(call, "browser.navigate", url="https://example.org/")
        assert pressed["result"]["value"]["data"] == {"url": "https://example.org/", "times": 3}
        wrong = await host.ask(call, "browser.type", selector="a", text="b")
        assert wrong["error"]["type"] == "invalid_result", wrong
        await host.result(call)
        await calling


async def test_nested_call_goes_to_the_host_itself_if_that_offers_the_name(server):
    async with bare_host(server, "kiosk", [TOOL, "browser.click"]) as host:
        calling = asyncio.create_task(server.call("lie", host="kiosk"))
        call = await host.hear("tool.call")
        await host.say("call.nested", id=1, n=call["n"], tool="browser.click", arguments={"selector": "a"})
        await approve_next(server)
        inner = await host.answer({"clicked": True})
        assert (inner["tool"], inner["args"]) == ("browser.click", {"selector": "a"})
        reply = await host.hear("reply")
        assert reply["result"]["value"]["data"] == {"clicked": True}
        missing = await host.ask(call, "browser.screenshot")
        assert missing["error"]["type"] == "unknown_tool"
        assert "no module with a browser is ready" in missing["error"]["message"]
        await host.result(call)
        assert (await calling)["ok"]

"""Pages act through routes of modules only once a person has confirmed it, while scripts of a model may run there."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import aiohttp
import pytest

from agentcore.api import BaseModel, Module, Request, Response, Runtime, tool
from agentcore.testing import ClientFactory, ServerClient
from tests.server import approving

pytestmark = pytest.mark.spec("K3")


class Watching(BaseModel, extra="forbid"):
    """What a viewer says without acting."""

    type: Literal["shown"]


class Site(Module):
    """Has routes of its own."""

    name = "site"

    def __init__(self) -> None:
        super().__init__()
        self.acted = 0
        self.heard: list[str] = []

    async def init(self, runtime: Runtime) -> None:
        """Serve them."""
        runtime.add_route("POST", "act", self.act)
        runtime.add_route("GET", "look", self.look)
        runtime.add_route("GET", "talk", self.talk, kind="websocket")
        runtime.add_route("GET", "show", self.show, kind="websocket", watching=Watching)

    async def act(self, request: Request) -> Response:
        """Change something."""
        self.acted += 1
        return Response({})

    async def look(self, request: Request) -> Response:
        """Read something."""
        return Response({})

    async def talk(self, request: Request) -> None:
        """Change something over a socket."""
        self.acted += 1

    async def show(self, request: Request) -> None:
        """Show something, and take what is said to it."""
        assert request.socket is not None
        await request.socket.send("picture")
        async for message in request.socket:
            self.heard.append(json.loads(message)["type"])
            await request.socket.send("picture")


class Scripts(Module):
    """Runs scripts of a model in the page."""

    name = "scripts"
    runs_scripts_in_page = True

    @tool(effects=("dangerous",))
    async def script_run(self) -> str:
        """Run a script."""
        return "ran"

    @tool(effects=("write",))
    async def page_change(self) -> str:
        """Change the page, without code."""
        return "changed"


async def run_script(server: ServerClient, tool_name: str = "script_run") -> None:
    """Let a script of a model run in the page."""
    async with server.post(f"/api/tools/{tool_name}/call", json={"arguments": {}}) as answer:
        assert (await answer.json())["ok"]


async def error_type(asked: Any) -> str | None:
    _, answer = await asked
    return answer["error"]["type"] if "error" in answer else None


async def socket_status(server: ServerClient, browser: approving.Browser) -> int:
    protocols = ("agentcore", f"agentcore.session.{browser.value}")
    async with aiohttp.ClientSession(headers={"Cookie": browser.cookie}) as client:
        try:
            async with client.ws_connect(f"{browser.address}/api/modules/site/talk", protocols=protocols):
                return 101
        except aiohttp.WSServerHandshakeError as refused:
            return refused.status


@asynccontextmanager
async def watching(browser: approving.Browser) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    protocols = ("agentcore", f"agentcore.session.{browser.value}")
    async with (
        aiohttp.ClientSession(headers={"Cookie": browser.cookie}) as client,
        client.ws_connect(f"{browser.address}/api/modules/site/show", protocols=protocols) as socket,
    ):
        assert await socket.receive_str() == "picture"
        yield socket


async def say(socket: aiohttp.ClientWebSocketResponse, message: str) -> str:
    """What comes back for a message: `picture`, or the type of an error."""
    await socket.send_str(message)
    answer = await socket.receive_str(timeout=60)
    return answer if answer == "picture" else str(json.loads(answer)["error"]["type"])


async def test_page_acts_once_it_is_confirmed(agentcore_client: ClientFactory) -> None:
    site = Site()
    server = await agentcore_client([site, Scripts()])
    await run_script(server)
    page, other = await approving.page(server), await approving.page(server)
    act, changes = "/api/modules/site/act", server.running.host.policy_changes
    assert await error_type(page.ask("GET", "/api/modules/site/look")) is None
    assert await error_type(page.ask("POST", act)) == "confirmation_required"
    assert await error_type(page.ask("POST", act)) == "confirmation_required"
    assert await socket_status(server, page) == 403
    assert site.acted == 0

    (change,) = changes.waiting  # one question, however often it was tried
    assert (change.proposal.kind, change.proposal.subject) == ("live_control", "site")
    await changes.decide_change(change.change_id, approved=True, by="test")
    assert await error_type(page.ask("POST", act)) is None
    assert await socket_status(server, page) == 101
    assert await error_type(other.ask("POST", act)) == "confirmation_required"


async def test_nobody_is_asked_without_such_scripts_nor_for_a_program(agentcore_client: ClientFactory) -> None:
    server = await agentcore_client([Site()])
    page = await approving.page(server)
    assert await error_type(page.ask("POST", "/api/modules/site/act")) is None
    with_scripts = await agentcore_client([Site(), Scripts()])
    page = await approving.page(with_scripts)
    assert await error_type(page.ask("POST", "/api/modules/site/act")) is None
    await run_script(with_scripts, "page_change")
    assert await error_type(page.ask("POST", "/api/modules/site/act")) is None
    await run_script(with_scripts)
    assert await error_type(page.ask("POST", "/api/modules/site/act")) == "confirmation_required"
    async with with_scripts.post("/api/modules/site/act") as answer:
        assert answer.status == 200


async def test_watching_asks_nobody_and_nothing_else_passes_until_it_is_decided(
    agentcore_client: ClientFactory,
) -> None:
    site = Site()
    server = await agentcore_client([site, Scripts()])
    await run_script(server)
    page, changes = await approving.page(server), server.running.host.policy_changes
    async with watching(page) as socket:
        assert await say(socket, '{"type": "shown"}') == "picture"
        for acting in ('{"type": "type"}', '{"type": "shown", "also": 1}', "no json", '{"type": ["shown"]}'):
            assert await say(socket, acting) == "confirmation_required"
        assert (site.heard, changes.waiting) == (["shown"], [])

        _, told = await page.ask("GET", "/api/live-control/site")
        assert told == {"state": "needed"}
        _, asked = await page.ask("POST", "/api/live-control/site")
        _, again = await page.ask("POST", "/api/live-control/site")
        (change,) = changes.waiting
        assert asked == again == {"state": "waiting", "changeId": change.change_id, "expiresAt": change.expires_at_ms}
        assert await say(socket, '{"type": "type"}') == "confirmation_required"

        await changes.decide_change(change.change_id, approved=True, by="test")
        assert await say(socket, '{"type": "type"}') == "picture"
        assert site.heard == ["shown", "type"]
        assert (await page.ask("GET", "/api/live-control/site"))[1] == {"state": "granted"}


async def test_page_that_was_refused_goes_on_watching_and_may_ask_again(agentcore_client: ClientFactory) -> None:
    server = await agentcore_client([Site(), Scripts()])
    await run_script(server)
    page, changes = await approving.page(server), server.running.host.policy_changes
    async with watching(page) as socket:
        await page.ask("POST", "/api/live-control/site")
        await changes.decide_change(changes.waiting[0].change_id, approved=False, by="test")
        assert await say(socket, '{"type": "type"}') == "confirmation_required"
        assert await say(socket, '{"type": "shown"}') == "picture"
        assert (await page.ask("GET", "/api/live-control/site"))[1] == {"state": "needed"}
        assert (await page.ask("POST", "/api/live-control/site"))[1]["state"] == "waiting"


async def test_socket_that_was_open_before_such_scripts_could_run_is_held_back_too(
    agentcore_client: ClientFactory,
) -> None:
    site = Site()
    server = await agentcore_client([site, Scripts()])
    await run_script(server)
    core = server.running.host
    page = await approving.page(server)
    async with watching(page) as socket:
        await core.modules.disable("scripts")
        assert await say(socket, '{"type": "type"}') == "picture"
        await core.modules.enable("scripts")
        assert await say(socket, '{"type": "type"}') == "confirmation_required"
    assert site.heard == ["type"]


async def test_program_with_the_token_needs_no_decision_and_an_unknown_module_is_an_error(
    agentcore_client: ClientFactory,
) -> None:
    server = await agentcore_client([Site(), Scripts()])
    await run_script(server)
    async with server.get("/api/live-control/site") as answer:
        assert await answer.json() == {"state": "granted"}
    async with server.post("/api/live-control/nothing") as answer:
        assert (await answer.json())["error"]["type"] == "module_not_found"


async def test_only_a_websocket_is_watched(agentcore_client: ClientFactory) -> None:
    class Wrong(Module):
        name = "wrong"

        async def init(self, runtime: Runtime) -> None:
            runtime.add_route("GET", "show", Site().look, watching=Watching)

    server = await agentcore_client([Wrong()], is_failure_expected=True)
    assert "only a WebSocket is watched" in str(server.running.host.modules.get_record("wrong").reason)

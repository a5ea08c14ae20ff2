"""Pages act through routes of modules only once a person has confirmed it, while scripts of a model may run there."""

from typing import Any

import aiohttp
import pytest

from agentcore.api import Module, Request, Response, Runtime
from agentcore.testing import ClientFactory, ServerClient
from tests.server import approving

pytestmark = pytest.mark.spec("K3")


class Site(Module):
    """Has routes of its own."""

    name = "site"

    def __init__(self) -> None:
        super().__init__()
        self.acted = 0

    async def init(self, runtime: Runtime) -> None:
        """Serve them."""
        runtime.add_route("POST", "act", self.act)
        runtime.add_route("GET", "look", self.look)
        runtime.add_route("GET", "talk", self.talk, kind="websocket")

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


class Scripts(Module):
    """Runs scripts of a model in the page."""

    name = "scripts"
    runs_scripts_in_page = True


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


async def test_page_acts_once_it_is_confirmed(agentcore_client: ClientFactory) -> None:
    site = Site()
    server = await agentcore_client([site, Scripts()])
    page, other = await approving.page(server), await approving.page(server)
    act, changes = "/api/modules/site/act", server.running.host.policy_changes
    assert await error_type(page.ask("GET", "/api/modules/site/look")) is None
    assert await error_type(page.ask("POST", act)) == "confirmation_required"
    assert await error_type(page.ask("POST", act)) == "confirmation_required"
    assert await socket_status(server, page) == 403
    assert site.acted == 0

    (change,) = changes.waiting  # one question, however often it was tried
    assert (change.proposal.kind, change.proposal.subject) == ("live_control", "site")
    await changes.decide(change.change_id, approved=True, by="test")
    assert await error_type(page.ask("POST", act)) is None
    assert await socket_status(server, page) == 101
    assert await error_type(other.ask("POST", act)) == "confirmation_required"


async def test_nobody_is_asked_without_such_scripts_nor_for_a_program(agentcore_client: ClientFactory) -> None:
    server = await agentcore_client([Site()])
    page = await approving.page(server)
    assert await error_type(page.ask("POST", "/api/modules/site/act")) is None
    with_scripts = await agentcore_client([Site(), Scripts()])
    async with with_scripts.post("/api/modules/site/act") as answer:
        assert answer.status == 200

"""The documented reverse proxies, with what browsers and programs do through them."""

import asyncio
import io
import json
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver
from playwright.async_api import async_playwright, expect

from agentcore.api import Module, Request, Response
from agentcore.core.calls.call import CallRequest
from agentcore.limits import UPLOAD_BYTES
from agentcore.testing.serving import ServerClient
from conftest import FLAGS
from tests import programs
from tests.hosts.network.certificates import Certificates, make_certificates
from tests.hosts.network.relay import LOOPBACK
from tests.hosts.network.reverse_proxy import NAMES, documented, free_port, reverse_proxy
from tests.server.approving import MODEL, Notes
from tests.webui.approval.pressing import open_tray, press
from tests.webui.approval.viewing import approve

pytestmark = pytest.mark.spec("S1")
WAIT_S = 60.0
KINDS = [
    pytest.param(kind, marks=pytest.mark.skipif(programs.find(kind) is None, reason=f"no {kind} on PATH"))
    for kind in ("nginx", "caddy")
]


class Talking(Module):
    """Says back what it is told."""

    name = "talking"

    def init(self, runtime) -> None:
        """Add its socket."""
        runtime.add_route("GET", "socket", self._talk, kind="websocket")

    async def _talk(self, request: Request) -> Response | None:
        assert request.socket is not None
        async for message in request.socket:
            await request.socket.send(message)
        return None


@dataclass
class Proxied:
    """A server behind a proxy.

    Attributes:
        page: The origin of the page.
        approval: That of the approval view.
    """

    server: ServerClient
    certificates: Certificates
    port: int

    @property
    def page(self) -> str:
        return f"https://{NAMES[0]}:{self.port}"

    @property
    def approval(self) -> str:
        return f"https://{NAMES[1]}:{self.port}"

    @asynccontextmanager
    async def client(self) -> AsyncIterator[aiohttp.ClientSession]:
        """A program that trusts the authority, and for which all names lead to the proxy."""
        trust = ssl.create_default_context(cafile=str(self.certificates.authority))
        connector = aiohttp.TCPConnector(resolver=Here(), ssl=trust)
        headers = {"Authorization": f"Bearer {self.server.running.host.state.token.get_secret_value()}"}
        async with aiohttp.ClientSession(self.page, connector=connector, headers=headers) as client:
            yield client


class Here(AbstractResolver):
    """Finds each name on loopback."""

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[Any]:
        place = {"host": LOOPBACK, "port": port, "family": socket.AF_INET, "proto": 0, "flags": 0}
        return [{"hostname": host, **place}]

    async def close(self) -> None:
        pass


@pytest.fixture
async def proxied(request, agentcore_client, tmp_path):
    """A server behind the proxy of the parameter."""
    with free_port() as held:
        port = held.getsockname()[1]
        names = {key: [f"{name}:{port}" for name in value] for key, value in _documented_names().items()}
        server = await agentcore_client([Notes(), Talking()], config={"server": names})
        ports = (server.port, int(server.approval_address.rpartition(":")[2]), _views_port(server))
        certificates = make_certificates(tmp_path / "certificates", *NAMES)
        told = dict(zip(NAMES, ports, strict=True))
        async with reverse_proxy(request.param, tmp_path / "proxy", port, told, certificates):
            yield Proxied(server, certificates, port)


def _documented_names() -> dict[str, list[str]]:
    """What the document has under `server`, without the ports."""
    server: dict[str, Any] = json.loads(documented("json"))["server"]
    return {key: value for key, value in server.items() if key.endswith("hosts")}


def _views_port(server: ServerClient) -> int:
    return server.app.dispatcher.parts.apps.port


@pytest.mark.parametrize("proxied", KINDS, indirect=True)
async def test_pages_calls_events_and_sockets_pass_the_documented_proxy(proxied):
    """The document names its own origins; events arrive while their stream is open; a file of 32 MiB is taken."""
    async with asyncio.timeout(WAIT_S), proxied.client() as client:
        async with client.get("/") as document:
            assert f'content="{proxied.approval}"' in await document.text()
        async with client.get("/api/events") as events:
            await events.content.readuntil(b"\n\n")
            body = {"arguments": {"text": "milk"}}
            async with client.post("/api/tools/note_write/call", json=body) as called:
                assert (await called.json())["ok"]
            while b"call.finished" not in await events.content.readuntil(b"\n\n"):
                pass
        async with client.ws_connect("/api/modules/talking/socket", protocols=("agentcore",)) as talking:
            for number in range(3):
                await talking.send_str(f"{number}" * 100_000)
                assert await talking.receive_str() == f"{number}" * 100_000
        whole = io.BytesIO(b"x" * UPLOAD_BYTES)
        async with client.post("/api/artifacts?name=large.txt", data=whole) as kept:
            assert (await kept.json())["bytes"] == UPLOAD_BYTES
        async with client.get(f"https://{NAMES[2]}:{proxied.port}/") as views:
            assert views.status == 401, "it has views only, and the page's credentials are none there"


@pytest.mark.more
@pytest.mark.parametrize("proxied", KINDS, indirect=True)
async def test_person_logs_in_and_approves_through_the_documented_proxy(proxied, chromium):
    """The printed address with the names in place logs in to both; a call is approved in a frame of the page."""
    store = proxied.server.running.host.store
    rules = f"--host-resolver-rules=MAP * {LOOPBACK}"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=[*FLAGS, rules])
        context = await browser.new_context(ignore_https_errors=True, reduced_motion="reduce", locale="en-US")
        page = await context.new_page()
        errors: list[str] = []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        codes = f"#code={store.approval_sessions.create_code()}&page={store.page_sessions.create_code()}"
        await page.goto(f"{proxied.approval}/{codes}")
        await expect(page.locator("ac-app nav").first).to_be_visible(timeout=30_000)
        assert page.url.startswith(proxied.page)
        host = proxied.server.running.host
        outcome = await host.run_call(CallRequest("note_write", {"text": "buy milk"}, MODEL, session_id="s1"))
        frame = await open_tray(page)
        await expect(approve(frame)).to_be_visible(timeout=30_000)
        await press(approve(frame))
        while host.approvals.find_pending(outcome.call_id).verdict is None:
            await asyncio.sleep(0.02)
        assert host.approvals.find_pending(outcome.call_id).verdict.approved
        said = await page.evaluate(
            """async () => {
                const {client} = await import('/static/client/client.js');
                const socket = client.socket('/api/modules/talking/socket');
                await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject; });
                const answer = new Promise((resolve) => { socket.onmessage = ({data}) => resolve(data); });
                socket.send('through');
                return answer;
            }"""
        )
        assert said == "through"
        assert errors == []
        await browser.close()

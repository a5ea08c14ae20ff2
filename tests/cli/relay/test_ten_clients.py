"""Ten clients at once, on pipes and over HTTP, each with its own page of a real browser."""

import asyncio
import json
import os
import shutil
import signal
import tempfile
from contextlib import AsyncExitStack, closing

import aiohttp
import httpx2
import pytest
from aiohttp import web
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.cli.conftest import LIMIT_S
from tests.cli.relay.conftest import Client as OnPipe
from tests.cli.relay.conftest import is_alive, processes_of, server_of
from tests.support.waiting import wait_until_sync

BROWSER = shutil.which("chromium")
COUNT = 10
SEEN = "[location.pathname, document.cookie, Object.keys(localStorage).join()].join(' ')"

pytestmark = [pytest.mark.more, pytest.mark.skipif(BROWSER is None, reason="no chromium on PATH")]


@pytest.fixture
def place(empty_place):
    """A folder whose app.json lists browsers, and whose temporary files are in a folder of their own."""
    browser = {"executable": BROWSER, "sandbox": False, "allow_private": True}
    empty_place.write_app(modules=["browser"], config={"chrome": browser}, approvals={"mode": "allow"})
    # in a short path: browsers have a socket there, whose path is bounded
    with tempfile.TemporaryDirectory(prefix="ten-") as temporary:
        empty_place.environ["TMPDIR"] = temporary
        yield empty_place


async def _site(stack):
    """The address of a site whose pages keep who was there."""

    async def page(request):
        name = request.match_info["name"]
        body = f"<title>{name}</title><script>document.cookie = '{name}=1'; localStorage['{name}'] = 1</script>"
        return web.Response(text=body, content_type="text/html")

    app = web.Application()
    app.router.add_get("/{name}", page)
    runner = web.AppRunner(app)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    return f"http://127.0.0.1:{runner.addresses[0][1]}"


def _on_a_pipe(place, name):
    """A client that starts `agentcore mcp`."""
    arguments = ["-m", "agentcore", "mcp", "--client", name, "--config", str(place.folder / "app.json")]
    return StdioServerParameters(command=place.python, args=arguments, env=place.environ, cwd=place.folder)


async def _over_http(stack, place, name):
    """A client at the address of the server that runs, with a key that a person made."""
    server = json.loads((place.state / "server.json").read_text())
    address = server["addresses"]["page"]
    person = {"Authorization": f"Bearer {(place.state / 'token').read_text().strip()}"}
    async with (
        aiohttp.ClientSession(headers=person) as http,
        http.post(f"{address}/api/mcp/clients", json={"name": name}) as answer,
    ):
        key = (await answer.json())["key"]
    shown = {"Authorization": f"Bearer {key}"}
    http = await stack.enter_async_context(httpx2.AsyncClient(headers=shown, timeout=LIMIT_S))
    return streamable_http_client(f"{address}/mcp", http_client=http)


async def _connect(stack, place, number):
    """One of the clients: half of them on pipes, half of those in the newest revision."""
    name = f"client-{number}"
    way = _on_a_pipe(place, name) if number < COUNT // 2 else await _over_http(stack, place, name)
    mode = "auto" if number % 2 else "legacy"
    return await stack.enter_async_context(Client(way, mode=mode, read_timeout_seconds=LIMIT_S))


async def _say(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    return "\n".join(block.text for block in result.content if block.type == "text")


async def _visit(client, site, number, everybody):
    """What a client sees in its browser once all of them have gone to pages of their own."""
    went = await _say(client, "browser_navigate", url=f"{site}/page{number}")
    await everybody.wait()
    return went, await _say(client, "browser_evaluate", script=SEEN), await _say(client, "browser_tabs", action="list")


async def test_ten_clients_at_once_each_have_a_page_that_no_other_one_sees(place):
    everybody = asyncio.Barrier(COUNT)
    async with asyncio.timeout(LIMIT_S), AsyncExitStack() as stack:
        site = await _site(stack)
        clients = [await _connect(stack, place, number) for number in range(COUNT)]
        visits = [_visit(client, site, number, everybody) for number, client in enumerate(clients)]
        found = await asyncio.gather(*visits)
        begun = processes_of(place)
        assert len(begun) > COUNT // 2 + 1  # the relays, the server, its browser
    for number, (went, seen, pages) in enumerate(found):
        assert f"/page{number} page{number}=1 page{number}" in seen, went
        assert [other for other in range(COUNT) if f"/page{other}" in pages] == [number]
    wait_until_sync(lambda: not [pid for pid in begun if is_alive(pid)])
    assert os.listdir(place.environ["TMPDIR"]) == []


def test_of_a_server_that_is_killed_in_the_middle_of_a_call_no_browser_is_left(place):
    with closing(OnPipe(place)) as client:
        client.connect()
        assert "is open" in client.call("browser_launch", request_id=2)
        server, begun = server_of(place), processes_of(place) - {client.process.pid}
        client.begin("browser_evaluate", 40, script="new Promise(() => {})")
        client.ask("ping", request_id=41)
        os.kill(server, signal.SIGKILL)
        assert client.answer(40)["result"]["content"][0]["text"].startswith("Error interrupted:")
        wait_until_sync(lambda: not [pid for pid in begun if is_alive(pid)])
        assert "is open" in client.call("browser_launch", request_id=42)
        begun = processes_of(place)
        client.end()
    wait_until_sync(lambda: not [pid for pid in begun if is_alive(pid)])
    assert os.listdir(place.environ["TMPDIR"]) == []

"""A chat that works on a machine behind NAT, by a proxy and TLS: its files, its terminal, its browser, and its link."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from tests import programs
from tests.hosts.network.far_away import PROXY_PORT, FarAway, far_away, near_place, why_not
from tests.hosts.network.machine import MACHINE, ROUTER
from tests.hosts.two_machines import WAIT_S, Place, Server, Turn
from tests.support.provider import Provider, provider
from tests.support.waiting import wait_until

__all__ = ["provider"]

pytestmark = [
    pytest.mark.spec("H3"),
    pytest.mark.more,
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
    pytest.mark.usefixtures("chromium"),
]

SITE = """
import http.server, sys
PAGE = b'''<title>counting</title><p id="n">0</p><script>
setInterval(() => { document.querySelector('#n').textContent++; }, 50);
</script>'''
class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE)
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 8000), Site)
print(flush=True)
server.serve_forever()
"""
GONE = 4404
"""The code by which a page knows that there is nothing to be watched any more."""
WAITS = "echo begun >> runs; while [ ! -e go ]; do sleep 0.05; done; cat notes.txt; hostname -I || ip -o -4 address"


@pytest.fixture
async def away(tmp_path, provider):
    far = Place(
        tmp_path / "far",
        modules=["fs_tools", "shell_tools", "browser"],
        config={
            "shell_tools": {"sandbox": "off"},
            "chrome": {"executable": programs.find("chromium"), "args": ["--no-sandbox"], "allow_private": True},
        },
    )
    models = {"m": {"provider": "openai", "base_url": f"{provider.url}/v1", "api_key_env": "TEST_MODEL_KEY"}}
    near = near_place(tmp_path, models=models, approvals={"mode": "allow"})
    near.environ["TEST_MODEL_KEY"] = "sk-test"
    async with far_away(tmp_path, near, far) as made:
        yield made


@asynccontextmanager
async def _site(away: FarAway) -> AsyncIterator[None]:
    """A page that only the other machine can open."""
    words = (sys.executable, "-c", SITE)
    process = await away.machine.start(
        *words, env=dict(os.environ), cwd=away.far.folder, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    await process.stdout.readline()
    yield


@asynccontextmanager
async def _watched(server: Server, page: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """The live preview of a page that is on the other machine, once it has shown a picture."""
    path = f"/api/hosts/laptop/modules/browser/preview/{page}"
    async with server._client.ws_connect(path, protocols=("agentcore",)) as preview, asyncio.timeout(WAIT_S):
        async for message in preview:
            if message.type is aiohttp.WSMsgType.BINARY:
                break
        else:
            raise AssertionError(f"closed with {preview.close_code}")
        assert message.data[:2] == b"\xff\xd8", "a JPEG"
        yield preview


def _called(provider: Provider) -> str:
    """What the model was told last of the calls that it made."""
    return "\n".join(json.dumps(message) for message in provider.requests[-1]["messages"] if message["role"] == "tool")


async def test_chat_works_on_a_machine_behind_nat_proxy_and_tls_while_its_link_drops_twice(away, provider, tmp_path):
    """Files, a command that goes on while the link is down, and a browser whose preview is watched, whose page is kept.

    The machine's router lets nothing out but its proxy, which wants credentials; the page is one of the machine's own.
    """
    provider.say("", ("a", "write_file", '{"path": "notes.txt", "content": "of the far machine"}'))
    provider.say("", ("b", "bash", json.dumps({"command": WAITS})))
    provider.say("", ("c", "browser_navigate", '{"url": "http://127.0.0.1:8000/"}'))
    provider.say("", ("d", "browser_evaluate", '{"script": "window.kept = \'kept\'"}'))
    stop = asyncio.Event()
    provider.say("I look on. ", ("e", "browser_evaluate", '{"script": "window.kept + document.title"}'), gate=stop)
    provider.say("Done.")
    environ = {"HTTPS_PROXY": f"http://me:secret@{ROUTER}:{PROXY_PORT}"}
    async with away.only_by_proxy("me:secret") as proxy, away.paired(**environ) as worker, _site(away):
        server, workspace = away.server, away.far.workspace
        session = (await server.post("/api/sessions", host="laptop"))["sessionId"]
        turn = Turn(server, session)
        following = asyncio.create_task(turn.follow())

        await wait_until((workspace / "runs").exists)
        async with away.relay.down():
            await server.host_is("laptop", "away")
            (workspace / "go").touch()
            await worker.said("not connected")
        await server.host_is("laptop", "running")

        await wait_until(lambda: len(provider.requests) == 5)
        (page,) = [each["resourceId"] for each in (await server.get("/api/resources"))["resources"]]
        async with _watched(server, page) as preview:
            await away.relay.cut()
            async for _ in preview:
                pass  # what was on its way, and then the end, which a page takes for the time to try again
            assert preview.close_code != GONE
        await server.host_is("laptop", "running")
        async with _watched(server, page):
            pass
        stop.set()
        await asyncio.wait_for(following, WAIT_S)
        called = _called(provider)
    assert (workspace / "runs").read_text() == "begun\n"
    assert (workspace / "notes.txt").read_text() == "of the far machine"
    assert "of the far machine" in called
    assert MACHINE in called
    assert "keptcounting" in called
    assert set(proxy.tunnels) == {"agent.example.com:443"}
    assert len(proxy.tunnels) >= 4, "one to be let in, one with the key, and one after each drop"
    assert not [event for event in turn.seen if event["type"] == "session.error"]

"""The desktop shell of examples/: it runs, agents work in its views, and people switch between them meanwhile."""

import asyncio
import importlib.util
import json
import shutil
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from tests.hosts.two_machines import Place, serving

ROOT = Path(__file__).parents[2]
HAS_QT = any(importlib.util.find_spec(name) for name in ("PySide6", "PyQt6"))
pytestmark = [
    pytest.mark.spec("H5"),
    pytest.mark.more,
    pytest.mark.source_tree,
    pytest.mark.skipif(not HAS_QT, reason="no QtWebEngine: pip install PySide6"),
]
LIMIT_S = 120
RED, GREEN = "#ff0000", "#008000"
_PAGE = """<title>{colour}</title><body style="background: {colour}">
<button onclick="document.title = '{colour} ' + ++clicked">Count</button><script>let clicked = 0</script>"""


@pytest.fixture
async def site(aiohttp_server):
    """Pages of one colour, which count clicks in their titles."""

    async def page(request):
        return web.Response(text=_PAGE.format(colour=request.match_info["colour"]), content_type="text/html")

    app = web.Application()
    app.router.add_get("/{colour}", page)
    return await aiohttp_server(app)


class Shell:
    """The shell, and somebody at its window."""

    def __init__(self, process):
        self.process = process
        self.address = asyncio.get_running_loop().create_future()

    async def do(self, *action):
        """Do something, or only look; gives the tabs, the colour in the middle, the text below."""
        self.process.stdin.write(" ".join(action).encode() + b"\n")
        return json.loads(await self.process.stdout.readline())

    async def wait_until(self, is_so):
        """Look until something is so."""
        async with asyncio.timeout(LIMIT_S):
            while not is_so(seen := await self.do()):
                await asyncio.sleep(0.1)
        return seen

    async def read(self):
        """Read what it and its agentcore log, until both have ended."""
        while line := await self.process.stderr.readline():
            if b'"server_ready"' in line:
                self.address.set_result(json.loads(line)["address"])


@asynccontextmanager
async def shell_in(place, *arguments):
    """The shell; it is ended in order."""
    shutil.copy(ROOT / "examples" / "qt_shell" / "app.json", place.folder)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(Path(__file__).with_name("driven_shell.py")), "--config", str(place.folder / "app.json")),
        *("--agentcore", str(Path(sys.executable).with_name("agentcore")), *arguments),
        env={
            **place.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "QTWEBENGINE_DISABLE_SANDBOX": "1",
            "AGENTCORE_CONFIG__CHROME__ALLOW_PRIVATE": "true",
        },
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=1 << 24,
    )
    shell = Shell(process)
    reading = asyncio.create_task(shell.read())
    try:
        yield shell
    finally:
        process.terminate()
        async with asyncio.timeout(LIMIT_S):
            await reading
            await process.wait()


async def test_agents_work_in_its_views_in_front_and_behind(tmp_path, site):
    """One view a page, marked and found; a switch interrupts nothing; what is closed on one side goes on the other."""
    place = Place(tmp_path)
    async with shell_in(place) as shell:
        address = await asyncio.wait_for(shell.address, LIMIT_S)
        headers = {"Authorization": f"Bearer {place.environ['AGENTCORE_TOKEN']}"}
        async with aiohttp.ClientSession(address, headers=headers) as client:

            async def call(tool, session, **arguments):
                body = {"arguments": arguments, "session_id": session}
                async with client.post(f"/api/tools/{tool}/call", json=body) as response:
                    answer = await response.json()
                assert answer["ok"], answer
                return answer["data"]

            for session, colour in (("one", "red"), ("two", "green")):
                arrived = await call("browser_navigate", session, url=str(site.make_url(f"/{colour}")))
                assert arrived["resourceId"] == f"browser_{session}_0"
            await shell.wait_until(lambda seen: (seen["middle"], seen["tabs"]) == (RED, ["red", "green"]))

            # behind, in front while it is brought there, and behind again
            await call("browser_click", "two", selector="button")
            assert "image" in str(await call("browser_screenshot", "two", inline=True))
            clicking = asyncio.create_task(call("browser_click", "two", selector="button"))
            await shell.do("front", "1")
            await clicking
            behind = (GREEN, "browser_two_0: browser_click ok")
            await shell.wait_until(lambda seen: (seen["middle"], seen["status"]) == behind)
            await call("browser_click", "one", selector="button")
            await shell.wait_until(lambda seen: seen["tabs"] == ["red 1", "green 2"])

            await call("browser_tabs", "two", action="close")
            await shell.wait_until(lambda seen: seen["tabs"] == ["red 1"] and seen["middle"] == RED)
            await shell.do("close", "0")
            async with asyncio.timeout(LIMIT_S):
                while (await (await client.get("/api/resources")).json())["resources"]:
                    await asyncio.sleep(0.1)
    assert shell.process.returncode == 0
    assert not (place.state / "server.json").exists()


async def test_it_is_a_host_of_a_server_elsewhere(tmp_path, site):
    """It shows by which code it is let in; then the server's calls are done in its views."""
    server_place, shell_place = Place(tmp_path / "server", modules=[]), Place(tmp_path / "shell")
    async with serving(server_place) as server, shell_in(shell_place, "--server", server.address) as shell:
        asked = await shell.wait_until(lambda seen: "let this shell in" in seen["status"])
        await server.let_in(asked["status"].split()[-2])
        async with asyncio.timeout(LIMIT_S):
            while not (hosts := (await server.get("/api/hosts"))["hosts"]) or hosts[0]["state"] != "running":
                await asyncio.sleep(0.1)
        url = str(site.make_url("/red"))
        arrived = await server.call("browser_navigate", url=url)
        assert arrived["ok"], arrived
        assert arrived["data"]["resourceId"] == "browser_s0_0"
        await server.call("browser_click", selector="button")
        await shell.wait_until(lambda seen: seen["tabs"] == ["red 1"] and seen["middle"] == RED)
        await server.delete("/api/resources/browser_s0_0")
        await shell.wait_until(lambda seen: seen["tabs"] == [])

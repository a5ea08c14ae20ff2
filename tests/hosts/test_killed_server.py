"""A server that is killed in the middle of everything: what a host that outlives it runs is there for the next one."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from agentcore.supervision.descendants import list_descendants
from tests import programs
from tests.forking import AsyncCommand, start_command

pytestmark = pytest.mark.spec("H2")

WAIT_S = 60.0

MODULE = '''
import asyncio, os
from agentcore.api import Module, ToolContext, tool


class Lasting(Module):
    """Works for long."""

    @tool(timeout_s=300)
    async def work(self, ctx: ToolContext, number: int, folder: str) -> dict:
        """Note that it began, and end once it may."""
        with open(os.path.join(folder, "log"), "a") as log:
            log.write(f"{number}\\n")
        while not os.path.exists(os.path.join(folder, "go")):
            await asyncio.sleep(0.05)
        return {"number": number}
'''


class Served:
    """`agentcore serve` as a process, over one folder again and again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ = {**os.environ, "AGENTCORE_STATE_DIR": str(folder.parent / "state"), "AGENTCORE_TOKEN": "t" * 43}

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Server"]:
        process = await start_command(
            *("serve", "--port", "0"), cwd=self.folder, env=self.environ, stderr=subprocess.PIPE
        )
        reading: asyncio.Task[None] | None = None
        try:
            assert process.stderr is not None
            async with asyncio.timeout(WAIT_S):
                while (line := json.loads(await process.stderr.readline()))["event"] != "server_ready":
                    pass
            reading = asyncio.create_task(_read_on(process.stderr))
            headers = {"Authorization": f"Bearer {self.environ['AGENTCORE_TOKEN']}"}
            async with aiohttp.ClientSession(line["address"], headers=headers) as session:
                yield Server(process, session)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
            if reading is not None:
                await reading


class Server:
    """One run of it."""

    def __init__(self, process: AsyncCommand, session: aiohttp.ClientSession) -> None:
        self.process, self._session = process, session

    async def call(self, tool: str, *, session_id: str = "s0", call_id: str | None = None, **arguments: Any) -> Any:
        body = {"arguments": arguments, "session_id": session_id, **({"call_id": call_id} if call_id else {})}
        async with self._session.post(f"/api/tools/{tool}/call", json=body) as response:
            return await response.json()

    async def get(self, path: str) -> Any:
        async with self._session.get(path) as response:
            return await response.json()

    async def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()


async def _read_on(stream: asyncio.StreamReader) -> None:
    while await stream.readline():
        pass


@pytest.fixture
async def served(tmp_path):
    folder = tmp_path / "app"
    (folder / "modules").mkdir(parents=True)
    (folder / "modules" / "lasting.py").write_text(MODULE)
    (folder / "workspace").mkdir()
    listed = ["lasting", "shell_tools", "browser"]
    app = {
        "modules": listed,
        "hosts": {"lasting": {"kind": "process", "modules": listed, "survives_restart": True, "keep_minutes": 2}},
        "config": {
            "chrome": {"executable": programs.find("chromium") or "", "args": ["--no-sandbox"], "allow_private": True},
            "shell_tools": {"sandbox": "off"},
        },
        "approvals": {"mode": "allow"},
    }
    (folder / "app.json").write_text(json.dumps(app))
    made = Served(folder)
    yield made
    async with made.running() as server:
        stop = await server._session.post("/api/stop")
        stop.release()
    assert not hosts_of(tmp_path)


def hosts_of(folder: Path) -> list[int]:
    """Processes of hosts whose files are in a folder."""
    found = []
    for pid in list_descendants(1):
        with contextlib.suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"agentcore.hosts.worker" in command and str(folder).encode() in command:
                found.append(pid)
    return found


@asynccontextmanager
async def _page() -> AsyncIterator[str]:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text="<title>kept</title><p>page", content_type="text/html")

    app = web.Application()
    app.router.add_get("/{rest:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    await runner.cleanup()


@pytest.mark.more
@pytest.mark.usefixtures("chromium")
async def test_terminal_pages_and_calls_are_there_after_a_kill(served, tmp_path):
    """A terminal, three pages with state of their own and ten calls on their way; then kill -9; nothing is lost."""
    work = tmp_path / "work"
    work.mkdir()
    sessions = ["s1", "s2", "s3"]
    async with _page() as address:
        async with served.running() as first:
            started = await first.call("bash", command="echo begun; sleep 600", background=True, session_id="s1")
            assert started["ok"], started
            for name in sessions:
                assert (await first.call("browser_navigate", url=f"{address}{name}", session_id=name))["ok"]
                kept = await first.call("browser_evaluate", script=f"window.kept = '{name}'", session_id=name)
                assert kept["ok"], kept
            calls = [asyncio.create_task(first.call("work", number=n, folder=str(work))) for n in range(10)]
            async with asyncio.timeout(WAIT_S):
                while not (work / "log").exists() or len((work / "log").read_text().split()) < 10:
                    await asyncio.sleep(0.05)
            await first.kill()
            await asyncio.gather(*calls, return_exceptions=True)
        (work / "go").touch()
        async with served.running() as second:
            rows = (await second.get("/api/calls?tool=work&limit=50"))["calls"]
            async with asyncio.timeout(WAIT_S):
                while len(rows := (await second.get("/api/calls?tool=work&limit=50"))["calls"]) < 10:
                    await asyncio.sleep(0.1)
            assert sorted(row["outcome"] for row in rows) == ["ok"] * 10
            ends = [await second.call("work", call_id=row["call_id"], **json.loads(row["arguments"])) for row in rows]
            assert sorted(each["data"]["number"] for each in ends) == list(range(10))
            output = await second.call("bash_output", process_id=started["data"]["process_id"], session_id="s1")
            assert output["data"]["exited"] is False
            assert "begun" in output["data"]["stdout"]
            for name in sessions:
                kept = await second.call("browser_evaluate", script="window.kept", session_id=name)
                assert kept["data"] == {"value": name} or name in json.dumps(kept), kept
            assert len((await second.get("/api/tabs"))["tabs"]) >= 3
    assert sorted(map(int, (work / "log").read_text().split())) == list(range(10)), "nothing ran twice"

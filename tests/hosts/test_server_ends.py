"""What is left of hosts when their server ends, in order or not: nothing, and each call is told of once."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentcore.supervision.descendants import list_descendants
from tests.hosts.test_killed_server import Served, hosts_of

WAIT_S = 60.0
CALLS = 50

MODULE = '''
import asyncio, os, subprocess, sys
from agentcore.api import Module, ToolContext, tool


class Working(Module):
    """Works for long, and has started something."""

    async def init(self, runtime):
        self.child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)

    @tool(timeout_s=300)
    async def work(self, number: int, folder: str) -> dict:
        """Note that it began, and go on for ever."""
        with open(os.path.join(folder, "log"), "a") as log:
            log.write(f"{number} ")
        await asyncio.sleep(600)
        return {}
'''


@pytest.fixture
def served(tmp_path: Path) -> Served:
    """A folder with an app.json whose module runs in a process that ends with its server."""
    return _serving(tmp_path)


def _serving(tmp_path: Path, **options: Any) -> Served:
    folder = tmp_path / "app"
    (folder / "modules").mkdir(parents=True)
    (folder / "modules" / "working.py").write_text(MODULE)
    (folder / "workspace").mkdir()
    hosts = {"far": {"kind": "process", "modules": ["working"], **options}}
    app = {"modules": ["working"], "hosts": hosts, "approvals": {"mode": "allow"}}
    (folder / "app.json").write_text(json.dumps(app))
    return Served(folder)


def _alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if Path(f"/proc/{pid}").exists()}


async def _are_gone(pids: set[int]) -> None:
    async with asyncio.timeout(WAIT_S):
        while _alive(pids):
            await asyncio.sleep(0.02)


async def _begin(server: Any, folder: Path, count: int = CALLS) -> list[asyncio.Task[Any]]:
    calls = [asyncio.create_task(server.call("work", number=number, folder=str(folder))) for number in range(count)]
    async with asyncio.timeout(WAIT_S):
        while not (folder / "log").exists() or len((folder / "log").read_text().split()) < count:
            assert not any(call.done() for call in calls), [call.result() for call in calls if call.done()]
            await asyncio.sleep(0.02)
    return calls


async def _are_noted(state: Path) -> None:
    """Wait until the record has them, which it has soon after they began."""
    async with asyncio.timeout(WAIT_S):
        while True:
            with closing(sqlite3.connect(f"file:{state / 'state.sqlite3'}?mode=ro", uri=True)) as database:
                if database.execute("SELECT count(*) FROM open_calls").fetchone() == (CALLS,):
                    return
            await asyncio.sleep(0.02)


async def test_calls_of_a_killed_server_are_interrupted_once_and_run_once(served, tmp_path):
    async with served.running() as server:
        calls = await _begin(server, tmp_path)
        pids = set(list_descendants(server.process.pid))
        assert len(pids) >= 3
        await _are_noted(tmp_path / "state")
        await server.kill()
        await asyncio.gather(*calls, return_exceptions=True)
        await _are_gone(pids)
    async with served.running() as server:
        async with asyncio.timeout(WAIT_S):
            rows = (await server.get("/api/calls?tool=work&limit=200"))["calls"]
        assert sorted(json.loads(row["arguments"])["number"] for row in rows) == list(range(CALLS))
        assert {row["outcome"] for row in rows} == {"interrupted"}
    assert sorted(map(int, (tmp_path / "log").read_text().split())) == list(range(CALLS))


@pytest.mark.more
async def test_server_that_stops_leaves_no_process_and_no_file_of_its_hosts(served, tmp_path):
    async with served.running() as server:
        calls = await _begin(server, tmp_path)
        pids = set(list_descendants(server.process.pid))
        server.process.terminate()
        await server.process.wait()
        await asyncio.gather(*calls, return_exceptions=True)
        assert _alive(pids) == set()
    assert not (tmp_path / "state" / "hosts").exists()


@pytest.mark.more
async def test_host_that_outlives_goes_on_with_all_it_has_started_when_its_server_stops(tmp_path):
    """A server ends all that is below it when it ends; such a host, and what its modules have started, is not."""
    served = _serving(tmp_path, survives_restart=True, keep_minutes=2)
    async with served.running() as server:
        calls = await _begin(server, tmp_path, 1)
        [pid] = hosts_of(tmp_path)
        going_on = {pid, *list_descendants(pid)}
        assert len(going_on) >= 2
        server.process.terminate()
        await server.process.wait()
        await asyncio.gather(*calls, return_exceptions=True)
    assert _alive(going_on) == going_on
    async with served.running() as server:
        assert hosts_of(tmp_path) == [pid]
        [call] = (await server.get("/api/calls?tool=work&limit=10"))["calls"] or [None]
        assert call is None or call["outcome"] not in ("interrupted", "cancelled")
        (await server._session.post("/api/stop")).release()
    await _are_gone(going_on)

"""A host that takes long to start, and a server that ends meanwhile: nothing of it is left behind."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forking import start_command
from tests.hosts.test_killed_server import Served, Server, hosts_of
from tests.hosts.test_outliving import has_ended

pytestmark = pytest.mark.spec("H2")

WAIT_S = 60.0

MODULE = '''
import os
from agentcore.api import Module, tool


class Slow(Module):
    """Runs in a process that takes long to start."""

    @tool(read_only=True)
    async def where(self) -> int:
        """Say in which process it is."""
        return os.getpid()
'''

PYTHON = """#!/bin/sh
echo $$ >> {folder}/starting
until test -e {folder}/go -o -e {folder}/go.$$; do sleep 0.05; done
exec {python} "$@"
"""


class SlowlyServed(Served):
    """A folder with an app.json whose host starts when it may."""

    async def stopped_while_it_starts(self, sent: signal.Signals) -> int:
        """Start a server, and end it while its host starts; gives the host's process."""
        folder, before = self.folder, len(_started(self.folder))
        process = await start_command(
            *("serve", "--port", "0"), cwd=folder, env=self.environ, stderr=subprocess.DEVNULL
        )
        try:
            async with asyncio.timeout(WAIT_S):
                while len(_started(folder)) == before:
                    await asyncio.sleep(0.01)
            process.send_signal(sent)
            await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return _started(folder)[-1]


def _started(folder: Path) -> list[int]:
    file = folder / "starting"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


@pytest.fixture
def served(tmp_path):
    def make(*, outlives: bool) -> SlowlyServed:
        folder = tmp_path / "app"
        (folder / "modules").mkdir(parents=True)
        (folder / "modules" / "slow.py").write_text(MODULE)
        (folder / "workspace").mkdir()
        python = folder / "python"
        python.write_text(PYTHON.format(folder=folder, python=sys.executable))
        python.chmod(0o700)
        host = {"kind": "process", "modules": ["slow"], "python": str(python), "survives_restart": outlives}
        app = {"modules": ["slow"], "hosts": {"slow": host}, "approvals": {"mode": "allow"}}
        (folder / "app.json").write_text(json.dumps(app))
        return SlowlyServed(folder)

    yield make
    for pid in (left := hosts_of(tmp_path)):
        os.kill(pid, signal.SIGKILL)
    assert not left


@pytest.mark.parametrize("outlives", [False, pytest.param(True, marks=pytest.mark.more)])
async def test_host_whose_start_is_slow_is_not_left_behind_by_a_server_that_stops(served, outlives, tmp_path):
    slow = served(outlives=outlives)
    pid = await slow.stopped_while_it_starts(signal.SIGTERM)
    (slow.folder / "go").touch()
    await has_ended(pid)
    assert not hosts_of(tmp_path)
    async with slow.running() as server:
        pid = await _where(server)
        if outlives:
            (await server._session.post("/api/stop")).release()
            await has_ended(pid)


async def _let_go(folder: Path, number: int) -> None:
    """Let a host start once it waits for that; gives its process."""
    async with asyncio.timeout(WAIT_S):
        while len(_started(folder)) <= number:
            await asyncio.sleep(0.01)
    (folder / f"go.{_started(folder)[number]}").touch()


async def _where(server: Server) -> int:
    """The process of the host, once its module has started."""
    async with asyncio.timeout(WAIT_S):
        while not (answer := await server.call("where"))["ok"]:
            await asyncio.sleep(0.05)
    pid: int = answer["data"]
    return pid


@pytest.mark.more
async def test_host_whose_start_is_slow_and_whose_server_was_killed_leaves_its_place_to_the_next_one(served, tmp_path):
    """The next server has started another one meanwhile, which it keeps, and which the server after that finds."""
    slow = served(outlives=True)
    late = await slow.stopped_while_it_starts(signal.SIGKILL)
    going = asyncio.create_task(_let_go(slow.folder, 1))
    async with slow.running() as server:
        await going
        pid = await _where(server)
        (slow.folder / f"go.{late}").touch()
        await has_ended(late)
        assert await _where(server) == pid
        assert hosts_of(tmp_path) == [pid]
    async with slow.running() as server:
        assert await _where(server) == pid
        (await server._session.post("/api/stop")).release()
        await has_ended(pid)

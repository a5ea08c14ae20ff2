"""Results that wait for a server in a host that outlives it: bounded, and gone once nobody wants them any more."""

import asyncio
import gc
import json
import os
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agentcore.api import Image, Module, ToolContext, ToolResult, tool
from agentcore.api.tool_context import Principal
from agentcore.hosts.worker.ended_calls import RESULTS_BYTES
from agentcore.testing.hosting import HostPlan, RunningHost, running_host

pytestmark = pytest.mark.spec("H1", "H2")

WITHIN_S = 60.0
PICTURE_BYTES = 6 * 1024 * 1024
FITTING = RESULTS_BYTES // PICTURE_BYTES


class Painting(Module):
    """Makes pictures, each when it may."""

    @tool(timeout_s=120)
    async def paint(self, ctx: ToolContext, number: int, folder: str) -> ToolResult:
        """Note the beginning and the end, and give a large picture."""
        Path(folder, f"began {number}").touch()
        while not os.path.exists(os.path.join(folder, f"go {number}")):
            await asyncio.sleep(0.01)
        asyncio.get_running_loop().call_later(0.05, Path(folder, f"ended {number}").touch)
        return ToolResult((Image(bytes(PICTURE_BYTES), "image/png"),))

    @tool(read_only=True)
    async def held(self) -> int:
        """Say how many pictures there are in this process."""
        return sum(type(each) is Image for each in gc.get_objects())


@asynccontextmanager
async def _server(folder: Path) -> Any:
    hosts = {"painters": {"kind": "process", "modules": ["painting"], "survives_restart": True, "keep_minutes": 2}}
    plan = HostPlan([Painting()], {"hosts": hosts, "limits": {"call_timeout_max": 120}}, isolation="process")
    async with running_host(plan, folder) as running:
        yield running


@pytest.fixture
async def app(tmp_path):
    folder = tmp_path / "app"
    folder.mkdir()
    yield folder
    async with _server(folder) as last:
        await last.host.emergency_stop(Principal("cli"))
        await last.events.wait_for("module.stateChanged", module="painting", state="failed")


async def _is_there(path: Path) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not path.exists():
            await asyncio.sleep(0.01)


async def _none_is_held(running: RunningHost) -> None:
    async with asyncio.timeout(WITHIN_S):
        while (await running.call("held")).data:
            await asyncio.sleep(0.05)


async def _paint(app: Path, folder: Path, count: int) -> None:
    """Have pictures made that are ready, one after another, when their server has gone."""
    async with _server(app) as first:
        calls = [
            asyncio.create_task(first.outcome("paint", {"number": number, "folder": str(folder)}))
            for number in range(count)
        ]
        for number in range(count):
            await _is_there(folder / f"began {number}")
    for call in calls:
        assert (await call).error.type == "interrupted"
    for number in range(count):
        (folder / f"go {number}").touch()
        await _is_there(folder / f"ended {number}")


async def _rows(running: RunningHost, count: int) -> dict[int, str]:
    async with asyncio.timeout(WITHIN_S):
        while True:
            page = [each.row for each in await running.host.store.record.read_page() if each.row.tool == "paint"]
            if len(page) >= count:
                return {json.loads(row.arguments)["number"]: row.outcome for row in page}
            await asyncio.sleep(0.05)


async def test_results_beyond_the_bound_are_dropped_the_oldest_first(app, tmp_path):
    """Of what is too much the oldest goes; the rest is delivered, and kept no longer than until then."""
    count = FITTING + 3
    await _paint(app, tmp_path, count)
    async with _server(app) as second:
        rows = await _rows(second, count)
        assert rows == {number: "ok" if number >= 3 else "interrupted" for number in range(count)}
        await _none_is_held(second)


@pytest.mark.more
async def test_results_that_no_server_asks_for_are_dropped(app, tmp_path):
    """The next server's record knows nothing of these calls."""
    await _paint(app, tmp_path, 2)
    for file in (app / "state").glob("state.sqlite3*"):
        file.unlink()
    async with _server(app) as second:
        await _none_is_held(second)
        assert await _rows(second, 0) == {}

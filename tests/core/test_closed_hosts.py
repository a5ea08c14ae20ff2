"""What hosts leave behind when they are closed: nothing."""

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agentcore.api import Module, tool
from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest
from agentcore.core.core import Core
from agentcore.core.discovery.families import load_config
from agentcore.store.state.state_dir import StateDir

HOSTS = 50


class Working(Module):
    """Works in a thread."""

    name = "working"

    @tool(read_only=True)
    def work(self) -> str:
        """Work."""
        return threading.current_thread().name


def threads() -> set[threading.Thread]:
    return set(threading.enumerate())


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd" if Path("/proc/self/fd").exists() else "/dev/fd"))


@pytest.fixture
def open_host(tmp_path):
    """Open a host over the same folder again and again."""
    (tmp_path / "app.json").write_text(json.dumps({"limits": {"stop_grace": 0.1}}))
    environ = {"AGENTCORE_STATE_DIR": str(tmp_path / "state")}
    config = load_config(tmp_path / "app.json", environ)

    @asynccontextmanager
    async def opened(module: Module) -> AsyncIterator[Core]:
        with StateDir.open(config.file, environ=environ) as state:
            async with Core.open(config, state, [module]) as core:
                yield core

    return opened


async def gone(former: set[threading.Thread]) -> None:
    """Wait until no other threads are left than there were."""
    async with asyncio.timeout(60):
        while threads() - former:
            await asyncio.sleep(0.01)


@pytest.mark.more
@pytest.mark.spec("S4", "S7")
@pytest.mark.slow
async def test_fifty_hosts_leave_no_thread_task_or_descriptor(open_host):
    async def live_and_die() -> None:
        async with open_host(Working()) as host:
            call = CallRequest("work", {}, Principal("cli"))
            outcomes = await asyncio.gather(*(host.run_call(call) for _ in range(4)))
            assert all(outcome.ok for outcome in outcomes)

    await live_and_die()  # what is made once for the process is there afterwards
    before = threads(), asyncio.all_tasks(), descriptors()
    for _ in range(HOSTS):
        await live_and_die()
    assert asyncio.all_tasks() == before[1]
    assert descriptors() <= before[2]
    await gone(before[0])


@pytest.mark.spec("S4")
async def test_thread_of_a_hung_tool_ends_with_its_job_though_the_host_is_closed(open_host):
    entered, release = threading.Event(), threading.Event()

    class Hung(Module):
        """Hangs."""

        name = "hung"

        @tool(read_only=True)
        def hang(self) -> None:
            """Hang."""
            entered.set()
            release.wait()

    before = threads()
    async with open_host(Hung()) as host:
        call = asyncio.create_task(host.run_call(CallRequest("hang", {}, Principal("cli"))))
        await asyncio.to_thread(entered.wait, 60)
    assert (await call).error.type == "module_stopping"
    assert threads() - before
    release.set()
    await gone(before)

"""What a server notices of modules in its own process, it is told of modules in a process of their own."""

import asyncio
import os
import subprocess
import sys
import threading
import time

import pytest

from agentcore.api import Module, tool


class Holding(Module):
    """Holds the event loop, and leaves things behind."""

    @tool(read_only=True)
    async def nap(self) -> str:
        """Sleep as one should not."""
        time.sleep(1)
        return "slept"

    @tool(read_only=True)
    async def litter(self) -> int:
        """Begin what nobody ends."""
        self.task = asyncio.create_task(asyncio.sleep(600), name="left task")
        self.process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        threading.Thread(target=time.sleep, args=(600,), name="left thread", daemon=True).start()
        return self.process.pid

    @tool(read_only=True)
    async def talk(self) -> str:
        """Go on talking to the server after its end."""
        loop = asyncio.get_running_loop()
        runtime = self.runtime

        def speak() -> None:
            loop.call_later(0.05, speak)
            runtime.publish("holding.spoke", {})
            runtime.note("a subject", "something is said")

        speak()
        return "talks"


class Beside(Module):
    """Runs in the same host."""

    @tool(read_only=True)
    async def beside(self) -> int:
        """Say in which process it is."""
        return os.getpid()


HOST = {"modules": [Holding, Beside], "isolation": "process"}


async def test_module_that_holds_its_event_loop_is_named(host):
    await host.call("nap")
    event = await host.events.wait_for("module.blocked", module="holding", tool="nap")
    assert event["durationMs"] > 250
    assert host.host.loop_blocked["holding"] == 1
    assert host.host.modules.records["holding"].loop_holds.tool == "nap"


@pytest.mark.more
async def test_what_a_module_leaves_behind_is_named_and_ended(host):
    pid = (await host.call("litter")).blocks()[0].text
    await host.host.modules.disable("holding")
    left = " ".join(host.host.modules.records["holding"].left_behind)
    assert "left task" in left
    assert f"the process {pid}" in left
    assert "left thread" in left
    assert (await host.call("beside")).blocks()[0].text


@pytest.mark.more
async def test_module_that_talks_after_its_end_ends_nothing_else(host):
    before = (await host.call("beside")).blocks()[0].text
    await host.call("talk")
    await host.host.modules.disable("holding")
    await asyncio.sleep(0.3)
    assert (await host.call("beside")).blocks()[0].text == before

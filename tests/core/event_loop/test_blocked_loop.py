"""What holds the event loop takes time from nobody else, and is named."""

import asyncio
import json
import re
import threading
import time

import pytest
import structlog

from agentcore.api import Module, ToolContext, tool
from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest
from agentcore.core.event_loop.clock import LoopClock
from agentcore.limits import LOOP_BEAT_SECONDS
from agentcore.server.modules.module_view import ModuleViews

pytestmark = pytest.mark.slow  # code that holds the loop holds it for real seconds

PERSON = Principal("cli")
HELD_S = 2.0

HOLDING = f'''
import asyncio, time
from agentcore.api import Module, tool

class Holding(Module):
    """Holds the event loop."""

    @tool(read_only=True)
    async def nap(self) -> str:
        """Sleep as one should not."""
        time.sleep({HELD_S})
        return "slept"
'''


class Innocent(Module):
    """Waits for what others do."""

    name = "innocent"

    def __init__(self) -> None:
        self.entered = asyncio.Event()

    @tool(read_only=True)
    async def wait(self) -> str:
        """Wait a little, which is less than the limit."""
        self.entered.set()
        await asyncio.sleep(0.2)
        return "waited"

    @tool(read_only=True)
    def work(self, ctx: ToolContext) -> str:
        """Work in a thread, until told to stop."""
        time.sleep(0.2)
        return "cancelled" if ctx.is_cancelled else "worked"

    @tool(read_only=True)
    async def hang(self) -> None:
        """Never end."""
        await asyncio.Event().wait()


@pytest.mark.spec("S4", "M4")
async def test_deadlines_of_others_do_not_count_time_in_which_the_loop_did_not_run(make_host):
    innocent = Innocent()
    host = await make_host(innocent, files={"holding": HOLDING}, modules=["holding"])
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        calls = [
            group.create_task(host.run_call(CallRequest(name, {}, PERSON, timeout_ms=1_500)))
            for name in ("wait", "work")
        ]
        await innocent.entered.wait()
        group.create_task(host.run_call(CallRequest("nap", {}, PERSON)))
    assert [call.result().ok for call in calls] == [True, True], [call.result().error for call in calls]
    assert calls[1].result().result.blocks()[0].text == "worked"


@pytest.mark.spec("S4", "M4")
async def test_init_of_others_does_not_fail_by_time_in_which_the_loop_did_not_run(make_host):
    slow = """
import asyncio
from agentcore.api import Module

class Slow(Module):
    async def init(self, runtime):
        await asyncio.sleep(0.2)

    async def shutdown(self):
        await asyncio.sleep(0.2)
"""
    holding = HOLDING.replace("    @tool", f"    async def init(self, runtime): time.sleep({HELD_S})\n\n    @tool")
    host = await make_host(
        files={"holding": holding, "slow": slow}, modules=["slow", "holding"], limits={"init_timeout": 1.5}
    )
    assert host.modules.records["slow"].state == "ready"


@pytest.mark.spec("S4")
async def test_deadline_still_ends_what_hangs_by_itself(make_host):
    host = await make_host(Innocent(), files={"holding": HOLDING}, modules=["holding"])
    async with asyncio.timeout(120):
        held = asyncio.create_task(host.run_call(CallRequest("nap", {}, PERSON)))
        outcome = await host.run_call(CallRequest("hang", {}, PERSON, timeout_ms=200))
        assert (await held).ok
    assert outcome.error.type == "timeout"


@pytest.mark.more
async def test_clock_goes_on_smoothly_whatever_holds_the_loop(make_host):
    await make_host()
    loop = asyncio.get_running_loop()
    seen, is_over = [], threading.Event()

    def look() -> None:
        while not is_over.is_set():
            seen.append(loop.time())

    thread = threading.Thread(target=look)
    thread.start()
    before = loop.time()
    time.sleep(1.0)
    held = loop.time() - before
    await asyncio.sleep(0)
    after = loop.time() - before
    await asyncio.sleep(0.3)
    is_over.set()
    thread.join()
    assert held <= 0.1
    assert after <= 0.3
    assert loop.time() - before >= 0.3
    assert seen == sorted(seen)


@pytest.mark.spec("S4")
def test_clock_stops_for_what_holds_the_loop_right_after_its_installation():
    async def hold() -> float:
        loop = asyncio.get_running_loop()
        LoopClock.install(loop)
        before = loop.time()
        time.sleep(0.3)
        return loop.time() - before

    assert asyncio.run(hold()) <= 0.1


@pytest.mark.spec("S4", "M5")
async def test_whose_code_holds_the_loop_is_said_at_once_with_tool_and_place(make_host):
    host = await make_host(files={"holding": HOLDING}, modules=["holding"])
    ended = asyncio.Event()
    host.events.subscribe("module.blocked", lambda event: event.data["tool"] == "nap" and ended.set())
    with structlog.testing.capture_logs() as lines:
        async with asyncio.timeout(120):
            while not ended.is_set():  # again, if the machine was too busy to look
                await host.run_call(CallRequest("nap", {}, PERSON))
    events = [line["event"] for line in lines]
    at_once = lines[events.index("event_loop_blocked")]
    assert (at_once["module"], at_once["tool"]) == ("holding", "nap")
    assert re.search(r"holding\.py:\d+ in nap$", at_once["frames"][-1])
    assert events.index("event_loop_blocked") < events.index("event_loop_was_blocked")
    problem = json.loads(await ModuleViews.of_core(host).show_module("holding", PERSON))["problems"][0]
    assert re.search(r"held the whole server \d+ times, .* in tool 'nap' in .*holding\.py:\d+ in nap:", problem)


CROWDING = """
import sys, threading, time
from agentcore.api import Module, tool

class Crowding(Module):
    '''Keeps the interpreter busy in a thread, as a large import does, and lets nobody else in for a while.'''

    def init(self, runtime):
        self.crowd()

    @tool(read_only=True)
    def crowd(self) -> str:
        '''Be busy.'''
        before = sys.getswitchinterval()
        sys.setswitchinterval(1)
        try:
            until = time.monotonic() + 1.5
            while time.monotonic() < until:
                pass
        finally:
            sys.setswitchinterval(before)
        return "busy"
"""


@pytest.mark.more
@pytest.mark.spec("S4")
async def test_start_in_which_threads_are_busy_is_not_told_as_a_block_that_nobody_made(make_host):
    with structlog.testing.capture_logs() as lines:
        host = await make_host(files={"crowding": CROWDING}, modules=["crowding"])
        for _ in range(4):  # what was late is told with the turns that follow
            await asyncio.sleep(LOOP_BEAT_SECONDS)
    assert host.modules.records["crowding"].state == "ready"
    assert [line for line in lines if line["event"].startswith("event_loop")] == []
    assert host.loop_blocked == {}


@pytest.mark.spec("S4")
async def test_init_that_holds_the_loop_is_named_at_the_start_as_ever(make_host):
    holding = HOLDING.replace("    @tool", f"    async def init(self, runtime): time.sleep({HELD_S})\n\n    @tool")
    with structlog.testing.capture_logs() as lines:
        host = await make_host(files={"holding": holding}, modules=["holding"])
        async with asyncio.timeout(60):
            while not host.loop_blocked:
                await asyncio.sleep(0.05)
    assert host.loop_blocked == {"holding": 1}
    assert [line["module"] for line in lines if line["event"] == "event_loop_was_blocked"] == ["holding"]

"""The end of modules: calls get a grace, and nothing of a module stays behind."""

import asyncio
import sys

import pytest

from agentcore.api import Module, tool
from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest

GOOD = '''
from agentcore.api import Module, tool

class Good(Module):
    """Works."""

    @tool(read_only=True)
    async def good(self) -> str:
        """Work."""
        return "good"
'''


class Slow(Module):
    """Slow."""

    name = "slow"

    def __init__(self) -> None:
        self.entered, self.release = asyncio.Event(), asyncio.Event()

    @tool
    async def slow(self) -> str:
        """Be slow."""
        self.entered.set()
        await self.release.wait()
        return "slow"


@pytest.mark.spec("M4")
async def test_call_in_flight_finishes_within_the_grace_when_its_module_stops(make_host):
    module = Slow()
    host = await make_host(module, limits={"stop_grace": 60})
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        running = group.create_task(host.run_call(CallRequest("slow", {}, Principal("cli"))))
        await module.entered.wait()
        stopping = group.create_task(host.modules.disable("slow"))
        while host.modules.records["slow"].state != "stopping":
            await asyncio.sleep(0)
        late = await host.run_call(CallRequest("slow", {}, Principal("cli")))
        module.release.set()
        await stopping
    assert late.error.type == "module_stopping"
    assert running.result().ok


@pytest.mark.spec("M4")
async def test_call_that_outlasts_the_grace_gets_module_stopping(make_host):
    module = Slow()
    host = await make_host(module, limits={"stop_grace": 0.1})
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        running = group.create_task(host.run_call(CallRequest("slow", {}, Principal("cli"))))
        await module.entered.wait()
        await host.modules.disable("slow")
    assert running.result().error.type == "module_stopping"


LEAVING = '''
import asyncio
from agentcore.api import Module, tool

class Leaving(Module):
    """Leaves a task behind."""

    async def init(self, runtime):
        self.task = asyncio.get_running_loop().create_task(self._forever(), name="left-behind")
        runtime.add_route("GET", "thing", self._answer)
        runtime.subscribe("call.*", print)

    async def _forever(self):
        await asyncio.Event().wait()

    async def _answer(self, request): ...
'''


@pytest.mark.spec("M4")
async def test_nothing_of_a_stopped_module_stays_behind(make_host):
    host = await make_host(files={"leaving": LEAVING}, modules=["leaving"])
    assert host.routes.find_route("GET", "/api/modules/leaving/thing") is not None
    imported = [name for name in sys.modules if "leaving" in name]
    await host.modules.disable("leaving")
    await asyncio.sleep(0)
    assert host.routes.find_route("GET", "/api/modules/leaving/thing") is None
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "left-behind"]
    await host.modules.enable("leaving")
    assert len([name for name in sys.modules if "leaving" in name]) == len(imported) == 1


@pytest.mark.spec("M4")
@pytest.mark.parametrize("shutdown", ["raise SystemExit(1)", "raise ValueError('x')", "await asyncio.Event().wait()"])
async def test_shutdown_that_fails_or_hangs_does_not_hold_the_stop(make_host, shutdown):
    source = f"{GOOD}\n    async def shutdown(self):\n        import asyncio\n        {shutdown}\n"
    host = await make_host(files={"good": source}, modules=["good"], limits={"shutdown_timeout": 0.1})
    async with asyncio.timeout(30):
        await host.modules.disable("good")
    assert host.modules.records["good"].state == "stopped"


@pytest.mark.spec("M4")
async def test_modules_stop_in_reverse_order_of_readiness(make_host):
    source = """
from agentcore.api import Module

class M(Module):
    async def shutdown(self):
        self.runtime.publish("down", {})
"""
    host = await make_host(
        files={
            "a": source,
            "b": "from agentcore.api import Module\n"
            + source.replace("class M(Module):", "class M(Module):\n    requires = ('a',)"),
        },
        modules=["a", "b"],
    )
    order = []
    for name in ("a", "b"):
        host.events.subscribe(f"{name}.down", lambda event: order.append(event.type))
    await host.modules.stop()
    assert order == ["b.down", "a.down"]


PAIR = '''
import asyncio
from agentcore.api import Module, tool

shared = {}

class One(Module):
    """Begins what both use."""

    async def init(self, runtime):
        shared["task"] = asyncio.create_task(asyncio.Event().wait(), name="of-both")

class Two(Module):
    """Uses it."""

    @tool(read_only=True)
    async def two_works(self) -> bool:
        """Whether it is there."""
        return not shared["task"].done()
'''


@pytest.mark.spec("M4")
async def test_what_modules_of_one_distribution_share_ends_with_the_last_of_them(make_host, site):
    points = {"one_of_pair": "pair_of_modules:One", "two_of_pair": "pair_of_modules:Two"}
    site.install("pair-of-modules", points, {"pair_of_modules.py": PAIR})
    host = await make_host(modules=list(points))
    await host.modules.disable("one_of_pair")
    assert (await host.run_call(CallRequest("two_works", {}, Principal("cli")))).result.data is True
    await host.modules.disable("two_of_pair")
    assert host.modules.records["two_of_pair"].left_behind == ("the task 'of-both', now cancelled",)

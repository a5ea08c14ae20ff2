"""What a module gets of its host is the same in both places, also where the module uses it wrongly."""

import pytest

from agentcore.api import Module, ToolContext, ToolError, tool
from tests.support.waiting import wait_until


class Clumsy(Module):
    """Uses what it was given in ways that it may not."""

    @tool(read_only=True)
    async def slip(self, ctx: ToolContext, how: str) -> str:
        """Do something wrong, and say what came of it."""
        link = await ctx.artifacts.save(b"one\ntwo\n", mime="text/plain", name="a.txt")
        ways = {
            "save": lambda: ctx.artifacts.save(b"x", mime=3, name="a.txt"),
            "no lines": lambda: ctx.artifacts.lines(link.artifact_id, 1, limit=0, chars=10),
            "no hits": lambda: ctx.artifacts.find_lines(link.artifact_id, "two", 1, limit=0),
            "ask": lambda: ctx.ask("Which?", options=["a", "b"], timeout_s=5),
            "call": lambda: ctx.call("slip", {"how": 3}),
            "unknown": lambda: ctx.artifacts.load("gone"),
        }
        try:
            found = await ways[how]()
        except ToolError as exc:
            return exc.type
        except TypeError:
            return "TypeError"
        return repr(found)


class Late(Module):
    """Waits for something."""

    name = "late"

    def init(self, runtime):
        runtime.set_waiting("retry", "it is not there", output="one\ntwo", retry_in_s=3000.0)


WAYS = ("save", "no lines", "no hits", "ask", "call", "unknown")


async def test_wrong_use_of_a_call_ends_as_it_does_in_the_server(agentcore_host):
    there = await agentcore_host(modules=[Clumsy()], isolation="process")
    here = await agentcore_host(modules=[Clumsy()], isolation="server")
    ended_there = {how: (await there.told("slip", how=how)).blocks() for how in WAYS}
    ended_here = {how: (await here.told("slip", how=how)).blocks() for how in WAYS}
    assert ended_there == ended_here


@pytest.mark.parametrize("isolation", ["server", "process"])
async def test_what_a_module_waits_for_is_known_wherever_it_runs(agentcore_host, isolation):
    running = await agentcore_host(modules=[Late()], isolation=isolation, is_failure_expected=True)
    record = running.host.modules.get_record("late")
    await wait_until(lambda: record.waiting is not None)
    assert (record.waiting.reason, record.waiting.said, record.output) == ("retry", "it is not there", "one\ntwo")
    assert record.waiting.retry_at_ms is not None

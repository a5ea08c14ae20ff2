"""Calls of modules in a process of their own that are cancelled, too large, too many, or fail in odd ways."""

import asyncio
import os
from typing import Any

import pytest

from agentcore.api import EmbeddedResource, Module, Text, ToolContext, ToolError, ToolResult, tool
from agentcore.api.tool_context import Principal
from tests.support.waiting import wait_until

PERSON = Principal("cli")
LARGE = 30 * 1024 * 1024


class Hard(Module):
    """Does what is hard to carry over a border."""

    @tool(read_only=True)
    async def quick(self) -> int:
        """Answer at once."""
        return os.getpid()

    @tool(read_only=True)
    async def raise_odd(self, what: str) -> str:
        """Fail in a way that is more than a text."""
        if what == "group":
            async with asyncio.TaskGroup() as group:
                group.create_task(self._fail())
        errors: dict[str, BaseException] = {
            "decode": UnicodeDecodeError("utf-8", b"\xff", 0, 1, "why"),
            "stop": StopAsyncIteration("x"),
            "key": KeyError("k"),
            "null": type("A\u0142d", (Exception,), {})("x"),
            "base": GeneratorExit("x"),
            "word": ToolError("No word", "x"),
        }
        raise errors[what]

    async def _fail(self) -> None:
        raise ValueError("inside")

    @tool(read_only=True)
    async def large_text(self, size: int) -> str:
        """Give a long text."""
        return "ä" * size

    @tool(read_only=True)
    async def large_data(self, size: int) -> ToolResult:
        """Give much data."""
        return ToolResult((Text("x"),), {"text": "x" * size})

    @tool(read_only=True)
    async def large_resource(self, size: int) -> ToolResult:
        """Give a long text that belongs to an address."""
        return ToolResult((EmbeddedResource("file:///x.txt", "x" * size, "text/plain"),))

    @tool(read_only=True)
    async def through(self, ctx: ToolContext, tool: str, limit_s: float = 60) -> ToolResult:
        """Call another tool, and wait no longer than so."""
        async with asyncio.timeout(limit_s):
            return await ctx.call(tool, {})

    @tool(read_only=True, timeout_s=60)
    async def stubborn(self, ctx: ToolContext) -> str:
        """Refuse to be cancelled."""
        ctx.progress(0.0, "stubborn")
        while True:
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                continue

    @tool(read_only=True)
    async def flood(self, ctx: ToolContext, what: str) -> str:
        """Report without an end."""
        for number in range(100_000):
            if what == "progress":
                ctx.progress(0.5, f"step {number}")
            elif what == "output":
                ctx.show_output("line\n")
            else:
                ctx.log(f"line {number}")
            if number % 1000 == 0:
                await asyncio.sleep(0)
        return "done"

    @tool(read_only=True)
    async def notes(self) -> str:
        """Say more than a module may."""
        for number in range(300):
            self.runtime.note(f"subject {number}", "x")
        return "done"

    @tool(read_only=True)
    async def ask_wrongly(self, ctx: ToolContext) -> str:
        """Ask in a way that cannot be."""
        return str(await ctx.ask("?", timeout_s=-1))

    @tool(read_only=True)
    async def large_artifact(self, ctx: ToolContext) -> ToolResult:
        """Keep something large, and read it again."""
        data = os.urandom(1024) * (LARGE // 1024)
        link = await ctx.artifacts.save(data, mime="application/octet-stream", name="large.bin")
        assert await ctx.artifacts.load(link.artifact_id) == data
        return ToolResult((link,))


class Near(Module):
    """Runs in the server."""

    @tool(read_only=True, timeout_s=60)
    async def near_wait(self, ctx: ToolContext) -> str:
        """Wait until somebody ends it."""
        ctx.progress(0.0, "near waits")
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            vars(self)["cancelled"] = vars(self).get("cancelled", 0) + 1
            raise
        return "never"

    @tool(read_only=True)
    async def near_cancelled(self) -> int:
        """How often it was cancelled."""
        return vars(self).get("cancelled", 0)


HOST = {
    "modules": [Hard, Near],
    "isolation": "process",
    "config": {"hosts": {"far": {"kind": "process", "modules": ["hard"]}}},
}


async def _cancelled(host, before: int) -> None:
    """Wait until `near_wait` was cancelled once more."""
    await wait_until(lambda: _has_one_more(host, before))


async def _has_one_more(host, before: int) -> bool:
    return (await host.call("near_cancelled")).data == before + 1


@pytest.mark.parametrize("what", ["group", "decode", "stop", "key", "null", "base", "word"])
async def test_odd_exceptions_are_defects_of_one_call(shared_host, what):
    before = (await shared_host.call("quick")).data
    outcome = await shared_host.outcome("raise_odd", {"what": what})
    assert outcome.error.type == "internal_error"
    assert "Traceback" not in outcome.error.message
    assert (await shared_host.call("quick")).data == before


async def test_long_text_becomes_an_artifact_as_in_the_server(shared_host):
    before = (await shared_host.call("quick")).data
    result = await shared_host.call("large_text", size=10_000_000)
    assert result.truncated
    assert result.content[-1].size_bytes == 20_000_000
    outcome = await shared_host.outcome("large_data", {"size": 4_000_000})
    assert outcome.error.type == "result_too_large"
    outcome = await shared_host.outcome("large_data", {"size": 20_000_000})
    assert outcome.error.type in ("result_too_large", "message_too_large")
    outcome = await shared_host.outcome("large_resource", {"size": 20_000_000})
    assert outcome.error.type in ("result_too_large", "message_too_large")
    assert (await shared_host.call("quick")).data == before


async def test_what_a_cancelled_call_has_begun_is_cancelled_with_it(shared_host):
    before = (await shared_host.call("near_cancelled")).data
    call = asyncio.create_task(shared_host.outcome("through", {"tool": "near_wait"}))
    await shared_host.events.wait_for("call.progress", message="near waits")
    *_, outer = [each["callId"] for each in shared_host.events.of("call.started") if each["tool"] == "through"]
    await shared_host.host.calls.cancel_call(outer, PERSON)
    assert (await call).error.type == "cancelled"
    await _cancelled(shared_host, before)


async def test_nested_call_that_the_module_gives_up_is_cancelled_in_the_server(shared_host):
    before = (await shared_host.call("near_cancelled")).data
    outcome = await shared_host.outcome("through", {"tool": "near_wait", "limit_s": 0.3})
    assert outcome.error.type == "internal_error"
    await _cancelled(shared_host, before)


async def test_tool_that_refuses_to_be_cancelled_holds_nobody_up(shared_host):
    call = asyncio.create_task(shared_host.outcome("stubborn"))
    told = await shared_host.events.wait_for("call.progress", message="stubborn")
    await shared_host.host.calls.cancel_call(told["callId"], PERSON)
    async with asyncio.timeout(5):
        assert (await call).error.type == "cancelled"
    assert (await shared_host.call("quick")).data


@pytest.mark.parametrize(
    "what", ["progress", pytest.param("output", marks=pytest.mark.more), pytest.param("log", marks=pytest.mark.more)]
)
async def test_reports_without_an_end_cost_the_host_nothing(shared_host, what):
    before = (await shared_host.call("quick")).data
    assert (await shared_host.outcome("flood", {"what": what})).ok
    assert (await shared_host.call("quick")).data == before


async def test_what_a_module_may_not_say_ends_nothing(shared_host):
    before = (await shared_host.call("quick")).data
    assert (await shared_host.outcome("notes")).ok
    assert not (await shared_host.outcome("ask_wrongly")).ok
    assert (await shared_host.call("quick")).data == before


@pytest.mark.more
async def test_large_artifacts_hold_up_no_other_call(shared_host):
    """Several go both ways while quick calls are made, each of which overtakes them."""
    large = [asyncio.create_task(shared_host.outcome("large_artifact")) for _ in range(4)]
    number = 0
    while not all(each.done() for each in large):
        await shared_host.call("quick")
        number += 1
    outcomes: list[Any] = [await each for each in large]
    assert [each.result.content[0].size_bytes for each in outcomes] == [LARGE] * 4
    assert number > 5

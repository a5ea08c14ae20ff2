"""What a sync tool, which runs in a thread, can do with the async methods of its context."""

import asyncio
import threading

import pytest

from agentcore.api import Module, ToolContext, ToolError, tool


class Threads(Module):
    """Tools in threads."""

    name = "threads"

    def __init__(self) -> None:
        self.is_waiting, self.is_released = asyncio.Event(), threading.Event()
        self.told: list[str] = []

    @tool(read_only=True)
    async def double(self, number: int) -> int:
        """Double a number."""
        if number < 0:
            raise ToolError("negative", "no negative numbers")
        return 2 * number

    @tool(read_only=True)
    async def endless(self) -> None:
        """Never end."""
        self.is_waiting.set()
        await asyncio.Event().wait()

    @tool
    def twice(self, ctx: ToolContext, number: int) -> str:
        """Double a number twice, by another tool."""
        first = ctx.block_on(ctx.call("double", {"number": number})).data
        return str(ctx.block_on(ctx.call("double", {"number": first})).data)

    @tool
    def wait(self, ctx: ToolContext) -> None:
        """Wait for a tool that never ends."""
        try:
            ctx.block_on(ctx.call("endless", {}))
        except ToolError as error:
            self.told.append(error.type)
            raise
        finally:
            self.is_released.set()

    @tool
    async def block_the_loop(self, ctx: ToolContext) -> None:
        """Use it where it would never end."""
        ctx.block_on(ctx.call("double", {"number": 1}))


async def test_sync_tool_calls_another_and_gets_its_result_or_its_error(agentcore_host):
    running = await agentcore_host([Threads()])
    assert (await running.call("twice", number=3)).blocks()[0].text == "12"
    with pytest.raises(ToolError) as raised:
        await running.call("twice", number=-1)
    assert raised.value.type == "negative"


async def test_thread_that_waits_is_let_go_when_its_call_is_cancelled(agentcore_host):
    module = Threads()
    running = await agentcore_host([module])
    call = asyncio.create_task(running.outcome("wait"))
    async with asyncio.timeout(30):
        await module.is_waiting.wait()
        call.cancel()
        await asyncio.wait([call])
        await asyncio.to_thread(module.is_released.wait, 30)
    assert module.told == ["cancelled"]


async def test_async_tool_that_would_block_the_event_loop_for_ever_fails_instead(agentcore_host, capsys):
    running = await agentcore_host([Threads()])
    assert (await running.outcome("block_the_loop")).error.type == "internal_error"
    assert "block_on is for sync tools, which run in a thread; here, await it" in capsys.readouterr().out

"""The server for tests ends with the test."""

import asyncio

from agentcore.api import Module, tool
from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import running_server


class Waits(Module):
    """Calls that do not end by themselves."""

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.was_cancelled = asyncio.Event(), False

    @tool(read_only=True)
    async def wait(self) -> str:
        """Wait until somebody ends the call."""
        self.entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        return ""


async def test_call_that_a_test_left_behind_ends_with_the_server_at_once(tmp_path):
    waits = Waits()
    async with asyncio.timeout(30):
        async with running_server(HostPlan([waits]), tmp_path) as client:
            left_behind = asyncio.ensure_future(client.post("/api/tools/wait/call", json={}))
            await waits.entered.wait()
        assert waits.was_cancelled
        await asyncio.gather(left_behind, return_exceptions=True)  # the answer may have come, or the end before it

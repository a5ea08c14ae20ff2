"""What a module lets run beside its calls ends with the module."""

import asyncio

from agentcore.api import Background, Module, Runtime, tool


class Clock(Module):
    """Ticks."""

    def __init__(self) -> None:
        super().__init__()
        self.ticking = Background("clock")
        self.said: list[str] = []

    async def init(self, runtime: Runtime) -> None:
        """Begin."""
        self.ticking.start(self._tick())

    async def shutdown(self) -> None:
        """End."""
        await self.ticking.stop()
        self.said.append("stopped")

    @tool(effects=["session"])
    async def clock_ring(self) -> str:
        """Ring, and wait for the end of it."""
        return await self.ticking.start(self._ring())

    async def _tick(self) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.said.append("ended")

    async def _ring(self) -> str:
        return "rang"


async def test_what_runs_beside_the_calls_is_waited_for_or_ends_with_its_owner(agentcore_host):
    clock = Clock()
    running = await agentcore_host([clock])
    assert (await running.call("clock_ring")).blocks()[0].text == "rang"
    await running.host.stop()
    assert clock.said == ["ended", "stopped"]


async def test_whoever_stops_it_from_inside_is_not_ended_by_that():
    background = Background("own")
    said = []

    async def stop() -> None:
        await background.stop()
        said.append("went on")

    await background.start(stop())
    assert said == ["went on"]

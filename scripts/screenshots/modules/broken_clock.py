"""A module for the screenshots that does not start."""

from typing import Never

from agentcore.api import Module, Runtime, tool


class BrokenClock(Module):
    """The time, for agents that would otherwise guess it."""

    title = "Clock"

    def init(self, runtime: Runtime) -> None:
        self._connect()

    def _connect(self) -> Never:
        raise ConnectionRefusedError(
            "the time server at time.example.org refused the key; set config.broken_clock.api_key in app.json"
        )

    @tool(read_only=True)
    async def clock_now(self) -> str:
        """Return the current time."""
        return "now"

"""A module whose tools behave in every way."""

import asyncio
import itertools
import threading
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel

from agentcore.api import Audio, EmbeddedResource, Field, Image, Module, Text, ToolContext, ToolError, ToolResult, tool
from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest
from agentcore.limits import IMAGE_BYTES, RESULT_BLOCKS, RESULT_BYTES, RESULT_PARTS


class Sum(BaseModel):
    total: int


@dataclass
class Point:
    x: int


class Lab(Module):
    """Tools that behave in every way."""

    name = "lab"

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.release = asyncio.Event()
        self.thread_started, self.thread_stopped = threading.Event(), threading.Event()
        self.ran = 0

    @tool(read_only=True)
    async def add(self, numbers: list[int], offset: Annotated[int, Field(alias="startAt", ge=0)] = 0) -> Sum:
        """Add numbers."""
        return Sum(total=sum(numbers) + offset)

    @tool
    async def give(self, kind: str) -> Any:
        """Give a value of some kind."""
        values: dict[str, Any] = {
            "text": "plain",
            "none": None,
            "dict": {"a": [1, float("nan")]},
            "dataclass": Point(3),
            "image": Image(b"\x89PNG"),
            "audio": Audio(b"RIFF"),
            "document": EmbeddedResource("notes://1", "a text"),
            "blob": EmbeddedResource("notes://2", b"\x00", "application/x-notes"),
            "big audio": Audio(b"x" * (IMAGE_BYTES + 1)),
            "big document": EmbeddedResource("notes://3", "0123456789\n" * 300_000),
            "surrogate": {"name": "caf\udce9", "list": ["\udcff"]},
            "surrogate text": "caf\udce9",
            "object": {"a": object()},
            "big data": {"a": "x" * (RESULT_BYTES + 1)},
            "many blocks": ToolResult([Text("")] * (RESULT_BLOCKS + 1)),
            "blocks": ToolResult([Text("")] * RESULT_BLOCKS),
            "endless blocks": ToolResult(itertools.repeat(Text(""))),  # type: ignore[arg-type]
            "many values": {"a": [0] * (RESULT_PARTS + 1)},
            "big text": "0123456789\n" * 300_000,
            "big image": Image(b"x" * (IMAGE_BYTES + 1)),
        }
        return values[kind]

    @tool
    async def fail(self, how: str) -> None:
        """Fail in some way."""
        self.ran += 1
        if how == "foreseen":
            raise ToolError("city_not_found", "no city named 'x'", retryable=True, city="x")
        if how == "exit":
            raise SystemExit(3)
        if how == "interrupt":
            raise KeyboardInterrupt
        if how == "cancelled":
            raise asyncio.CancelledError
        raise RuntimeError("secret inner state")

    @tool
    async def wait(self, ctx: ToolContext) -> str:
        """Wait until released."""
        self.entered.set()
        await self.release.wait()
        return ctx.call_id

    @tool(timeout_s=0.05)
    async def stubborn(self) -> None:
        """Refuse to be cancelled."""
        while not self.release.is_set():
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                continue

    @tool(timeout_s=0.05)
    def sync_hang(self, ctx: ToolContext) -> None:
        """Work in a thread until told to stop."""
        self.thread_started.set()
        while not ctx.is_cancelled:
            threading.Event().wait(0.005)
        self.thread_stopped.set()

    @tool
    def sync_wait(self, ctx: ToolContext) -> None:
        """Work in a thread, for as long as nobody stops it."""
        self.thread_started.set()
        while not ctx.is_cancelled:
            threading.Event().wait(0.005)
        self.thread_stopped.set()

    @tool
    def which_thread(self) -> str:
        """Name the thread."""
        return threading.current_thread().name

    @tool
    async def relay(self, ctx: ToolContext, tool_name: str, arguments: dict[str, Any]) -> Any:
        """Call another tool."""
        return await ctx.call(tool_name, arguments)

    @tool
    async def relay_apart(self, ctx: ToolContext, tool_name: str, arguments: dict[str, Any]) -> None:
        """Call another tool in a task of its own, which this one does not wait for, and wait for ever."""
        self.apart = asyncio.create_task(ctx.call(tool_name, arguments))
        await asyncio.Event().wait()

    @tool
    async def dig(self, ctx: ToolContext, depth: int = 0) -> ToolResult:
        """Call itself, deeper and deeper."""
        return await ctx.call("dig", {"depth": depth + 1})

    @tool
    async def steps(self, ctx: ToolContext) -> None:
        """Tell progress, from the loop and from a thread."""
        ctx.progress(0.5, "half")
        await asyncio.to_thread(ctx.progress, 1.0, "done")

    @tool
    async def write(self, ctx: ToolContext) -> None:
        """Write much, from the loop and from a thread, and stay until it is let go."""
        ctx.show_output("first\n")
        await asyncio.to_thread(ctx.show_output, "x" * 100_000 + "\nlast\n")
        self.entered.set()
        await self.release.wait()

    @tool(limit_bytes=100)
    async def capped(self) -> str:
        """Give more than its own bound."""
        return "line\n" * 100

    @tool
    async def lonely(self, ctx: ToolContext, wish: str) -> Any:
        """Want what only a chat has."""
        if wish == "ask":
            return await ctx.ask("Really?")
        if wish == "agent":
            return await ctx.run_agent("Do it.")
        return ctx.session


async def call(host, name, /, principal=Principal("cli"), **arguments):
    return await host.run_call(CallRequest(name, arguments, principal))


def error_of(outcome):
    assert outcome.error is not None, outcome.result
    return outcome.error

"""A console with tools that behave in every way."""

import asyncio

import pytest

from agentcore.api import Module, ToolContext, ToolError, tool


class Lab(Module):
    """Tools that behave in every way."""

    name = "lab"

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.release = asyncio.Event()
        self.calls = 0

    @tool(read_only=True, idempotent=True)
    async def lab_add(self, numbers: list[int], offset: int = 0) -> dict[str, int]:
        """Add numbers. Any number of them.

        Args:
            numbers: What is added.
            offset: Added on top.
        """
        self.calls += 1
        return {"total": sum(numbers) + offset}

    @tool(effects=["write", "egress"], destructive=True, open_world=True)
    async def lab_wait(self, ctx: ToolContext) -> str:
        """Wait until somebody says so."""
        ctx.progress(0.25, "a quarter")
        self.entered.set()
        await self.release.wait()
        return "released"

    @tool(read_only=True)
    async def lab_quiet(self) -> str:
        """Wait, and say nothing meanwhile."""
        self.entered.set()
        await self.release.wait()
        return "released"

    @tool
    async def lab_fail(self, city: str = "Xyz") -> str:
        """Look a city up."""
        raise ToolError("city_not_found", f"no city named {city!r}", city=city)

    @tool(read_only=True)
    async def lab_text(self, lines: int = 120_000) -> str:
        """Give a long text."""
        return "".join(f"line {n} of a long text\n" for n in range(1, lines + 1))

    @tool(read_only=True)
    async def lab_login(self, user: str, password: str) -> str:
        """Log in somewhere."""
        return user


@pytest.fixture
def open_tool(start_webui):
    async def make(path="", modules=None, **options):
        lab = Lab()
        ui = await start_webui([lab] if modules is None else modules, files=options.pop("files", None))
        page = await ui.page(f"#/tools/{path}" if path else "#/tools", **options)
        return ui, page, lab

    return make

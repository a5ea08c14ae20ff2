"""A console with tools that behave in every way."""

import asyncio

import pytest
import pytest_asyncio

from agentcore.api import Module, ToolContext, ToolError, tool
from tests.webui.sharing import sharing


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


@pytest.fixture(scope="module")
def shared_lab():
    return Lab()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(request, browser, page_pool, tmp_path_factory, shared_lab):
    """One server for a file, with the lab and the file's own `FILES`."""
    files = getattr(request.module, "FILES", None)
    async with sharing(browser, page_pool, tmp_path_factory, [shared_lab], files=files) as ui:
        yield ui


@pytest_asyncio.fixture(loop_scope="session")
async def open_tool(shared, shared_lab):
    """`ui, page, lab = await open_tool("lab_add")`; `options` are those of `SharedUi.page`."""
    shared_lab.entered = asyncio.Event()
    shared_lab.release = asyncio.Event()
    shared_lab.calls = 0
    opened = []

    async def make(path="", **options):
        page = await shared.page(f"#/tools/{path}" if path else "#/tools", **options)
        opened.append(page)
        return shared, page, shared_lab

    yield make
    shared_lab.release.set()
    await shared.leave()
    for page in opened:
        await page.evaluate("async () => { (await import('/static/tools/runs.js')).runs._runs = []; }")

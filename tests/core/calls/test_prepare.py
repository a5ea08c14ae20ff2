"""The steps before a call is permitted."""

import asyncio
import threading

import pytest

from agentcore.api import CallPreview, Module, tool
from agentcore.api.tool_context import Principal
from agentcore.limits import PREVIEW_SECONDS, PREVIEWS_PER_CALLER
from tests.core.calls.lab import call, error_of
from tests.support.waiting import LIMIT_S, wait_until

HOST = {"modules": ["lab"]}


@pytest.mark.spec("M6")
async def test_unknown_tool_names_the_near_ones(host):
    error = error_of(await call(host, "ad"))
    assert error.type == "unknown_tool"
    assert "add" in error.context["near"]


@pytest.mark.spec("M6")
async def test_invalid_arguments_have_an_entry_for_each_wrong_field(host):
    error = error_of(await call(host, "add", numbers=[1, "x"], startAt=-1, number=3))
    assert error.type == "invalid_arguments"
    entries = {entry["path"]: entry["message"] for entry in error.context["errors"]}
    assert set(entries) == {"numbers[1]", "startAt", "number"}
    assert "did you mean 'numbers'" in entries["number"]


@pytest.mark.spec("M6")
async def test_missing_argument_is_named(host):
    error = error_of(await call(host, "add"))
    assert error.context["errors"] == [{"path": "numbers", "message": "is required"}]


class Printer(Module):
    """Prints, after previews in threads that a test holds up."""

    name = "printer"

    def __init__(self):
        super().__init__()
        self.gate = threading.Event()
        self.running = 0
        self.most = 0
        self.begun = []

    def _preview(self, _ctx, arguments):
        self.begun.append(arguments["page"])
        self.running += 1
        self.most = max(self.most, self.running)
        self.gate.wait(LIMIT_S)
        self.running -= 1
        return CallPreview(effects=frozenset({"session"}))

    @tool(effects=["session"], preview=_preview)
    async def print_page(self, page: int) -> int:
        """Print a page."""
        return page


async def print_pages(running, principal, pages):
    """The results of calls at one time."""
    calls = [call(running.host, "print_page", principal, page=page) for page in pages]
    return [outcome.unwrap().data for outcome in await asyncio.gather(*calls)]


@pytest.mark.spec("S7")
async def test_previews_of_one_caller_wait_for_each_other_in_their_order_and_hold_up_nobody_else(agentcore_host):
    printer = Printer()
    running = await agentcore_host(modules=[printer], config={"approvals": {"mode": "allow"}})
    pages = list(range(6))
    many = asyncio.create_task(print_pages(running, Principal("mcp", "many"), pages))
    await wait_until(lambda: len(printer.begun) == PREVIEWS_PER_CALLER)
    other = asyncio.create_task(print_pages(running, Principal("mcp", "other"), [10]))
    await wait_until(lambda: 10 in printer.begun)
    assert sorted(printer.begun) == [*pages[:PREVIEWS_PER_CALLER], 10]  # two threads come in any order
    printer.gate.set()
    assert await many == pages
    assert await other == [10]
    assert sorted(printer.begun) == [*pages, 10]


@pytest.mark.slow
@pytest.mark.spec("S7")
async def test_preview_whose_thread_goes_on_after_its_limit_counts_until_that_ends(agentcore_host):
    printer = Printer()
    running = await agentcore_host(modules=[printer], config={"approvals": {"mode": "allow"}})
    calls = [asyncio.create_task(print_pages(running, Principal("mcp", "many"), [page])) for page in range(4)]
    async with asyncio.timeout(PREVIEW_SECONDS * 5):
        while len(running.host.approvals.waiting) < PREVIEWS_PER_CALLER:  # their previews have failed
            await asyncio.sleep(0.01)
    assert (sorted(printer.begun), printer.most) == ([0, 1], PREVIEWS_PER_CALLER)
    printer.gate.set()
    await wait_until(lambda: sorted(printer.begun) == [0, 1, 2, 3])  # the last two begin at once
    for each in calls:
        each.cancel()
    await asyncio.gather(*calls, return_exceptions=True)

"""An edit in Monaco, the editor of Visual Studio Code."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.agents import sites
from benchmarks.agents.agent import Agent, FailedError
from benchmarks.agents.programs import Programs

TITLE = "An edit in Monaco"
TASK = (
    "In the editor, skip prices below zero in the loop, add the function mean at the end, save, "
    "and tell me what was saved."
)

_LOOP = "        if price < 0:\n            continue\n"
_MEAN = "\n\ndef mean(prices):\n    if not prices:\n        return 0\n    return total(prices) / len(prices)\n"
_SAVED = (
    "def total(prices):\n    result = 0\n    for price in prices:\n"
    + _LOOP
    + "        result += price\n    return result\n"
    + _MEAN
).rstrip("\n")


@asynccontextmanager
async def world(programs: Programs, folder: Path) -> AsyncIterator[str]:
    """The page; gives its address."""
    async with sites.files(programs) as address:
        yield f"{address}/monaco.html"


async def play(agent: Agent, address: str) -> None:
    """The steps."""

    async def go_to_line() -> None:
        await agent.press("Control+g")
        await agent.type_here("4")
        await agent.press("Enter")
        await agent.press("Home")
        await agent.press("Home")

    async def go_to_line_by_keys() -> None:
        await agent.press("Escape")
        await agent.press("Control+Home")
        for _ in range(3):
            await agent.press("ArrowDown")

    async def go_to_end() -> None:
        await agent.press("Control+End")

    async def saved() -> None:
        text = await agent.find("Saved:")
        if _SAVED.replace(" ", "·").replace("\n", "¶") not in text:
            raise FailedError(f"something else was saved: {text}")

    await agent.step("open the editor", lambda: agent.open(address))
    await agent.step(
        "put the caret into it",
        lambda: agent.click("textbox", "Editor content"),
        lambda: agent.click_around("textbox", "Editor content"),
    )
    await agent.step("go to the loop's second line", go_to_line, go_to_line_by_keys)
    await agent.step("type two indented lines", lambda: agent.type_here(_LOOP), lambda: agent.type_by_code(_LOOP))
    await agent.step("go to the end", go_to_end)
    await agent.step("type a function of five lines", lambda: agent.type_here(_MEAN), lambda: agent.type_by_code(_MEAN))
    await agent.step("save", lambda: agent.click("button", "Save"))
    await agent.step("read what was saved", saved)

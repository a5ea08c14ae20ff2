"""A cell of AG Grid, far below."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.agents import sites
from benchmarks.agents.agent import Agent, FailedError, refs_in
from benchmarks.agents.programs import Programs

TITLE = "An AG Grid cell far below, of 5,000 rows"
TASK = "In the grid, set the pieces of Article 4321 to 250, and tell me what the page says about it."

_SCROLL = """() => {
  const inner = [...document.querySelectorAll('*')].find(
    one => one.clientHeight > 100 && one.scrollHeight > 20 * one.clientHeight);
  inner.scrollTop = inner.scrollHeight * 4315 / 5000;
}"""


@asynccontextmanager
async def world(programs: Programs, folder: Path) -> AsyncIterator[str]:
    """The page; gives its address."""
    async with sites.files(programs) as address:
        yield f"{address}/grid.html"


async def play(agent: Agent, address: str) -> None:
    """The steps."""

    async def scroll() -> None:
        await agent.scroll_to("Article 4321", "grid")
        await agent.sees_in_tree("Article 4321")

    async def scroll_by_script() -> None:
        await agent.script(_SCROLL)
        await agent.sees_in_tree("Article 4321")

    async def begin_edit() -> None:
        found = _cell(await agent.find("Article 4321")) or _cell(await agent.look())
        if not found:
            raise FailedError("the row's cell of pieces has no reference")
        await agent.click_ref(found, "cell of pieces", double=True)

    async def begin_edit_by_keys() -> None:
        await agent.click("gridcell", "Article 4321")
        for key in ("ArrowRight", "ArrowRight", "Enter"):
            await agent.press(key)

    async def enter() -> None:
        await agent.press("Control+a")
        await agent.type_here("250")
        await agent.press("Enter")

    async def enter_by_digits() -> None:
        for key in ("Control+a", "2", "5", "0", "Enter"):
            await agent.press(key)

    await agent.step("open the grid", lambda: agent.open(address))
    await agent.step("scroll to the row", scroll, scroll_by_script)
    await agent.step("begin to edit the cell", begin_edit, begin_edit_by_keys)
    await agent.step("type the value", enter, enter_by_digits)
    await agent.step(
        "read what the page says", lambda: agent.sees(f"Article 4321 in Athens: {(4320 * 37) % 101} became 250.")
    )


def _cell(text: str) -> str:
    """The reference of the first cell with the row's number of pieces, after the one with its name."""
    refs = refs_in(text.partition('"Article 4321"')[2], "gridcell", str((4320 * 37) % 101), is_exact=True)
    return refs[0] if refs else ""

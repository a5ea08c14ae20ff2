"""A form of Shoelace components."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.agents import sites
from benchmarks.agents.agent import Agent
from benchmarks.agents.programs import Programs

TITLE = "A form of Shoelace components"
TASK = "Fill in the order form as told, send it, and tell me what was sent."

_EXPECTED = (
    "Sent: country=pt; day=2027-03-14; extras=bag+ribbon; mail=ada@example.org; name=Ada Lovelace; news=yes; "
    "notes=Ring twice.; pieces=7; size=m; terms=yes; rating=4."
)


@asynccontextmanager
async def world(programs: Programs, folder: Path) -> AsyncIterator[str]:
    """The page; gives its address."""
    async with sites.files(programs) as address:
        yield f"{address}/shoelace.html"


async def play(agent: Agent, address: str) -> None:
    """The steps."""

    async def country() -> None:
        await agent.click("combobox", "Country")
        await agent.click("option", "Portugal")

    async def extras() -> None:
        await agent.click("combobox", "Extras")
        await agent.click("option", "Bag")
        await agent.click("option", "Ribbon")
        await agent.press("Escape")

    async def extras_by_keys() -> None:
        await agent.press("Tab")
        await agent.press("ArrowDown")
        await agent.click("option", "Bag")
        await agent.click("option", "Ribbon")
        await agent.press("Escape")

    async def rating() -> None:
        await agent.click("slider", "Rating")
        for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"):
            await agent.press(key)

    async def rating_by_script() -> None:
        await agent.script("() => { document.querySelector('sl-rating').value = 4; }")

    async def pieces_by_keys() -> None:
        await agent.click("slider", "Pieces")
        for key in ("Home", *["ArrowRight"] * 6):
            await agent.press(key)

    async def day_by_keys() -> None:
        await agent.click("textbox", "Delivery day")
        await agent.type_here("03142027")

    await agent.step("open the form", lambda: agent.open(address))
    await agent.step("type the name", lambda: agent.type("textbox", "Name", "Ada Lovelace"))
    await agent.step("type the address", lambda: agent.type("textbox", "E-mail", "ada@example.org"))
    await agent.step("set the date", lambda: agent.set("textbox", "Delivery day", "2027-03-14"), day_by_keys)
    await agent.step("choose the country", country)
    await agent.step("choose two extras", extras, extras_by_keys)
    await agent.step("choose the size", lambda: agent.click("radio", "Medium"))
    await agent.step("set the slider", lambda: agent.set("slider", "Pieces", "7"), pieces_by_keys)
    await agent.step(
        "turn the switch on",
        lambda: agent.click("switch", "Newsletter"),
        lambda: agent.click_around("switch", "Newsletter"),
    )
    await agent.step("rate it", rating, rating_by_script)
    await agent.step("write the notes", lambda: agent.type("textbox", "Notes", "Ring twice."))
    await agent.step("unfold the terms", lambda: agent.click("button", "Terms"))
    await agent.step(
        "accept the terms",
        lambda: agent.click("checkbox", "I accept the terms"),
        lambda: agent.click_around("checkbox", "I accept the terms"),
    )
    await agent.step("send the form", lambda: agent.click("button", "Send order"))
    await agent.step("confirm in the dialog", lambda: agent.click("button", "Confirm"))
    await agent.step("read what was sent", lambda: agent.sees(_EXPECTED))

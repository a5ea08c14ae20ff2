"""A PDF in the viewer that Chromium has and its headless shell lacks."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer

STARTS_HOSTS = True
PAGES = Path(__file__).parents[3] / "web_tools/tests/pages"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def papers() -> AsyncIterator[str]:
    """The address of PDFs that are given only to who is logged in."""

    async def answer(request: web.Request) -> web.Response:
        if request.cookies.get("login") != "yes":
            return web.Response(text="<title>Log in</title>", content_type="text/html")
        body = (PAGES / request.match_info["name"]).read_bytes()
        return web.Response(body=body, content_type="application/pdf")

    async def log_in(request: web.Request) -> web.Response:
        reply = web.Response(text="<title>In</title>", content_type="text/html")
        reply.set_cookie("login", "yes", httponly=True)
        return reply

    app = web.Application()
    app.router.add_get("/login", log_in)
    app.router.add_get("/{name}", answer)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


async def test_pdf_says_what_it_is_and_a_snapshot_gives_its_text(host, text, papers):
    await host.call("browser_navigate", url=f"{papers}/login")
    arrived = await host.call("browser_navigate", url=f"{papers}/report.pdf")
    assert "It is a PDF: browser_snapshot gives its text, and browser_screenshot shows" in text(arrived)
    shown = await host.call("browser_snapshot")
    for part in ("This is the text of the 2 pages of a PDF.", "- --- page 2 of 2 ---", "- Crane 1,200,000 €"):
        assert part in text(shown)
    assert shown.untrusted
    found = text(await host.call("browser_snapshot", find="cranes"))
    assert "Two cranes fell on Friday." in found
    assert "Crane 1,200,000 €" not in found
    assert "Nothing in it has that." in text(await host.call("browser_snapshot", find="whales"))
    assert "- --- page 1 of 2 ---" not in text(await host.call("browser_snapshot", offset=1))


@pytest.mark.parametrize(
    ("name", "why"), [("scanned.pdf", "they hold pictures alone"), ("locked.pdf", "it is locked with a password")]
)
async def test_pdf_without_text_says_why(host, text, papers, name, why):
    await host.call("browser_navigate", url=f"{papers}/login")
    await host.call("browser_navigate", url=f"{papers}/{name}")
    assert why in text(await host.call("browser_snapshot"))


async def test_pdf_in_a_tab_is_read_by_id(host, text, papers):
    browser_id = (await host.call("chrome_launch")).data["browserId"]
    tab = (await host.call("chrome_new_tab", browserId=browser_id, url=f"{papers}/login")).data["tabId"]
    arrived = await host.call("chrome_navigate", tabId=tab, url=f"{papers}/report.pdf")
    assert "It is a PDF: chrome_get_text gives its text, and chrome_screenshot shows" in text(arrived)
    read = await host.call("chrome_get_text", tabId=tab)
    assert read.data["text"].startswith("--- page 1 of 2 ---\nHarbour report")
    assert read.data["length"] == len(read.data["text"])

"""What a page gives – a download, a picture, a PDF – reaches the workspace by what each result says."""

import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

pytestmark = [
    pytest.mark.spec("K9"),
    pytest.mark.more,
    pytest.mark.skipif(not any(map(shutil.which, ("chromium", "google-chrome"))), reason="no chromium on PATH"),
]
DATA = bytes(range(256)) * 40


@pytest.fixture
async def site() -> AsyncIterator[str]:
    """A page with a link to a file; gives its address."""

    async def page(request: web.Request) -> web.Response:
        return web.Response(
            text="<!doctype html><title>Reports</title><a href=/file>Report</a>", content_type="text/html"
        )

    async def file(request: web.Request) -> web.Response:
        return web.Response(body=DATA, headers={"Content-Disposition": 'attachment; filename="report.bin"'})

    app = web.Application()
    app.router.add_get("/", page)
    app.router.add_get("/file", file)
    server = TestServer(app)
    await server.start_server()
    yield str(server.make_url("/"))
    await server.close()


async def test_what_a_page_gives_is_saved_by_the_artifact_that_the_result_names(
    start: Callable[..., Awaitable[Any]], provider: Any, site: str
) -> None:
    """The model clicks a link, takes a picture, prints the page, and saves each, by nothing but what it was told."""
    talk = await start(modules=["browser"], others={"chrome": {"allow_private": True}})

    async def told(tool: str, **arguments: Any) -> str:
        provider.answers += [(tool, arguments), "Done."]
        await talk.say("go on")
        messages = provider.requests[-1]["messages"]
        asked = max(number for number, message in enumerate(messages) if "go on" in str(message["content"]))
        return str([message["content"] for message in messages[asked:]])

    shown = await told("browser_navigate", url=site)
    link = re.search(r'link "Report" \\?\[ref=(\w+)', shown)
    assert link, shown
    steps = [
        ("report.bin", await told("browser_click", selector=link[1])),
        ("page.png", await told("browser_screenshot")),
        ("page.pdf", await told("browser_pdf")),
    ]
    workspace = talk.server.running.workspace
    for name, said in steps:
        artifact = re.search(r"\bart_\w+", said)
        assert artifact, said
        assert name in await told("artifact", id=artifact[0], action="save", path=f"got/{name}")
        async with talk.server.get(f"/api/artifacts/{artifact[0]}") as answer:
            assert (workspace / "got" / name).read_bytes() == await answer.read()
    assert (workspace / "got" / "report.bin").read_bytes() == DATA
    assert (workspace / "got" / "page.png").read_bytes().startswith(b"\x89PNG")
    assert (workspace / "got" / "page.pdf").read_bytes().startswith(b"%PDF")

"""A PDF in the viewer that Chromium has and its headless shell lacks."""

from aiohttp import web
from aiohttp.test_utils import TestServer

STARTS_HOSTS = True
PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>"
)


async def test_pdf_says_what_it_is_and_which_call_reads_it(host, text):
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=PDF, content_type="application/pdf")

    app = web.Application()
    app.router.add_get("/paper.pdf", answer)
    async with TestServer(app) as server:
        for shown in (
            await host.call("browser_navigate", url=str(server.make_url("/paper.pdf"))),
            await host.call("browser_snapshot"),
        ):
            assert "It is a PDF: web_fetch with this address gives its text, and browser_screenshot shows" in text(
                shown
            )
        browser_id = (await host.call("chrome_launch")).data["browserId"]
        tab = await host.call("chrome_new_tab", browserId=browser_id, url=str(server.make_url("/paper.pdf")))
        assert "gives its text, and chrome_screenshot shows" in text(tab)

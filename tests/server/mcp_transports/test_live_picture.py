"""The live picture of a browser's page in a client that shows views: what a person sees there, and whose page it is."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from mcp.client.client import Client
from playwright.async_api import Browser, Page, expect

from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import running_server
from tests.server.mcp_transports.conftest import Mcp, Shop
from tests.server.mcp_transports.test_calls import said
from tests.server.mcp_transports.test_views import HOST, MIME, RESTRICTIVE, ShowsViews

pytestmark = [pytest.mark.processes, pytest.mark.more, pytest.mark.asyncio(loop_scope="session")]

TOOL = "browser_live_picture"
VIEW = "view-of-a-test"
LIMIT_MS = 60_000

CLIENT = """
<!doctype html><meta charset="utf-8"><body style="margin: 0; background: #888"><script>
window.told = [];
window.asked = 0;
window.underWay = 0;
window.start = (html, policy, hostContext) => {
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.style = "width: 100%; height: 40px; border: 0; display: block";
  addEventListener("message", async ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    told.push(data);
    if (data.method === "ui/notifications/size-changed") frame.style.height = `${data.params.height}px`;
    if (data.method === "tools/call") {
      asked++;
      underWay++;
      send({ id: data.id, result: await callTool(data.params) });
      underWay--;
    }
    if (data.method !== "ui/initialize") return;
    const result = { protocolVersion: "2026-01-26", hostInfo: { name: "test", version: "1" } };
    send({ id: data.id, result: { ...result, hostCapabilities: { serverTools: {} }, hostContext } });
  });
  window.send = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  frame.srcdoc = html.replace(/<meta /, `${meta}<meta `);
  document.body.replaceChildren(frame);
};
</script>
"""
"""A client that shows views as the revision says, and passes on the tools that they call."""


def _page(title: str, colour: str) -> str:
    return f"<!doctype html><title>{title}</title><body style='background: {colour}'><h1>{title}</h1>"


@pytest_asyncio.fixture(loop_scope="session")
async def site() -> AsyncIterator[TestServer]:
    """A site of three pages."""
    pages = {"/": _page("Harbour", "#2a6"), "/ships": _page("Ships \u202e", "#a26"), "/boats": _page("Boats", "#26a")}

    async def serve(request: web.Request) -> web.Response:
        return web.Response(text=pages[request.path], content_type="text/html")

    app = web.Application()
    for path in pages:
        app.router.add_get(path, serve)
    async with TestServer(app) as server:
        yield server


@asynccontextmanager
async def _clients(folder: Path, *names: str, mode: str = "ask_writes") -> AsyncIterator[list[Client]]:
    """Clients that show views, of one server with a browser."""
    allowed = [{"tool": "browser_navigate", "decision": "allow"}, {"tool": "browser_tabs", "decision": "allow"}]
    config = {
        "config": {"chrome": {"allow_private": True}},
        "approvals": {"rules": allowed, "mode": mode},
    }
    async with running_server(HostPlan(["browser"], config), folder) as server, AsyncExitStack() as stack:
        mcp = Mcp(server, Shop())
        yield [
            await stack.enter_async_context(mcp.client(await mcp.key(name), extensions=[ShowsViews(MIME)]))
            for name in names
        ]


async def _show(browser: Browser, client: Client, context: dict[str, Any], **options: Any) -> tuple[Page, list[str]]:
    """The view of `browser_navigate` in a page of the client's, and what was loaded from anywhere."""
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert listed[TOOL].meta == {"ui": {"visibility": ["app"]}}
    uris = {listed[name].meta["ui"]["resourceUri"] for name in ("browser_launch", "browser_navigate")}
    assert len({(await client.read_resource(uri)).contents[0].text for uri in uris}) == 1
    (read,) = (await client.read_resource(uris.pop())).contents
    page = await browser.new_page(**options)
    loaded: list[str] = []
    page.on("request", lambda request: None if request.url.startswith("data:") else loaded.append(request.url))
    page.on("pageerror", lambda error: loaded.append(str(error)))

    async def call(params: dict[str, Any]) -> Any:
        result = await client.call_tool(params["name"], params["arguments"])
        return json.loads(result.model_dump_json(by_alias=True, exclude_none=True))

    await page.expose_function("callTool", call)
    await page.route("**/*", lambda route: route.fulfill(body=CLIENT, content_type="text/html"))
    await page.goto(HOST)
    await page.evaluate("([html, policy, context]) => start(html, policy, context)", [read.text, RESTRICTIVE, context])
    await page.wait_for_function("told.some(({ method }) => method === 'ui/notifications/initialized')")
    return page, loaded


async def _navigate(client: Client, url: str) -> dict[str, Any]:
    result = await client.call_tool("browser_navigate", {"url": url})
    assert not result.is_error, said(result)
    return json.loads(result.model_dump_json(by_alias=True, exclude_none=True))


async def _tell(page: Page, result: dict[str, Any]) -> None:
    await page.evaluate("result => send({ method: 'ui/notifications/tool-result', params: result })", result)


COLOUR = """image => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d');
  canvas.drawImage(image, 9 - image.naturalWidth, 9 - image.naturalHeight);
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
}"""


async def _wait_for_colour(page: Page, wanted: tuple[int, int, int]) -> None:
    """Until the picture that the person sees has this colour near its corner."""
    handle = await page.frame_locator("iframe").locator("#picture").element_handle()
    frame = await handle.owner_frame()
    await frame.wait_for_function(
        f"([image, wanted]) => image.naturalWidth && ({COLOUR})(image).every("
        "(one, index) => Math.abs(one - wanted[index]) < 12)",
        arg=[handle, list(wanted)],
        timeout=LIMIT_MS,
    )


async def test_person_sees_the_page_live_while_the_view_is_seen(browser: Browser, tmp_path: Path, site: TestServer):
    """A picture, another when the agent goes on, none while the view is out of sight or has been taken down."""
    async with _clients(tmp_path, "robot") as (client,):
        page, loaded = await _show(browser, client, {"theme": "dark"}, viewport={"width": 800, "height": 700})
        view = page.frame_locator("iframe")
        await expect(view.locator("#words")).to_have_text("Waiting for the page…")
        await _tell(page, await _navigate(client, str(site.make_url("/"))))
        await expect(view.locator("#state")).to_have_text("Live", timeout=LIMIT_MS)
        await expect(view.locator("#title")).to_have_text("Harbour")
        await expect(view.locator("#address")).to_have_text(str(site.make_url("/")))
        await _wait_for_colour(page, (0x22, 0xAA, 0x66))
        await expect(view.locator("#said")).to_be_hidden()

        await _navigate(client, str(site.make_url("/ships")))
        await expect(view.locator("#title")).to_have_text("Ships ⟨U+202E⟩", timeout=LIMIT_MS)
        await _wait_for_colour(page, (0xAA, 0x22, 0x66))

        await page.evaluate("document.body.style.paddingTop = '5000px'")
        await expect(view.locator("#state")).to_have_text("Paused")
        await _navigate(client, str(site.make_url("/")))  # ends the call that was under way, if it was still
        await page.wait_for_function("!underWay", timeout=LIMIT_MS)
        asked = await page.evaluate("asked")
        await _navigate(client, str(site.make_url("/boats")))
        assert await page.evaluate("asked") == asked
        await page.evaluate("document.body.style.paddingTop = 0")
        await expect(view.locator("#title")).to_have_text("Boats", timeout=LIMIT_MS)
        await _wait_for_colour(page, (0x22, 0x66, 0xAA))

        await page.evaluate("send({ id: 'end', method: 'ui/resource-teardown', params: {} })")
        await page.wait_for_function("told.some(({ id, result }) => id === 'end' && result)")
        asked = await page.evaluate("asked")
        await _navigate(client, str(site.make_url("/")))
        await page.wait_for_function("!underWay", timeout=LIMIT_MS)
        assert await page.evaluate("asked") == asked
        assert loaded == [HOST]
        await page.close()


async def test_person_is_told_why_there_is_no_picture(browser: Browser, tmp_path: Path, site: TestServer):
    """A rule that asks a person; then a page that is closed, in the other language; on a narrow screen."""
    async with _clients(tmp_path, "robot", mode="ask") as (client,):
        page, _ = await _show(browser, client, {"locale": "zh-CN"}, viewport={"width": 300, "height": 600})
        view = page.frame_locator("iframe")
        result = await _navigate(client, str(site.make_url("/")))
        await _tell(page, result)
        await expect(view.locator("#words")).to_contain_text("没有画面：\nError approval_required", timeout=LIMIT_MS)
        assert await page.evaluate("asked") == 1
        assert await view.locator("html").evaluate("root => root.scrollWidth") <= 300
        closed = await client.call_tool("browser_tabs", {"action": "close"})
        assert not closed.is_error
        await view.get_by_role("button", name="重新查看").click()
        await expect(view.locator("#words")).to_have_text("页面已关闭。", timeout=LIMIT_MS)
        await page.close()


async def test_client_sees_no_page_of_another_client(tmp_path: Path, site: TestServer):
    async with _clients(tmp_path, "robot", "other") as (robot, other):
        page = (await _navigate(robot, str(site.make_url("/"))))["_meta"]["agentcore/data"]["resourceId"]
        seen = await robot.call_tool(TOOL, {"view": VIEW, "resourceId": page})
        assert seen.structured_content["title"] == "Harbour"
        assert "picture" in seen.structured_content
        nothing = await other.call_tool(TOOL, {"view": VIEW})
        assert nothing.structured_content == {"state": "closed"}
        refused = await other.call_tool(TOOL, {"view": VIEW, "resourceId": page})
        assert refused.is_error
        assert refused.structured_content is None
        assert said(refused).startswith("Error resource_not_found")
        # nor has it taken the page over from the view that shows it
        await _navigate(robot, str(site.make_url("/ships")))
        assert (await robot.call_tool(TOOL, {"view": VIEW})).structured_content["state"] == "open"

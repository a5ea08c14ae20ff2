"""Views of MCP Apps: offered to clients that show them, and what a person sees of an edit in one."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp.client.extension import ClientExtension
from mcp.shared.exceptions import MCPError
from playwright.async_api import Browser, Page, expect

from agentcore.api import Module, ToolContext, ToolResult, tool
from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import running_server
from tests.server.mcp_transports.conftest import Mcp, Shop
from tests.server.mcp_transports.test_calls import said

MIME = "text/html;profile=mcp-app"
HOST = "http://client.test/"
RESTRICTIVE = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; media-src 'self' data:; connect-src 'none'"
)
"""What the revision has a host enforce where a view declares nothing."""

CLIENT = """
<!doctype html><meta charset="utf-8"><body style="margin:0;background:#888"><script>
window.told = [];
window.start = (html, policy, hostContext) => {
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.style = "width: 100%; height: 40px; border: 0; display: block";
  addEventListener("message", ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    told.push(data);
    if (data.method === "ui/notifications/size-changed") frame.style.height = `${data.params.height}px`;
    if (data.method !== "ui/initialize") return;
    const result = { protocolVersion: "2026-01-26", hostInfo: { name: "test", version: "1" }, hostCapabilities: {} };
    send({ id: data.id, result: { ...result, hostContext } });
  });
  window.send = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  frame.srcdoc = html.replace(/<meta /, `${meta}<meta `);
  document.body.replaceChildren(frame);
};
</script>
"""
"""A client that shows views as the revision says, in a frame that has no origin."""


class ShowsViews(ClientExtension):
    """Says what a client says that shows views."""

    identifier = "io.modelcontextprotocol/ui"

    def __init__(self, *kinds: str) -> None:
        self._kinds = list(kinds)

    def settings(self) -> dict[str, Any]:
        return {"mimeTypes": self._kinds}


class Scores(Module):
    """Scores."""

    @tool(effects=["session"], view="<!DOCTYPE html><title>Scores</title>")
    async def scores(self) -> str:
        """Give the scores."""
        return "1 : 0"


class Match(Module):
    """A match, and what its view asks for."""

    @tool(effects=["session"], view="<!DOCTYPE html><title>Match</title>")
    async def match_show(self) -> ToolResult[Any]:
        """Show the match."""
        return ToolResult("1 : 0", {"home": 1, "away": 0})

    @tool(effects=["write"], served_as="view", in_views="match_refresh")
    async def match_refresh(self, ctx: ToolContext) -> ToolResult[Any]:
        """Look again, for the view."""
        return ToolResult("2 : 0", {"home": 2, "session": ctx.session_id})

    @tool(effects=["session"], served_as="view", in_views="other")
    async def match_other(self) -> str:
        """Be known to views by another name than to clients."""
        return "never"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_client_that_shows_views_is_told_of_them_and_reads_them(start_mcp, mode):
    mcp = await start_mcp([Scores()])
    async with mcp.client(await mcp.key(), mode=mode, extensions=[ShowsViews(MIME)]) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert listed["shop_look"].meta is None
        (uri,) = listed["scores"].meta["ui"].values()
        assert uri == "ui://agentcore/scores"
        (read,) = (await client.read_resource(uri)).contents
        assert (read.uri, read.mime_type, read.text) == (uri, MIME, "<!DOCTYPE html><title>Scores</title>")
        assert set(read.meta["ui"]) == {"prefersBorder"}  # no source of elsewhere, and no permission
        assert said(await client.call_tool("scores", {})) == "1 : 0"


@pytest.mark.parametrize("extensions", [[], [ShowsViews()], [ShowsViews("text/html")]])
async def test_client_that_shows_no_views_hears_nothing_of_them(start_mcp, extensions):
    mcp = await start_mcp([Scores()])
    async with mcp.client(await mcp.key(), extensions=extensions) as client:
        assert {tool.meta is None for tool in (await client.list_tools()).tools} == {True}


async def test_views_in_a_client_call_the_tools_that_are_for_them_as_that_client(start_mcp):
    """In the session of the client's, and with its approvals."""
    mcp = await start_mcp([Match()])
    async with mcp.client(await mcp.key(), "?wait=60", extensions=[ShowsViews(MIME)]) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert listed["match_refresh"].meta == {"ui": {"visibility": ["app"]}}
        assert "match_other" not in listed
        refreshing = asyncio.create_task(client.call_tool("match_refresh", {}))
        (waiting,) = await mcp.waiting()
        await mcp.decide()
        result = await refreshing
    assert result.structured_content == {"home": 2, "session": waiting.session_id}
    assert (waiting.principal.kind, waiting.principal.id) == ("mcp", "robot")


@pytest.mark.parametrize(
    ("extensions", "arguments"),
    [([], {}), ([ShowsViews("text/html")], {}), ([ShowsViews(MIME)], {"name": "match_refresh"})],
)
async def test_nobody_but_a_view_calls_a_tool_that_is_for_views(start_mcp, extensions, arguments):
    """Neither a client that shows none, nor the model of one by way of `call_tool`."""
    mcp = await start_mcp([Match()])
    async with mcp.client(await mcp.key(), extensions=extensions) as client:
        if not arguments:
            assert "match_refresh" not in {tool.name for tool in (await client.list_tools()).tools}
        result = await client.call_tool("call_tool" if arguments else "match_refresh", arguments)
    assert result.is_error
    assert "Error unknown_tool" in said(result)


async def test_view_is_given_the_data_that_models_are_not(start_mcp):
    mcp = await start_mcp([Match()])
    key = await mcp.key()
    async with mcp.client(key, extensions=[ShowsViews(MIME)]) as client:
        result = await client.call_tool("match_show", {})
        assert (said(result), result.structured_content) == ("1 : 0", None)
        assert result.meta == {"agentcore/data": {"home": 1, "away": 0}}
    async with mcp.client(key) as client:
        assert (await client.call_tool("match_show", {})).meta is None


async def test_tool_that_is_found_by_a_search_says_that_it_has_a_view(start_mcp):
    mcp = await start_mcp([Match()])
    key = await mcp.key()
    for extensions in ([ShowsViews(MIME)], []):
        async with mcp.client(key, extensions=extensions) as client:
            given = json.loads(said(await client.call_tool("find_tools", {"query": "show the match"})))
        (found,) = [each for each in given["found"] if each["name"] == "match_show"]
        expected = {"ui": {"resourceUri": "ui://agentcore/match_show"}} if extensions else None
        assert found.get("_meta") == expected
        assert ("only where it is called by its name" in given["note"]) == bool(extensions)
        assert "match_refresh" not in json.dumps(given)


@pytest.mark.parametrize("uri", ["ui://agentcore/scores", "ui://agentcore/shop_look", "ui://agentcore/", "ui://scores"])
async def test_view_of_a_tool_that_a_client_may_not_have_is_not_there(start_mcp, uri):
    mcp = await start_mcp([Scores()], clients={"robot": {"tools": ["shop_*"]}})
    async with mcp.client(await mcp.key(), extensions=[ShowsViews(MIME)]) as client:
        with pytest.raises(MCPError, match=r"there is no (view|resource) 'ui://"):
            await client.read_resource(uri)


async def _edit(folder: Path, text: str, old: str, new: str) -> tuple[str, dict[str, Any]]:
    """The view of `edit`, and what `edit` gave, as a client that shows views gets both."""
    html, result = await _change(folder, text, "edit", {"edits": [{"old": old, "new": new}]})
    assert new in (folder / "root" / "menu.txt").read_text("utf-8")
    return html, result


async def _change(folder: Path, text: str, name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The view of a tool that changes files, and what it gave, as a client that shows views gets both."""
    root = folder / "root"
    root.mkdir()
    (root / "menu.txt").write_text(text, encoding="utf-8")
    plan = HostPlan(["fs_tools"], {"clients": {"robot": {"mode": "allow"}}}, [root])
    async with running_server(plan, folder) as server:
        mcp = Mcp(server, Shop())
        async with mcp.client(await mcp.key(), extensions=[ShowsViews(MIME)]) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            (read,) = (await client.read_resource(tools[name].meta["ui"]["resourceUri"])).contents
            result = await client.call_tool(name, {"path": "menu.txt", **arguments})
    return read.text, json.loads(result.model_dump_json(by_alias=True, exclude_none=True))


async def _show(browser: Browser, html: str, context: dict[str, Any], **options: Any) -> tuple[Page, list[str]]:
    """A page of a client with the view in it, and what was loaded from anywhere."""
    page = await browser.new_page(**options)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: asked.append(str(error)))
    await page.route("**/*", lambda route: route.fulfill(body=CLIENT, content_type="text/html"))
    await page.goto(HOST)
    await page.evaluate("([html, policy, context]) => start(html, policy, context)", [html, RESTRICTIVE, context])
    await page.wait_for_function("told.some(({ method }) => method === 'ui/notifications/initialized')")
    return page, asked


@pytest.mark.more
@pytest.mark.processes
@pytest.mark.asyncio(loop_scope="session")
async def test_person_sees_an_edit_line_by_line_and_nothing_in_it_runs_or_hides(browser: Browser, tmp_path: Path):
    evil = "<img src=http://evil.test/ onerror=parent.postMessage(1)> \u202eabc"
    html, result = await _edit(tmp_path, "rice 1\n-- fish\nsoup\n", "-- fish\n", f"++ {evil}\n")
    page, asked = await _show(browser, html, {"theme": "dark"})
    view = page.frame_locator("iframe")
    await expect(view.locator("#heading")).to_have_text("Waiting for the result…")
    await page.evaluate("result => send({ method: 'ui/notifications/tool-result', params: result })", result)
    await expect(view.locator("del")).to_have_text(["--- fish"])
    await expect(view.locator("ins")).to_have_text([f"+++ {evil}".replace("\u202e", "⟨U+202E⟩")])
    assert await view.locator("#rows > *").evaluate_all("rows => rows.map(({ dataset }) => dataset.line)") == [
        *("", "1", "2", "2", "3")
    ]
    await expect(view.locator("#heading")).to_have_text("Changed menu.txt in 1 place:")
    assert await view.locator("html").evaluate("root => getComputedStyle(root).backgroundColor") == "rgb(28, 28, 30)"
    await page.wait_for_function("parseInt(document.querySelector('iframe').style.height) > 100")
    told = await page.evaluate("told.map(({ method }) => method)")
    assert told[:2] == ["ui/initialize", "ui/notifications/initialized"]
    assert set(told[2:]) == {"ui/notifications/size-changed"}
    assert asked == [HOST]
    await page.close()


@pytest.mark.more
@pytest.mark.processes
@pytest.mark.asyncio(loop_scope="session")
async def test_view_of_an_edit_says_how_a_call_without_a_difference_ended(browser: Browser, tmp_path: Path):
    html, _ = await _edit(tmp_path, "rice\n", "rice", "soup")
    page, _ = await _show(browser, html, {"locale": "zh-CN", "styles": {"variables": {"--font-sans": "serif"}}})
    heading = page.frame_locator("iframe").locator("#heading")
    await expect(heading).to_have_text("正在等待结果…")
    assert "serif" in await heading.evaluate("element => getComputedStyle(element).fontFamily")
    await page.evaluate("send({ method: 'ui/notifications/tool-cancelled', params: { reason: '' } })")
    await expect(heading).to_have_text("调用已取消。")
    failed = {"isError": True, "content": [{"type": "text", "text": "Error edit_not_found: @@ is not there"}]}
    await page.evaluate("params => send({ method: 'ui/notifications/tool-result', params })", failed)
    await expect(heading).to_have_text("Error edit_not_found: @@ is not there")
    await expect(heading).to_have_class("failed")
    await expect(page.frame_locator("iframe").locator("#lines")).to_be_hidden()
    for method, answer in (("ping", "result"), ("ui/resource-teardown", "result"), ("tools/list", "error")):
        await page.evaluate("method => send({ id: method, method })", method)
        await page.wait_for_function(
            "([id, key]) => told.some((one) => one.id === id && one[key])", arg=[method, answer]
        )
    await page.close()


@pytest.mark.more
@pytest.mark.processes
@pytest.mark.asyncio(loop_scope="session")
async def test_person_sees_what_a_file_was_that_is_written_anew(browser: Browser, tmp_path: Path):
    """The difference where the client passes on the data of the result; else what was written."""
    content = "rice\nsoup <b>\n"
    html, result = await _change(tmp_path, "rice\nfish\n", "write_file", {"content": content, "overwrite": True})
    assert result["content"][0]["text"] == "Overwrote menu.txt (2 lines, 14 B, utf-8); it had 2 lines."
    page, _ = await _show(browser, html, {})
    view = page.frame_locator("iframe")
    await page.evaluate("input => send({ method: 'ui/notifications/tool-input', params: { arguments: input } })", {})
    await page.evaluate("result => send({ method: 'ui/notifications/tool-result', params: result })", result)
    await expect(view.locator("del")).to_have_text(["-fish"])
    await expect(view.locator("ins")).to_have_text(["+soup <b>"])
    await expect(view.locator("#heading")).to_have_text("Overwrote menu.txt (2 lines, 14 B, utf-8); it had 2 lines.")
    params = {"arguments": {"path": "menu.txt", "content": content}}
    await page.evaluate("params => send({ method: 'ui/notifications/tool-input', params })", params)
    del result["_meta"]
    await page.evaluate("result => send({ method: 'ui/notifications/tool-result', params: result })", result)
    await expect(view.locator("#rows > *")).to_have_text([" rice", " soup <b>"])
    await expect(view.locator("ins, del")).to_have_count(0)
    await page.close()

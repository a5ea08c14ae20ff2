"""Browsers of a Playwright server elsewhere: a real one, which drives the browser that is installed here."""

import asyncio

import pytest
import pytest_asyncio

from agentcore.api import ToolError

STARTS_HOSTS = True
pytestmark = pytest.mark.spec("B10")
LIMIT_S = 120


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(elsewhere):
    async with elsewhere.run_server("--unsafe", "--path=/s3cret-path") as running:
        yield running


@pytest.fixture(scope="module")
def there(browser_program):
    """Settings that let the server start the browser that is installed here."""
    return {"executable": browser_program, "sandbox": False}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def file_host(start_host, server, there):
    return await start_host(playwright_endpoint=f"{server.endpoint}?token=t0ken-value", **there)


async def act(host, tool, /, session="chat", **arguments):
    return (await host.outcome(tool, arguments, session_id=session)).unwrap()


async def error_of(host, tool, /, **arguments):
    with pytest.raises(ToolError) as caught:
        await act(host, tool, **arguments)
    return caught.value


def only_text(result):
    return "\n".join(block.text for block in result.blocks() if hasattr(block, "text"))


async def test_agent_reads_and_acts_in_a_browser_of_the_server(host, site, session):
    shown = await act(host, "browser_navigate", session, url=site.url("/changing"))
    assert (shown.data["title"], shown.data["status"]) == ("Changing", 200)
    ref = only_text(await act(host, "browser_snapshot", session, find="Play")).split("[ref=")[1].split("]")[0]
    changed = await act(host, "browser_click", session, selector=ref, snapshot=True)
    assert "Pause" in only_text(changed)
    assert (await act(host, "browser_evaluate", session, script="1 + 1")).data["value"] == 2
    picture = await act(host, "browser_screenshot", session, inline=True)
    assert picture.data["dataBase64"].startswith("iVBOR")
    resource = host.host.resources.get(shown.data["resourceId"])
    assert resource.adapter_type == "remote"
    browsers = (await host.call("chrome_list")).data["browsers"]
    assert [(one["isRemote"], one["state"], one["pid"], one["memoryBytes"]) for one in browsers] == [
        (True, "open", None, None)
    ]


@pytest.mark.more
async def test_sessions_share_the_browser_and_nothing_else(host, site, session):
    await act(host, "browser_navigate", f"{session}-a", url=site.url("/second"))
    await act(host, "browser_evaluate", f"{session}-a", script="document.cookie = 'who=ada'")
    await act(host, "browser_navigate", f"{session}-b", url=site.url("/second"))
    assert (await act(host, "browser_evaluate", f"{session}-b", script="document.cookie")).data["value"] == ""


@pytest.mark.more
async def test_file_of_the_workspace_goes_there_and_what_is_downloaded_there_comes_here(host, site, session):
    (host.workspace / "letter.txt").write_text("Dear Ada")
    await act(host, "browser_navigate", session, url=site.url("/drop"))
    await act(host, "browser_file_upload", session, selector="input", paths=["letter.txt"])
    assert (await act(host, "browser_evaluate", session, script="out.textContent")).data["value"] == "given letter.txt"
    loaded = await act(host, "browser_navigate", session, url=site.url("/download"))
    (kept,) = loaded.data["downloads"]
    assert (kept["name"], kept["sizeBytes"]) == ("data.csv", 500)


@pytest.mark.more
@pytest.mark.in_server("makes a bound of the module's code another one")
async def test_download_beyond_the_bound_is_given_up(host, site, site_module, session, monkeypatch):
    monkeypatch.setattr("agentcore_chrome.tools.tab_result._DOWNLOAD_BYTES", site_module.HUGE_BYTES - 1)
    await act(host, "browser_navigate", session, url=site.url("/"))
    result = await act(host, "browser_navigate", session, url=site.url("/download-huge"))
    async with asyncio.timeout(LIMIT_S):
        while "failedDownloads" not in result.data:
            result = await act(host, "browser_get_state", session)
    assert result.data["failedDownloads"][0]["type"] == "result_too_large"


@pytest.mark.more
async def test_browsers_by_id_are_one_each_and_close(host, site):
    first = (await act(host, "chrome_launch")).data["browserId"]
    tab = (await act(host, "chrome_new_tab", browserId=first, url=site.url("/form"))).data["tabId"]
    await act(host, "chrome_fill", tabId=tab, selector="[name=name]", text="Ada")
    script = "document.querySelector('[name=name]').value"
    assert (await act(host, "chrome_evaluate", tabId=tab, script=script)).data["value"] == "Ada"
    assert (await act(host, "chrome_close", browserId=first)).data["closedTabs"] == 1
    assert first not in [one["browserId"] for one in (await act(host, "chrome_list")).data["browsers"]]


@pytest.mark.spec("S6")
async def test_server_that_drives_the_browser_is_out_of_its_pages_reach_in_every_spelling(host, server, site, session):
    for name in ("127.0.0.1", "localhost", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "ip6-localhost"):
        error = await error_of(host, "browser_navigate", session=session, url=f"http://{name}:{server.port}/json")
        assert (error.type, error.context["reason"]) == ("url_blocked", "own_address"), name
    await act(host, "browser_navigate", session, url=site.url("/second"))
    fetched = "fetch('{}', {{mode: 'no-cors'}}).then(() => 'reached', () => 'refused')"
    connected = """new Promise(done => {{ const socket = new WebSocket('{}');
        socket.onopen = () => done('reached'); socket.onclose = () => done('refused') }})"""
    for scheme, script in (("http", fetched), ("ws", connected)):
        asked = script.format(f"{scheme}://127.0.0.1:{server.port}/s3cret-path")
        assert (await act(host, "browser_evaluate", session, script=asked)).data["value"] == "refused"

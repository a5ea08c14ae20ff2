"""Connecting to Playwright servers, what is refused, and what becomes of pages when the connection ends.

Each test has a host of its own: of two in one process, the one that ends first would clear up the driver of the other.
"""

import asyncio
import json
import shutil
from contextlib import suppress

import psutil
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


async def act(host, tool, /, session="chat", **arguments):
    return (await host.outcome(tool, arguments, session_id=session)).unwrap()


async def error_of(host, tool, /, **arguments):
    with pytest.raises(ToolError) as caught:
        await act(host, tool, **arguments)
    return caught.value


def only_text(result):
    return "\n".join(block.text for block in result.blocks() if hasattr(block, "text"))


async def until(condition):
    async with asyncio.timeout(LIMIT_S):
        while not (found := condition()):
            await asyncio.sleep(0.05)
    return found


@pytest.mark.spec("S6")
async def test_policy_holds_for_arguments_links_redirects_scripts_sockets_and_popups(
    elsewhere, hosting, server, there, site, other_site, tmp_path
):
    """The browser's connections are its own, and there the refused name leads somewhere: nothing is asked of it."""
    leads = f"--host-resolver-rules=MAP blocked.test:80 {other_site.address.removeprefix('http://')}"
    async with hosting(tmp_path / "host", playwright_endpoint=server.endpoint, args=[leads], **there) as host:
        assert (await error_of(host, "browser_navigate", url="http://blocked.test/")).type == "url_blocked"
        assert (await error_of(host, "browser_navigate", url=site.url("/redirect-blocked"))).type == "url_blocked"
        for selector in ("#link", "#redirect"):
            await act(host, "browser_navigate", url=site.url("/to-blocked"))
            with suppress(ToolError):
                await act(host, "browser_click", selector=selector, snapshot=True)
        await act(host, "browser_navigate", url=site.url("/second"))
        for url in ("http://blocked.test/", "/redirect-blocked"):
            asked = f"fetch('{url}', {{mode: 'no-cors'}}).then(() => 'reached', () => 'refused')"
            assert (await act(host, "browser_evaluate", script=asked)).data["value"] == "refused"
        worker = """new Promise(done => { const script = "fetch('http://blocked.test/', {mode: 'no-cors'})"
            + ".then(() => postMessage('reached'), () => postMessage('refused'))";
            new Worker(URL.createObjectURL(new Blob([script]))).onmessage = event => done(event.data) })"""
        assert (await act(host, "browser_evaluate", script=worker)).data["value"] == "refused"
        socket = """new Promise(done => { const socket = new WebSocket('ws://blocked.test/');
            socket.onclose = event => done(event.code); socket.onopen = () => done('open') })"""
        assert (await act(host, "browser_evaluate", script=socket)).data["value"] == 1008
        for url in ("http://blocked.test/", site.url("/redirect-blocked")):
            await act(host, "browser_evaluate", script=f"window.open('{url}') && 0")
        await act(host, "browser_navigate", url=site.url("/"))
    assert other_site.asked == []


@pytest.mark.more
async def test_pages_end_with_the_connection_and_the_next_call_makes_a_new_one(
    elsewhere, hosting, there, tmp_path, site
):
    """A call on its way ends, its resource says why, and the page comes back at its address, without what was typed."""
    async with (
        elsewhere.run_server("--unsafe") as server,
        elsewhere.link_to(server.port) as link,
        hosting(tmp_path / "host", playwright_endpoint=f"ws://127.0.0.1:{link.port}/", **there) as host,
    ):
        await act(host, "browser_navigate", url=site.url("/form"))
        await act(host, "browser_type", selector="[name=name]", text="Ada")
        tab = (await act(host, "chrome_launch")).data["browserId"]
        tab = (await act(host, "chrome_new_tab", browserId=tab, url=site.url("/second"))).data["tabId"]
        site.asked.clear()
        endless = "fetch('/began').then(() => new Promise(() => {}))"
        waiting = asyncio.create_task(error_of(host, "browser_evaluate", script=endless))
        await until(lambda: "/began" in site.asked)
        await link.cut()
        error = await waiting
        assert (error.type, error.retryable) == ("browser_lost", True)
        assert "ended with it" in error.message
        resource = host.host.resources.get("browser_chat_0")
        assert resource.status == "failed"
        gone = await error_of(host, "chrome_get_text", tabId=tab)
        # whether it is known as gone already, or says so itself
        assert gone.type in ("tab_not_found", "browser_lost")
        refused = await error_of(host, "browser_snapshot")
        assert refused.type == "browser_launch_failed"
        assert "run-server" in refused.message
        await link.mend()
        seen = await act(host, "browser_snapshot")
        assert seen.data["restored"] == site.url("/form")
        assert "connection to its browser had been lost" in only_text(seen)
        typed = await act(host, "browser_evaluate", script="document.querySelector('[name=name]').value")
        assert typed.data["value"] == "old"
        await server.kill()
        await until(lambda: resource.status == "failed")
    # the resource of a page that came back is the one that it was
    assert seen.data["resourceId"] == "browser_chat_0"


@pytest.mark.more
async def test_action_after_a_lost_connection_is_not_done_and_says_so_once(elsewhere, hosting, there, tmp_path, site):
    async with (
        elsewhere.run_server("--unsafe") as server,
        elsewhere.link_to(server.port) as link,
        hosting(tmp_path / "host", playwright_endpoint=f"ws://127.0.0.1:{link.port}/", **there) as host,
    ):
        await act(host, "browser_navigate", url=site.url("/changing"))
        resource = host.host.resources.get("browser_chat_0")
        await link.cut()
        await until(lambda: resource.status == "failed")
        await link.mend()
        error = await error_of(host, "browser_click", selector="#b")
        assert error.type == "browser_crashed"
        assert "nothing was done" in error.message
        await act(host, "browser_click", selector="#b")


@pytest.mark.more
async def test_one_browser_for_all_is_used_as_it_runs(elsewhere, hosting, browser_program, tmp_path, site):
    """`launchServer`: its path is what lets one in, and is shown nowhere."""
    async with elsewhere.launch_server(browser_program) as server:
        path = server.endpoint.rpartition("/")[2]
        async with hosting(tmp_path / "host", playwright_endpoint=server.endpoint) as host:
            assert (await act(host, "browser_navigate", url=site.url("/second"))).data["title"] == "Second"
            note = " ".join(host.host.modules.get_record("browser").notes["web browser"])
            assert path not in note
            assert "in use, version" in note
        await server.kill()
        async with hosting(tmp_path / "again", playwright_endpoint=server.endpoint) as host:
            error = await error_of(host, "browser_navigate", url=site.url("/second"))
            assert error.type == "browser_launch_failed"
            assert path not in json.dumps(error.to_json())


@pytest.mark.more
async def test_settings_of_pages_and_log_ins_by_http_hold_there_too(server, hosting, there, tmp_path, site):
    login = {site.address.removeprefix("http://"): "ada:s3cret:word"}
    settings = {"stealth": True, "locale": "de-DE", "viewport": {"width": 700, "height": 500}, "basic_auth": login}
    async with hosting(tmp_path / "host", playwright_endpoint=server.endpoint, **settings, **there) as host:
        assert (await act(host, "browser_navigate", url=site.url("/guarded"))).data["title"] == "Inside"
        looks = "[navigator.webdriver, navigator.language, innerWidth, navigator.userAgent.includes('Headless')]"
        assert (await act(host, "browser_evaluate", script=looks)).data["value"] == [False, "de-DE", 700, False]


@pytest.mark.more
async def test_browser_that_dies_there_is_a_lost_connection(elsewhere, hosting, there, tmp_path, site):
    async with (
        elsewhere.run_server("--unsafe") as server,
        hosting(tmp_path / "host", playwright_endpoint=server.endpoint, **there) as host,
    ):
        await act(host, "browser_navigate", url=site.url("/second"))
        children = psutil.Process(server.process.pid).children(recursive=True)
        for child in [one for one in children if "chrom" in one.name()]:
            with suppress(psutil.NoSuchProcess):
                child.kill()
        await until(lambda: host.host.resources.get("browser_chat_0").status == "failed")
        seen = await act(host, "browser_snapshot")
        assert seen.data["restored"] == site.url("/second")


@pytest.mark.more
async def test_log_ins_are_kept_where_there_is_a_profile(elsewhere, server, hosting, there, tmp_path, site):
    settings = {"playwright_endpoint": server.endpoint, "profile": str(tmp_path / "profile"), **there}
    async with hosting(tmp_path / "host", **settings) as host:
        await act(host, "browser_navigate", url=site.url("/second"))
        await act(
            host, "browser_evaluate", script="document.cookie = 'login=ada; max-age=9999'; localStorage.x = 'kept'"
        )
    state = tmp_path / "profile" / "storage-state.json"
    assert state.stat().st_mode & 0o777 == 0o600
    async with hosting(tmp_path / "host", **settings) as host:
        await act(host, "browser_navigate", session="another", url=site.url("/second"))
        kept = await act(host, "browser_evaluate", session="another", script="document.cookie + ' ' + localStorage.x")
        assert kept.data["value"] == "login=ada kept"
    state.write_text("{")
    async with hosting(tmp_path / "host", **settings) as host:
        await act(host, "browser_navigate", url=site.url("/second"))
        assert (await act(host, "browser_evaluate", script="document.cookie")).data["value"] == ""
    assert state.with_suffix(".broken").read_text() == "{"


@pytest.mark.more
async def test_server_without_a_browser_says_so(elsewhere, hosting, tmp_path, site):
    async with (
        elsewhere.run_server() as server,
        hosting(tmp_path / "host", playwright_endpoint=f"{server.endpoint}?token=t0ken-value") as host,
    ):
        error = await error_of(host, "browser_navigate", url=site.url("/"))
        assert error.type == "browser_launch_failed"
        assert "Executable doesn't exist" in error.message
        assert "t0ken-value" not in json.dumps(error.to_json())


@pytest.mark.more
@pytest.mark.skipif(shutil.which("node") is None, reason="no node on PATH")
async def test_other_version_of_the_server_is_named_beside_ours(elsewhere, hosting, tmp_path, site):
    if not elsewhere.OTHER_VERSION.exists():
        pytest.skip("no packages of npm here")
    async with (
        elsewhere.other_version() as server,
        hosting(tmp_path / "host", playwright_endpoint=server.endpoint) as host,
    ):
        error = await error_of(host, "browser_navigate", url=site.url("/"))
        note = " ".join(host.host.modules.get_record("browser").notes["web browser"])
    assert error.type == "browser_version_mismatch"
    theirs, ours = error.context["serverVersion"], error.context["clientVersion"]
    assert theirs != ours
    assert theirs in error.message
    assert f"playwright@{ours}" in error.message
    assert theirs in note
    assert "npx playwright@" in note


async def test_wrong_path_is_refused_with_what_to_look_at(server, hosting, tmp_path, site):
    endpoint = f"ws://ada:s3cret@127.0.0.1:{server.port}/wrong-path"
    async with hosting(tmp_path / "host", playwright_endpoint=endpoint) as refused:
        error = await error_of(refused, "browser_navigate", url=site.url("/"))
    assert error.type == "browser_launch_failed"
    assert "400" in error.message
    told = json.dumps(error.to_json())
    assert not any(secret in told for secret in ("s3cret", "wrong-path", "ada"))

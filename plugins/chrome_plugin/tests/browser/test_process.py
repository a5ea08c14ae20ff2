"""Browsers that die, and servers that are killed: what is noticed, and what is left."""

import asyncio
import contextlib
import glob
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from agentcore.api import Principal, ToolError

STARTS_HOSTS = True
pytestmark = pytest.mark.spec("B3")


@pytest.fixture(scope="module", autouse=True)
def own_temporary_folder():
    """A folder of these tests' own, for others make browsers at the same time; its name is short, as sockets need."""
    folder, before = tempfile.mkdtemp(prefix="ac-"), tempfile.gettempdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield
    assert tempfile.gettempdir() == before
    shutil.rmtree(folder, ignore_errors=True)


def is_alive(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def folders() -> set[str]:
    return set(glob.glob(f"{tempfile.gettempdir()}/agentcore-browser-*"))


async def until(condition, limit_s=30):
    async with asyncio.timeout(limit_s):
        while not condition():
            await asyncio.sleep(0.05)


def is_renderer(process):
    try:
        return "--type=renderer" in process.cmdline()
    except psutil.Error:  # it ended meanwhile
        return False


async def test_killed_browser_ends_its_calls_and_is_dropped(host, call, failure, site):
    before = folders()
    launched = (await call("chrome_launch")).data
    tab = (await call("chrome_new_tab", browserId=launched["browserId"])).data["tabId"]
    made = folders() - before
    assert len(made) == 1
    await call("chrome_navigate", tabId=tab, url=site.url("/"))
    endless = "fetch('/began').then(() => new Promise(() => {}))"
    waiting = asyncio.create_task(failure("chrome_evaluate", tabId=tab, script=endless))
    await until(lambda: "/began" in site.asked)
    os.kill(launched["pid"], signal.SIGKILL)
    assert (await waiting).type == "browser_crashed"
    await host.events.wait_for("chrome.browserCrashed", browserId=launched["browserId"])
    gone = await failure("chrome_get_url", tabId=tab)
    assert gone.type == "tab_not_found"
    assert f"its browser {launched['browserId']!r} crashed" in gone.message
    assert f"open {site.url('/')!r} in it with chrome_new_tab" in gone.message
    gone = await failure("chrome_close", browserId=launched["browserId"])
    assert (gone.type, "crashed; chrome_list" in gone.message) == ("instance_not_found", True)
    await until(lambda: not made & folders())
    assert (await call("chrome_launch")).data["browserId"] != launched["browserId"]


@pytest.mark.more
@pytest.mark.in_server("looks at objects of the module")
async def test_crashed_tab_says_so_and_how_to_open_it_again(host, call, failure, site):
    browser_id = (await call("chrome_launch")).data["browserId"]
    opened = (await call("chrome_new_tab", browserId=browser_id, url=site.url("/form"))).data
    tab = host.host.modules.records["chrome"].plugin.engine.tabs[opened["tabId"]]
    with contextlib.suppress(Exception):  # what crashes gives no answer
        await tab.page.goto("chrome://crash", timeout=5000)
    await asyncio.wait_for(tab.gone, 30)
    for tool, arguments in [("chrome_get_text", {}), ("chrome_click", {"selector": "button"})]:
        gone = await failure(tool, tabId=opened["tabId"], **arguments)
        assert (gone.type, gone.context) == ("tab_not_found", {"tabId": opened["tabId"]})
        again = f"open {site.url('/form')!r} again with chrome_new_tab, browserId {browser_id!r}"
        assert f"its page crashed; {again}" in gone.message
    outcome = await host.outcome("chrome_get_text", {"tabId": opened["tabId"]}, principal=Principal("mcp"))
    assert "crashed" not in outcome.error.message  # for it is another session's
    closed = (await call("chrome_new_tab", browserId=browser_id)).data["tabId"]
    await call("chrome_close_tab", tabId=closed)
    assert "was closed; chrome_list" in (await failure("chrome_get_url", tabId=closed)).message


@pytest.mark.more
async def test_crashed_page_is_opened_anew_under_the_same_id(host, site):
    async def act(tool, /, **arguments):
        return (await host.outcome(tool, arguments, session_id="crash")).unwrap()

    first = await act("browser_navigate", url=site.url("/"))
    shared = next(one for one in (await host.call("chrome_list")).data["browsers"] if one["isShared"])
    renderers = [one for one in psutil.Process(shared["pid"]).children(recursive=True) if is_renderer(one)]
    for renderer in renderers:
        renderer.kill()
    with pytest.raises(ToolError) as caught:
        await act("browser_evaluate", script="new Promise(() => {})", timeoutMs=20_000)
    assert caught.value.type == "browser_crashed"
    again = await act("browser_navigate", url=site.url("/second"))
    assert again.data["resourceId"] == first.data["resourceId"]
    assert again.data["title"] == "Second"


@pytest.mark.more
@pytest.mark.parametrize("way", ["page", "browser"])
@pytest.mark.in_server("looks at objects of the module")
async def test_crashed_page_comes_back_at_its_last_address(hosting, tmp_path, site, way):
    """A look finds it there again; an action says so once, and is not done to a page that forgot what was typed."""
    async with hosting(tmp_path, ("browser",)) as host:

        async def crash():
            process = next(iter(host.host.modules.records["browser"].plugin.engine.processes.values()))
            tab = next(iter(process.tabs.values()))
            if way == "browser":
                os.kill(process.pid, signal.SIGKILL)
            else:
                with contextlib.suppress(Exception):  # what crashes gives no answer
                    await tab.page.goto("chrome://crash", timeout=5000)
            await asyncio.wait_for(tab.gone, 60)

        first = await host.call("browser_navigate", url=site.url("/form"))
        await crash()
        with pytest.raises(ToolError, match="open again at") as caught:
            await host.call("browser_click", selector="text=Send")
        assert (caught.value.type, caught.value.context["url"]) == ("browser_crashed", site.url("/form"))
        assert (await host.call("browser_click", selector="text=Send")).data["url"] == site.url("/form")
        await crash()
        seen = await host.call("browser_snapshot")
        assert (seen.data["restored"], seen.data["resourceId"]) == (site.url("/form"), first.data["resourceId"])
        assert "textbox" in str(seen.blocks()[0].text)
        await crash()
        assert (await host.call("browser_navigate", url=site.url("/second"))).data["title"] == "Second"


@pytest.mark.more
async def test_nothing_is_waited_for_in_a_page_that_has_gone_nowhere(host):
    for tool, arguments in [("browser_click", {"selector": "a"}), ("browser_wait_for", {"text": "Welcome"})]:
        outcome = await host.outcome(tool, arguments, session_id="blank")
        assert outcome.error is not None
        assert (outcome.error.type, "about:blank" in outcome.error.message) == ("element_not_found", True)


async def test_closing_a_browser_leaves_no_process_and_no_folder(call):
    before = folders()
    launched = (await call("chrome_launch")).data
    processes = [psutil.Process(launched["pid"]), *psutil.Process(launched["pid"]).children(recursive=True)]
    made = folders() - before
    await call("chrome_close", browserId=launched["browserId"])
    await until(lambda: not any(is_alive(process) for process in processes))
    await until(lambda: not made & folders())


@pytest.mark.in_server("looks at objects of the module")
async def test_work_for_a_browser_that_closes_before_it_began_is_dropped(host, call):
    browser_id = (await call("chrome_launch")).data["browserId"]
    process = host.host.modules.records["chrome"].plugin.engine.processes[browser_id]
    begun = asyncio.Event()

    async def begin():
        begun.set()

    work = begin()
    process.run_in_background(work)
    process._background.cancel()
    await call("chrome_close", browserId=browser_id)
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED
    assert not begun.is_set()


async def test_missing_browser_says_where_it_looked(start_host):
    host = await start_host(executable="/nowhere/chromium")
    outcome = await host.outcome("chrome_launch")
    assert outcome.error is not None
    assert outcome.error.type == "browser_not_found"
    assert outcome.error.context["looked"] == ["/nowhere/chromium"]


@pytest.mark.more
async def test_program_that_is_no_browser_fails_to_launch(start_host, tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho 'no room left on the shelf' >&2\nexit 1\n")
    program.chmod(0o755)
    host = await start_host(executable=str(program))
    outcome = await host.outcome("chrome_launch")
    assert outcome.error is not None
    assert outcome.error.type == "browser_launch_failed"
    assert "no room left on the shelf" in outcome.error.message
    assert "--remote-debugging-pipe" not in outcome.error.message


@pytest.mark.more
async def test_bounds_of_browsers_and_tabs_are_kept(start_host):
    host = await start_host(max_browsers=1, max_tabs=1)
    browser = (await host.call("chrome_launch")).data["browserId"]
    assert (await host.outcome("chrome_launch")).error.type == "too_many_browsers"
    await host.call("chrome_new_tab", browserId=browser)
    assert (await host.outcome("chrome_new_tab", {"browserId": browser})).error.type == "too_many_tabs"


SERVER = """
import asyncio, json, sys
from pathlib import Path
from agentcore.testing.hosting import HostPlan, running_host
async def main():
    plan = HostPlan(("browser", "chrome"), {})
    async with running_host(plan, Path(sys.argv[1])) as host:
        launched = await host.call("chrome_launch")
        await host.call("chrome_new_tab", browserId=launched.data["browserId"])
        print(json.dumps(launched.data), file=sys.stderr, flush=True)
        if sys.argv[2] == "wait":
            await asyncio.Event().wait()
asyncio.run(main())
"""


@pytest.mark.more
@pytest.mark.usefixtures("browser_program")
async def test_kill_of_the_server_ends_its_browsers_and_the_next_start_removes_the_rest(tmp_path: Path):
    """The server is killed with SIGKILL; its browser ends by itself, and what it left goes with the next start."""
    before = folders()
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    (tmp_path / "app").mkdir()
    command = [sys.executable, str(script), str(tmp_path / "app")]
    with subprocess.Popen([*command, "wait"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as server:
        line = await asyncio.to_thread(first_json_line, server.stderr)
        processes = psutil.Process(server.pid).children(recursive=True)
        assert line["pid"] in [process.pid for process in processes]
        server.kill()
    await until(lambda: not any(is_alive(process) for process in processes))
    left = folders() - before
    await asyncio.to_thread(subprocess.run, [*command, "end"], check=True, capture_output=True)
    await until(lambda: not left & folders())
    assert folders() - before == set()


def first_json_line(stream):
    for line in stream:
        if line.startswith("{"):
            return json.loads(line)
    raise AssertionError("the server said nothing")


@pytest.mark.in_server("hides the browser from the server's process")
@pytest.mark.parametrize("tool", ["chrome_launch", "browser_navigate"])
async def test_missing_browser_is_offered_to_the_user(start_host, tmp_path, monkeypatch, tool):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    host = await start_host()
    outcome = await host.outcome(tool, {"url": "https://example.com"} if tool == "browser_navigate" else {})
    assert outcome.error is not None
    assert (outcome.error.type, outcome.error.context["installation"]) == ("browser_not_found", "pending")
    assert "The user is now asked, in the approval view, to install it (Web browser, about 180 MB)" in (
        outcome.error.message
    )
    (change,) = host.host.policy_changes.waiting
    assert (change.proposal.kind, change.proposal.subject) == ("install", "Web browser")
    assert "agentcore browser install" in change.proposal.diff[0][1]

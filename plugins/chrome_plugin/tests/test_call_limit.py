"""`timeoutMs` bounds the whole call, with its cleaning up, whatever the page or the browser does."""

import asyncio
import signal
import time
from contextlib import contextmanager, suppress

import psutil
import pytest

from agentcore.api import ToolError

STARTS_HOSTS = True
pytestmark = pytest.mark.spec("B1")

LIMIT_MS = 300
SURELY_LATE_S = 20.0  # what has no limit takes 30 s at least; a busy machine takes some
"""Far above the limit with its grace of a second, for a busy machine; far below what any step takes by itself."""

SESSION = "limits"
ELEMENT = {"selector": "h1"}
OF_BROWSER = {
    "browser_navigate": {"url": "/second"},
    "browser_click": {**ELEMENT, "snapshot": True},
    "browser_type": {"selector": "input", "text": "x", "submit": True},
    "browser_scroll": {"text": "nothing like this"},
    "browser_hover": ELEMENT,
    "browser_screenshot": {},
    "browser_get_dom": {},
    "browser_evaluate": {"script": "1"},
    "browser_wait_for": {"condition": "false"},
    "browser_go_back": {},
    "browser_go_forward": {},
    "browser_reload": {},
    "browser_snapshot": {},
    "browser_select_option": {"selector": "select", "values": ["x"]},
    "browser_fill_form": {"fields": [{"selector": f"#f{n}", "value": "x"} for n in range(20)]},
    "browser_file_upload": {"selector": "input", "paths": []},
    "browser_drag": {"source": "h1", "destination": "p"},
}
OF_CHROME = {
    "chrome_navigate": {"url": "/second"},
    "chrome_screenshot": {},
    "chrome_get_content": {},
    "chrome_get_text": {},
    "chrome_click": ELEMENT,
    "chrome_type": {"selector": "input", "text": "x"},
    "chrome_fill": {"selector": "input", "text": "x"},
    "chrome_evaluate": {"script": "1"},
    "chrome_wait_for": {"selector": "#nothing"},
}
HANGING = (
    "browser_evaluate", "browser_snapshot", "browser_navigate", "browser_click", "browser_screenshot", "browser_reload"
)  # fmt: skip
LOOP = "setTimeout(() => { while (true); }), 0"
REQUEST = "setTimeout(() => { const r = new XMLHttpRequest(); r.open('GET', '/never', false); r.send(); }), 0"


@pytest.fixture
def bounded(host, site):
    """Call a tool with a short limit; its outcome, which has to come in time."""

    async def run(tool, arguments):
        given = dict(arguments)
        if "url" in given:
            given["url"] = site.url(given["url"])
        began = time.monotonic()
        outcome = await host.outcome(tool, {**given, "timeoutMs": LIMIT_MS}, session_id=SESSION)
        took = time.monotonic() - began
        assert took < SURELY_LATE_S, f"{tool} took {took:.1f} s"
        return outcome

    return run


@contextmanager
def stopped(pid):
    """All processes of a browser are stopped."""
    main = psutil.Process(pid)
    processes = [main, *main.children(recursive=True)]
    for process in processes:
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)


async def open_page(host, site, path="/"):
    result = (await host.outcome("browser_navigate", {"url": site.url(path)}, session_id=SESSION)).unwrap()
    (browser,) = [one for one in (await host.call("chrome_list")).data["browsers"] if one["isShared"]]
    return result.data["resourceId"], browser["pid"]


async def works_again(host, site):
    """A page that hung can be closed, and another one opens in its place."""
    (await host.outcome("browser_tabs", {"action": "close"}, session_id=SESSION)).unwrap()
    told = await host.outcome("browser_navigate", {"url": site.url("/")}, session_id=SESSION)
    assert told.unwrap().data["title"] == "Home"


async def test_tools_that_take_a_limit_are_all_here(host):
    limited = {
        tool.definition.name
        for tool in host.host.registry.tools.values()
        if {"timeoutMs", "timeout"} & set(tool.definition.input_schema["properties"])
    }
    assert limited == {*OF_BROWSER, *OF_CHROME, "chrome_new_tab"}


@pytest.mark.more
async def test_page_tools_end_in_time_while_the_browser_is_stopped(host, site, bounded):
    _, pid = await open_page(host, site)
    with stopped(pid):
        for tool, arguments in OF_BROWSER.items():
            assert (await bounded(tool, arguments)).error is not None, tool
    await works_again(host, site)


@pytest.mark.more
async def test_tab_tools_end_in_time_while_the_browser_is_stopped_and_it_can_be_closed(host, site, bounded):
    launched = (await host.outcome("chrome_launch", {}, session_id=SESSION)).unwrap().data
    browser = {"browserId": launched["browserId"]}
    tab = (await host.outcome("chrome_new_tab", browser, session_id=SESSION)).unwrap().data["tabId"]
    with stopped(launched["pid"]):
        for tool, arguments in OF_CHROME.items():
            assert (await bounded(tool, {**arguments, "tabId": tab})).error is not None, tool
        assert (await bounded("chrome_new_tab", {**browser, "url": "/"})).error.type == "timeout"
        (await host.outcome("chrome_close", browser, session_id=SESSION)).unwrap()
        async with asyncio.timeout(60):
            while psutil.pid_exists(launched["pid"]) and psutil.Process(launched["pid"]).status() != "zombie":
                await asyncio.sleep(0.05)


@pytest.mark.more
@pytest.mark.parametrize(
    ("tool", "script"),
    # the second one waits, and has nothing that could be interrupted
    [*((tool, LOOP) for tool in HANGING), *((tool, REQUEST) for tool in ("browser_evaluate", "browser_click"))],
    ids=[*(f"{tool}-loop" for tool in HANGING), "browser_evaluate-request", "browser_click-request"],
)
async def test_tools_end_in_time_in_a_page_that_hangs(host, site, bounded, script, tool):
    await open_page(host, site)
    (await host.outcome("browser_evaluate", {"script": script}, session_id=SESSION)).unwrap()
    await bounded(tool, OF_BROWSER[tool])
    await works_again(host, site)


@pytest.mark.more
async def test_tools_end_in_time_while_a_dialog_is_open(host, site, bounded):
    for tool in HANGING:
        await open_page(host, site, "/dialogs")
        script = "setTimeout(() => alert('wait')), 0"
        (await host.outcome("browser_evaluate", {"script": script}, session_id=SESSION)).unwrap()
        await bounded(tool, OF_BROWSER[tool])
        await works_again(host, site)


@pytest.mark.more
@pytest.mark.in_server("looks at objects of the module")
async def test_call_behind_a_person_who_drives_waits_without_its_time(host, site):
    resource_id, _ = await open_page(host, site)
    tab = next(tab for tab in engine_of(host).tabs.values() if tab.resource_id == resource_id)
    assert await tab.control.take_control("a person")
    waiting = asyncio.ensure_future(
        host.outcome("browser_evaluate", {"script": "6 * 7", "timeoutMs": 3_000}, session_id=SESSION)
    )
    done, _ = await asyncio.wait((waiting,), timeout=3.5)
    assert not done
    await tab.control.release_control("a person")
    assert (await waiting).unwrap().data["value"] == 42


@pytest.mark.more
async def test_browser_that_takes_long_to_start_goes_on_and_is_found_by_the_next_call(start_host, site):
    host = await start_host()
    arguments = {"url": site.url("/"), "timeoutMs": 1}
    outcome = await host.outcome("browser_navigate", arguments, session_id=SESSION)
    if outcome.error is not None:
        assert outcome.error.type in {"timeout", "navigation_timeout"}
    state = (await host.outcome("browser_navigate", {"url": site.url("/")}, session_id=SESSION)).unwrap()
    assert state.data["title"] == "Home"
    browsers = (await host.call("chrome_list")).data["browsers"]
    assert [len(browser["tabs"]) for browser in browsers] == [1]


def engine_of(host):
    """The engine, for a person's hand without a page to drive it with."""
    from agentcore_chrome.browser.engine import _ENGINES

    (engine,) = [shared.engine for key, shared in _ENGINES.items() if str(host.host.state.path) in key[1]]
    return engine


async def test_error_of_a_call_that_ran_out_of_time_says_what_to_do(host, site):
    _, pid = await open_page(host, site)
    with stopped(pid), pytest.raises(ToolError) as caught:
        await host.call("browser_navigate", url=site.url("/second"), timeoutMs=LIMIT_MS)
    assert "timeoutMs" in str(caught.value)

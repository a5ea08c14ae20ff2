"""What the browser does to an extension: it sleeps with the machine, starts anew, hides tabs, opens windows."""

import asyncio
import signal
from contextlib import contextmanager

import psutil
import pytest
from agentcore_user_tabs.tabs import SharedTabs
from playwright.async_api import expect

from agentcore.server.modules import socket
from tests.chat.conftest import Reply
from tests.extension.conftest import plain_extension
from tests.extension.panel.conftest import SENTENCE, search_call
from tests.extension.panel.conftest import SHOP as FORM
from tests.extension.serving import LIMIT_S
from tests.extension.sharing import CLICK, END, LOAD, fill, share_with_new_session

pytestmark = pytest.mark.spec("C4")

ALL_ACTIONS = """<!doctype html><title>Form</title><body style="height: 3000px">
<p id="text">Some words to mark</p>
<label>Name <input id="name"></label>
<label>Size <select id="size"><option>S</option><option>L</option></select></label>
<label><input id="gift" type="checkbox"> Gift</label>
<button id="count" onclick="this.textContent = 'pressed'">0</button>
<a id="away" href="/second" target="_blank">More</a>"""


WINDOW = "(url) => chrome.windows.create({url, focused: true}).then(() => null)"
WRITE = """async (text) => {
    const deep = (root, name) => root.querySelector(name)
        ?? [...root.querySelectorAll('*')].map((each) => each.shadowRoot && deep(each.shadowRoot, name)).find(Boolean);
    while (!deep(document, 'textarea')) await new Promise((resolve) => setTimeout(resolve, 50));
    const area = deep(document, 'textarea');
    area.value = text;
    area.dispatchEvent(new InputEvent('input', {bubbles: true, composed: true}));
    area.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true, composed: true}));
}"""


UPDATE = "() => void chrome.runtime.onUpdateAvailable.dispatch({version: '9.9.9'})"
"""The browser has a new version, which it loads as soon as it is allowed to."""


def act(action, selector, **params):
    return {"action": action, "target": {"selector": selector}, "params": params}


ACTIONS = [
    act("fill", "#name", value="Ann"),
    act("select", "#size", value="L"),
    act("check", "#gift", value="true"),
    act("click", "#count"),
    act("scroll", "#gift"),
    act("read", "#text"),
    act("highlight", "#text"),
    act("underline", "#text"),
]


def processes_of(extension):
    """The browser of an extension, with all that it started."""
    loaded = f"--load-extension={extension.folder}"
    mains = [each for each in psutil.process_iter(["cmdline"]) if loaded in (each.info["cmdline"] or [])]
    return {each.pid: each for main in mains for each in (main, *main.children(recursive=True))}.values()


@contextmanager
def asleep(extension):
    """While this lasts, the browser stands still, as on a machine that sleeps."""
    processes = list(processes_of(extension))
    assert processes
    for each in processes:
        each.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for each in reversed(processes):
            each.send_signal(signal.SIGCONT)


@pytest.fixture
def soon_missed(monkeypatch):
    """A server that notices soon that a browser does not answer any more."""
    monkeypatch.setattr(socket, "_HEARTBEAT_SECONDS", 0.5)


@pytest.fixture
def soon_forgotten(monkeypatch):
    """A server that keeps the tabs of a browser that is away for no longer than that."""
    monkeypatch.setattr(SharedTabs.__init__, "__defaults__", (0.5,))


async def until_listed(shared, status):
    """Wait until the server has the shared tab with a status; None: until it has no shared tab."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            _, listed = await shared.server.ask("GET", "/api/resources")
            found = [each["status"] for each in listed["resources"] if each["resourceType"] == "user_tab"]
            if found == ([] if status is None else [status]):
                return
            await asyncio.sleep(0.02)


async def test_machine_that_sleeps_in_the_middle_of_a_call_goes_on_and_nothing_runs_twice(soon_missed, shared, site):
    site.show("/slow", "done")
    released = site.hold("/slow")
    await shared.page.evaluate(LOAD)
    call = asyncio.create_task(shared.call(CLICK))
    await site.until_asked("/slow")
    with asleep(shared.extension):
        await until_listed(shared, "starting")
    released.set()
    answer = await call
    assert answer["ok"], answer  # the page was in the middle of it, and has answered since
    assert (await shared.call(fill("goes on")))["ok"]
    assert await shared.page.locator("#count").text_content() == "0x"
    assert site.asked.count("/slow") == 1


async def test_machine_that_slept_for_long_has_its_tab_shared_again_by_itself(soon_missed, soon_forgotten, shared):
    with asleep(shared.extension):
        await until_listed(shared, None)
        refused = await shared.call(fill("asleep"))
    assert refused["error"]["type"] == "user_tab_not_shared"
    await until_listed(shared, "ready")
    assert (await shared.call(fill("awake")))["ok"]


async def test_each_action_works_in_a_tab_that_is_not_in_front(browser, built_extension, start_server, site, tmp_path):
    site.show("/", ALL_ACTIONS)
    server = await start_server(["user_tabs"], approvals={"mode": "allow"})
    async with plain_extension(browser, built_extension, tmp_path / "profile") as extension:
        await extension.pair(server)
        page = await extension.context.new_page()
        await page.goto(site.url())
        shared = await share_with_new_session(extension, server, page)
        await (await extension.context.new_page()).bring_to_front()
        assert await page.evaluate("document.visibilityState") == "hidden"
        for action in ACTIONS:
            answer = await shared.call({"actions": [action]})
            assert answer["ok"], answer
            assert answer["data"]["success"], answer
        assert (await shared.call({}, "request_more_elements"))["data"]["elements"]
        assert await page.locator("#count").text_content() == "pressed"
        assert await page.evaluate("document.visibilityState") == "hidden"


async def test_link_to_a_new_tab_opens_it_though_no_hand_has_clicked(shared, site):
    site.show("/", ALL_ACTIONS)
    await shared.page.reload()
    async with shared.extension.context.expect_page() as opened:
        answer = await shared.call({"actions": [act("click", "#away")]})
    assert answer["data"]["success"], answer
    await expect(await opened.value).to_have_url(site.url("/second"))
    assert (await shared.shares())[0]["url"] == site.url()  # the new one is not shared with it


def search_beside(request):
    """A model that searches once in the page that it was told of."""
    if any(message["role"] == "tool" for message in request["messages"]):
        return Reply("Done.")
    return Reply("", [("call_1", "page_action", search_call(request, "input:Search", "button:Search"))])


async def test_panels_of_two_windows_each_act_beside_themselves(start_server, start_extension, site, provider):
    """Two windows of one browser, each with its own side panel, and a turn in both at the same time."""
    server = await start_server([], approvals={"mode": "allow"})
    extension = await start_extension()
    await extension.pair(server)
    provider.script = search_beside
    shown = []
    for name in ("one", "two"):
        site.show(f"/{name}", FORM)
        async with extension.context.expect_page() as opened:
            await extension.run(WINDOW, site.url(f"/{name}"))
        page = await opened.value
        panel = await extension.open_side_panel(page)
        await panel.evaluate(f"({WRITE})('{SENTENCE}')")
        shown.append(page)
    for page in shown:
        await expect(page.get_by_role("status")).to_have_text("Results for iPhone 16")
        await expect(page.locator("form")).to_have_attribute("data-searches", "1")


async def test_update_waits_for_the_end_of_what_goes_on_and_leaves_nothing_of_before_in_the_page(shared, site):
    extension, page, errors = shared.extension, shared.page, []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    site.show("/slow", "done")
    released = site.hold("/slow")
    await page.evaluate(LOAD)
    worker = await extension.worker()
    call = asyncio.create_task(shared.call(CLICK))
    await site.until_asked("/slow")
    await worker.evaluate(UPDATE)
    released.set()
    assert (await call)["ok"]
    assert (await shared.call({"actions": [act("highlight", "#count")]}))["data"]["success"]
    assert await extension.worker() is worker

    await extension.run(END, shared.share["shareId"])
    await extension.close_own_page()
    async with extension.context.expect_event("serviceworker", lambda new: new is not worker):
        await worker.evaluate(UPDATE)
    assert [each["origin"] for each in (await extension.stored("local"))["servers"]] == [shared.server.address]
    again = await shared.beside(page)
    assert (await again.call(CLICK))["ok"]
    await expect(page.locator("#count")).to_have_text("0xx")
    answer = await again.call({}, "clear_ai_styles")
    assert answer["ok"], answer
    assert await page.locator("#count").evaluate("(button) => button.outerHTML") == '<button id="count">0xx</button>'
    assert errors == []

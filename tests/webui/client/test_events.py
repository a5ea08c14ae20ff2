"""The event stream: resumed after a break, handed on once a frame, quick enough for a busy server."""

import re

import pytest
from playwright.async_api import expect

pytestmark = pytest.mark.spec("K8")

LISTEN = """import('/static/client/client.js').then(({client}) => {
    window.heard = [];
    window.frames_ = new Set();
    client.on('%s', (event) => {
        window.heard.push(event.n ?? event.type);
        window.frames_.add(document.timeline.currentTime);
    });
})"""


async def test_events_missed_while_the_connection_was_lost_arrive_after_it(start_webui):
    ui = await start_webui()
    ui.allowed_errors += ["ERR_INTERNET_DISCONNECTED", "ERR_CONNECTION_RESET", "ERR_INCOMPLETE_CHUNKED_ENCODING"]
    page = await ui.page()
    await page.evaluate(LISTEN % "test.*")
    await expect(page.get_by_text("Connected")).to_be_visible()
    await ui.lose_connection(page)
    await expect(page.get_by_text("Connection lost")).to_be_visible()
    for n in range(3):
        ui.host.events.publish("test.counted", {"n": n})
    await page.context.set_offline(False)
    await expect(page.get_by_text("Connected")).to_be_visible()
    await page.wait_for_function("() => window.heard.length === 3")
    assert await page.evaluate("window.heard") == [0, 1, 2]


@pytest.mark.more
async def test_gap_that_cannot_be_filled_is_told_as_a_reset_and_views_load_again(start_webui):
    ui = await start_webui()
    ui.allowed_errors += ["ERR_INTERNET_DISCONNECTED", "ERR_CONNECTION_RESET", "ERR_INCOMPLETE_CHUNKED_ENCODING"]
    page = await ui.page("#/modules")
    await page.evaluate(LISTEN % "events.reset")
    await expect(page.get_by_text("Connected")).to_be_visible()
    await ui.lose_connection(page)
    await expect(page.get_by_text("Connection lost")).to_be_visible()
    for _ in range(20_000):  # more than the server keeps
        ui.host.events.publish("test.counted", {})
    await page.context.set_offline(False)
    await page.wait_for_function("() => window.heard.length === 1")
    assert await page.evaluate("window.heard") == ["events.reset"]


@pytest.mark.more
async def test_events_of_one_moment_are_handed_on_in_a_few_frames(start_webui):
    ui = await start_webui()
    page = await ui.page()
    await page.evaluate(LISTEN % "test.*")
    await expect(page.get_by_text("Connected")).to_be_visible()
    for n in range(1000):
        ui.host.events.publish("test.counted", {"n": n})
    await page.wait_for_function("() => window.heard.length === 1000")
    assert await page.evaluate("window.heard") == list(range(1000))
    assert await page.evaluate("window.frames_.size") < 100


@pytest.mark.more
async def test_events_reach_a_page_that_gets_no_frames(start_webui):
    ui = await start_webui()
    page = await ui.page()
    await expect(page.get_by_text("Connected")).to_be_visible()
    await page.evaluate("window.requestAnimationFrame = () => 0")  # as in a tab that nobody looks at
    await page.evaluate(LISTEN % "test.*")
    ui.host.events.publish("test.counted", {"n": 7})
    await page.wait_for_function("() => window.heard.length === 1", polling=20)


@pytest.mark.more
async def test_listener_that_fails_keeps_no_event_from_the_others(start_webui):
    ui = await start_webui()
    ui.allowed_errors.append("a listener broke")
    page = await ui.page()
    await page.evaluate("""import('/static/client/client.js').then(({client}) => {
        client.on('test.*', () => { throw new Error('a listener broke'); });
    })""")
    await page.evaluate(LISTEN % "*")
    await expect(page.get_by_text("Connected")).to_be_visible()
    ui.host.events.publish("test.counted", {"n": 7})
    await page.wait_for_function("() => window.heard.includes(7)")


@pytest.mark.more
async def test_nothing_moves_while_events_arrive(start_webui):
    """Modules change, messages come and go, calls end: what stands on the page stays where it is."""
    ui = await start_webui(["fs_tools"])
    page = await ui.page("#/modules")
    await expect(page.get_by_role("heading", name=re.compile("^In use"))).to_be_visible()
    await page.evaluate("""() => {
        window.shifts = 0;
        new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts += entry.value;
        }).observe({type: 'layout-shift', buffered: false});
    }""")
    await ui.host.modules.reload("fs_tools")
    for _ in range(20):
        await ui.server.running.outcome("list_dir", {"path": "."})
    await page.evaluate("import('/static/ui/toasts.js').then(({toast}) => toast('something was done'))")
    await expect(page.get_by_text("something was done")).to_be_visible()
    await expect(page.get_by_role("article").filter(has_text="fs_tools").get_by_text("Ready")).to_be_visible()
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
    assert await page.evaluate("window.shifts") < 0.01

"""Tabs that the person shares with chats: an HTTP client acts in them, and what becomes of it when things break."""

import asyncio

import pytest
from playwright.async_api import expect

from tests.extension.sharing import CLICK, END, LOAD, RESUME, SHARE, SHARES, SHOP, fill, share_with_new_session

pytestmark = pytest.mark.spec("C4")


async def test_client_fills_a_field_in_the_shared_tab_over_http(shared):
    answer = await shared.call(fill("iPhone 16"))
    assert answer["ok"], answer
    assert answer["data"]["success"] is True
    await expect(shared.page.locator("#search")).to_have_value("iPhone 16")
    assert answer["resourceId"] == shared.share["resourceId"]
    _, state = await shared.server.ask("GET", "/api/modules/user_tabs/state")
    assert [tab["browser"] for tab in state["tabs"]] == ["Chromium"]
    assert shared.share["sessionTitle"] == "Shopping"


async def test_chat_that_a_tab_is_shared_with_sees_all_of_the_page_whatever_the_panel_has_shown(shared):
    read = "(tabId) => import('/tab/tab-page.js').then(({collectContext}) => collectContext(tabId))"
    told = await shared.extension.run(read, shared.tab_id)
    answer = await shared.call({}, "request_more_elements")
    assert answer["data"]["elements"] == told["elements"]
    assert [element["desc"] for element in told["elements"]] == ["input:Search", "button:0"]


async def test_calls_of_one_tab_follow_each_other_and_those_of_another_do_not_wait(shared, site):
    site.show("/slow", "done")
    released = site.hold("/slow")
    await shared.page.evaluate(LOAD)
    other = await shared.extension.context.new_page()
    await other.goto(site.url("/second", "other.localhost"))
    second = await shared.beside(other)
    async with asyncio.TaskGroup() as group:
        first = group.create_task(shared.call(CLICK))
        await site.until_asked("/slow")
        behind = group.create_task(shared.call(fill("later")))
        assert (await second.call(fill("other tab")))["ok"]
        assert not first.done()
        assert not behind.done()
        released.set()
    assert first.result()["ok"]
    assert behind.result()["ok"]


async def test_call_that_is_cut_off_by_the_end_of_the_worker_is_reported_and_never_repeated(shared, site):
    site.show("/slow", "done")
    released = site.hold("/slow")
    await shared.page.evaluate(LOAD)
    async with asyncio.TaskGroup() as group:
        call = group.create_task(shared.call(CLICK))
        await site.until_asked("/slow")
        await shared.extension.stop_worker()
        await shared.extension.wake_worker()
        answer = await call
        released.set()
    assert (answer["ok"], answer["error"]["type"]) == (False, "interrupted")
    assert (await shared.call(fill("goes on")))["ok"]
    assert await shared.page.locator("#count").text_content() == "0x"
    assert site.asked.count("/slow") == 1


async def test_connection_comes_back_when_the_server_does_and_the_tab_is_still_shared(shared):
    await shared.server.stop()
    await shared.until(lambda shares: len(shares) == 1)
    await shared.server.start()
    await shared.reconnected()
    answer = await shared.call(fill("after the restart"))
    assert answer["ok"], answer
    await expect(shared.page.locator("#search")).to_have_value("after the restart")


async def test_worker_that_was_ended_takes_up_its_shares_when_it_starts(shared):
    await shared.extension.stop_worker()
    await shared.extension.wake_worker()
    assert (await shared.call(fill("again")))["ok"]
    assert await shared.mark() == "●"


async def test_tab_that_leaves_its_site_pauses_until_it_is_back_or_the_person_allows_the_new_one(shared, site):
    await shared.page.goto(site.url("/second"))
    await shared.until(lambda shares: shares[0]["url"].endswith("/second"))
    assert (await shared.call(fill("same site")))["ok"]

    await shared.page.goto(site.url("/", "127.0.0.1"))
    (paused,) = await shared.until(lambda shares: shares[0]["state"] == "paused")
    assert paused["elsewhere"] is None  # the person has not allowed that site, so the extension may not know it
    assert await shared.mark() == "❚❚"
    refused = await shared.call(fill("elsewhere"))
    assert refused["error"]["type"] == "user_tab_paused"
    assert await shared.page.locator("#search").input_value() == ""
    assert (await shared.extension.run(RESUME, paused["shareId"]))["type"] == "permission_needed"

    await shared.page.goto(site.url("/", "other.localhost"))
    (paused,) = await shared.until(lambda shares: shares[0]["elsewhere"] is not None)
    assert (paused["state"], paused["elsewhere"]) == ("paused", site.url("", "other.localhost"))
    assert (await shared.extension.run(RESUME, paused["shareId"]))["state"] == "ready"
    assert (await shared.call(fill("allowed")))["ok"]
    await expect(shared.page.locator("#search")).to_have_value("allowed")

    await shared.page.goto(site.url("/"))
    await shared.until(lambda shares: shares[0]["state"] == "paused")
    await shared.page.go_back()
    await shared.until(lambda shares: shares[0]["state"] == "ready")
    assert (await shared.call(fill("back")))["ok"]


async def test_sharing_ends_by_a_click_and_by_closing_and_with_the_session(shared, site):
    await shared.extension.run(END, shared.share["shareId"])
    assert await shared.shares() == []
    assert await shared.mark() == ""
    assert (await shared.call(fill("late")))["error"]["type"] == "user_tab_not_shared"

    again = await shared.beside(shared.page)
    await shared.page.close()
    await shared.until(lambda shares: shares == [])
    assert (await again.call(fill("late")))["error"]["type"] == "user_tab_not_shared"

    page = await shared.extension.context.new_page()
    await page.goto(site.url())
    last = await shared.beside(page)
    assert (await shared.server.ask("DELETE", f"/api/sessions/{last.session_id}"))[0] == 200
    await shared.until(lambda shares: shares == [])
    ids = [each["shareId"] for each in (await shared.extension.stored())["endedShares"]]
    assert ids == [last.share["shareId"], again.share["shareId"], shared.share["shareId"]]


async def test_key_that_is_revoked_ends_all_sharing_and_the_extension_is_unpaired(shared):
    person = await shared.server.person()
    assert (await person.ask("DELETE", "/api/approvers/Test-browser"))[0] == 200
    await shared.until(lambda shares: shares == [])
    used = await shared.extension.run("() => import('/worker/servers.js').then(({usedServer}) => usedServer())")
    assert (used["origin"], used["key"]) == (shared.server.address, None)


async def test_nothing_runs_while_nothing_is_shared(shared):
    worker = await shared.extension.worker()
    busy = """async () => [(await chrome.alarms.getAll()).length, chrome.tabs.onUpdated.hasListeners(),
        (await chrome.storage.session.get('connection')).connection]"""
    assert await worker.evaluate(busy) == [1, True, "open"]
    await shared.extension.run(END, shared.share["shareId"])
    assert await worker.evaluate(busy) == [0, False, "off"]


async def test_tab_of_a_site_that_was_not_allowed_and_of_the_browser_itself_is_not_shared(shared, site):
    page = await shared.extension.context.new_page()
    await page.goto(site.url("/", "127.0.0.1"))
    refused = await shared.extension.run(SHARE, [await shared.extension.tab_id(page), shared.session_id])
    assert refused["type"] == "permission_needed"
    own = await shared.extension.open_panel()
    refused = await shared.extension.run(SHARE, [await shared.extension.tab_id(own), shared.session_id])
    assert refused["type"] == "page_forbidden"


async def test_server_without_the_module_refuses_and_says_why(start_server, extension, site):
    site.show("/", SHOP)
    server = await start_server()
    await extension.pair(server)
    page = await extension.context.new_page()
    await page.goto(site.url())
    refused = await extension.run(SHARE, [await extension.tab_id(page), "s1"])
    assert refused["type"] == "not_offered"
    assert await extension.run(SHARES) == []


async def test_two_browsers_of_one_server_act_each_in_its_own_tab(shared, start_extension, site):
    other = await start_extension()
    await other.pair(shared.server)
    page = await other.context.new_page()
    await page.goto(site.url())
    there = await share_with_new_session(other, shared.server, page)
    answers = await asyncio.gather(shared.call(fill("here")), there.call(fill("there")))
    assert all(answer["ok"] for answer in answers)
    await expect(shared.page.locator("#search")).to_have_value("here")
    await expect(page.locator("#search")).to_have_value("there")


async def test_tab_goes_from_one_chat_to_another_and_a_second_click_changes_nothing(shared):
    script = f"([tabId, sessionId]) => Promise.all([1, 2].map(() => ({SHARE})([tabId, sessionId])))"
    session_id = (await shared.server.ask("POST", "/api/sessions", {}))[1]["sessionId"]
    first, second = await shared.extension.run(script, [shared.tab_id, session_id])
    assert first["shareId"] == second["shareId"] != shared.share["shareId"]
    assert [each["sessionId"] for each in await shared.shares()] == [session_id]
    assert (await shared.call(fill("late")))["error"]["type"] == "user_tab_not_shared"


async def test_nothing_is_done_on_another_site_also_before_the_tab_is_heard_to_have_left(shared):
    """The stored share is of another site than the tab, as between a navigation and the browser's word of it."""
    script = """async (shareId) => {
        const {shares} = await chrome.storage.session.get('shares');
        shares[shareId].origin = 'http://shop.example';
        await chrome.storage.session.set({shares});
    }"""
    await shared.extension.run(script, shared.share["shareId"])
    assert (await shared.call(fill("elsewhere")))["error"]["type"] == "user_tab_paused"
    assert await shared.page.locator("#search").input_value() == ""


async def test_results_of_before_a_break_never_keep_the_extension_from_coming_back(shared):
    """As many long results as are kept would be more than one message of the socket may have."""
    script = """async (shareId) => {
        const result = {success: true, text: '长'.repeat(32 * 1024 - 200)};
        const entry = (n) => ({callId: `call_${n}`, shareId, at: Date.now() - n, outcome: {ok: true, result}});
        const journal = Object.fromEntries(Array.from({length: 64}, (_, n) => [`call_${n}`, entry(n)]));
        await chrome.storage.session.set({journal});
    }"""
    await shared.extension.run(script, shared.share["shareId"])
    await shared.server.stop()
    await shared.server.start()
    await shared.reconnected()
    assert (await shared.call(fill("after the break")))["ok"]

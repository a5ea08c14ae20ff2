"""The activity view: the record as it grows, filtered, in any length; one call in full; calls on their way."""

import asyncio
import json
import re
import time
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio
from playwright.async_api import Route, expect

from agentcore.api import Module, ToolContext, ToolError, tool
from agentcore.store.record.call_row import CallRow

pytestmark = pytest.mark.spec("S7", "M5")

PHONE = {"width": 390, "height": 844}
MANY = 90_000
"""Fewer than make the record move older rows to files, which takes them out of the list."""


class Weather(Module):
    """Weather."""

    name = "weather"

    @tool(read_only=True)
    async def weather_now(self, ctx: ToolContext, city: str, password: str = "") -> str:
        """Weather in a city.

        Args:
            city: Its name.
            password: For the tests.
        """
        if city == "Atlantis":
            raise ToolError("city_not_found", "no such city")
        return city

    @tool(read_only=True)
    async def weather_trip(self, ctx: ToolContext) -> str:
        """Weather on the way."""
        await ctx.call("weather_now", {"city": "Oslo"})
        await ctx.call("weather_now", {"city": "Rome"})
        return "both"

    @tool(read_only=True)
    async def weather_forever(self, ctx: ToolContext, city: str = "") -> None:
        """Weather, when it is done.

        Args:
            city: Its name.
        """
        ctx.progress(0.25, "asking")
        await asyncio.Event().wait()


UI = {"modules": [Weather]}


@pytest_asyncio.fixture(loop_scope="session")
async def ui(shared):
    """The server of the file; its record is emptied, which the database refuses to anybody else."""

    def delete(connection):
        connection.execute("DROP TRIGGER IF EXISTS record_is_not_shortened")
        connection.execute("DELETE FROM record")

    yield shared
    await shared.leave()
    await shared.host.store.record.flush()
    await shared.host.store.database.write(delete)


async def call(ui, tool_name, arguments=None, **body):
    async with ui.server.post(f"/api/tools/{tool_name}/call", json={"arguments": arguments or {}, **body}) as response:
        return await response.json()


async def fill(record, count):
    first_ms = time.time_ns() // 1_000_000 - count  # rows of years ago may be moved to files at any time
    for number in range(count):
        record.append(
            CallRow(
                time_ms=first_ms + number,
                call_id=f"call_{number}",
                tool=f"tool_{number % 7}",
                module="weather",
                session_id="s",
                principal_kind="token",
                outcome="ok" if number % 5 else "timeout",
                duration_ms=1.5,
                arguments=json.dumps({"number": number}, separators=(",", ":")),
            )
        )
        if record.is_full:
            await record.drain()
    await record.flush()


def rows(page):
    return page.locator("ac-virtual-list [role='option']")


def top_row(page):
    return page.locator("ac-virtual-list [aria-posinset='1']")


async def test_empty_record_says_what_will_stand_here(ui):
    page = await ui.page("#/activity")
    await expect(page.get_by_role("heading", name="Nothing has happened yet")).to_be_visible()
    await expect(page.get_by_role("link", name="Open tools")).to_be_visible()


async def test_call_appears_as_it_ends(ui):
    page = await ui.page("#/activity")
    await expect(page.get_by_text("No call is on the way")).to_be_visible()
    await call(ui, "weather_now", {"city": "Oslo", "password": "hunter2"})
    await expect(top_row(page)).to_contain_text("weather_now")
    await expect(top_row(page)).to_contain_text("Succeeded")
    await expect(top_row(page)).to_contain_text('"city":"Oslo"')
    await expect(page.get_by_role("status").filter(has_text="1 entry")).to_be_visible()
    await call(ui, "weather_now", {"city": "Atlantis"})
    await expect(top_row(page)).to_contain_text("city_not_found")
    assert "hunter2" not in await page.content()


@pytest.mark.more
async def test_filters_stand_in_the_address_and_outlive_a_reload(ui):
    await call(ui, "weather_now", {"city": "Oslo"}, session_id="trip")
    await call(ui, "weather_now", {"city": "Atlantis"}, session_id="trip")
    await call(ui, "weather_trip", session_id="other")
    page = await ui.page("#/activity")
    await expect(rows(page)).to_have_count(5)
    await page.get_by_label("Outcome").select_option(label="Failed")
    await expect(rows(page)).to_have_count(1)
    await page.get_by_label("Outcome").select_option(label="Any outcome")
    await page.get_by_label("Session").fill("trip")
    await page.keyboard.press("Enter")
    await expect(rows(page)).to_have_count(2)
    await page.get_by_role("searchbox").fill("atlan")
    await expect(rows(page)).to_have_count(1)
    await expect(page).to_have_url(re.compile(r"#/activity\?session=trip&q=atlan$"))
    await page.reload()
    await expect(rows(page)).to_have_count(1)
    await expect(page.get_by_role("searchbox")).to_have_value("atlan")
    await page.get_by_role("button", name="Clear filters").click()
    await expect(rows(page)).to_have_count(5)


FILTERED = {"tool=weather_now": 4, "module=weather": 5, "outcome=city_not_found": 1, "outcome=ok": 4}
"""How many calls fit what an address says."""


@pytest.mark.more
async def test_address_with_a_filter_shows_what_fits(ui):
    await call(ui, "weather_now", {"city": "Oslo"})
    await call(ui, "weather_now", {"city": "Atlantis"})
    await call(ui, "weather_trip")
    page = await ui.page()
    for query, count in FILTERED.items():
        await page.goto(f"{ui.address}/#/activity?{query}")
        await expect(rows(page)).to_have_count(count)


async def test_new_calls_that_do_not_fit_the_filter_stay_out(ui):
    await call(ui, "weather_now", {"city": "Atlantis"})
    page = await ui.page("#/activity?outcome=failed")
    await expect(rows(page)).to_have_count(1)
    await call(ui, "weather_now", {"city": "Oslo"})
    await call(ui, "nothing")
    await expect(top_row(page)).to_contain_text("Unknown tool")
    await expect(rows(page)).to_have_count(2)


async def test_no_match_leads_back_to_everything(ui):
    await call(ui, "weather_now", {"city": "Oslo"})
    page = await ui.page("#/activity?tool=nothing")
    await expect(page.get_by_role("heading", name="No entry matches")).to_be_visible()
    await page.get_by_role("link", name="Clear filters").click()
    await expect(rows(page)).to_have_count(1)


async def test_record_that_cannot_be_loaded_is_tried_again(ui):
    ui.allowed_errors.append("ERR_FAILED")
    await call(ui, "weather_now", {"city": "Oslo"})
    page = await ui.page("#/modules")
    await page.route("**/api/calls?*", lambda route: route.abort())
    await page.get_by_role("link", name="Activity").click()
    await expect(page.get_by_role("alert")).to_contain_text("The record could not be loaded")
    await page.unroute("**/api/calls?*")
    await page.get_by_role("button", name="Try again").click()
    await expect(rows(page)).to_have_count(1)


async def test_detail_tells_arguments_masked_and_who_allowed_it(ui):
    envelope = await call(ui, "weather_now", {"city": "Oslo", "password": "hunter2"}, session_id="trip")
    page = await ui.page("#/activity")
    await rows(page).first.click()
    await expect(page).to_have_url(re.compile(f"#/activity/{envelope['callId']}$"))
    detail = page.get_by_role("article", name="Call")
    await expect(detail).to_contain_text('"password": "•••"')
    await expect(detail).to_contain_text("masked in the record")
    await expect(detail).to_contain_text("it was a person’s own call")
    await expect(detail).to_contain_text("API token")
    await expect(detail.get_by_role("link", name="trip")).to_have_attribute("href", "#/activity?session=trip")
    await expect(detail.get_by_role("link", name="weather", exact=True)).to_have_attribute("href", "#/modules/weather")
    assert "hunter2" not in await page.content()
    await page.get_by_role("link", name="Close").click()
    await expect(detail).to_be_hidden()


async def test_call_leads_to_those_it_made_and_back(ui):
    await call(ui, "weather_trip")
    page = await ui.page("#/activity")
    await top_row(page).click()
    made = page.get_by_role("region", name="Calls it made").get_by_role("link")
    await expect(made).to_have_count(2)
    await made.first.click()
    await expect(page.get_by_role("heading", name="weather_now")).to_be_visible()
    await expect(page.get_by_role("article", name="Call")).to_contain_text('"city": "Oslo"')
    await page.get_by_role("region", name="Made by").get_by_role("link", name="weather_trip").click()
    await expect(page.get_by_role("heading", name="weather_trip")).to_be_visible()


@pytest.mark.more
async def test_call_is_run_again_in_the_console_without_what_is_masked(ui):
    envelope = await call(ui, "weather_now", {"city": "Oslo", "password": "hunter2"})
    page = await ui.page(f"#/activity/{envelope['callId']}")
    await page.get_by_role("link", name="Run again").click()
    await expect(page).to_have_url(re.compile("#/tools/weather_now$"))
    await expect(page.get_by_label("city")).to_have_value("Oslo")
    await expect(page.get_by_label("password")).to_have_value("")


async def test_failure_is_explained(ui):
    envelope = await call(ui, "weather_now", {"town": "Oslo"})
    page = await ui.page(f"#/activity/{envelope['callId']}")
    detail = page.get_by_role("article", name="Call")
    await expect(detail).to_contain_text("Wrong arguments")
    await expect(detail).to_contain_text("did not fit the tool")


async def test_call_that_is_not_in_the_record_is_said_to_be_none(ui):
    page = await ui.page("#/activity/call_of_another_server")
    await expect(page.get_by_role("heading", name="There is no such call")).to_be_visible()


@pytest.mark.more
async def test_call_on_the_way_shows_its_progress_and_is_cancelled(ui):
    page = await ui.page("#/activity")
    await expect(page.get_by_text("No call is on the way")).to_be_visible()
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        task = group.create_task(call(ui, "weather_forever", {"city": "Oslo"}))
        await page.get_by_role("list", name="Calls on the way").get_by_role("link", name="weather_forever").click()
        await expect(page.get_by_role("article", name="Call")).to_contain_text("Running")
        await expect(page.get_by_role("article", name="Call")).to_contain_text("asking")
        await expect(page.get_by_role("article", name="Call")).to_contain_text('"city": "Oslo"')
        await page.get_by_role("button", name="Cancel").click()
        assert (await task)["error"]["type"] == "cancelled"
    await expect(page.get_by_role("article", name="Call")).to_contain_text("Cancelled")
    await expect(page.get_by_text("No call is on the way")).to_be_visible()
    await expect(top_row(page)).to_contain_text("weather_forever")


LOAD_RUNNING = """async () => {
  const [{client}, {runningCalls}] = await Promise.all([
    import('/static/client/client.js'), import('/static/activity/running-calls.js'),
  ]);
  window.told = [];
  for (const type of ['call.started', 'call.finished']) {
    client.on(type, ({tool}) => window.told.push(`${type} ${tool}`));
  }
  window.loading = runningCalls.load();
}"""
LOADED = """async () => {
  const [{client}, {runningCalls}, {workState}] = await Promise.all([
    import('/static/client/client.js'), import('/static/activity/running-calls.js'),
    import('/static/client/work-state.js'),
  ]);
  while (client.events.connection !== 'open') await new Promise((resolve) => client.on('connection', resolve));
  await Promise.all([runningCalls.load(), workState.load()]);
}"""
"""Waits until the page is connected, and has loaded the running calls and what is being worked on."""
TOLD = "(told) => window.told.includes(told)"


async def test_running_call_is_shown_until_it_ends_however_late_the_list_is_loaded(ui):
    """The answer with the running calls was made before the call started or ended, and comes after the event."""
    page = await ui.page("#/activity")
    link = page.get_by_role("list", name="Calls on the way").get_by_role("link", name="weather_forever")
    await page.evaluate(LOADED)
    async with _late_answer(page) as answered:
        running = asyncio.create_task(call(ui, "weather_forever"))
        await page.wait_for_function(TOLD, arg="call.started weather_forever")
        answered.set()
    await link.click()
    await expect(page.get_by_role("article", name="Call")).to_contain_text("Running")
    async with _late_answer(page) as answered:
        await page.get_by_role("button", name="Cancel").click()
        assert (await running)["error"]["type"] == "cancelled"
        await page.wait_for_function(TOLD, arg="call.finished weather_forever")
        answered.set()
    await expect(page.get_by_text("No call is on the way")).to_be_visible()


@asynccontextmanager
async def _late_answer(page):
    """The page gets its list of running calls, made before this block, when the block sets the event."""
    asked, answered = asyncio.Event(), asyncio.Event()

    async def answer_late(route: Route) -> None:
        response = await route.fetch()
        asked.set()
        await answered.wait()
        await route.fulfill(response=response)

    await page.route("**/api/calls/on-the-way", answer_late, times=1)
    await page.evaluate(LOAD_RUNNING)
    async with asyncio.timeout(60):
        await asked.wait()
    yield answered
    await page.evaluate("() => window.loading")


@pytest.mark.more
async def test_call_is_shown_a_moment_after_its_start_whatever_started_before_and_whatever_the_server_s_clock(
    bare_page, mount
):
    page = await bare_page(is_reused=False)
    await page.evaluate("import('/static/base/later-strings.js').then(() => 0)")
    shown = await mount("ac-running-calls", page=page)
    clock, links = page.clock, shown.element.get_by_role("link")
    await clock.install(time=0)
    await clock.pause_at(100)  # seconds
    start = """async ([callId, time]) => {
        const {client} = await import('/static/client/client.js');
        client.events._emit('call.started', {callId, tool: callId, module: 'm', sessionId: '', time});
    }"""
    await page.evaluate(start, ["first", 100_000])
    await clock.run_for(100)
    await page.evaluate(start, ["second", 900_000])
    await expect(links).to_have_count(0)
    await clock.run_for(350)
    await expect(links).to_have_text(["first"])
    await clock.run_for(400)
    await expect(links).to_have_text(["second", "first"])


async def test_change_of_settings_stands_in_the_record(ui):
    page = await ui.page("#/activity")
    await page.get_by_label("Entries").select_option("Notices")
    _, view = await _settings(ui)
    body = {"expected": view["digest"], "changes": [{"path": "/locale", "value": "zh"}]}
    async with ui.server.put("/api/settings", json=body) as response:
        assert response.status == 200
    await top_row(page).click()
    await expect(page.get_by_role("heading", name="Settings changed")).to_be_visible()
    await expect(page.get_by_role("article", name="Call")).to_contain_text("/locale")


async def _settings(ui):
    async with ui.server.get("/api/settings") as response:
        return response.status, await response.json()


@pytest.mark.more
async def test_ninety_thousand_rows_are_looked_at_anywhere_with_few_in_the_page(ui):
    """Scroll to the middle and to the end: the rows of the record are there, and the page holds only those in view."""
    await fill(ui.host.store.record, MANY)
    page = await ui.page("#/activity")
    await expect(page.get_by_role("status").filter(has_text="90,000 entries")).to_be_visible()
    await expect(top_row(page)).to_contain_text('"number":89999')
    scroller = page.locator("ac-virtual-list")
    await scroller.evaluate("list => { list.scrollTop = 40000 * list.rowHeight }")
    await expect(page.locator("ac-virtual-list [aria-posinset='40001']")).to_contain_text('"number":49999')
    await scroller.evaluate("list => { list.scrollTop = list.scrollHeight }")
    await expect(page.locator(f"ac-virtual-list [aria-posinset='{MANY}']")).to_contain_text('"number":0')
    assert await rows(page).count() < 80
    await page.get_by_label("Outcome").select_option(label="Took too long")
    await expect(page.get_by_role("status").filter(has_text="18,000 entries match")).to_be_visible()
    await expect(top_row(page)).to_contain_text('"number":89995')


@pytest.mark.more
async def test_list_longer_than_a_browser_can_make_an_element_is_reached_to_its_end(bare_page):
    page = await bare_page()
    await page.evaluate(
        """async () => {
            const {html} = await import('lit');
            await import('/static/ui/ac-virtual-list.js');
            const list = document.createElement('ac-virtual-list');
            list.style.setProperty('height', '400px');
            Object.assign(list, {count: 5_000_000, rowHeight: 40, renderRow: (index) => html`row ${index}`});
            document.body.replaceChildren(list);
            await list.updateComplete;
            list.scrollTop = list.scrollHeight;
        }"""
    )
    await expect(page.get_by_role("option", name="row 4999999", exact=True)).to_be_in_viewport()
    await page.get_by_role("option", name="row 4999999", exact=True).click()
    await page.keyboard.press("ArrowUp")
    await expect(page.get_by_role("option", name="row 4999998", exact=True)).to_be_focused()
    await page.keyboard.press("Home")
    await expect(page.get_by_role("option", name="row 0", exact=True)).to_be_focused()
    await expect(page.get_by_role("option", name="row 0", exact=True)).to_be_in_viewport()


async def test_list_is_used_by_keyboard(ui):
    await fill(ui.host.store.record, 1000)
    page = await ui.page("#/activity")
    await top_row(page).focus()
    await page.keyboard.press("ArrowDown")
    await expect(page.locator("ac-virtual-list [aria-posinset='2']")).to_be_focused()
    await page.keyboard.press("End")
    last = page.locator("ac-virtual-list [aria-posinset='1000']")
    await expect(last).to_be_focused()
    await expect(last).to_contain_text('"number":0')
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile("#/activity/call_0$"))
    await expect(last).to_have_attribute("aria-selected", "true")
    await page.keyboard.press("Home")
    await expect(top_row(page)).to_be_focused()


@pytest.mark.more
async def test_what_is_read_stays_in_its_place_while_calls_end(ui):
    await fill(ui.host.store.record, 1000)
    page = await ui.page("#/activity")
    await expect(top_row(page)).to_contain_text("tool_5")
    scroller = page.locator("ac-virtual-list")
    await scroller.evaluate("list => { list.scrollTop = 100 * list.rowHeight }")
    read = page.locator("ac-virtual-list [aria-posinset='105']")
    await expect(read).to_contain_text('"number":895')
    place = await read.bounding_box()
    await call(ui, "weather_trip")
    show = page.get_by_role("button", name="Show 3 new")
    await expect(show).to_be_visible()
    await expect(read).to_contain_text('"number":895')
    assert await read.bounding_box() == place
    await show.click()
    await expect(top_row(page)).to_contain_text("weather_trip")
    await expect(show).to_be_hidden()


async def test_paused_list_keeps_new_calls_back(ui):
    await call(ui, "weather_now", {"city": "Oslo"})
    page = await ui.page("#/activity")
    await expect(rows(page)).to_have_count(1)  # what comes before the list is loaded is no news
    await page.get_by_role("button", name="Pause").click()
    await call(ui, "weather_now", {"city": "Rome"})
    await expect(page.get_by_role("button", name="Show 1 new")).to_be_visible()
    await expect(rows(page)).to_have_count(1)
    await page.get_by_role("button", name="Resume").click()
    await expect(rows(page)).to_have_count(2)


@pytest.mark.more
async def test_thousands_of_calls_at_once_are_few_questions_to_the_server(ui):
    """The page is told of each call, and asks for rows a few times, not once a call."""
    page = await ui.page("#/activity")
    await expect(page.get_by_role("heading", name="Nothing has happened yet")).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/api/calls?" in request.url else None)
    record, events = ui.host.store.record, ui.host.events
    for number in range(5000):
        record.append(CallRow(time_ms=number, call_id=f"c{number}", tool="flood", outcome="ok", arguments="{}"))
        events.publish(
            "call.finished", {"callId": f"c{number}", "tool": "flood", "module": "", "outcome": "ok", "durationMs": 1}
        )
        if number % 100 == 0:
            await asyncio.sleep(0)
    await expect(page.get_by_role("status").filter(has_text="5,000 entries")).to_be_visible()
    assert len(asked) < 500


async def test_lost_events_are_made_up_for(ui):
    ui.allowed_errors.append("net::ERR")
    page = await ui.page("#/activity")
    await call(ui, "weather_now", {"city": "Oslo"})
    await expect(rows(page)).to_have_count(1)
    await ui.lose_connection(page)
    await ui.server.running.call("weather_now", city="Rome")
    await page.context.set_offline(False)
    await expect(rows(page)).to_have_text([re.compile("Rome"), re.compile("Oslo")])


@pytest.mark.more
async def test_call_that_ends_while_the_list_loads_is_shown_once(ui):
    """The answer with the list was made before the call ended, and comes after the page was told of it."""
    page = await ui.page("#/activity")
    await call(ui, "weather_now", {"city": "Oslo"})
    await expect(rows(page)).to_have_count(1)

    async def reload(route: Route) -> None:
        answer = await route.fetch()
        async with page.expect_console_message(lambda message: message.text == "told"):
            await call(ui, "weather_now", {"city": "Rome"})
        await route.fulfill(response=answer)

    await page.route("**/api/calls?*total=true*", reload, times=1)
    await page.evaluate(
        """async () => {
            const {client} = await import('/static/client/client.js');
            client.on('call.finished', () => console.log('told'));
            client.events._emit('events.reset', {});
        }"""
    )
    await expect(rows(page)).to_have_text([re.compile("Rome"), re.compile("Oslo")])
    await call(ui, "weather_now", {"city": "Bergen"})
    await expect(rows(page)).to_have_text([re.compile("Bergen"), re.compile("Rome"), re.compile("Oslo")])


async def test_on_a_phone_the_call_takes_the_place_of_the_list(ui):
    await call(ui, "weather_now", {"city": "Oslo"})
    page = await ui.page("#/activity", viewport=PHONE)
    await rows(page).first.click()
    await expect(page.get_by_role("article", name="Call")).to_be_visible()
    await expect(rows(page).first).to_be_hidden()
    await page.get_by_role("link", name="Back to activity").click()
    await expect(rows(page).first).to_be_visible()
    await page.get_by_role("button", name="Filters").click()
    await page.get_by_label("Outcome").select_option(label="Failed")
    await expect(page.get_by_role("heading", name="No entry matches")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


async def test_chinese_is_complete(ui):
    envelope = await call(ui, "weather_now", {"city": "Atlantis", "password": "x"})
    page = await ui.page(f"#/activity/{envelope['callId']}", locale="zh-CN")
    await expect(page.get_by_role("heading", name="活动")).to_be_visible()
    await expect(page.get_by_role("article", name="调用")).to_contain_text("无需询问")


@pytest.mark.more
async def test_nothing_serious_for_axe(ui, axe_problems):
    await call(ui, "weather_trip")
    envelope = await call(ui, "weather_now", {"city": "Atlantis", "password": "x"})
    page = await ui.page("#/activity")
    await expect(page.locator("ac-virtual-list [aria-posinset='1']").first).to_be_visible()
    assert await axe_problems(page) == []
    await page.goto(f"{ui.address}/#/activity/{envelope['callId']}")
    await expect(page.get_by_role("article", name="Call")).to_be_visible()
    assert await axe_problems(page) == []
    await page.goto(f"{ui.address}/#/activity?tool=nothing")
    await expect(page.locator("ac-empty").first).to_be_visible()
    assert await axe_problems(page) == []


async def test_approved_call_is_one_row_that_says_who_approved_it_and_names_its_chat(ui):
    async with ui.server.post("/api/sessions", json={}) as response:
        session = (await response.json())["sessionId"]
    async with ui.server.patch(f"/api/sessions/{session}", json={"title": "Trip to Oslo"}) as response:
        assert response.status == 200
    row = CallRow(1_700_000_000_000, "call_1", "weather_now", session_id=session, kind="decision", decision="approve")
    decided = row._replace(decided_by="approver:1")
    ui.host.store.record.append(decided)
    ui.host.store.record.append(decided._replace(kind="call", decision="ask", outcome="ok", duration_ms=1))
    await ui.host.store.record.flush()
    page = await ui.page("#/activity")
    await expect(rows(page)).to_have_count(1)
    await expect(top_row(page)).to_contain_text("Trip to Oslo")
    await top_row(page).click()
    detail = page.get_by_role("article", name="Call")
    await expect(detail).to_contain_text("You approved, in the approval view")
    await expect(detail.get_by_role("link", name="Open the chat")).to_have_attribute("href", f"#/chats/{session}")
    await page.goto(f"{ui.address}/#/activity?kind=all")
    await expect(rows(page)).to_have_count(2)


async def test_list_goes_on_in_older_entries_with_progress_until_it_is_stopped(ui):
    """The answers for files are those of a server with a long record."""
    await call(ui, "weather_now", {"city": "Oslo"})
    async with ui.server.get("/api/calls?limit=1") as response:
        (row,) = (await response.json())["calls"]
    asked = []

    async def answer(route: Route):
        query = dict(part.split("=") for part in route.request.url.split("?")[1].split("&"))
        if "total" in query:
            page = {"calls": [], "next": 900, "total": 0, "total_since": 1000}
        else:
            before = int(query.get("before", 0))
            asked.append(before)
            found = [{**row, "seq": before - 1, "call_id": f"call_{before}"}]
            page = {"calls": found, "next": before - 500 if before > 500 else None, "total": None, "total_since": None}
        await route.fulfill(json=page)

    page = await ui.page("#/modules")
    await page.route("**/api/calls?*", answer)
    await page.goto(f"{ui.address}/#/activity?tool=weather_now")
    await page.get_by_role("button", name="Search older entries").click()
    await expect(rows(page)).to_have_count(2)
    await expect(page.get_by_role("button", name="Search older entries")).to_have_count(0)
    assert asked == [1000, 500]


async def test_older_entries_that_cannot_be_read_are_an_error_beside_what_was_found(ui):
    ui.allowed_errors.append("500")
    await call(ui, "weather_now", {"city": "Oslo"})
    page = await ui.page("#/modules")

    async def answer(route: Route):
        if "before=" in route.request.url:
            await route.fulfill(
                status=500, json={"error": {"type": "record_unreadable", "message": "a file is damaged"}}
            )
            return
        response = await route.fetch()
        await route.fulfill(json={**await response.json(), "total_since": 10})

    await page.route("**/api/calls?*", answer)
    await page.goto(f"{ui.address}/#/activity")
    await page.get_by_role("button", name="Search older entries").click()
    await expect(page.get_by_role("alert")).to_contain_text("a file is damaged")
    await expect(rows(page)).to_have_count(1)

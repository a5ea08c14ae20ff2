"""The strip of tabs: order, pins, names, closing, by mouse and by keyboard; kept by the server."""

import asyncio
import re

import pytest
import pytest_asyncio
from playwright.async_api import expect

from agentcore.api import Image
from agentcore.api.resource import ResourceUpdate

pytestmark = pytest.mark.spec("R3", "R4")

WATCH_PICTURE = """(icon) => { icon.wasTried = false;
    icon.shadowRoot.addEventListener('error', () => { icon.wasTried = true; }, {once: true, capture: true}); }"""

MODULE = '''
import asyncio
from pathlib import Path
from agentcore.api import Module, ResourceUse, ToolContext, ToolResult, WebComponent, tool

class Rooms(Module):
    """Rooms that live on."""

    @tool(read_only=True)
    async def open_room(self, title: str, opens_again: bool = False) -> ToolResult:
        """Open a room."""
        made = self.runtime.resources.create("room", "default")
        again = ("open_room", {"title": title}) if opens_again else None
        self.runtime.resources.update(made.resource_id, status="ready", title=title, reopening=again)
        return ToolResult(made.resource_id, resource_id=made.resource_id)

    @tool(read_only=True, resource=ResourceUse("room"))
    async def use_room(self, ctx: ToolContext, resourceId: str) -> str:
        """Use a room until it is let go."""
        self.is_used, self.may_end = asyncio.Event(), asyncio.Event()
        self.is_used.set()
        await self.may_end.wait()
        return "used"

    def get_web_component(self):
        return WebComponent(
            "rooms-panel", "panel.js", Path(__file__).parent / "rooms_files",
            {"en": "Rooms", "zh": "房间"}, "house", {"room": "rooms-room"},
        )
'''
PANEL = """
import {LitElement, html} from 'lit';

class Room extends LitElement {
  static properties = {client: {attribute: false}, resourceId: {attribute: false}};
  connectedCallback() {
    super.connectedCallback();
    window.shown = [...(window.shown ?? []), this.resourceId];
  }
  disconnectedCallback() {
    super.disconnectedCallback();
    window.shown = window.shown.filter((id) => id !== this.resourceId);
  }
  render() { return html`<h1>Room ${this.resourceId}</h1>`; }
}
customElements.define('rooms-panel', class extends HTMLElement {});
customElements.define('rooms-room', Room);
"""


FILES = {"rooms": MODULE, "rooms_files/panel.js": PANEL}


UI = {"files": FILES}


@pytest_asyncio.fixture(loop_scope="session")
async def start_rooms(shared):
    """The server of the file, with rooms of these titles, whose ids are `rooms`."""

    async def start(*titles):
        made = [await shared.server.running.call("open_room", title=title) for title in titles]
        shared.rooms = [each.content[0].text for each in made]
        return shared

    yield start
    await shared.leave()
    for resource_id in await room_ids(shared):
        await shared.host.resources.release(resource_id)


def strip(page):
    return page.get_by_role("navigation", name="Open resources")


def link(page, name):
    return strip(page).get_by_role("link", name=name)


def menu_item(page, name, role="menuitem"):
    return page.locator("ac-tabstrip").get_by_role(role, name=name)


async def expect_order(page, *titles):
    await expect(strip(page).locator("a .name")).to_have_text(list(titles))


async def choose(page, tab, item, role="menuitem"):
    await link(page, tab).click(button="right")
    await menu_item(page, item, role).click()


async def room_ids(ui):
    return [resource.resource_id for resource in ui.host.resources.list()]


async def test_order_pins_and_names_outlive_the_server_and_what_nothing_opens_again_is_gone(start_webui):
    ui = await start_webui(files=FILES)
    for title, opens_again in (("Kitchen", True), ("Library", True), ("Attic", True), ("Cellar", False)):
        await ui.server.running.call("open_room", title=title, opens_again=opens_again)
    page = await ui.page()
    await choose(page, "Attic", "Pin")
    await choose(page, "Cellar", "Pin")
    await choose(page, "Kitchen", "Move right")
    await choose(page, "Library", "Rename")
    await page.keyboard.type("Where we read")
    await page.keyboard.press("Enter")
    await expect_order(page, "Attic", "Cellar", "Where we read", "Kitchen")
    await page.context.close()
    await ui.restart()
    page = await ui.page()
    await expect_order(page, "Attic", "Where we read", "Kitchen")
    await link(page, "Attic").hover()
    await expect(strip(page).get_by_role("button", name="Unpin Attic")).to_be_visible()
    await link(page, "Kitchen").click()
    await expect(page.get_by_role("heading", name="Room room_default_4")).to_be_visible()
    await expect_order(page, "Attic", "Where we read", "Kitchen")


@pytest.mark.more
async def test_tabs_are_moved_by_keyboard_and_stay_so_in_every_page(start_rooms):
    ui = await start_rooms("Kitchen", "Library", "Attic")
    page, other = await ui.page(), await ui.page()
    await expect_order(other, "Kitchen", "Library", "Attic")
    await link(page, "Kitchen").focus()
    await page.keyboard.press("ArrowLeft")
    await expect(link(page, "Attic")).to_be_focused()
    await page.keyboard.press("Shift+ArrowLeft")
    await expect_order(page, "Kitchen", "Attic", "Library")
    await expect(link(page, "Attic")).to_be_focused()
    await expect(strip(page).get_by_role("status")).to_have_text("Attic: 2 of 3")
    await page.keyboard.press("Shift+ArrowLeft")
    await expect_order(page, "Attic", "Kitchen", "Library")
    await expect_order(other, "Attic", "Kitchen", "Library")
    await page.reload()
    await expect_order(page, "Attic", "Kitchen", "Library")


@pytest.mark.more
async def test_only_one_tab_stands_in_the_way_of_the_tab_key(start_rooms):
    ui = await start_rooms("Kitchen", "Library", "Attic")
    page = await ui.page()
    await link(page, "Library").click()
    await expect(page.get_by_role("heading", name=f"Room {ui.rooms[1]}")).to_be_visible()
    await link(page, "Library").focus()
    for button in ("What to do with Library", "Close Library"):
        await page.keyboard.press("Tab")
        await expect(strip(page).get_by_role("button", name=button)).to_be_focused()
    await page.keyboard.press("Tab")
    assert not await strip(page).evaluate("strip => strip.contains(strip.getRootNode().activeElement)")


@pytest.mark.more
async def test_tab_is_dragged_to_another_place(start_rooms):
    ui = await start_rooms("Kitchen", "Library", "Attic")
    page = await ui.page()
    await link(page, "Kitchen").drag_to(link(page, "Attic"), target_position={"x": 120, "y": 10})
    await expect_order(page, "Library", "Attic", "Kitchen")
    await link(page, "Kitchen").drag_to(link(page, "Attic"), target_position={"x": 5, "y": 10})
    await expect_order(page, "Library", "Kitchen", "Attic")
    await page.reload()
    await expect_order(page, "Library", "Kitchen", "Attic")


@pytest.mark.more
async def test_pinned_tab_stands_first_and_is_not_dragged_among_the_others(start_rooms):
    ui = await start_rooms("Kitchen", "Library", "Attic")
    page = await ui.page()
    await choose(page, "Attic", "Pin")
    await expect_order(page, "Attic", "Kitchen", "Library")
    await expect(link(page, "Attic")).to_be_focused()
    await link(page, "Attic").drag_to(link(page, "Library"), target_position={"x": 120, "y": 10})
    await page.reload()
    await expect_order(page, "Attic", "Kitchen", "Library")
    await link(page, "Attic").hover()
    await strip(page).get_by_role("button", name="Unpin Attic").click()
    await choose(page, "Attic", "Move right")
    await expect_order(page, "Kitchen", "Attic", "Library")


@pytest.mark.more
async def test_open_menu_of_a_tab_follows_what_becomes_of_it(start_rooms):
    ui = await start_rooms("Kitchen", "Library", "Attic")
    page, other = await ui.page(), await ui.page()
    await link(page, "Attic").click(button="right")
    await expect(menu_item(page, "Pin")).to_be_focused()
    await expect(menu_item(page, "Move left")).to_be_enabled()
    await choose(other, "Attic", "Pin")
    await expect(menu_item(page, "Unpin")).to_be_focused()
    await expect(menu_item(page, "Move left")).to_be_disabled()
    await page.keyboard.press("End")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowUp")
    await expect(menu_item(page, "Rename")).to_be_focused()
    await ui.host.resources.release(ui.rooms[2])
    await expect(menu_item(page, "Rename")).to_be_hidden()
    await expect_order(page, "Kitchen", "Library")


async def test_change_during_a_load_of_the_tabs_is_not_lost(start_rooms):
    """The list may be of before the change, and come after what tells of it."""
    ui = await start_rooms("Kitchen", "Library")
    page = await ui.page()
    await expect_order(page, "Kitchen", "Library")
    is_asked, may_answer = asyncio.Event(), asyncio.Event()

    async def answer_late(route):
        answer = await route.fetch()
        is_asked.set()
        await may_answer.wait()
        await route.fulfill(response=answer)

    await page.route("**/api/resources", answer_late)
    await page.evaluate(
        """() => import('/static/tabs/resource-tabs.js').then(({resourceTabs}) => {
        resourceTabs.load().then(() => { window.isLoaded = true; });
        return null;
    })"""
    )
    await is_asked.wait()
    ui.host.resources.update(ui.rooms[1], ResourceUpdate(title="Reading room"))
    await expect_order(page, "Kitchen", "Reading room")
    may_answer.set()
    await page.wait_for_function("() => window.isLoaded")
    await expect_order(page, "Kitchen", "Reading room")


@pytest.mark.more
async def test_tab_is_renamed_and_gets_its_own_name_back(start_rooms):
    ui = await start_rooms("Kitchen")
    page = await ui.page()
    await link(page, "Kitchen").focus()
    await page.keyboard.press("F2")
    name = strip(page).get_by_role("textbox", name="Rename")
    await expect(name).to_be_focused()
    await page.keyboard.type("Where we cook")
    await page.keyboard.press("Escape")
    await expect_order(page, "Kitchen")
    await expect(link(page, "Kitchen")).to_be_focused()
    await page.keyboard.press("F2")
    await page.keyboard.type("Where we cook")
    await page.keyboard.press("Enter")
    await expect_order(page, "Where we cook")
    await page.reload()
    await expect_order(page, "Where we cook")
    await choose(page, "Where we cook", "Rename")
    await name.fill("")
    await page.keyboard.press("Enter")
    await expect_order(page, "Kitchen")


@pytest.mark.more
async def test_document_is_called_as_the_tab_that_is_shown(start_rooms):
    ui = await start_rooms("Kitchen")
    page = await ui.page()
    await link(page, "Kitchen").click()
    await expect(page).to_have_title("Kitchen · agentcore")
    await choose(page, "Kitchen", "Rename")
    await page.keyboard.type("Where we cook")
    await page.keyboard.press("Enter")
    await expect(page).to_have_title("Where we cook · agentcore")
    await page.evaluate("location.hash = '#/pages/rooms'")
    await expect(page).to_have_title("Rooms · agentcore")
    await page.evaluate("location.hash = '#/tools/use_room'")
    await expect(page).to_have_title("use_room · Tools · agentcore")


@pytest.mark.more
async def test_closing_a_tab_asks_and_ends_its_resource(start_rooms):
    ui = await start_rooms("Kitchen", "Library", "Attic")
    page = await ui.page()
    for room in ("Library", "Attic"):
        await link(page, room).click()
        await expect(page.locator("rooms-room")).to_be_visible()
    await expect(page.get_by_role("heading", name=f"Room {ui.rooms[2]}")).to_be_visible()
    await link(page, "Attic").focus()
    await page.keyboard.press("Delete")
    question = page.locator("ac-confirm")
    await expect(question).to_contain_text("What runs in it ends")
    await question.get_by_role("button", name="Cancel").click()
    await expect(link(page, "Attic")).to_be_focused()
    await page.keyboard.press("Delete")
    await question.get_by_role("button", name="Close tab").click()
    await expect_order(page, "Kitchen", "Library")
    assert await room_ids(ui) == ui.rooms[:2]
    await expect(page.get_by_role("heading", name=f"Room {ui.rooms[1]}")).to_be_visible()
    await expect(link(page, "Library")).to_be_focused()


@pytest.mark.more
async def test_closing_a_pinned_tab_leaves_its_resource_and_it_can_be_shown_again(start_rooms):
    ui = await start_rooms("Kitchen", "Library")
    page = await ui.page()
    await choose(page, "Kitchen", "Pin")
    await choose(page, "Kitchen", "Close tab")
    await expect_order(page, "Library")
    assert await room_ids(ui) == ui.rooms[:2]
    await expect(page.locator("ac-toasts")).to_contain_text("Kitchen goes on without a tab")
    await page.locator("ac-toasts").get_by_role("button", name="Show again").click()
    await expect(page.get_by_role("heading", name=f"Room {ui.rooms[0]}")).to_be_visible()
    await expect_order(page, "Library", "Kitchen")


@pytest.mark.more
async def test_what_keeps_running_goes_on_without_its_tab_until_its_view_is_opened(start_rooms):
    ui = await start_rooms("Kitchen", "Library")
    page = await ui.page()
    await choose(page, "Kitchen", "Keep running when closed", "menuitemcheckbox")
    await link(page, "Kitchen").click(button="right")
    item = menu_item(page, "Keep running when closed", "menuitemcheckbox")
    await expect(item).to_have_attribute("aria-checked", "true")
    await page.keyboard.press("Escape")
    await link(page, "Kitchen").click(button="middle")
    await expect_order(page, "Library")
    await page.goto(f"{ui.address}/#/pages/rooms/{ui.rooms[0]}")
    await expect(page.get_by_role("heading", name=f"Room {ui.rooms[0]}")).to_be_visible()
    await expect_order(page, "Library", "Kitchen")


@pytest.mark.more
async def test_switching_changes_what_is_shown_and_interrupts_nothing(start_rooms):
    ui = await start_rooms("Kitchen", "Library")
    page = await ui.page()
    await link(page, "Kitchen").click()
    await expect(page.get_by_role("heading", name=f"Room {ui.rooms[0]}")).to_be_visible()
    await page.evaluate(
        """(resourceId) => import('/static/client/client.js').then(({client}) => {
        client.call('use_room', {resourceId}).then(({content}) => { window.said = content[0].text; });
        return null;
    })""",
        ui.rooms[0],
    )
    rooms = ui.host.modules.records["rooms"].plugin
    await page.wait_for_function("() => true")
    for name, shown in (("Library", ui.rooms[1]), ("Kitchen", ui.rooms[0]), ("Library", ui.rooms[1])):
        await link(page, name).click()
        await expect(page.get_by_role("heading", name=f"Room {shown}")).to_be_visible()
        assert await page.evaluate("window.shown") == [shown]
    await rooms.is_used.wait()
    rooms.may_end.set()
    await page.wait_for_function("() => window.said === 'used'")


async def test_view_of_what_has_ended_says_so_and_leads_on(start_rooms):
    ui = await start_rooms("Kitchen", "Library")
    page = await ui.page(f"#/pages/rooms/{ui.rooms[0]}")
    await expect(page.get_by_role("heading", name=f"Room {ui.rooms[0]}")).to_be_visible()
    await ui.host.resources.release(ui.rooms[0])
    main = page.get_by_role("main")
    await expect(main.get_by_role("heading", name="This has ended")).to_be_visible()
    await main.get_by_role("link", name="Rooms").click()
    await expect(page).to_have_url(re.compile("#/pages/rooms$"))


@pytest.mark.more
async def test_tab_goes_with_its_resource_and_all_are_read_anew_after_a_lost_connection(start_rooms):
    ui = await start_rooms("Kitchen", "Library")
    page = await ui.page()
    await expect_order(page, "Kitchen", "Library")
    await ui.host.resources.release(ui.rooms[0])
    await expect_order(page, "Library")
    ui.allowed_errors += ["ERR_INTERNET_DISCONNECTED", "net::"]
    await ui.lose_connection(page)
    await ui.host.resources.release(ui.rooms[1])
    await ui.server.running.call("open_room", title="Cellar")
    await page.context.set_offline(False)
    await expect_order(page, "Cellar")


@pytest.mark.more
async def test_tab_shows_the_icon_of_its_resource(start_rooms):
    ui = await start_rooms("Kitchen", "Library")
    page = await ui.page()
    shown = link(page, "Kitchen").locator("img")
    await expect(link(page, "Kitchen").locator("ac-icon")).to_have_count(1)
    drawing = b'<svg xmlns="http://www.w3.org/2000/svg" width="7" height="5"/>'
    ui.host.resources.update(ui.rooms[0], ResourceUpdate(icon=Image(drawing, "image/svg+xml")))
    await expect(shown).to_be_visible()
    await expect(shown).to_have_js_property("naturalWidth", 7)
    await expect(link(page, "Library").locator("img")).to_have_count(0)
    # as if the error of a picture before came late
    await shown.dispatch_event("error")
    await page.evaluate("new Promise(requestAnimationFrame)")
    await expect(shown).to_be_visible()
    shown_at = link(page, "Kitchen").locator("ac-resource-icon")
    await shown_at.evaluate(WATCH_PICTURE)
    ui.host.resources.update(ui.rooms[0], ResourceUpdate(icon=Image(b"no picture", "image/png")))
    await expect(shown_at).to_have_js_property("wasTried", True)
    await expect(shown).to_have_count(0)
    ui.host.resources.update(ui.rooms[0], ResourceUpdate(icon=Image(drawing, "image/svg+xml")))
    await expect(shown).to_be_visible()
    ui.host.resources.update(ui.rooms[0], ResourceUpdate(icon=Image(b"")))
    await expect(shown).to_have_count(0)


@pytest.mark.more
async def test_many_tabs_scroll_and_can_all_be_listed(start_rooms, axe_problems):
    ui = await start_rooms(*[f"Room with a name that is long, number {number}" for number in range(24)])
    page = await ui.page()
    await expect(link(page, "number 0")).to_be_in_viewport()
    await expect(link(page, "number 23")).not_to_be_in_viewport()
    await strip(page).get_by_role("button", name="All tabs").click()
    await menu_item(page, "number 23", "menuitemradio").click()
    await expect(page.get_by_role("heading", name=f"Room {ui.rooms[23]}")).to_be_visible()
    await expect(link(page, "number 23")).to_be_in_viewport()
    assert await axe_problems(page) == []
    await page.reload()
    await expect(strip(page).get_by_role("button", name="Close Room with a name")).to_be_in_viewport(ratio=1)
    await strip(page).get_by_role("button", name="All tabs").click()
    await expect(menu_item(page, "number 23", "menuitemradio")).to_be_focused()


@pytest.mark.more
async def test_menu_of_a_right_click_stays_until_something_else_is_pressed(start_rooms):
    """Browsers open it at the press; some took its release for a click beside the menu, and closed it."""
    ui = await start_rooms("Kitchen", "Library")
    page = await ui.page()
    rename = menu_item(page, "Rename")
    await link(page, "Kitchen").hover()
    await page.mouse.down(button="right")
    await expect(rename).to_be_visible()
    await page.mouse.up(button="right")
    await expect(rename).to_be_visible()
    await link(page, "Library").click(button="right")
    await expect(page.get_by_role("menu", name="Library")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(rename).to_be_hidden()
    await expect(link(page, "Library")).to_be_focused()
    await link(page, "Kitchen").click(button="right")
    await expect(rename).to_be_visible()
    await page.get_by_role("main").click(position={"x": 5, "y": 5})
    await expect(rename).to_be_hidden()

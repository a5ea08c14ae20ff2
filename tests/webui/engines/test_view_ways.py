"""The views in each engine: modules, settings, tools, activity, pages of modules, tabs, a terminal that is live."""

import json
from pathlib import Path

import pytest

from agentcore.api import Module, ToolContext, tool
from tests.webui.engines.page import until

pytestmark = pytest.mark.spec("W1")

WEATHER = '''
from pathlib import Path
from typing import Annotated, Literal

from agentcore.api import Field, Module, WebComponent, tool

HARMLESS = {"x-harmless": True}

class Weather(Module):
    """Weather."""

    title = "Weather"

    class Settings(Module.Settings):
        unit: Annotated[Literal["celsius", "kelvin"], Field(json_schema_extra=HARMLESS)] = "celsius"
        count: Annotated[int, Field(ge=1, le=14, description="Days of a forecast.", json_schema_extra=HARMLESS)] = 3

    @tool(read_only=True)
    async def weather_now(self, city: str, days: int = 1) -> str:
        """Weather in a city.

        Args:
            city: Its name.
            days: How many.
        """
        return f"sunny in {city} for {days} days"

    @tool(read_only=True)
    async def station_open(self) -> str:
        """Open a station that has a view."""
        made = self.runtime.resources.create("station", "default")
        self.runtime.resources.update(made.resource_id, status="ready", title="Station")
        return made.resource_id

    def get_web_component(self):
        folder, views = Path(__file__).parent / "weather_files", {"station": "weather-station"}
        return WebComponent("weather-panel", "panel.js", folder, "Weather", "cloud", views)
'''
PANEL = """
import {LitElement, html} from 'lit';
import {buttons} from 'agentcore/styles.js';

class Panel extends LitElement {
  static properties = {client: {attribute: false}, said: {state: true}};
  static styles = [buttons];
  render() { return html`<h1>Forecast</h1><button @click=${() => this.ask()}>Ask</button><p>said: ${this.said}</p>`; }
  async ask() { this.said = (await this.client.call('weather_now', {city: 'Bonn'})).content[0].text; }
}
customElements.define('weather-panel', Panel);
customElements.define('weather-station', class extends HTMLElement {});
"""
FILES = {"weather": WEATHER, "weather_files/panel.js": PANEL}


class Desk(Module):
    """Takes notes."""

    name = "desk"

    @tool(read_only=True)
    async def desk_take(self, ctx: ToolContext, note: str) -> str:
        """Take a note.

        Args:
            note: What it says.
        """
        return note


async def test_module_is_looked_at_and_disabled(visit):
    shown = await visit("#/modules", files=FILES)
    page = shown.page
    await page.role("article", "").says("Weather", "Ready", "2 tools")
    await page.role("button", "Disable Weather").click()
    await page.text("No module is in use").seen()
    assert json.loads((shown.ui.folder / "app.json").read_text())["modules"] == []


async def test_setting_is_changed_in_its_form_and_saved_after_a_look(visit):
    shown = await visit("#/settings/weather", files=FILES)
    page = shown.page
    count = page.role("spinbutton", "count")
    await count.fill("5")
    await page.role("radio", "kelvin").click()
    await page.role("button", "Review and save").click()
    await page.role("dialog", "What will change").says("count", "5", "kelvin")
    await page.role("dialog", "What will change").role("button", "Save").click()
    await page.role("dialog", "What will change").gone()

    async def saved():
        path = shown.ui.folder / "modules" / "weather.json"
        return json.loads(path.read_text()) if path.exists() else None

    assert await until(saved) == {"count": 5, "unit": "kelvin"}


async def test_tool_is_found_filled_in_and_run_by_keyboard(visit):
    shown = await visit("#/tools", files=FILES)
    page = shown.page
    search = page.role("searchbox", "")
    await search.click()
    await page.type("weather")
    await page.press("Enter")
    await page.label("city").fill("Oslo")
    await page.press("Control+Enter")
    await page.css("ac-result").says("sunny in Oslo for 1 days")

    await shown.go("#/activity")
    await page.role("heading", "Activity").seen()
    await page.css("ac-call-row").says("weather_now")
    await page.css("ac-call-row").click()
    await page.text("Oslo").seen()


async def test_page_of_a_module_is_shown_and_calls_its_tools(visit):
    shown = await visit(files=FILES)
    page = shown.page
    await page.role("link", "Weather").click()
    await page.role("heading", "Forecast").seen()
    await page.role("button", "Ask").click()
    await page.text("said: sunny in Bonn").seen()


async def test_field_of_several_lines_grows_with_its_text(visit):
    """`field-sizing` is not in every browser: there the page does what it would do."""
    shown = await visit("#/tools/desk_take", modules=[Desk()])
    await shown.page.role("button", "Several lines").click()
    note = shown.page.css("textarea")
    before = (await note.box())["height"]
    await note.click()
    for _ in range(12):
        await shown.page.press("Enter")
    after = await until(lambda: _higher(note, before))
    assert after - before > 50


async def _higher(found, height):
    now = (await found.box())["height"]
    return now if now > height else None


async def test_tab_is_renamed_by_its_menu_and_closed(visit):
    shown = await visit(files=FILES)
    page = shown.page
    await shown.ui.server.running.outcome("station_open", {}, session_id="chat")
    tab = page.css("li[data-tab] a")
    await tab.seen()
    await tab.click(button=2)
    await page.role("menuitem", "Rename").click()
    await page.role("textbox", "Rename").fill("Papers")
    await page.press("Enter")
    await page.role("link", "Papers").seen()
    await page.role("link", "Papers").click(button=2)
    await page.role("menu", "").seen()
    await page.press("Escape")
    await page.role("menu", "").gone()


LISTED = json.loads((Path(__file__).parents[3] / "app.json").read_text())["modules"]


async def test_every_view_is_shown_and_fits_a_phone_has_a_drawer_there_and_terminals_are_live(visit):
    """The console stays quiet, and nothing flows out of the window."""
    shown = await visit(modules=LISTED, size=(390, 844))
    page = shown.page
    await page.role("button", "Menu").click()
    menu = page.role("dialog", "Menu")
    await menu.role("link", "Modules", exact=True).click()
    await page.role("heading", "Modules").seen()
    await menu.gone()
    for path, heading in (
        *(("#/", "New chat"), ("#/modules", "Modules"), ("#/modules/fs_tools", ""), ("#/tools", "Tools")),
        *(("#/tools/read_file", "read_file"), ("#/activity", "Activity"), ("#/settings", "Settings")),
        *(("#/settings/shell_tools", ""), ("#/chats", "")),
    ):
        await shown.go(path)
        await page.role("heading", heading).seen()
        assert await page.evaluate("() => document.documentElement.scrollWidth") <= 390, path
    await page.resize(1280, 800)
    outcome = await shown.ui.server.running.outcome(
        "bash", {"command": "echo hello; exec cat", "background": True, "terminal": True}, session_id="chat"
    )
    await shown.go(f"#/pages/shell_tools/{outcome.unwrap().data['process_id']}")
    await page.css(".xterm-rows").says("hello")
    await page.text("You are watching.").gone()

"""Modules' own elements: loaded at first use, contained when they fail, taken up anew after a reload."""

import asyncio

import pytest
from playwright.async_api import expect

pytestmark = pytest.mark.spec("M7", "K6")

MODULE = '''
from pathlib import Path
from agentcore.api import Module, Response, WebComponent, tool

class Weather(Module):
    """Weather look-ups."""

    def init(self, runtime):
        self.runtime_ = runtime
        runtime.add_route("GET", "forecast", self.forecast)

    async def forecast(self, request):
        return Response({"celsius": 21})

    @tool(read_only=True)
    async def weather_now(self, city: str) -> str:
        """Current weather in a city."""
        self.runtime_.publish("asked", {"city": city})
        return f"sunny in {city}"

    @tool(read_only=True)
    async def open_station(self) -> str:
        """Open a station that has a view."""
        return self.runtime_.resources.create("station", "default").resource_id

    def get_web_component(self):
        return WebComponent(
            "weather-panel", "panel.js", Path(__file__).parent / "weather_files",
            {"en": "Weather", "zh": "天气"}, "cloud", {"station": "weather-station"},
        )
'''
PANEL = """
import {LitElement, html, css} from 'lit';
import {buttons} from 'agentcore/styles.js';
import {words} from './words.js';

class Panel extends LitElement {
  static properties = {client: {attribute: false}, said: {state: true}, heard: {state: true}};
  static styles = [buttons, css`h1 { color: var(--ac-accent); }`];
  connectedCallback() {
    super.connectedCallback();
    this.client.on('weather.asked', ({city}) => { this.heard = window.heardByPanel = city; });
  }
  render() {
    return html`<h1>${words}</h1>
      <button @click=${() => this.ask()}>Ask</button> <button @click=${() => this.look()}>Look</button>
      <button @click=${() => { throw new Error('the button broke'); }}>Break</button>
      <button @click=${async () => { await null; throw new Error('the promise broke'); }}>Break later</button>
      <p>said: ${this.said}</p><p>heard: ${this.heard}</p><input aria-label="Notes">`;
  }
  async ask() { this.said = (await this.client.call('weather_now', {city: 'Bonn'})).content[0].text; }
  async look() { this.said = `${(await this.client.get('forecast')).celsius} C`; }
}
class Station extends LitElement {
  static properties = {client: {attribute: false}, resourceId: {attribute: false}};
  render() { return html`<h1>Station ${this.resourceId}</h1>`; }
}
customElements.define('weather-panel', Panel);
customElements.define('weather-station', Station);
"""
FILES = {
    "weather": MODULE,
    "weather_files/panel.js": PANEL,
    "weather_files/words.js": "export const words = 'First edition';",
}


UI = {"files": FILES}


def panel(base, body):
    return (
        f"import {{LitElement}} from 'lit'; customElements.define('weather-panel', class extends {base} {{ {body} }});"
    )


PAGE_SCRIPT = """
from pathlib import Path
from agentcore.api import Module, WebComponent

class Early(Module):
    \"\"\"A script that runs before the application.\"\"\"

    def get_web_component(self):
        files = Path(__file__).parent / "early_files"
        return WebComponent("early-panel", "panel.js", files, "Early", page_script="early.js")
"""


async def test_module_with_a_page_script_reloads_the_page_once_and_runs_before_the_application(start_webui):
    ui = await start_webui(
        files={
            "early": PAGE_SCRIPT,
            "early_files/panel.js": "",
            "early_files/early.js": "window.early = document.querySelector('ac-app')?.shadowRoot ? 'late' : 'early';",
        },
        config={"modules": []},
    )
    page = await ui.page("#/modules")
    loads = []
    page.on("load", lambda _: loads.append(1))
    async with page.expect_event("load"):
        await ui.host.modules.enable("early")
    await expect(page.get_by_role("navigation", name="Sections").get_by_role("link", name="Early")).to_be_visible()
    await expect(page.get_by_role("heading", name="Modules", level=1)).to_be_visible()
    assert await page.evaluate("window.early") == "early"
    assert len(loads) == 1


SLOW_END = """
import asyncio
from agentcore.api import Module

class SlowEnd(Module):
    \"\"\"Takes its time to end, while the others have ended.\"\"\"

    is_open = asyncio.Event()

    async def shutdown(self):
        self.runtime.publish("waiting", {})
        await self.is_open.wait()
"""


async def answered_version(ui, page):
    """The page version in the next answer that the page gets, after an event for which it asks."""
    async with page.expect_response("**/api/modules") as answered:
        ui.host.events.publish("tools.changed", {"tools": 0})
    return (await (await answered.value).json())["pageVersion"]


@pytest.mark.more
async def test_page_does_not_reload_while_the_modules_of_a_server_that_stops_go_one_by_one(start_webui):
    """It would find nobody any more, and stay white. Of a module that a person disables, it does reload."""
    needs_slow_end = PAGE_SCRIPT.replace("    def get_web", "    requires = ('slow_end',)\n\n    def get_web")
    ui = await start_webui(
        files={
            "slow_end": SLOW_END,
            "early": needs_slow_end,
            "late": needs_slow_end.replace("Early", "Late").replace("early", "late"),
            "early_files/panel.js": "",
            "early_files/early.js": "",
            "late_files/panel.js": "",
            "late_files/late.js": "",
        },
        config={"modules": ["slow_end", "early", "late"]},
    )
    page = await ui.page("#/modules")
    async with page.expect_event("load"):
        await ui.host.modules.disable("late")
    loads = []
    page.on("load", lambda _: loads.append(1))
    stopping = asyncio.create_task(ui.host.stop())
    await ui.server.running.events.wait_for("slow_end.waiting")
    assert ui.host.modules.records["early"].state == "stopped"
    # what the page has begun because of the events is done when it has these, which are from after them
    while await answered_version(ui, page):
        pass  # the answer to a request from before
    await expect(page.get_by_role("heading", name="Modules", level=1)).to_be_visible()
    assert loads == []
    ui.host.modules.records["slow_end"].plugin.is_open.set()
    await stopping


FAILING = {
    "syntax": ("this is no script", "Unexpected identifier"),
    "script": ("throw new Error('the script broke');", "the script broke"),
    "import": ("import './nowhere.js';", "Failed to fetch dynamically imported module"),
    "tag": ("customElements.define('other-tag', class extends HTMLElement {});", "does not define the element"),
    "constructor": (
        panel("HTMLElement", "constructor() { super(); throw new Error('no construction'); }"),
        "no construction",
    ),
    "connected": (panel("HTMLElement", "connectedCallback() { throw new Error('no connection'); }"), "no connection"),
    "render": (panel("LitElement", "render() { throw new Error('no rendering'); }"), "no rendering"),
}
FAILING_MODULE = """
from pathlib import Path
from agentcore.api import Module, WebComponent

class Failing(Module):
    \"\"\"Has an element that fails.\"\"\"

    def get_web_component(self):
        return WebComponent("weather-panel", "panel.js", Path(__file__).parent / "NAME_files", "Weather")
"""


@pytest.mark.more
async def test_element_that_fails_shows_a_card_in_its_place_and_the_page_goes_on(start_webui):
    """Each element comes from a separate module; the page keeps working after every failure."""
    files = {}
    for name, (script, _) in FAILING.items():
        files[f"{name}_fails"] = FAILING_MODULE.replace("NAME", name).replace("weather-panel", f"{name}-fails-panel")
        files[f"{name}_files/panel.js"] = script.replace("weather-panel", f"{name}-fails-panel")
    ui = await start_webui(files=files)
    ui.allowed_errors += [*(reason for _, reason in FAILING.values()), "404", "Unexpected"]
    page = await ui.page()
    for name, (_, reason) in FAILING.items():
        await page.goto(f"{ui.address}/#/pages/{name}_fails")
        card = page.get_by_role("main").get_by_role("alert")
        await expect(card).to_contain_text("This page of a module failed")
        await expect(card).to_contain_text(reason)
        await page.get_by_role("link", name="Modules", exact=True).click()
        await expect(page.get_by_role("heading", name="Modules", level=1)).to_be_visible()


@pytest.mark.more
async def test_side_bar_lists_the_page_and_its_script_is_loaded_at_first_use(start_webui):
    ui = await start_webui(files=FILES)
    page = await ui.page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    link = page.get_by_role("navigation", name="Sections").get_by_role("link", name="Weather")
    await expect(link).to_be_visible()
    assert not [url for url in asked if "panel.js" in url]
    await link.click()
    await expect(page.get_by_role("heading", name="First edition")).to_be_visible()
    assert [url for url in asked if "panel.js" in url]
    await page.get_by_label("Language").select_option("zh")
    await expect(page.get_by_role("navigation").get_by_role("link", name="天气")).to_be_visible()


@pytest.mark.more
async def test_element_gets_a_client_for_tools_events_and_its_own_routes(ui):
    page = await ui.page("#/pages/weather")
    await page.get_by_role("button", name="Ask").click()
    await expect(page.get_by_text("said: sunny in Bonn")).to_be_visible()
    await expect(page.get_by_text("heard: Bonn")).to_be_visible()
    await page.get_by_role("button", name="Look").click()
    await expect(page.get_by_text("said: 21 C")).to_be_visible()


async def test_element_inherits_the_look_of_the_page_in_both_themes(ui):
    page = await ui.page("#/pages/weather", color_scheme="light")
    title = page.get_by_role("heading", name="First edition")
    await expect(title).to_have_css("color", "rgb(36, 86, 204)")
    await page.get_by_role("radio", name="Dark theme").check(force=True)
    await expect(title).to_have_css("color", "rgb(143, 179, 255)")


@pytest.mark.more
async def test_reload_takes_up_new_scripts_without_a_reload_of_the_page(ui):
    page = await ui.page("#/pages/weather")
    await expect(page.get_by_role("heading", name="First edition")).to_be_visible()
    await page.evaluate("window.isSameDocument = true")
    for edition in ("Second edition", "Third edition", "First edition"):
        ui.write("weather_files/words.js", f"export const words = '{edition}';")
        await ui.host.modules.reload("weather")
        await expect(page.get_by_role("heading", name=edition)).to_be_visible()
    await page.get_by_role("button", name="Ask").click()
    await expect(page.get_by_text("said: sunny in Bonn")).to_be_visible()
    assert await page.evaluate("window.isSameDocument")


async def test_listeners_of_an_element_end_with_it(ui):
    page = await ui.page("#/pages/weather")
    await expect(page.get_by_role("heading", name="First edition")).to_be_visible()
    await page.get_by_role("link", name="Modules", exact=True).click()
    await expect(page.get_by_role("heading", name="Modules", level=1)).to_be_visible()
    await page.evaluate("""import('/static/client/client.js').then(({client}) => {
        delete window.heardByPanel;
        window.seen = 0;
        client.on('weather.asked', () => { window.seen += 1; });
    })""")
    await ui.server.running.call("weather_now", city="Bonn")
    await page.wait_for_function("() => window.seen === 1")
    assert await page.evaluate("window.heardByPanel") is None


@pytest.mark.parametrize(("button", "reason"), [("Break", "the button broke"), ("Break later", "the promise broke")])
async def test_error_of_a_handler_shows_a_card_and_keeps_what_was_typed(ui, button, reason):
    ui.allowed_errors.append(reason)
    page = await ui.page("#/pages/weather")
    await page.get_by_label("Notes").fill("half a thought")
    await page.get_by_role("button", name=button, exact=True).click()
    card = page.get_by_role("main").get_by_role("alert")
    await expect(card).to_contain_text(reason)
    await expect(page.get_by_label("Notes")).to_have_value("half a thought")
    await page.get_by_role("button", name="Dismiss").click()
    await expect(card).to_be_hidden()


async def test_element_is_started_again_from_its_card(ui):
    ui.allowed_errors.append("the button broke")
    page = await ui.page("#/pages/weather")
    await page.get_by_label("Notes").fill("gone after this")
    await page.get_by_role("button", name="Break", exact=True).click()
    await page.get_by_role("button", name="Start it again").click()
    await expect(page.get_by_role("main").get_by_role("alert")).to_be_hidden()
    await expect(page.get_by_label("Notes")).to_have_value("")


async def test_page_of_a_disabled_module_goes_and_comes_back(ui):
    page = await ui.page("#/pages/weather")
    await expect(page.get_by_role("heading", name="First edition")).to_be_visible()
    await ui.host.modules.disable("weather")
    await expect(page.get_by_text("Weather is not running")).to_be_visible()
    await expect(page.get_by_role("navigation").get_by_role("link", name="Weather")).to_be_hidden()
    await ui.host.modules.enable("weather")
    await expect(page.get_by_role("heading", name="First edition")).to_be_visible()


@pytest.mark.more
async def test_resource_with_a_view_is_a_tab_until_it_is_closed(ui):
    page = await ui.page()
    await expect(page.get_by_role("navigation", name="Open resources")).to_be_hidden()
    resource_id = (await ui.server.running.call("open_station")).content[0].text
    tabs = page.get_by_role("navigation", name="Open resources")
    await tabs.get_by_role("link", name="Station").click()
    await expect(page.get_by_role("heading", name=f"Station {resource_id}")).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("heading", name=f"Station {resource_id}")).to_be_visible()
    await tabs.get_by_role("button", name="Close Station").click()
    await page.locator("ac-confirm").get_by_role("button", name="Close tab").click()
    await expect(tabs).to_be_hidden()
    assert ui.host.resources.list() == []
    await expect(page.get_by_role("heading", name="New chat")).to_be_visible()

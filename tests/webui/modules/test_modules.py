"""The modules view: states, what each brings, why one fails, and turning them on and off.

Tests with a server of their own come first: it listens where the page's files are cached, until that of the file does.
"""

import asyncio
import json
import re

import pytest
from playwright.async_api import expect

pytestmark = pytest.mark.spec("M4", "M7")

CLOCK = '''
from agentcore.api import Module, Response, tool

class Clock(Module):
    """The time, for agents that would otherwise guess it."""

    title = "Clock"

    def init(self, runtime):
        runtime.add_route("GET", "zones", self.zones)

    async def zones(self, request):
        return Response([])

    @tool(read_only=True)
    async def clock_now(self, zone: str = "UTC") -> str:
        """Return the current time. A second sentence is for models.

        Args:
            zone: IANA name.
        """
        return zone
'''
SECOND_CLOCK = CLOCK.replace("zones", "places").replace('title = "Clock"', 'title = "Second clock"')
BROKEN = '''
from agentcore.api import Module

class Broken(Module):
    """Never starts."""

    def init(self, runtime):
        self._connect()

    def _connect(self):
        raise RuntimeError("no key for the server: set config.broken.api_key in app.json")
'''
FORESEEN = '''
from agentcore.api import Module, ToolError

class Foreseen(Module):
    """Runs a program."""

    def init(self, runtime):
        raise ToolError("program_failed", "the program ended with exit code 4", output="first line\\nlast line")
'''
LATE = '''
from agentcore.api import Module

class Late(Module):
    """Needs something that is not there yet."""

    def init(self, runtime):
        said = "the server ended with exit code 4"
        runtime.set_waiting("retry", said, output="first line\\nlast line", retry_in_s=3000)
'''
WAITING = '''
import asyncio
from agentcore.api import Module, tool

class Waiting(Module):
    """Calls that go on."""

    @tool(read_only=True)
    async def waiting_on(self) -> str:
        """Wait."""
        self.runtime.publish("entered", {})
        await asyncio.Event().wait()
'''
KEYED = '''
from agentcore.api import Module, tool

class Keyed(Module):
    """Needs a setting."""

    class Settings(Module.Settings):
        station: str = ""

    def init(self, runtime):
        if not runtime.settings.station:
            raise RuntimeError("no station is set: set config.keyed.station in app.json")

    @tool(read_only=True)
    async def keyed_look(self) -> str:
        """Look."""
        return "seen"
'''
SLIPPING = """
from agentcore.api import Module

class Slipping(Module):
    config_key = 3
"""
ADDING = """
from pathlib import Path
from agentcore.api import Module, WebComponent

class Adding(Module):
    title = {"en": "Maps", "zh": "地图"}

    def get_web_component(self):
        folder = Path(__file__).parent / "adding_page"
        folder.mkdir(exist_ok=True)
        (folder / "main.js").write_text("export {}")
        return WebComponent("adding-x", "main.js", folder, "Maps", csp={"img-src": ["https://tiles.example.org"]})
"""
REPAIRED = CLOCK.replace("Clock", "Repaired").replace("clock", "repaired").replace("zones", "hours")
FILES = {
    "clock": CLOCK,
    "second": SECOND_CLOCK,
    "broken": BROKEN,
    "waiting": WAITING,
    "keyed": KEYED,
    "repaired": BROKEN.replace("Broken", "Repaired"),
    "slipping": SLIPPING,
    "adding": ADDING,
}


def row(page, name):
    return page.get_by_role("article").filter(has=page.get_by_role("link", name=name, exact=True))


UI = {"files": FILES, "config": {"modules": [*FILES, "ghost"], "limits": {"stop_grace": 0.1}}}
# what a test changes of a module, no other test looks at


CLOSE_MESSAGES = """async () => {
  const {toasts} = await import('/static/ui/toasts.js');
  for (const {id} of [...toasts.shown]) toasts.remove(id);
}"""


async def confirm_what_waits(ui, page):
    """Say yes to the one change that waits, once the page says that it does."""
    ui.allowed_errors.append("403")  # a change that waits is refused until it is confirmed
    messages = page.get_by_role("status", name="Messages")
    await expect(messages.get_by_text("It waits for your confirmation")).to_be_visible()
    await page.evaluate(CLOSE_MESSAGES)  # no click on one of them: they go by themselves after some seconds
    (change,) = ui.host.policy_changes.waiting
    await ui.host.policy_changes.decide_change(change.change_id, approved=True, by="test")
    return change.proposal


async def test_module_is_disabled_and_enabled_once_that_is_confirmed_and_app_json_says_so(start_webui):
    ui = await start_webui(files={"clock": CLOCK})
    page = await ui.page("#/modules")
    await page.get_by_role("button", name="Disable Clock").click()
    await expect(row(page, "Clock")).to_contain_text("Off")
    assert json.loads((ui.folder / "app.json").read_text())["modules"] == []
    await expect(page.get_by_text("No module is in use")).to_be_visible()

    await page.get_by_role("button", name="Enable Clock").click()
    await expect(row(page, "Clock")).to_contain_text("Off")
    assert (await confirm_what_waits(ui, page)).kind == "module"
    await expect(row(page, "Clock")).to_contain_text("Ready")
    assert json.loads((ui.folder / "app.json").read_text())["modules"] == ["clock"]


async def test_without_modules_the_page_says_how_to_begin(start_webui):
    ui = await start_webui()
    page = await ui.page("#/modules")
    await expect(page.get_by_text("No module is in use")).to_be_visible()
    await expect(page.get_by_role("heading", name="Installed, not in use")).to_be_visible()
    await expect(page.get_by_role("button", name=re.compile("^Enable "))).not_to_have_count(0)


@pytest.mark.more
async def test_side_bar_leads_to_the_module_that_needs_attention(start_webui):
    ui = await start_webui(files={"clock": CLOCK, "broken": BROKEN})
    page = await ui.page()
    await page.get_by_role("link", name="Modules 1 module needs attention").click()
    await expect(row(page, "Broken")).to_contain_text("set config.broken.api_key")


@pytest.mark.more
async def test_other_distribution_waits_and_is_chosen_in_the_approval_view(start_webui, acme_site):
    info = acme_site.install("acme-clock", {"clock": "acme_clock:Clock"}, {"acme_clock.py": CLOCK})
    ui = await start_webui(config={"modules": ["clock"]})
    acme_site.uninstall(info)
    acme_site.install("evil-clock", {"clock": "evil_clock:Clock"}, {"evil_clock.py": CLOCK}, version="9.0")
    await ui.host.modules.disable("clock")
    await ui.host.modules.enable("clock")
    page = await ui.page("#/modules")
    await expect(row(page, "Clock")).to_contain_text("Waits for you")
    await expect(row(page, "Clock")).to_contain_text("evil-clock")
    await page.get_by_role("link", name="Clock", exact=True).click()
    others = page.get_by_role("region", name="What has this name")
    await expect(others).to_contain_text("evil_clock.py")
    await others.get_by_role("button", name="Use evil-clock").click()
    ui.allowed_errors.append("403")
    messages = page.get_by_role("status", name="Messages")
    await expect(messages.get_by_text("It waits for your confirmation")).to_be_visible()
    change = ui.host.policy_changes.waiting[-1]
    assert (change.proposal.kind, change.proposal.paths) == ("module_source", ("evil-clock",))
    await ui.host.policy_changes.decide_change(change.change_id, approved=True, by="test")
    await expect(page.get_by_text("Ready", exact=True)).to_be_visible()
    assert ui.host.policy_changes.waiting == []


@pytest.mark.more
async def test_card_of_what_stands_behind_a_name_shows_both_and_does_not_expire(start_webui, acme_site):
    for name in ("acme-clock", "other-clock"):
        package = name.replace("-", "_")
        acme_site.install(name, {"clock": f"{package}:Clock"}, {f"{package}.py": CLOCK})
    ui = await start_webui(config={"modules": ["clock"]})
    page = await ui.page(is_logged_in=False)
    await page.goto(f"{ui.server.approval_address}/#code={ui.host.store.approval_sessions.create_code()}")
    cards = page.get_by_role("article", name="Use this as the module clock")
    await expect(cards).to_have_count(2)
    for name in ("acme-clock", "other-clock"):
        await expect(cards.filter(has_text=f"+ {name} 1.0")).to_contain_text(f"{name.replace('-', '_')}.py")
    await expect(cards.first.get_by_role("timer")).to_have_count(0)
    await cards.filter(has_text="+ other-clock").get_by_role("button", name="Apply").click()
    await expect(cards).to_have_count(0)
    async with asyncio.timeout(60):
        while ui.host.modules.get_record("clock").origin.get("distribution") != "other-clock":
            await asyncio.sleep(0.02)


@pytest.mark.more
async def test_old_code_that_goes_on_is_told_with_the_version_on_the_disk_and_the_traceback(start_webui, acme_site):
    info = acme_site.install("acme-clock", {"clock": "acme_clock:Clock"}, {"acme_clock.py": CLOCK})
    ui = await start_webui(config={"modules": ["clock"]})
    acme_site.uninstall(info)
    broken = CLOCK + "\ndef load():\n    raise OSError('no such thing')\nload()\n"
    acme_site.install("acme-clock", {"clock": "acme_clock:Clock"}, {"acme_clock.py": broken}, version="2.0")
    await ui.host.modules.reload("clock")
    page = await ui.page("#/modules")
    await expect(row(page, "Clock")).to_contain_text("2.0 on disk")
    await expect(row(page, "Clock")).to_contain_text("1 problem")
    await page.get_by_role("link", name="Clock", exact=True).click()
    card = page.get_by_role("alert")
    await expect(card).to_contain_text("Clock runs its old code")
    await expect(card).to_contain_text("no such thing; the code from before goes on")
    await expect(card.get_by_role("region", name="Details")).to_contain_text("in load")


@pytest.mark.more
async def test_failed_module_shows_the_output_of_its_program_and_no_traceback(start_webui):
    ui = await start_webui(files={"foreseen": FORESEEN}, config={"modules": ["foreseen"]})
    page = await ui.page("#/modules/foreseen")
    card = page.get_by_role("alert")
    await expect(card).to_contain_text("the program ended with exit code 4")
    await expect(card.get_by_role("region", name="What it wrote last")).to_have_text("first line\nlast line")
    await expect(card).not_to_contain_text("Traceback")


@pytest.mark.more
async def test_module_that_is_tried_again_says_when_and_what_its_program_wrote(start_webui):
    ui = await start_webui(files={"late": LATE}, config={"modules": ["late"]})
    page = await ui.page("#/modules")
    await expect(row(page, "Late")).to_contain_text(re.compile(r"Retrying in 2,\d{3} s"))
    await expect(row(page, "Late")).to_contain_text("the server ended with exit code 4")
    await page.get_by_role("link", name="Late", exact=True).click()
    card = page.get_by_role("alert")
    await expect(page.get_by_text("It is tried again by itself")).to_be_visible()
    await expect(card.get_by_role("region", name="What it wrote last")).to_have_text("first line\nlast line")
    await expect(page.get_by_text(re.compile(r"Retrying in 2,\d{3} s"))).to_be_visible()
    ui.host.modules.get_record("late").set_waiting(None)
    await expect(card).to_have_count(0)
    await expect(page.get_by_text("Ready", exact=True)).to_be_visible()


@pytest.mark.more
async def test_list_tells_state_and_content_of_each_module(ui):
    page = await ui.page("#/modules")
    await expect(row(page, "Clock")).to_contain_text("Ready")
    await expect(row(page, "Clock")).to_contain_text("1 tool")
    await expect(row(page, "Clock")).to_contain_text("1 route")
    await expect(row(page, "Second clock")).to_contain_text("0 tools")
    await expect(row(page, "Second clock")).to_contain_text("1 problem")
    await expect(row(page, "Broken")).to_contain_text("Failed")
    await expect(row(page, "Broken")).to_contain_text("set config.broken.api_key")
    await expect(row(page, "Ghost")).to_contain_text("Not installed")
    await expect(page.get_by_text("5 modules need attention")).to_be_attached()


async def test_failed_module_shows_reason_and_the_end_of_the_traceback(ui):
    page = await ui.page("#/modules/broken")
    card = page.get_by_role("alert")
    await expect(card).to_contain_text("Broken did not start")
    await expect(card).to_contain_text("no key for the server")
    traceback = card.get_by_role("region", name="Details")
    await expect(traceback).to_contain_text("in _connect")
    await expect(traceback.get_by_text("RuntimeError")).to_be_in_viewport()


async def test_conflict_names_both_modules(ui):
    page = await ui.page("#/modules/second")
    problem = page.get_by_role("region", name="Problems").get_by_role("listitem")
    await expect(problem).to_contain_text("clock_now")
    await expect(problem).to_contain_text("'clock'")


async def test_module_shows_tools_and_routes_with_their_first_sentence(ui):
    page = await ui.page("#/modules/clock")
    tools = page.get_by_role("region", name="1 tool")
    await expect(tools).to_contain_text("Return the current time.")
    await expect(tools).not_to_contain_text("second sentence")
    await expect(page.get_by_role("region", name="1 route")).to_contain_text("/api/modules/clock/zones")
    await expect(page.get_by_role("region", name="About")).to_contain_text("clock.py")


async def test_state_follows_what_others_do(ui):
    page = await ui.page("#/modules")
    await expect(row(page, "Waiting")).to_contain_text("Ready")
    await ui.host.modules.disable("waiting")
    await expect(row(page, "Waiting")).to_contain_text("Off")
    await ui.host.modules.enable("waiting")
    await expect(row(page, "Waiting")).to_contain_text("Ready")


@pytest.mark.more
async def test_module_is_disabled_at_once_and_the_calls_that_ended_with_it_are_told(ui):
    page = await ui.page("#/modules")
    async with asyncio.TaskGroup() as group:
        call = group.create_task(ui.server.running.outcome("waiting_on"))
        await ui.server.running.events.wait_for("waiting.entered")
        await page.get_by_role("button", name="Disable Waiting").click()
        await expect(row(page, "Waiting")).to_contain_text("Off")
        await expect(page.get_by_text("1 call that ran in it was ended.")).to_be_visible()
    assert ui.host.policy_changes.waiting == []
    assert call.result().error.type == "module_stopping"


@pytest.mark.more
async def test_repaired_module_starts_by_reload_and_one_that_breaks_runs_on_and_says_why(ui):
    page = await ui.page("#/modules/repaired")
    await expect(page.get_by_role("alert")).to_be_visible()
    ui.write("repaired", REPAIRED)
    await page.get_by_role("button", name="Reload Repaired").click()
    assert (await confirm_what_waits(ui, page)).kind == "module_reload"
    await expect(page.get_by_role("region", name="1 tool")).to_be_visible()
    await expect(page.get_by_role("alert")).to_be_hidden()

    ui.write("repaired", "import nothing_of_this_name")
    await page.get_by_role("button", name="Reload Repaired").click()
    await confirm_what_waits(ui, page)
    await expect(page.get_by_text("the code on the disk was not loaded")).to_contain_text("nothing_of_this_name")
    await expect(page.get_by_role("region", name="1 tool")).to_be_visible()


@pytest.mark.more
async def test_failing_module_is_repaired_by_its_settings_where_its_reason_stands(ui):
    page = await ui.page("#/modules/keyed")
    await expect(page.get_by_role("alert")).to_contain_text("no station is set")
    settings = page.get_by_role("region", name="Settings")
    await settings.get_by_role("textbox").first.fill("Bonn")
    await page.get_by_role("button", name="Review").click()
    await page.get_by_role("button", name="Save and reload once confirmed").click()
    assert (await confirm_what_waits(ui, page)).kind == "settings_reload"
    await expect(page.get_by_role("region", name="1 tool")).to_contain_text("keyed_look")
    await expect(page.get_by_role("alert")).to_be_hidden()
    assert json.loads((ui.folder / "modules" / "keyed.json").read_text()) == {"station": "Bonn"}


async def test_refused_change_says_why(ui):
    ui.allowed_errors.append("409")
    page = await ui.page("#/modules")
    whole = (ui.folder / "app.json").read_text()
    (ui.folder / "app.json").write_text("{ not json")
    await page.get_by_role("button", name="Disable Clock").click()
    await expect(page.get_by_role("status", name="Messages")).to_contain_text("Clock could not be disabled")
    await expect(page.get_by_role("status", name="Messages")).to_contain_text("app.json")
    await expect(row(page, "Clock")).to_contain_text("Ready")
    (ui.folder / "app.json").write_text(whole)


async def test_unknown_module_is_said_to_be_unknown(ui):
    page = await ui.page("#/modules/nobody")
    await expect(page.get_by_text("There is no module “nobody”")).to_be_visible()


@pytest.mark.more
async def test_list_that_cannot_be_loaded_says_so_and_can_be_tried_again(ui):
    ui.allowed_errors.append("Failed to load resource")
    page = await ui.page()
    await page.route("**/api/modules", lambda route: route.abort())
    await page.reload()
    await page.get_by_role("link", name="Modules", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    await page.unroute("**/api/modules")
    await page.get_by_role("button", name="Try again").click()
    await expect(row(page, "Clock")).to_contain_text("Ready")


@pytest.mark.more
async def test_module_with_a_slip_is_listed_with_its_reason_and_can_be_switched_off(ui):
    page = await ui.page("#/modules")
    await expect(row(page, "Clock")).to_contain_text("Ready")
    await expect(row(page, "Slipping")).to_contain_text("config_key of module 'slipping' must be text, not 3")
    await page.get_by_role("button", name="Disable Slipping").click()
    await expect(row(page, "Slipping")).to_contain_text("Off")
    await row(page, "Maps").get_by_role("link", name="Maps", exact=True).click()
    await expect(page.get_by_text("img-src https://tiles.example.org")).to_be_visible()
    await expect(page.get_by_text("Adds to the page")).to_be_visible()


async def test_state_of_a_module_is_a_word_and_not_only_a_colour(mount, axe_problems):
    words = {
        "ready": "Ready",
        "loading": "Starting",
        "stopping": "Stopping",
        "failed": "Failed",
        "missing": "Not installed",
        "stopped": "Off",
    }
    shown = await mount("ac-state", room="modules")
    await shown.element.evaluate(
        """async (element, states) => {
            await import('/static/base/later-strings.js');
            element.replaceWith(...states.map((state) => Object.assign(element.cloneNode(), {room: 'modules', state})));
        }""",
        list(words),
    )
    await expect(shown.page.locator("ac-state")).to_have_text(list(words.values()))
    assert await axe_problems(shown.page) == []

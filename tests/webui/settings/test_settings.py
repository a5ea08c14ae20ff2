"""The settings view: where values come from, the diff before changes are saved, and what is not changed here."""

import json
import re

import pytest
import pytest_asyncio
from playwright.async_api import expect

pytestmark = pytest.mark.spec("K3", "K5", "M3")

PHONE = {"width": 390, "height": 844}
WEATHER = '''
from typing import Annotated, Literal

from pydantic import field_validator

from agentcore.api import BaseModel, Field, Module, SecretStr, tool

HARMLESS = {"x-harmless": True}

class Proxy(BaseModel):
    host: str = "localhost"
    password: SecretStr | None = None

class Weather(Module):
    """Weather."""

    class Settings(Module.Settings):
        api_key: Annotated[SecretStr | None, Field(description="Of the service.")] = None
        unit: Annotated[Literal["celsius", "kelvin"], Field(json_schema_extra=HARMLESS)] = "celsius"
        count: Annotated[int, Field(ge=1, le=14, description="Days of a forecast.", json_schema_extra=HARMLESS)] = 3
        cache: Annotated[bool, Field(json_schema_extra=HARMLESS)] = True
        cities: list[str] = ["Oslo"]
        headers: dict[str, str] = {}
        proxy: Proxy = Proxy()

        @field_validator("cities")
        @classmethod
        def _known(cls, cities):
            if "Atlantis" in cities:
                raise ValueError("Atlantis is not on any map")
            return cities

    @tool(read_only=True)
    async def weather_count(self) -> int:
        """Days."""
        return self.settings.count
'''
PLAIN = '''
from agentcore.api import Module, tool

class Plain(Module):
    """Nothing to set."""

    @tool(read_only=True)
    async def plain_one(self) -> int:
        """One."""
        return 1
'''
CONFIG = {"config": {"weather": {"count": 2, "api_key": "hunter2"}}, "limits": {"stop_grace": 1}}


@pytest_asyncio.fixture(loop_scope="session")
async def ui(start_webui):
    return await start_webui(files={"weather": WEATHER, "plain": PLAIN}, config=CONFIG)


def app_json(ui):
    return json.loads((ui.folder / "app.json").read_text())


def own_file(ui):
    return json.loads((ui.folder / "modules" / "weather.json").read_text())


def row(page, key):
    return page.get_by_role("group").filter(has=page.locator(f"code.key:text-is('{key}')")).last


async def review(page):
    await page.get_by_role("button", name="Review and save").click()
    await expect(page.get_by_role("dialog", name="What will change")).to_be_visible()
    # not the dialog itself: what it shows is slotted into it, and stands outside of it in the document
    return page.locator("ac-settings-review")


async def test_each_value_says_where_it_comes_from(ui):
    page = await ui.page("#/settings")
    await expect(row(page, "limits.stop_grace")).to_contain_text("app.json, line 1")
    await expect(row(page, "limits.init_timeout")).to_contain_text("Default")
    await page.get_by_role("link", name="Weather").click()
    await expect(page).to_have_url(re.compile("#/settings/weather$"))
    await expect(row(page, "count")).to_contain_text("app.json, line 1")
    await expect(row(page, "unit")).to_contain_text("Default")
    await page.reload()
    await expect(row(page, "count").get_by_role("spinbutton")).to_have_value("2")


async def decide(ui, *, approved=True):
    """The person's word on the one change that waits."""
    ui.allowed_errors.append("403")  # a change that waits is refused until it is confirmed
    (change,) = ui.host.policy_changes.waiting
    await ui.host.policy_changes.decide_change(change.change_id, approved=approved, by="test")


def messages(page):
    return page.get_by_role("status", name="Messages")


@pytest.mark.more
async def test_what_is_not_harmless_waits_for_a_confirmation_and_goes_on_by_itself(ui):
    page = await ui.page("#/settings")
    await expect(page.get_by_text("What is marked with a shield is saved once you confirm it")).to_be_visible()
    for key in ("approvals.mode", "workspace.roots", "server.port", "limits.stop_grace", "agents", "modules_dir"):
        await expect(row(page, key)).to_contain_text("Counts once you confirm it")
    await expect(row(page, "locale")).not_to_contain_text("Counts once you confirm it")
    await row(page, "approvals.mode").get_by_role("combobox").select_option("deny")
    unsaved = page.get_by_role("region", name="Changes that are not saved")
    await expect(unsaved).to_contain_text("1 change to be confirmed")
    dialog = await review(page)
    await expect(dialog).to_contain_text("This waits until you confirm it in the approval view")
    await dialog.get_by_role("button", name="Save once confirmed").click()
    await expect(messages(page)).to_contain_text("It waits for your confirmation")
    await expect(page.get_by_text("Waits for your confirmation in the approval view: approvals.mode")).to_be_visible()
    await expect(row(page, "approvals.mode")).to_contain_text("Waits for you")
    assert "approvals" not in app_json(ui)
    await decide(ui)
    assert app_json(ui)["approvals"] == {"mode": "deny"}
    await expect(row(page, "approvals.mode").get_by_role("combobox").locator("option:checked")).to_have_text("deny")
    await expect(page.get_by_text("Waits for your confirmation in the approval view")).to_have_count(0)
    await expect(messages(page)).to_contain_text("Saved")


@pytest.mark.more
async def test_change_that_is_refused_stands_in_the_form_again(ui):
    page = await ui.page("#/settings")
    grace = row(page, "limits.stop_grace").get_by_role("spinbutton")
    await grace.fill("2.5")
    dialog = await review(page)
    await dialog.get_by_role("button", name="Save once confirmed").click()
    await expect(page.get_by_text("Waits for your confirmation in the approval view")).to_be_visible()
    await expect(grace).to_have_value("1")
    await decide(ui, approved=False)
    await expect(messages(page)).to_contain_text("Not saved")
    await expect(grace).to_have_value("2.5")
    await expect(page.get_by_role("region", name="Changes that are not saved")).to_contain_text("1 change")


@pytest.mark.more
async def test_one_setting_that_is_not_harmless_makes_all_of_a_save_wait_for_one_word(ui):
    page = await ui.page("#/settings/weather")
    await row(page, "count").get_by_role("spinbutton").fill("9")
    await row(page, "cities").get_by_role("textbox").first.fill("Rome")
    dialog = await review(page)
    await dialog.get_by_role("button", name="Save and reload once confirmed").click()
    await expect(page.get_by_text("Waits for your confirmation in the approval view: count, cities")).to_be_visible()
    assert not (ui.folder / "modules" / "weather.json").exists()
    await decide(ui)
    assert own_file(ui) == {"count": 9, "cities": ["Rome"]}
    await expect(row(page, "count").get_by_role("spinbutton")).to_have_value("9")
    await expect(page.get_by_text("The module runs with other settings")).to_have_count(0)
    assert ui.host.modules.get_record("weather").runtime.settings.count == 9


@pytest.mark.more
async def test_secret_is_only_said_to_be_there(ui):
    page = await ui.page("#/settings/weather")
    field = row(page, "api_key").get_by_role("textbox")
    await expect(field).to_have_attribute("placeholder", re.compile("A value is set"))
    await expect(field).to_have_value("")
    await expect(row(page, "api_key")).to_contain_text("Counts once you confirm it")
    assert "hunter2" not in await page.content()


@pytest.mark.more
async def test_change_is_saved_after_a_look_at_the_diff(ui):
    page = await ui.page("#/settings")
    await row(page, "locale").get_by_role("radio", name="zh").check()
    await expect(page.get_by_role("region", name="Changes that are not saved")).to_contain_text("1 change")
    dialog = await review(page)
    await expect(dialog).to_contain_text('"locale": "zh"')
    await expect(dialog).not_to_contain_text("hunter2")
    assert "locale" not in app_json(ui)
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    await expect(row(page, "locale")).to_contain_text("From the next start on")
    assert app_json(ui)["locale"] == "zh"


@pytest.mark.more
async def test_harmless_settings_of_a_module_count_after_saving_and_reloading(ui):
    page = await ui.page("#/settings/weather")
    await row(page, "count").get_by_role("spinbutton").fill("9")
    dialog = await review(page)
    await dialog.get_by_role("button", name="Save and reload").click()
    await expect(messages(page)).to_contain_text("Saved")
    async with ui.server.post("/api/tools/weather_count/call", json={"arguments": {}}) as response:
        assert (await response.json())["data"] == 9


@pytest.mark.more
async def test_saving_without_a_reload_says_that_the_module_runs_with_others(ui):
    page = await ui.page("#/settings/weather")
    await row(page, "count").get_by_role("spinbutton").fill("9")
    dialog = await review(page)
    await dialog.get_by_role("button", name="Save, reload later").click()
    await expect(page.get_by_text("The module runs with other settings")).to_be_visible()
    await page.get_by_role("button", name="Reload now").click()
    await expect(page.get_by_text("The module runs with other settings")).to_be_hidden()


@pytest.mark.more
async def test_lists_maps_switches_and_groups_are_changed(ui):
    page = await ui.page("#/settings/weather")
    await row(page, "cities").get_by_role("button", name="Add").click()
    await row(page, "cities").get_by_role("textbox").nth(1).fill("Rome")
    await row(page, "cache").get_by_role("checkbox").uncheck()
    await row(page, "proxy.host").get_by_role("textbox").fill("proxy.example")
    await row(page, "headers").get_by_role("textbox").first.fill("Accept")
    await row(page, "headers").get_by_role("button", name="Add").click()
    await row(page, "headers").get_by_role("textbox", name="Accept").fill("text/plain")
    dialog = await review(page)
    await dialog.get_by_role("button", name="Save, reload later").click()
    await expect(dialog).to_have_count(0)
    await decide(ui)
    assert own_file(ui) == {
        "cities": ["Oslo", "Rome"],
        "cache": False,
        "proxy": {"host": "proxy.example"},
        "headers": {"Accept": "text/plain"},
    }


@pytest.mark.more
async def test_map_is_saved_entry_by_entry_so_that_what_is_not_shown_of_it_stays(start_webui):
    config = {"config": {"weather": {"headers": {"Authorization": "hunter2", "Via": "a"}}}}
    own = '{"headers": {"X-Token": "hunter3", "From": "me"}}'
    ui = await start_webui(files={"weather": WEATHER}, config=config)
    (ui.folder / "modules" / "weather.json").write_text(own)
    page = await ui.page("#/settings/weather")
    headers = row(page, "headers")
    await headers.get_by_role("textbox", name="Via").fill("b")
    await headers.get_by_role("button", name="Remove From").click()
    dialog = await review(page)
    await dialog.get_by_role("button", name="Save and reload once confirmed").click()
    await expect(dialog).to_have_count(0)
    await decide(ui)
    await expect(page.get_by_text("Saved").first).to_be_visible()
    assert own_file(ui) == {"headers": {"X-Token": "hunter3", "Via": "b"}}
    assert app_json(ui)["config"] == config["config"]


@pytest.mark.more
async def test_value_that_is_not_valid_is_marked_where_it_stands(ui):
    page = await ui.page("#/settings/weather")
    field = row(page, "count").get_by_role("spinbutton")
    await field.fill("70")
    await page.get_by_role("button", name="Review and save").click()
    await expect(row(page, "count")).to_contain_text("At most 14")
    await expect(field).to_be_focused()
    await expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.mark.more
async def test_what_only_the_module_knows_to_be_wrong_is_marked_too(ui):
    ui.allowed_errors.append("400")
    page = await ui.page("#/settings/weather")
    await row(page, "cities").get_by_role("textbox").first.fill("Atlantis")
    await page.get_by_role("button", name="Review and save").click()
    await expect(row(page, "cities")).to_contain_text("Atlantis is not on any map")
    assert "cities" not in app_json(ui)["config"]["weather"]
    await row(page, "cities").get_by_role("textbox").first.fill("Rome")
    await expect(row(page, "cities")).not_to_contain_text("Atlantis")


@pytest.mark.more
async def test_module_that_fails_because_of_a_setting_is_mended(start_webui):
    ui = await start_webui(files={"weather": WEATHER, "./weather.json": '{"cuont": 7}'})
    page = await ui.page("#/settings/weather")
    stranger = row(page, "cuont")
    await expect(stranger).to_contain_text("did you mean 'count'?")
    await stranger.get_by_role("button", name="Remove cuont").click()
    await row(page, "count").get_by_role("spinbutton").fill("7")
    dialog = await review(page)
    await dialog.get_by_role("button", name="Save and reload once confirmed").click()
    await expect(page.get_by_text("Waits for your confirmation in the approval view: cuont, count")).to_be_visible()
    await decide(ui)
    await expect(stranger).to_be_hidden()
    assert own_file(ui) == {"count": 7}
    assert ui.host.modules.get_record("weather").state == "ready"


@pytest.mark.more
async def test_reset_takes_the_value_out_of_the_file(ui):
    (ui.folder / "modules" / "weather.json").write_text('{"cache": false}')
    page = await ui.page("#/settings/weather")
    await row(page, "cache").get_by_role("button", name="Reset cache").click()
    await expect(row(page, "cache")).to_contain_text("Back to default")
    dialog = await review(page)
    await dialog.get_by_role("button", name="Save, reload later").click()
    await expect(dialog).to_have_count(0)
    await expect(row(page, "cache").get_by_role("checkbox")).to_be_checked()
    assert own_file(ui) == {}


@pytest.mark.more
async def test_what_app_json_says_of_a_module_is_not_removed_here(start_webui):
    """No button takes it away; who empties the field is told at its row where the value stands."""
    settings = {"count": 2, "cuont": 7, "headers": {"Via": "a"}}
    ui = await start_webui(files={"weather": WEATHER}, config={"config": {"weather": settings}})
    ui.allowed_errors.append("400")
    page = await ui.page("#/settings/weather")
    await expect(row(page, "cuont")).to_contain_text("app.json says this: remove it there")
    await expect(page.get_by_role("button", name=re.compile("^(Reset|Remove) (cuont|count|headers)$"))).to_have_count(0)
    await row(page, "count").get_by_role("spinbutton").fill("")
    await expect(row(page, "count")).to_contain_text("app.json says this: remove it there")
    await page.get_by_role("button", name="Review and save").click()
    await expect(row(page, "count")).to_contain_text(re.compile(r"ount is set in .*app\.json:\d+, which"))
    await row(page, "count").get_by_role("spinbutton").fill("2")
    await row(page, "headers").get_by_role("button", name="Remove Via").click()
    await page.get_by_role("button", name="Review and save").click()
    await expect(row(page, "headers")).to_contain_text(re.compile(r"eaders\.Via is set in .*app\.json:\d+, which"))
    assert app_json(ui)["config"]["weather"] == settings
    assert not (ui.folder / "modules" / "weather.json").exists()


@pytest.mark.more
async def test_changes_are_undone_and_discarded(ui):
    page = await ui.page("#/settings/weather")
    unsaved = page.get_by_role("region", name="Changes that are not saved")
    count = row(page, "count").get_by_role("spinbutton")
    await count.fill("5")
    await row(page, "cache").get_by_role("checkbox").uncheck()
    await row(page, "cache").get_by_role("button", name="Undo the change of cache").click()
    await expect(unsaved).to_contain_text("1 change")
    await count.fill("2")
    await expect(unsaved).to_be_hidden()
    await count.fill("6")
    await unsaved.get_by_role("button", name="Discard").click()
    await expect(count).to_have_value("2")
    await expect(unsaved).to_be_hidden()


@pytest.mark.more
async def test_value_from_the_environment_is_read_only(start_webui):
    ui = await start_webui(files={"weather": WEATHER}, environ={"AGENTCORE_CONFIG__WEATHER__COUNT": "5"})
    page = await ui.page("#/settings/weather")
    await expect(row(page, "count")).to_contain_text("AGENTCORE_CONFIG__WEATHER__COUNT")
    await expect(row(page, "count")).to_contain_text("5")
    await expect(row(page, "count").get_by_role("spinbutton")).to_have_count(0)


@pytest.mark.more
async def test_file_of_the_module_wins_and_is_the_one_that_is_saved(ui):
    own = ui.folder / "modules" / "weather.json"
    own.write_text('{"count": 4}')
    page = await ui.page("#/settings/weather")
    await expect(row(page, "count")).to_contain_text("modules/weather.json, line 1")
    await row(page, "count").get_by_role("spinbutton").fill("6")
    dialog = await review(page)
    await expect(dialog).to_contain_text(str(own))
    await dialog.get_by_role("button", name="Save, reload later").click()
    await expect(dialog).to_have_count(0)
    assert own.read_text() == '{"count": 6}'
    assert app_json(ui)["config"]["weather"]["count"] == 2
    await row(page, "count").get_by_role("button", name="Reset count to what app.json says").click()
    await expect(row(page, "count")).to_contain_text("Back to what app.json says")
    dialog = await review(page)
    await dialog.get_by_role("button", name="Save, reload later").click()
    await expect(row(page, "count")).to_contain_text("app.json, line 1")
    await expect(row(page, "count").get_by_role("spinbutton")).to_have_value("2")


@pytest.mark.more
async def test_file_that_changed_meanwhile_keeps_both_changes(ui):
    """Somebody edits the file while a form is open: the diff is made anew, and both changes are in the end there."""
    ui.allowed_errors.append("409")
    page = await ui.page("#/settings/weather")
    await row(page, "count").get_by_role("spinbutton").fill("8")
    document = app_json(ui)
    document["config"]["weather"]["unit"] = "kelvin"
    (ui.folder / "app.json").write_text(json.dumps(document, indent=2))
    dialog = await review(page)
    await expect(dialog).to_contain_text("The files changed meanwhile")
    await dialog.get_by_role("button", name="Save, reload later").click()
    await expect(dialog).to_have_count(0)
    assert (own_file(ui), app_json(ui)["config"]["weather"]["unit"]) == ({"count": 8}, "kelvin")
    await expect(row(page, "unit").get_by_role("radio", name="kelvin")).to_be_checked()


@pytest.mark.more
async def test_change_from_elsewhere_is_taken_up_and_keeps_what_is_typed(ui):
    page = await ui.page("#/settings/weather")
    await row(page, "count").get_by_role("spinbutton").fill("8")
    async with ui.server.get("/api/settings/modules/weather") as response:
        digest = (await response.json())["digest"]
    body = {"expected": digest, "changes": [{"path": "/unit", "value": "kelvin"}]}
    async with ui.server.put("/api/settings/modules/weather", json=body) as response:
        assert response.status == 200
    await expect(row(page, "unit").get_by_role("radio", name="kelvin")).to_be_checked()
    await expect(row(page, "count").get_by_role("spinbutton")).to_have_value("8")


@pytest.mark.more
async def test_file_that_is_broken_is_named_and_tried_again(ui):
    ui.allowed_errors.append("409")
    whole = (ui.folder / "app.json").read_text()
    (ui.folder / "app.json").write_text(whole[:-1])
    page = await ui.page("#/settings")
    await expect(page.get_by_role("alert")).to_contain_text("A configuration file cannot be read")
    await expect(page.get_by_role("alert")).to_contain_text(f"{ui.folder / 'app.json'}:1")
    (ui.folder / "app.json").write_text(whole)
    await page.get_by_role("button", name="Try again").click()
    await expect(row(page, "server.port")).to_be_visible()


@pytest.mark.more
async def test_module_without_settings_and_one_that_is_not_there(ui):
    page = await ui.page("#/settings/plain")
    await expect(page.get_by_text("There is nothing to set.")).to_be_visible()
    await page.goto(f"{ui.address}/#/settings/nobody")
    await expect(page.get_by_role("heading", name="No such module")).to_be_visible()


@pytest.mark.more
async def test_module_whose_code_does_not_load_says_where_its_settings_stand(start_webui):
    ui = await start_webui(files={"weather": "raise RuntimeError('no')"}, config=CONFIG)
    page = await ui.page("#/settings/weather")
    await expect(page.get_by_text("The code of this module was not loaded")).to_be_visible()
    await expect(page.get_by_text(f"api_key – {ui.folder / 'app.json'}:1")).to_be_visible()
    assert "hunter2" not in await page.content()


@pytest.mark.more
async def test_who_may_change_policy_can_write_a_secret_and_never_reads_it(ui):
    """The row alone, with a document as the server will send it to somebody with the right."""
    page = await ui.page("#/settings")
    await page.evaluate(
        """async () => {
            await import('/static/settings/ac-settings-row.js');
            const part = {type: 'string', format: 'password', writeOnly: true};
            const origin = {kind: 'app', file: '/app.json', line: 3, variable: null, isReadOnly: false};
            const settings = {
              module: 'weather', files: [], digest: '', schema: {type: 'object', properties: {key: part}}, values: {},
              withheld: ['/key'], origins: {'/key': origin}, problems: [], policy: ['/key'], mayChangePolicy: true,
              policyIsConfirmed: true, waitsForConfirmation: [], overApp: [], waitsForRestart: [],
              waitsForReload: false,
            };
            const element = document.createElement('ac-settings-row');
            const row = {path: ['key'], pointer: '/key', part, kind: 'setting'};
            Object.assign(element, {document: settings, row});
            element.addEventListener('ac-setting-change', ({detail}) => { window.told = detail.value; });
            document.body.replaceChildren(element);
        }"""
    )
    field = page.get_by_role("textbox", name="Key")
    await expect(field).to_have_attribute("type", "password")
    await expect(field).to_have_value("")
    await expect(field).to_have_attribute("placeholder", re.compile("A value is set"))
    await field.fill("sesame")
    assert await page.evaluate("window.told") == "sesame"


@pytest.mark.more
async def test_everything_is_done_by_keyboard(ui):
    page = await ui.page("#/settings/weather")
    await row(page, "count").get_by_role("spinbutton").focus()
    await page.keyboard.press("ArrowUp")
    await page.get_by_role("button", name="Review and save").focus()
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="What will change")
    await expect(page.get_by_role("button", name="Save and reload")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_role("button", name="Review and save")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(dialog).to_be_visible()


@pytest.mark.more
async def test_phone_shows_all_without_scrolling_sideways(ui):
    page = await ui.page("#/settings/weather", viewport=PHONE)
    await row(page, "count").get_by_role("spinbutton").fill("70")
    await page.get_by_role("button", name="Review and save").click()
    await expect(row(page, "count")).to_contain_text("At most 14")
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.more
async def test_chinese_is_complete(ui):
    page = await ui.page("#/settings", locale="zh-CN")
    await expect(page.get_by_role("heading", name="设置", level=1)).to_be_visible()
    await expect(row(page, "server.port")).to_contain_text("端口")
    await expect(row(page, "approvals.mode")).to_contain_text("需要你在审批视图中确认后才生效")


@pytest.mark.more
async def test_change_under_review_is_accessible(ui, axe_problems):
    """The view without a change is among those of `test_fitting.py`."""
    page = await ui.page("#/settings")
    await page.get_by_role("spinbutton").first.fill("7")
    await review(page)
    assert await axe_problems(page) == []

"""Blocks of families in the list of modules: off until they are enabled, each a module of its own."""

import json

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.server.modules import bells
from tests.webui.modules.test_modules import confirm_what_waits, row
from tests.webui.sharing import sharing

pytestmark = pytest.mark.spec("K10", "M7")


async def test_block_is_off_in_the_list_enabled_by_its_button_and_shown_without_secrets(start_webui, acme_site):
    bells.install(acme_site)
    blocks = {"small": {"sound": "ding", "env": {"PLACE": "s3cret"}}, "big": {"sound": "dong"}}
    ui = await start_webui(config={"bells": blocks, "modules": ["bell_big"]})
    page = await ui.page("#/modules")
    await expect(row(page, "Bell dong")).to_contain_text("Ready")
    off = row(page, "small")
    await expect(off).to_contain_text("Off")
    await off.get_by_role("button", name="Enable small").click()
    proposal = await confirm_what_waits(ui, page)
    assert "bells small" in [file for file, _ in proposal.diff]
    await expect(row(page, "Bell ding")).to_contain_text("Ready")
    await row(page, "Bell ding").get_by_role("link", name="Bell ding").click()
    block = page.get_by_role("region", name="Block in app.json")
    await expect(block).to_contain_text('"sound": "ding"')
    await expect(block).to_contain_text('"PLACE": "•••"')
    await expect(block).to_contain_text(f"small of bells, in {ui.host.config.file}:")
    file = ui.host.config.file
    blocks["small"]["sound"] = "dang"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"bells": blocks}))
    await page.reload()
    await expect(page.get_by_role("main")).to_contain_text("another block in app.json")


@pytest.mark.more
async def test_change_of_a_block_in_the_settings_keeps_the_secrets_that_are_not_shown(start_webui, acme_site):
    bells.install(acme_site)
    block = {"sound": "ding", "env": {"PLACE": "s3cret"}, "token": "s3cret"}
    ui = await start_webui(config={"bells": {"small": block}, "modules": ["bell_small"]})
    page = await ui.page("#/settings")
    form = page.get_by_role("main")
    await form.get_by_label("sound").fill("dang")
    await form.get_by_label("sound").blur()
    await form.get_by_role("button", name="Review and save").click()
    await page.get_by_role("button", name="Save once confirmed").click()
    await confirm_what_waits(ui, page)
    assert json.loads(ui.host.config.file.read_text())["bells"] == {"small": block | {"sound": "dang"}}


BLOCKS = {"small": {"sound": "ding"}, "silent": {"sound": "silence"}, "long": {"sound": "ding " * 400}}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(browser, page_pool, tmp_path_factory, bells_site):
    async with sharing(
        browser, page_pool, tmp_path_factory, config={"bells": BLOCKS, "modules": [f"bell_{name}" for name in BLOCKS]}
    ) as ui:
        yield ui


@pytest.mark.more
async def test_failed_block_says_nothing_of_settings_that_are_not_set(ui):
    page = await ui.page("#/modules/bell_silent")
    settings = page.get_by_role("region", name="Settings")
    await expect(settings).to_contain_text("nobody knows what its settings may be")
    await expect(settings).not_to_contain_text("What is set stays in its place")


@pytest.mark.more
async def test_long_title_of_a_module_leaves_room_for_its_page(ui):
    page = await ui.page("#/modules/bell_long")
    heading = page.get_by_role("heading", level=1)
    await expect(heading).to_contain_text("Bell ding")
    assert (await heading.bounding_box())["height"] < 120


async def test_page_of_a_module_says_what_each_of_its_tools_may_do(ui):
    page = await ui.page("#/modules/bell_small")
    tool = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="bell_small_ring"))
    await expect(tool).to_contain_text("Writes")

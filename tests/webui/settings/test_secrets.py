"""Secrets on the page of settings: which there are, who names them, which are missing; removed with a person's word."""

import pytest
from playwright.async_api import expect
from pydantic import SecretStr

from agentcore.store.credentials.secret_table import read_secrets, save_secret
from tests.webui.modules.test_modules import confirm_what_waits

pytestmark = pytest.mark.spec("S2", "P3")

KEYED = '''
from agentcore.api import Module

class Keyed(Module):
    """Uses keys."""

    class Settings(Module.Settings):
        key: str = ""
        other: str = ""
'''


@pytest.fixture
def start(start_webui):
    async def begin(**kept):
        settings = {"key": "${secret:one}", "other": "${secret:gone}"}
        ui = await start_webui(files={"keyed": KEYED}, config={"config": {"keyed": settings}})
        for name, value in kept.items():
            save_secret(ui.host.state.path, name, SecretStr(value))
        return ui

    return begin


def row(page, name):
    return page.get_by_role("listitem").filter(has=page.get_by_text(name, exact=True))


async def test_secrets_are_listed_with_their_users_and_what_is_missing(start):
    ui = await start(one="value-one", idle="value-two")
    page = await ui.page("#/settings/-secrets")
    await expect(row(page, "gone")).to_contain_text("Missing")
    await expect(row(page, "one").get_by_role("link", name="keyed")).to_be_visible()
    await expect(row(page, "idle")).to_contain_text("used by no module that is on")
    assert "value-" not in await page.locator("body").inner_text()
    await expect(page.get_by_role("main").locator("input")).to_have_count(0)


@pytest.mark.more
async def test_secret_is_removed_once_confirmed(start):
    ui = await start(one="value-one")
    page = await ui.page("#/settings/-secrets")
    await page.get_by_role("button", name="Remove one").click()
    dialog = page.locator("ac-confirm")
    await expect(dialog).to_contain_text("keyed cannot start without it")
    await dialog.get_by_role("button", name="Remove").click()
    await confirm_what_waits(ui, page)
    await expect(row(page, "one")).to_contain_text("Missing")
    assert read_secrets(ui.host.state.path) == {}


@pytest.mark.more
async def test_without_secrets_the_page_says_what_they_are_for(start_webui):
    ui = await start_webui()
    page = await ui.page("#/settings/-secrets")
    await expect(page.get_by_text("No secret is kept")).to_be_visible()
    there = page.get_by_role("link", name="Set one in the approval view")
    await expect(there).to_have_attribute("href", ui.server.approval_address)

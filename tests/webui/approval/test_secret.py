"""A secret that waits for a person: the approval view shows its name, and nothing else of it."""

import asyncio
import http.client
import json
from urllib.parse import urlsplit

import pytest
from playwright.async_api import expect

from agentcore.store.credentials.secret_table import read_secrets
from tests.webui.approval.pressing import open_tray, press
from tests.webui.approval.viewing import both

pytestmark = pytest.mark.spec("S2")


def ask_to_set(ui, name, value):
    place = urlsplit(ui.address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    token = ui.host.state.token.get_secret_value()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request("PUT", f"/api/secrets/{name}", json.dumps({"value": value}), headers)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer["error"]["type"]


async def test_secret_is_shown_by_its_name_and_kept_once_applied(ui):
    page = await both(ui)
    assert await asyncio.to_thread(ask_to_set, ui, "service.key", "s3cret-value") == "confirmation_required"
    frame = await open_tray(page)
    heading = "Set the secret service.key, for modules that name it"
    await expect(frame.get_by_text(heading)).to_be_visible()
    assert "s3cret" not in await frame.locator("body").inner_text()
    await press(frame.get_by_role("button", name="Apply"))
    await expect(frame.get_by_text(heading)).to_have_count(0)
    kept = await asyncio.to_thread(read_secrets, ui.host.state.path)
    assert kept["service.key"].value.get_secret_value() == "s3cret-value"


@pytest.mark.more
async def test_value_is_typed_in_the_approval_view_alone_and_kept_at_once(ui):
    page = await both(ui)
    view = await page.context.new_page()
    await view.goto(ui.server.approval_address)
    await view.get_by_label("Name", exact=True).fill("typed.key")
    await view.get_by_label("Value").fill("typed-value")
    await view.keyboard.press("Enter")
    await expect(view.get_by_text("typed.key is kept")).to_be_visible()
    await expect(view.get_by_label("Value")).to_have_value("")
    await expect(view.get_by_role("button", name="Replace typed.key")).to_be_visible()
    kept = await asyncio.to_thread(read_secrets, ui.host.state.path)
    assert kept["typed.key"].value.get_secret_value() == "typed-value"
    assert ui.host.policy_changes.waiting == []
    await page.goto(f"{ui.address}/#/settings/-secrets")
    await expect(page.get_by_role("main").get_by_text("typed.key")).to_be_visible()
    assert "typed-value" not in await page.locator("body").inner_text()


@pytest.mark.more
async def test_name_that_cannot_be_is_refused_with_the_reason(ui):
    page = await both(ui)
    view = await page.context.new_page()
    await view.goto(ui.server.approval_address)
    await view.get_by_label("Name", exact=True).fill("1 no")
    await view.get_by_label("Value").fill("value")
    await view.get_by_role("button", name="Set", exact=True).click()
    assert await view.get_by_label("Name", exact=True).evaluate("field => field.validity.patternMismatch")
    assert await asyncio.to_thread(read_secrets, ui.host.state.path) == {}

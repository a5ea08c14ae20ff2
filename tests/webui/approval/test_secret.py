"""A secret that waits for a person: the approval view shows its name, and nothing else of it."""

import asyncio
import http.client
import json
from urllib.parse import urlsplit

import pytest
from playwright.async_api import expect

from agentcore.store.credentials import read_secrets
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

"""Several servers in the panel: pairing another, changing over, forgetting one, and a key that ends."""

import pytest
from playwright.async_api import expect

from tests.extension.panel.conftest import LIMIT_MS


def of_server(at, name):
    """A button about a server, in the settings."""
    return at.panel.locator("ac-panel-servers").get_by_role("button", name=name)


async def settings(at):
    await at.panel.get_by_role("button", name="Settings").click()


async def forget(at, server):
    """Forget a server in the settings, and say so once more."""
    await of_server(at, f"Forget {server.address}").click()
    await at.panel.locator("ac-confirm").get_by_role("button", name="Forget", exact=True).click()


async def pair_in_panel(at, server):
    """Pair a server by what the panel asks for."""
    await at.panel.get_by_label("Address of agentcore").fill(server.address)
    await at.panel.get_by_label("Code", exact=True).fill(await server.code())
    await at.panel.get_by_role("button", name="Pair", exact=True).click()
    await server.decide_pairing()


async def test_second_server_is_paired_and_used_and_the_first_one_taken_again_and_forgotten(beside, start_server):
    at = await beside()
    first, second = at.server, await start_server()
    first.provider.say("From the first.")
    await at.say("A question to the first")
    await at.shows("From the first.")

    await settings(at)
    await at.panel.get_by_role("button", name="Pair another server").click()
    await pair_in_panel(at, second)
    await settings(at)
    await expect(of_server(at, f"Use {first.address}")).to_be_visible(timeout=LIMIT_MS)
    await at.panel.keyboard.press("Escape")
    second.provider.say("From the second.")
    await at.say("A question to the second")
    await at.shows("From the second.")
    assert (await second.ask("GET", "/api/sessions"))[1]["sessions"][0]["title"] == "A question to the second"

    await settings(at)
    await of_server(at, f"Use {first.address}").click()
    await settings(at)
    await forget(at, first)
    await settings(at)
    await expect(of_server(at, f"Forget {second.address}")).to_be_visible(timeout=LIMIT_MS)
    await expect(of_server(at, f"Forget {first.address}")).to_have_count(0)


async def test_last_server_that_is_forgotten_leaves_the_panel_at_pairing(beside):
    at = await beside()
    await settings(at)
    await forget(at, at.server)
    await expect(at.panel.get_by_role("heading", name="Connect to agentcore")).to_be_visible(timeout=LIMIT_MS)
    assert await at.panel.evaluate("async () => (await import('/worker/servers.js')).servers()") == []


@pytest.mark.parametrize("locale", ["en", "zh"])
async def test_key_that_is_revoked_while_the_panel_is_open_leaves_it_at_pairing_with_the_reason(beside, locale):
    """Paired again with what the panel still knows, it goes on."""
    at = await beside(locale)
    person = await at.server.person()
    assert (await person.ask("DELETE", "/api/approvers/Test-browser"))[0] == 200
    said = {"en": "It was revoked there, or agentcore has been set up anew", "zh": "它已被撤销"}[locale]
    await expect(at.panel.get_by_role("alert").filter(has_text=said)).to_be_visible(timeout=LIMIT_MS)
    address = at.panel.get_by_label({"en": "Address of agentcore", "zh": "agentcore 的地址"}[locale])
    await expect(address).to_have_value(at.server.address)
    if locale == "en":
        await pair_in_panel(at, at.server)
        at.server.provider.say("Here again.")
        await at.say("Hello")
        await at.shows("Here again.")

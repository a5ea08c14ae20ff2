"""The view of clients: who is connected, what they call and may, how one is connected, and ending one."""

import pytest
from playwright.async_api import expect

from agentcore.api import Module, tool
from tests.server.mcp_transports.conftest import ByHand

pytestmark = [pytest.mark.spec("P1"), pytest.mark.spec("M7")]


class Shop(Module):
    """A shop."""

    @tool(read_only=True)
    async def shop_look(self, shelf: str) -> str:
        """Look at a shelf."""
        return f"{shelf}: 3"


async def connected(ui, name, *, calls=0):
    client = ByHand(f"{ui.address}/mcp", await ui.host.store.client_keys.create_key(name, (), kind="mcp"))
    await client.connect()
    for _ in range(calls):
        await client.call("shop_look", {"shelf": "tea"})
    return client


def row(page, name):
    return page.get_by_role("article").filter(has=page.get_by_role("heading", name=name, exact=True))


async def test_client_is_shown_with_what_it_calls_and_leads_to_its_calls(start_webui):
    bounds = {"robot": {"tools": ["shop_*"], "mode": "allow", "calls_in_flight": 3}}
    ui = await start_webui(modules=[Shop], config={"clients": bounds})
    await connected(ui, "robot", calls=2)
    await connected(ui, "other", calls=0)
    page = await ui.page("#/clients")
    robot = row(page, "robot")
    await expect(robot).to_contain_text("Connected now")
    await expect(robot).to_contain_text("hand 1")
    await expect(robot).to_contain_text("shop_*")
    await expect(robot).to_contain_text("at most 3 at one time")
    await expect(row(page, "other")).to_contain_text("0 calls")
    await robot.get_by_role("link", name="2 calls").click()
    await expect(page).to_have_url(f"{ui.address}/#/activity?client=robot")
    await expect(page.get_by_role("option").filter(has_text="shop_look")).to_have_count(2)


@pytest.mark.more
async def test_client_that_leaves_is_shown_as_former_while_one_looks_on(start_webui):
    ui = await start_webui(modules=[Shop])
    client = await connected(ui, "robot")
    page = await ui.page("#/clients")
    await expect(row(page, "robot")).to_contain_text("connected now")
    await client.end()
    await expect(row(page, "robot")).to_contain_text("Not connected")
    await expect(row(page, "robot")).to_contain_text("connected until")
    await expect(row(page, "robot")).to_contain_text("hand 1")


@pytest.mark.more
async def test_calls_are_counted_while_one_looks_on(start_webui):
    ui = await start_webui(modules=[Shop], config={"clients": {"robot": {"mode": "allow"}}})
    client = await connected(ui, "robot")
    page = await ui.page("#/clients")
    await expect(row(page, "robot")).to_contain_text("0 calls")
    await client.call("shop_look", {"shelf": "tea"})
    await expect(row(page, "robot")).to_contain_text("1 call")


@pytest.mark.more
async def test_client_is_disconnected_once_that_is_confirmed(start_webui):
    ui = await start_webui(modules=[Shop])
    client = await connected(ui, "robot")
    page = await ui.page("#/clients")
    await page.get_by_role("button", name="Disconnect robot").click()
    await page.locator("ac-confirm").get_by_role("button", name="Disconnect", exact=True).click()
    await expect(page.get_by_text("No agent is connected")).to_be_visible()
    assert ui.host.store.client_keys.list_clients() == []
    assert (await client.post({"jsonrpc": "2.0", "id": 9, "method": "ping"}))[0] == 401


@pytest.mark.more
async def test_without_clients_the_view_says_how_to_connect_one(start_webui):
    ui = await start_webui()
    page = await ui.page("#/clients")
    await expect(page.get_by_text("No agent is connected")).to_be_visible()
    await expect(page.get_by_text("agentcore connect claude-code")).to_be_visible()
    await page.get_by_label("Client", exact=True).select_option("Windsurf")
    await expect(page.get_by_text("agentcore connect windsurf")).to_be_visible()
    await page.get_by_text("By hand, over HTTP").click()
    block = page.get_by_role("group", name="By hand, over HTTP").filter(has_text="serverUrl")
    await expect(block).to_contain_text(f'"serverUrl": "{ui.address}/mcp"')

"""Tabs of resources that ended with the server: shown as closed, opened again by one click, closed for good by one."""

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.webui.approval.pressing import open_tray, press
from tests.webui.module_pages.test_live_views import both, open_terminal, run_script_in_page
from tests.webui.serving import PHONE
from tests.webui.sharing import sharing

pytestmark = pytest.mark.spec("R4")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(browser, page_pool, tmp_path_factory):
    """A server that was started again, with terminals that ended with the first one: one for each test."""
    async with sharing(browser, page_pool, tmp_path_factory, ["shell_tools"]) as ui:
        for command in ("sleep 600", "sleep 601", "sleep 602"):
            await open_terminal(ui, command)
        await ui.restart()
        yield ui


def strip(page):
    return page.get_by_role("navigation", name="Open resources")


async def test_terminal_opens_by_one_click_until_a_script_of_a_model_has_run_in_the_page(start_webui, axe_problems):
    ui = await start_webui(["shell_tools", "ui_page"])
    page = await ui.page("#/pages/shell_tools")
    await page.locator("shell-tools-panel").get_by_role("button", name="New terminal").click()
    terminal = page.locator("shell-tools-terminal")
    await expect(terminal.locator(".xterm-focus")).to_contain_text("workspace")
    await page.keyboard.type("echo typed-$((1+1))\n")
    await expect(terminal.locator(".xterm-rows")).to_contain_text("typed-2")
    assert (ui.host.approvals.waiting, ui.host.policy_changes.waiting) == ([], [])
    await page.goto("about:blank")

    await open_terminal(ui, "sleep 600")
    await run_script_in_page(ui)
    await ui.restart()
    page = await both(ui, viewport=PHONE, color_scheme="dark")
    await strip(page).get_by_role("link", name="sleep 600 (closed)").click()
    await expect(page.get_by_text("Waits for your decision in the approval view, and then opens")).to_be_visible()
    assert await axe_problems(page) == []
    await press((await open_tray(page)).get_by_role("button", name="Approve: bash"))
    await expect(page.locator("shell-tools-terminal .xterm-rows")).to_contain_text("workspace")


@pytest.mark.more
async def test_closed_tab_opens_again_by_one_click_in_its_place(ui):
    page = await ui.page()
    await expect(strip(page).get_by_role("listitem")).to_have_count(3)
    await strip(page).get_by_role("link", name="sleep 600 (closed)").click()
    await expect(page.locator("shell-tools-terminal .xterm-rows")).to_contain_text("workspace")
    await expect(strip(page).get_by_role("listitem").first).to_contain_text("exec bash")
    await expect(strip(page).get_by_role("listitem")).to_have_count(3)
    assert len(ui.host.resources.list()) == 1


@pytest.mark.more
async def test_tab_of_a_host_is_opened_again_on_that_host_alone(ui):
    """The host says which call opens it again, and must not have the server make that call."""

    async def of_laptop(route):
        response = await route.fetch()
        document = await response.json()
        for tab in document["tabs"]:
            tab["closed"] = {**tab["closed"], "host": "laptop"} if tab["closed"] else None
        await route.fulfill(response=response, json=document)

    page = await ui.page("#/chats")
    await page.route("**/api/tabs", of_laptop)
    await page.reload()
    async with page.expect_request("**/api/tools/bash/call") as asked:
        await strip(page).get_by_role("link", name="sleep 602 (closed)").click()
    assert (await asked.value).post_data_json["host"] == "laptop"
    await expect(page.get_by_role("button", name="Open again")).to_be_enabled()  # it failed, and may be tried again
    await page.unroute_all()
    await page.reload()  # other tests use this page, and the tabs are on no host


@pytest.mark.more
async def test_closed_tab_is_closed_for_good_by_one_click(ui):
    before = [tab.last_seen.title for tab in ui.host.tabs.list_tabs()]
    page = await ui.page()
    await strip(page).get_by_role("link", name="sleep 601 (closed)").focus()
    await strip(page).get_by_role("button", name="Close sleep 601").click()
    await expect(strip(page).get_by_role("listitem")).to_have_count(len(before) - 1)
    assert [tab.last_seen.title for tab in ui.host.tabs.list_tabs()] == [each for each in before if each != "sleep 601"]


@pytest.mark.more
async def test_address_of_a_resource_that_ended_with_the_server_says_so_and_opens_it(ui):
    (tab,) = [tab for tab in ui.host.tabs.list_tabs() if tab.last_seen.title == "sleep 602"]
    page = await ui.page(f"#/pages/shell_tools/{tab.resource_id}")
    await expect(page.get_by_text("This ended with the server")).to_be_visible()
    await page.get_by_role("button", name="Open again").click()
    await expect(page.locator("shell-tools-terminal .xterm-rows")).to_contain_text("workspace")


@pytest.mark.more
@pytest.mark.parametrize(
    ("locale", "said"),
    [
        ("en-US", "This ended without being closed: module 'shell_tools' was stopped."),
        ("zh-CN", "它意外结束（module 'shell_tools' was stopped）。"),
    ],
)
async def test_resource_that_ended_with_its_module_says_why(start_webui, locale, said):
    ui = await start_webui(["shell_tools"])
    await open_terminal(ui, "sleep 600")
    await ui.host.modules.disable("shell_tools")
    await ui.host.modules.enable("shell_tools")
    (tab,) = ui.host.tabs.list_tabs()
    page = await ui.page(f"#/pages/shell_tools/{tab.resource_id}", locale=locale)
    await expect(page.get_by_role("main").get_by_text(said)).to_be_visible()

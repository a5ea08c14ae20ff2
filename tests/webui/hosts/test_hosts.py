"""The view of hosts: how each stands, what it runs, starting it anew; and where modules and calls are said to run."""

import asyncio
import os
import signal

import pytest
from playwright.async_api import expect

from agentcore.core.calls.call import CallRequest
from tests.server.approving import MODEL
from tests.webui.approval.pressing import TRAY
from tests.webui.approval.viewing import both
from tests.webui.serving import PHONE

pytestmark = [pytest.mark.spec("H2"), pytest.mark.spec("M7")]

FAR = '''
import asyncio
import os
import sys
from agentcore.api import Module, ResourceUse, ToolContext, tool

class Far(Module):
    """Works far away."""

    @tool(read_only=True, resource=ResourceUse("desk", create=True))
    async def far_open(self, ctx: ToolContext) -> str:
        """Open a desk."""
        return "open"

    @tool(read_only=True)
    async def far_wait(self, ctx: ToolContext) -> None:
        """Wait until somebody ends it."""
        ctx.progress(0.0, "waits")
        await asyncio.Event().wait()

    @tool
    async def far_die(self, ctx: ToolContext) -> None:
        """End the process."""
        print("out of paper", file=sys.stderr, flush=True)
        os._exit(7)
'''
HOSTS = {"desk": {"kind": "process", "modules": ["far", "idle"], "memory_mb": 512}}


@pytest.fixture
def start_hosted(start_webui):
    async def start(**hosts):
        return await start_webui(files={"far": FAR}, config={"hosts": hosts or HOSTS})

    return start


def host_card(page, name="desk"):
    return page.get_by_role("article", name=name, exact=True)


async def test_host_is_shown_with_its_modules_and_what_goes_on_in_it_and_restarted(start_hosted):
    ui = await start_hosted()
    page = await ui.page("#/hosts")
    shown = host_card(page)
    for text in ("Running", "Ready", "nothing", "of 512 MiB", "Not turned on", "agentcore 0.1.0"):
        await expect(shown).to_contain_text(text)
    await ui.server.running.call("far_open")
    await expect(shown).to_contain_text("1 desk")
    waiting = asyncio.create_task(ui.server.running.outcome("far_wait"))
    await expect(shown.locator("dl > div").filter(has_text="Calls running")).to_contain_text("1")
    await shown.get_by_role("link", name="Far").click()
    await expect(page).to_have_url(f"{ui.address}/#/modules/far")
    await page.get_by_role("link", name="in host desk").click()
    await expect(shown).to_be_visible()
    waiting.cancel()
    before = ui.host.find_host("desk").describe_host().pid
    await page.get_by_role("button", name="Restart desk").click()
    dialog = page.locator("ac-confirm")
    await expect(dialog).to_contain_text("browsers, terminals and other resources (1)")
    await dialog.get_by_role("button", name="Restart", exact=True).click()
    await expect(shown).to_contain_text("nothing")
    await expect(page.get_by_text("desk was restarted")).to_be_visible()
    assert ui.host.find_host("desk").describe_host().pid not in (None, before)


async def test_host_that_exited_is_shown_with_why_and_runs_again(show):
    page, _ = await show("processes", "exited")
    await expect(host_card(page)).to_contain_text("Had to start again in the last hour: it ended with exit code 7")
    await host_card(page).get_by_text("The last that it wrote").click()
    await expect(host_card(page).get_by_role("group", name="The last that it wrote")).to_have_text("out of paper")
    await expect(host_card(page)).to_contain_text("Running")


async def test_restart_is_confirmed_where_something_goes_on(show):
    page, player = await show("processes", "busy")
    await expect(host_card(page)).to_contain_text("1 desk")
    await page.get_by_role("button", name="Restart desk").click()
    dialog = page.locator("ac-confirm")
    await expect(dialog).to_contain_text("browsers, terminals and other resources (1)")
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(page.get_by_role("button", name="Restart desk")).to_be_focused()
    assert player.sent == []


@pytest.mark.more
async def test_host_that_cannot_run_is_shown_with_what_it_wrote(show, axe_problems):
    page, _ = await show("processes", "running", viewport=PHONE)
    shown = host_card(page, "shelf")
    for text in ("Failed", "It ended with exit code 125", "no interpreter here", "Correct what the reason says"):
        await expect(shown).to_contain_text(text)
    assert await axe_problems(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.more
async def test_hosts_are_accessible_and_an_idle_one_is_restarted_by_keyboard(show, axe_problems):
    page, player = await show("processes", "exited")
    await expect(host_card(page)).to_contain_text("Had to start again")
    assert await axe_problems(page) == []
    button = page.get_by_role("button", name="Restart desk")
    await expect(button).to_be_enabled()
    await button.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("desk was restarted")).to_be_visible()
    assert player.sent == ["POST /api/hosts/desk/restart"]


@pytest.mark.more
async def test_without_hosts_the_view_says_how_a_module_gets_one(start_webui):
    ui = await start_webui(files={"far": FAR})
    page = await ui.page("#/hosts")
    await expect(page.get_by_text("All modules run in the server")).to_be_visible()
    await expect(page.get_by_role("group", name="Give a module a process of its own")).to_contain_text(
        '"modules": ["far"]'
    )


@pytest.mark.more
async def test_list_of_modules_says_where_one_runs(start_hosted):
    ui = await start_hosted()
    page = await ui.page("#/modules")
    await expect(page.locator("ac-module-row").filter(has_text="Far")).to_contain_text("in host desk")


@pytest.mark.more
async def test_call_that_waits_says_in_which_host_it_would_run(start_hosted):
    ui = await start_hosted()
    page = await both(ui)
    await ui.host.run_call(CallRequest("far_die", {}, MODEL, session_id="s1"))
    await page.locator("ac-sidebar").get_by_role("button", name="1 decision waits for you").click()
    shown = page.frame_locator(TRAY).get_by_role("article", name="far_die")
    await expect(shown).to_contain_text("Runs in host desk, not in the server")


@pytest.mark.more
async def test_host_that_was_killed_is_told_while_one_looks_on(start_hosted):
    ui = await start_hosted()
    page = await ui.page("#/hosts", locale="zh-CN")
    await expect(host_card(page)).to_contain_text("运行中")
    os.kill(ui.host.find_host("desk").describe_host().pid, signal.SIGKILL)
    await expect(host_card(page)).to_contain_text("过去一小时内重新启动了 1 次")

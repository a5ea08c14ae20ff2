"""The machine that a chat's tools act on: chosen in its menu, followed by all pages, shown where a call is approved."""

import os
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.machines import Machine, Machines, joined
from tests.webui.hosts.pool_variants import in_pool, pool
from tests.webui.recorded.player import Player, Recording
from tests.webui.serving import PHONE

pytestmark = pytest.mark.spec("H3")

PUT = ("c1", "put", '{"text": "x"}')


@pytest_asyncio.fixture(loop_scope="session")
async def stack():
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture
def shots():
    """Takes pictures into the folder that `AGENTCORE_SHOTS` names, for whoever looks at them."""

    async def take(page, name):
        if folder := os.environ.get("AGENTCORE_SHOTS"):
            await page.screenshot(path=Path(folder) / f"{name}.png")

    return take


def menu(page):
    return page.locator("ac-choice-menu.host")


def opener(page, shown):
    return menu(page).get_by_role("button", name=f"Where its tools act: {shown}", exact=True)


async def open_with_hosts(open_chat, tmp_path, stack, **options):
    chat = await open_chat(Machine(), **options)
    host = chat.ui.host
    host.places = chat.ui.server.server.app.dispatcher.parts.host_views._places = Machines(host)
    machines = [await stack.enter_async_context(joined(host, name, tmp_path)) for name in ("laptop", "farm")]
    await menu(chat.page).wait_for()
    return chat, *machines


async def test_host_is_chosen_by_keyboard_and_followed_by_other_pages(open_chat, tmp_path, stack, shots):
    chat, laptop, _ = await open_with_hosts(open_chat, tmp_path, stack)
    page = chat.page
    await chat.log_in_to_approve()
    await opener(page, "The server").focus()
    await page.keyboard.press("Enter")
    await expect(menu(page).get_by_role("menuitemradio")).to_have_text(
        ["The server The machine that agentcore runs on.", "farm Connected", "laptop Connected"]
    )
    await shots(page, "menu")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(opener(page, "laptop")).to_be_focused()
    chat.provider.say("", PUT)
    chat.provider.say("It is there.")
    await chat.say("put x")
    await expect(chat.card).to_be_visible()
    (waiting,) = chat.ui.host.approvals.waiting
    assert waiting.host == "laptop"
    other = await page.context.new_page()
    await other.goto(page.url)
    await expect(opener(other, "laptop")).to_be_visible()
    await expect(chat.decision.get_by_role("article", name="put")).to_contain_text("Runs on laptop, another machine")
    await shots(page, "approval")
    await chat.decide(approved=True)
    await expect(chat.shown.get_by_text("It is there.")).to_be_visible()
    await opener(page, "laptop").click()
    await menu(page).get_by_role("menuitemradio", name="farm").click()
    await expect(opener(other, "farm")).to_be_visible()
    laptop.go()
    await opener(page, "farm").click()
    await expect(menu(page).get_by_role("menuitemradio", name="laptop")).to_contain_text("Away")
    await page.keyboard.press("Escape")
    await page.goto(f"{chat.ui.address}/#/activity")
    await page.get_by_text("put", exact=True).first.click()
    await expect(page.locator("ac-call-facts")).to_contain_text("laptop/machine")
    await shots(page, "activity")
    laptop.come()
    await page.get_by_role("link", name="Run again").click()
    await expect(page.get_by_label("Host", exact=True)).to_have_value("laptop")
    await shots(page, "console")
    await page.get_by_role("button", name="Run").first.click()
    await expect(page.locator("ac-run")).to_contain_text("x on laptop")


@pytest.mark.more
async def test_chat_whose_host_is_away_says_so_in_its_menu(open_chat, tmp_path, stack, shots):
    options = {"locale": "zh-CN", "color_scheme": "dark", "viewport": PHONE}
    chat, laptop, _ = await open_with_hosts(open_chat, tmp_path, stack, **options)
    page = chat.page
    await menu(page).get_by_role("button").first.click()
    await menu(page).get_by_role("menuitemradio", name="laptop").click()
    laptop.go()
    await expect(menu(page).get_by_role("button").first).to_contain_text("laptop（离线）")
    await menu(page).get_by_role("button").first.click()
    await shots(page, "away-zh-dark-phone")


@pytest.mark.more
async def test_pool_is_chosen_as_a_whole(open_chat, shots):
    chat = await open_chat()
    page = chat.page
    hosts = [pool(), in_pool("box1"), in_pool("box2", "away"), pool("failed", name="yard")]
    await Player(Recording("pool"), "running", {"/api/hosts": {"hosts": hosts}}).attach(page)
    await page.reload()
    await opener(page, "The server").click()
    await expect(menu(page).get_by_role("menuitemradio")).to_have_text(
        [
            "The server The machine that agentcore runs on.",
            "farm Connected · a pool of 2 hosts",
            "yard Failed: its tools cannot be called · a pool",
        ]
    )
    await shots(page, "menu-pools")
    await menu(page).get_by_role("menuitemradio", name="farm").click()
    await expect(opener(page, "farm")).to_be_visible()


@pytest.mark.more
async def test_without_hosts_there_is_nothing_to_choose(open_chat):
    chat = await open_chat()
    await expect(chat.page.locator("ac-choice-menu").first).to_be_visible()
    await expect(menu(chat.page)).to_have_count(0)

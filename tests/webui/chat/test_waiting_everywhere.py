"""Whatever happens to calls that wait, the API and everything in the page that counts or shows them agree."""

import asyncio
import json
import re

import pytest
from playwright.async_api import expect

from agentcore.core.approvals.approval_queue import Verdict
from agentcore.store.approvals.approval_rows import ApprovalRow
from tests.webui.approval.pressing import TRAY, press

pytestmark = pytest.mark.spec("K2", "S2")

MONTH_MS = 30 * 24 * 3600 * 1000


def add(food):
    return ("call_a", "pantry_add", json.dumps({"food": food}))


async def begin_chat(chat, food):
    chat.provider.say("", add(food))
    await chat.page.get_by_role("link", name="New chat").first.click()
    await expect(chat.page.get_by_role("heading", name="What shall we do?")).to_be_visible()
    await chat.say(food)
    await expect(chat.card.locator("iframe")).to_have_count(1)


def request_about(chat, food):
    (found,) = [call for call in chat.ui.host.approvals.waiting if call.arguments["food"] == food]
    return found


async def decide(chat, food, *, approved=False):
    await chat.ui.host.approvals.decide_call(request_about(chat, food).call_id, Verdict(approved, "terminal"))


async def listed(chat):
    """The foods of the calls that the API lists."""
    script = "() => import('/static/client/client.js').then(({client}) => client.get('/api/approvals'))"
    return sorted(call["arguments"]["food"] for call in (await chat.page.evaluate(script))["calls"])


async def agree(chat, foods, *, here=()):
    """Check every place that counts or shows what waits; `here`: what the chat in view asks about."""
    n, beside = len(foods), sorted(set(foods) - set(here))
    page = chat.page
    assert await listed(chat) == sorted(foods)
    title = re.compile(rf"^\({n}\) ") if n else re.compile(r"^[^(]")
    await expect(page).to_have_title(title)
    text = f"{n} decision{' waits' if n == 1 else 's wait'} for you"
    badge = page.locator("ac-sidebar button.waiting")
    await (expect(badge).to_have_text(text) if n else expect(badge).to_have_count(0))
    tray = page.locator("ac-approval-tray header:not(.ask)")
    if beside:
        await expect(tray).to_contain_text(str(len(beside)))
        switch = tray.get_by_role("button", name="Show")
        if await switch.count():
            await switch.click()
        articles = page.frame_locator(TRAY).get_by_role("article")
        await expect(articles).to_have_count(len(beside))
        for food in beside:
            await expect(articles.filter(has_text=food)).to_have_count(1)
    else:
        await expect(tray).to_be_hidden()
    await expect(page.locator("ac-call-card iframe")).to_have_count(len(here))
    waits = page.locator("ac-chat-sessions .mark.waits")
    await expect(waits).to_have_count(n)


async def test_all_places_agree_while_calls_come_are_decided_elsewhere_cancelled_and_after_a_reconnect(open_chat):
    chat = await open_chat()
    chat.ui.allowed_errors += ["ERR_INTERNET_DISCONNECTED", "Failed to load resource", "ERR_"]
    await chat.log_in_to_approve()
    await agree(chat, [])
    await begin_chat(chat, "salt")
    await agree(chat, ["salt"], here=["salt"])
    await begin_chat(chat, "rice")
    await agree(chat, ["salt", "rice"], here=["rice"])
    chat.provider.say("No salt.")
    await decide(chat, "salt")
    await agree(chat, ["rice"], here=["rice"])
    await begin_chat(chat, "oats")
    await agree(chat, ["oats", "rice"], here=["oats"])
    await chat.ui.lose_connection(chat.page)
    chat.provider.say("No rice.")
    await decide(chat, "rice")
    await chat.page.context.set_offline(False)
    await expect(chat.page.locator("ac-connection")).to_contain_text("Connected")
    await agree(chat, ["oats"], here=["oats"])
    session = request_about(chat, "oats").session_id
    await chat.ui.server.running.host.approvals.end_session(session)
    await agree(chat, [])


@pytest.mark.more
async def test_call_that_has_waited_for_a_month_is_shown_everywhere_and_can_be_decided(open_chat):
    chat = await open_chat()
    chat.ui.allowed_errors.append("ERR_CONNECTION_REFUSED")
    await begin_chat(chat, "rice")
    request = request_about(chat, "rice")
    approvals = chat.ui.host.store.approvals
    (row,) = await approvals.load_calls(0)
    asked = json.loads(row.request)
    old = json.dumps({**asked, "requested_at_ms": asked["requested_at_ms"] - MONTH_MS})
    await approvals.save_call(ApprovalRow(row.call_id, row.session_id, old, None, None))
    await chat.ui.restart()
    chat.page = await chat.ui.page(f"#/chats/{request.session_id}")
    tab = await chat.page.context.new_page()
    code = chat.ui.host.store.approval_sessions.create_code()
    await tab.goto(f"{chat.ui.server.approval_address}/#code={code}")
    await tab.get_by_role("article", name="pantry_add").wait_for()
    await tab.close()
    await agree(chat, ["rice"], here=["rice"])
    chat.provider.say("Rice is there.")
    await press(chat.decision.get_by_role("button", name="Approve: pantry_add"))
    await expect(chat.shown.get_by_text("Rice is there.")).to_be_visible()
    await agree(chat, [])
    async with asyncio.timeout(30):
        while chat.pantry.added != ["rice"]:
            await asyncio.sleep(0.02)

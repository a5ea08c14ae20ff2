"""What is allowed along with an approval: offered in words with examples, undone at once, listed, and revoked."""

import asyncio
import re

import pytest
from playwright.async_api import expect

from agentcore.api.tool_context import Principal
from agentcore.core.approvals.request import Verdict
from agentcore.core.calls.call import CallRequest
from tests.server.approving import let_wait
from tests.webui.approval.pressing import open_tray, press
from tests.webui.approval.viewing import both, card
from tests.webui.serving import PHONE

pytestmark = pytest.mark.spec("S2")

MODEL = Principal("chat", "s1")
EVERYTHING = "everything in the folder /notes"


@pytest.fixture
async def chat_of_model(ui):
    await ui.host.store.chats.get_or_create("s1", owner="page", user_id="", agent_id="default", model="")
    await ui.host.store.chats.update_session("s1", title="Shopping")


async def write(ui, text):
    return await ui.host.run_call(CallRequest("note_write", {"text": text}, MODEL, session_id="s1"))


async def grant(ui, text="milk"):
    """Allow a call, and later ones like it."""
    call_id = await let_wait(ui.server, text)
    offer = next(each for each in ui.host.approvals.find_pending(call_id).request.offers if each.scope == "always")
    await ui.host.approvals.decide_call(call_id, Verdict(True, "approver:you", grant=offer))
    return await ui.host.run_call(CallRequest("note_write", {"text": text}, MODEL, session_id="s1", call_id=call_id))


async def revoke_all(ui):
    for each in list(ui.host.policy.grants):
        await ui.host.policy.revoke_grant(each.row.grant_id)


async def test_offer_is_said_in_words_with_calls_of_the_record_and_can_be_undone_at_once(ui, chat_of_model):
    page = await both(ui)
    for text in ("eggs", "salt"):
        call_id = await let_wait(ui.server, text)
        await ui.host.approvals.decide_call(call_id, Verdict(True, "test"))
        again = CallRequest("note_write", {"text": text}, MODEL, session_id="s1", call_id=call_id)
        assert (await ui.host.run_call(again)).ok
    await let_wait(ui.server, "butter")
    shown = card(await open_tray(page))

    async def answer_late(route):
        await asyncio.sleep(0.3)
        await route.continue_()

    await page.context.route("**/api/approvals/*/examples", answer_late)
    # by keyboard: the frame grows with what it shows, and a click may hit what stood elsewhere
    await shown.locator("summary", has_text="For later calls like this one").press("Enter")
    offer = shown.get_by_role("radio", name=re.compile("Always allow: note_write: only"))
    await offer.wait_for()
    assert await shown.get_by_text("From the record:").first.is_visible()  # nothing moves what is below it later
    await offer.press(" ")
    await press(shown.get_by_role("button", name="Approve and keep allowing: note_write"))
    await expect(page.get_by_text("Later calls are allowed")).to_be_visible()
    assert len(list(ui.host.policy.grants)) == 1
    await page.get_by_role("status", name="Messages").get_by_role("button", name="Undo").click()
    await expect(page.get_by_text("These calls wait for you again")).to_be_visible()
    assert list(ui.host.policy.grants) == []


@pytest.mark.more
async def test_grant_is_listed_with_its_chat_and_last_use_and_is_revoked(ui, chat_of_model):
    assert (await grant(ui)).ok
    page = await ui.page("#/settings/-allowed")
    listed = page.get_by_role("list", name="Allowed calls").get_by_role("listitem")
    await expect(listed).to_have_count(1)
    for text in ("note_write", "in the chat “Shopping”", "always", "does not expire", "never used"):
        await expect(listed).to_contain_text(text)
    assert (await write(ui, "eggs")).ok
    await page.reload()
    await expect(listed).to_contain_text("last used")
    await listed.get_by_role("button", name=re.compile("^Revoke: note_write")).click()
    await expect(page.get_by_role("heading", name="Nothing is allowed in advance")).to_be_visible()
    assert (await write(ui, "salt")).error.type == "approval_required"
    for call in ui.host.approvals.waiting:
        await ui.host.approvals.decide_call(call.call_id, Verdict(False, "test"))


@pytest.mark.more
@pytest.mark.parametrize("options", [{}, {"viewport": PHONE}, {"locale": "zh-CN"}], ids=["desktop", "phone", "zh"])
async def test_list_of_grants_fits_and_is_usable_by_everybody(ui, chat_of_model, options, axe_problems, tmp_path):
    assert (await grant(ui)).ok
    page = await ui.page("#/settings/-allowed", **options)
    await page.locator("ac-grants li").first.wait_for()
    assert await axe_problems(page) == []
    wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    await revoke_all(ui)

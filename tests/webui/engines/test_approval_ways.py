"""The approval view in each engine. Neither tells what covers a frame, so that a window of its own decides."""

import asyncio

import pytest

from tests.server.approving import Notes, let_wait

pytestmark = pytest.mark.spec("W1", "S2")


async def verdict(ui, call_id):
    async with asyncio.timeout(60):
        while ui.host.approvals.find_pending(call_id).verdict is None:
            await asyncio.sleep(0.02)
    return ui.host.approvals.find_pending(call_id).verdict


async def test_frame_leads_to_a_window_of_its_own_where_the_call_is_approved(visit):
    shown = await visit(modules=[Notes()])
    call_id = await let_wait(shown.ui.server)
    shown.ui.allowed_errors.append("401")  # WebKit keeps the log-in of the window from the frame
    await shown.page.role("button", "Show").click()
    frame = await shown.page.frame(shown.ui.server.approval_address)
    await frame.role("link", "Decide in a window of its own").click()
    assert not await frame.role("button", "Approve: note_write").read()
    window = await shown.page.window(shown.ui.server.approval_address)
    await window.role("button", "Approve: note_write").click()
    assert (await verdict(shown.ui, call_id)).approved


async def test_call_is_rejected_by_keyboard_not_by_a_script_and_edited_in_a_window_of_its_own(visit):
    shown = await visit(modules=[Notes()])
    page = shown.page
    first = await let_wait(shown.ui.server)
    await page.open(shown.ui.server.approval_address)
    approve = page.role("button", "Approve: note_write")
    await approve.has("aria-disabled", "false")
    await approve.click_as_a_script()
    assert shown.ui.host.approvals.find_pending(first).verdict is None
    reject = page.role("button", "Reject: note_write")
    await reject.has("aria-disabled", "false")
    await reject.focus()
    await page.press("Enter")
    assert not (await verdict(shown.ui, first)).approved
    await page.text("Nothing waits for you").seen()

    second = await let_wait(shown.ui.server)
    await page.role("button", "Edit arguments").click()
    await page.role("textbox", "text").fill("buy bread")
    await page.press("Control+Enter")
    await page.role("article", "note_write").says("buy bread")
    await page.role("button", "Approve as edited").click()
    assert (await verdict(shown.ui, second)).approved
    assert shown.ui.host.approvals.unused_verdicts[-1][0].arguments == {"text": "buy bread"}

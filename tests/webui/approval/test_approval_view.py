"""The approval view in real Chromium: what a person sees and decides."""

import asyncio
import json
import re

import pytest
from playwright.async_api import expect

from agentcore.api import CallPreview, tool
from agentcore.config.app_json import ApprovalRule
from agentcore.limits import EDITS_KEPT
from tests.server.approving import UNFORESEEN, Notes, let_wait
from tests.webui.approval.pressing import TRAY, open_tray, press, read
from tests.webui.approval.viewing import approval_view, approve, both, card, is_undecided, misplaced, verdict
from tests.webui.serving import DESKTOP, PHONE

pytestmark = pytest.mark.spec("S2")


async def test_call_appears_beside_the_content_and_is_approved_there(ui):
    page = await both(ui)
    assert page.url.startswith(f"{ui.address}/")
    assert "code" not in page.url
    call_id = await let_wait(ui.server, "buy \u202emilk\u200b")
    await expect(page.get_by_role("status").filter(has_text="1 decision waits for you")).to_be_visible()
    await expect(page).to_have_title("(1) Chats · agentcore")
    await expect(page.locator(TRAY)).to_have_count(0)
    await page.locator("ac-sidebar").get_by_role("button", name="1 decision waits for you").click()
    frame = page.frame_locator(TRAY)
    shown = card(frame)
    for text in ("A model in a chat without a title", "/notes/today.md", "buy <U+202E>milk<U+200B>", "Writes", "Notes"):
        await expect(shown).to_contain_text(text)
    await expect(approve(frame)).to_have_attribute("aria-disabled", "false")
    main, tray = await page.locator("main").bounding_box(), await page.locator("ac-approval-tray").bounding_box()
    assert main["y"] + main["height"] <= tray["y"] + 1
    assert tray["height"] <= DESKTOP["height"] / 2
    await press(approve(frame))
    assert (await verdict(ui, call_id)).approved
    assert (await verdict(ui, call_id)).by.startswith("approver:approval_")
    await expect(page.locator("ac-approval-tray")).to_be_hidden()
    await expect(page).to_have_title("Chats · agentcore")
    await let_wait(ui.server)
    await expect(page.locator("ac-approval-tray").get_by_role("button", name="Show")).to_be_visible()
    await expect(page.locator(TRAY)).to_be_hidden()


@pytest.mark.more
async def test_notification_of_the_desktop_is_offered_once_and_shown_while_nobody_looks(ui):
    page = await both(ui, permissions=["notifications"])
    await page.evaluate("""() => {
        window.shown = [];
        window.Notification = class extends EventTarget {
            static permission = 'granted';
            constructor(title, {body}) { super(); window.shown.push(`${title}: ${body}`); }
            close() { window.shown.push('closed'); }
        };
        window.dispatchEvent(new Event('focus'));  // its permission is read again
    }""")
    look = "(isHidden) => { Object.defineProperty(document, 'hidden', {get: () => isHidden, configurable: true});"
    look += " document.dispatchEvent(new Event('visibilitychange')); }"
    await page.evaluate(look, True)
    first = await let_wait(ui.server)
    await expect(page.get_by_text("Something waited for you while you were away.")).to_be_visible()
    assert await page.evaluate("window.shown") == []
    await page.evaluate(look, False)
    await page.get_by_role("button", name="Notify me").click()
    await expect(page.get_by_text("Something waited for you while you were away.")).to_have_count(0)
    await page.evaluate(look, True)
    await let_wait(ui.server, "buy bread")
    while not (told := await page.evaluate("window.shown")):  # the page allows no evaluation of its own
        await asyncio.sleep(0.02)
    assert told == ["agentcore: 2 decisions wait for you"]
    await page.evaluate(look, False)
    assert await page.evaluate("window.shown") == [*told, "closed"]
    bell = page.get_by_role("button", name="Desktop notifications")
    await expect(bell).to_have_attribute("aria-pressed", "true")
    await bell.click()
    await expect(bell).to_have_attribute("aria-pressed", "false")
    assert is_undecided(ui, first)


@pytest.mark.more
async def test_call_is_rejected_by_keyboard_in_a_window_of_its_own(ui):
    page = await approval_view(ui)
    call_id = await let_wait(ui.server)
    await expect(approve(page)).to_have_attribute("aria-disabled", "false")
    await page.get_by_role("button", name="Reject: note_write").focus()
    await page.keyboard.press("Enter")
    assert not (await verdict(ui, call_id)).approved
    await expect(page.get_by_text("Nothing waits for you")).to_be_visible()


@pytest.mark.more
async def test_browser_that_is_not_logged_in_there_is_told_how(ui):
    page = await ui.page()
    await let_wait(ui.server)
    ui.allowed_errors.append("401")
    frame = await open_tray(page)
    await expect(frame.get_by_role("heading", name="This browser cannot approve yet")).to_be_visible()
    await expect(approve(frame)).to_have_count(0)
    code = ui.host.store.approval_sessions.create_code()
    await frame.get_by_label("Code or address").fill(f"{ui.server.approval_address}/#code={code}")
    await frame.get_by_role("button", name="Log in").click()
    await expect(card(frame)).to_be_visible()


@pytest.mark.more
async def test_edited_arguments_are_checked_while_they_are_typed(ui):
    page = await approval_view(ui)
    await let_wait(ui.server)
    await page.get_by_role("button", name="Edit arguments").click()
    await expect(page.get_by_role("textbox", name="text")).to_have_value("buy milk")
    await page.get_by_role("button", name="JSON", exact=True).click()
    editor = page.get_by_role("textbox", name="JSON")
    assert json.loads(await editor.input_value()) == {"text": "buy milk"}
    await editor.fill('{"text": ')
    await page.get_by_role("button", name="Show what it would do").click()
    await expect(page.get_by_role("status").filter(has_text="This is not valid JSON")).to_be_visible()
    await editor.fill("[]")
    await expect(page.get_by_role("status").filter(has_text="object")).to_be_visible()
    await expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    await editor.press("Escape")
    await expect(approve(page)).to_be_visible()


@pytest.mark.more
@pytest.mark.spec("K11")
async def test_calls_and_clients_that_wait_are_accessible_in_both_languages(ui, axe_problems):
    await let_wait(ui.server, "long line\n" * 30)
    await ui.server.post("/api/approvers", json={"code": ui.host.pairings.create_code(), "name": "panel"})
    for options in ({}, {"locale": "zh-CN"}):
        page = await approval_view(ui, **options)
        await expect(page.get_by_role("article")).to_have_count(2)
        assert await axe_problems(page) == []
        assert await misplaced(page) == []


@pytest.mark.more
async def test_why_a_client_could_not_be_revoked_is_shown(ui):
    ui.allowed_errors.append("404")
    await ui.host.store.client_keys.create_key("gone", ["chat"])
    page = await approval_view(ui)
    revoke = page.get_by_role("button", name="Revoke gone")
    await revoke.wait_for()
    await ui.host.store.client_keys.revoke_client("gone", lambda: None)  # which this page does not hear of
    await revoke.click()
    await expect(page.get_by_role("alert").filter(has_text="no client 'gone'")).to_be_visible()
    await expect(revoke).to_have_count(0)


@pytest.mark.more
async def test_client_is_paired_by_a_short_code_and_revoked(ui):
    page = await approval_view(ui)
    await page.get_by_role("button", name="Pair a client").click()
    code = await page.get_by_role("status").locator("code").inner_text()
    body = {"code": code, "name": "panel", "kind": "program", "scopes": ["chat"]}
    asked = await (await ui.server.post("/api/approvers", json=body)).json()
    shown = page.get_by_role("article", name="Pair panel")
    for text in ("a program: no web page or extension", "Pair it only if you have just typed that code"):
        await expect(shown).to_contain_text(text)
    await expect(page.get_by_role("status").locator("code")).to_have_count(0)
    chat = shown.get_by_role("checkbox", name=re.compile("^Chat"))
    await expect(chat).to_be_checked()
    await chat.uncheck()
    confirm = shown.get_by_role("button", name="Pair: panel")
    await confirm.and_(page.locator('[aria-disabled="false"]')).click()
    await expect(shown.get_by_role("alert")).to_contain_text("Choose at least one thing")
    await shown.get_by_role("checkbox", name=re.compile("^Approve")).check()
    await confirm.and_(page.locator('[aria-disabled="false"]')).click()
    answer = await ui.server.post("/api/approvers/key", json={"ticket": asked["ticket"]})
    assert (await answer.json())["scopes"] == ["approve"]
    await expect(page.get_by_role("listitem")).to_contain_text("panel")
    await expect(page.get_by_role("listitem")).to_contain_text("Approve")
    await page.get_by_role("button", name="Revoke panel").click()
    await expect(page.get_by_role("listitem")).to_have_count(0)


@pytest.mark.more
@pytest.mark.spec("K11")
async def test_client_that_wants_to_be_paired_appears_in_the_page_s_tray_and_is_refused_by_keyboard(ui):
    page = await both(ui)
    body = {"code": ui.host.pairings.create_code(), "name": "panel", "kind": "extension", "scopes": ["approve"]}
    asked = await (await ui.server.post("/api/approvers", json=body, headers={"Origin": ui.address})).json()
    frame = await open_tray(page)
    await expect(frame.get_by_role("article", name="Pair panel")).to_contain_text(ui.address)
    refuse = frame.get_by_role("button", name="Refuse: panel")
    await expect(refuse).to_have_attribute("aria-disabled", "false")
    await refuse.focus()
    await page.keyboard.press("Enter")
    answer = await ui.server.post("/api/approvers/key", json={"ticket": asked["ticket"]})
    assert (await answer.json())["error"]["type"] == "pairing_refused"
    await expect(page.locator(TRAY)).to_be_hidden()


@pytest.mark.more
async def test_browser_that_does_not_see_covers_decides_in_a_window_of_its_own(ui):
    store = ui.host.store
    context = await ui.context()
    await context.add_init_script("delete IntersectionObserverEntry.prototype.isVisible")
    page = await context.new_page()
    codes = f"#code={store.approval_sessions.create_code()}&page={store.page_sessions.create_code()}"
    await page.goto(f"{ui.server.approval_address}/{codes}")
    await page.locator("ac-app nav").first.wait_for(state="attached")
    call_id = await let_wait(ui.server)
    frame = await open_tray(page)
    await expect(approve(frame)).to_have_count(0)
    async with context.expect_page() as opened:
        await frame.get_by_role("link", name="Decide in a window of its own").click()
    window = await opened.value
    await approve(window).and_(window.locator('[aria-disabled="false"]')).click()
    assert (await verdict(ui, call_id)).approved


@pytest.mark.more
async def test_arguments_that_cannot_run_are_said_in_the_editor_and_mended_ones_run(ui):
    ui.allowed_errors.append("status of 400")
    page = await approval_view(ui)
    call_id = await let_wait(ui.server)
    await page.get_by_role("button", name="Edit arguments").click()
    await page.get_by_role("button", name="JSON", exact=True).click()
    editor = page.get_by_role("textbox", name="JSON")
    await editor.fill("{}")
    await page.get_by_role("button", name="Show what it would do").click()
    await expect(page.locator("ac-approval-edit .errors")).to_contain_text("text")
    await page.get_by_role("button", name="Form", exact=True).click()
    await page.get_by_role("textbox", name="text", exact=True).fill("buy bread")
    await page.get_by_role("button", name="Show what it would do").click()
    await page.get_by_role("button", name="Approve as edited").and_(page.locator('[aria-disabled="false"]')).click()
    assert (await verdict(ui, call_id)).approved
    assert ui.host.approvals.unused_verdicts[0][0].arguments == {"text": "buy bread"}


@pytest.mark.more
async def test_edited_call_is_shown_with_what_it_would_do_before_it_can_be_approved(ui):
    page = await approval_view(ui)
    call_id = await let_wait(ui.server)
    shown = card(page)
    await expect(shown.locator("ac-diff")).to_contain_text("buy milk")
    await page.get_by_role("button", name="Edit arguments").click()
    await expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    editor = page.get_by_role("textbox", name="text")
    await editor.fill("buy bread")
    await editor.press("Control+Enter")
    await expect(page.get_by_role("button", name="Approve as edited")).to_be_visible()
    await expect(shown).to_contain_text("You have edited the arguments")
    await expect(shown.locator("ac-diff")).to_contain_text("buy bread")
    assert is_undecided(ui, call_id)
    await page.get_by_role("button", name="As it was asked").click()
    await expect(shown.locator("ac-diff")).to_contain_text("buy milk")
    await approve(page).and_(page.locator('[aria-disabled="false"]')).click()
    assert (await verdict(ui, call_id)).approved
    assert ui.host.approvals.unused_verdicts[0][0].arguments == {"text": "buy milk"}


@pytest.mark.more
async def test_call_is_said_in_the_language_of_the_person(ui):
    """What the module says of its tool, and why it is asked about."""
    page = await both(ui, locale="zh-CN")
    await let_wait(ui.server, "bread")
    shown = card(await open_tray(page))
    await shown.locator("summary", has_text="详情：").click()
    for text in ("写便条。", "在此模式下，模型的调用需要你同意。"):
        await expect(shown).to_contain_text(text)
    await expect(shown).not_to_contain_text("Write a note")
    await expect(shown).not_to_contain_text("need a person")


@pytest.mark.more
@pytest.mark.parametrize(
    ("locale", "said"),
    [
        ("en", "Its tool failed to work out what this call would do; only its arguments are known."),
        ("zh-CN", "工具未能算出此调用会做什么，目前只知道它的参数。"),
    ],
)
async def test_preview_that_failed_is_said_as_that(ui, locale, said):
    page = await both(ui, locale=locale)
    await let_wait(ui.server, UNFORESEEN)
    shown = card(await open_tray(page))
    await expect(shown.locator(".note.warn")).to_have_text(said)
    await expect(shown).to_contain_text(UNFORESEEN)
    await expect(shown.locator(".note.danger")).to_have_count(0)


@pytest.mark.more
async def test_reason_goes_along_with_a_no(ui):
    page = await approval_view(ui)
    call_id = await let_wait(ui.server)
    await page.get_by_role("button", name="Say why not").click()
    await page.keyboard.type("we have milk")
    await page.get_by_role("button", name="Reject: note_write").and_(page.locator('[aria-disabled="false"]')).click()
    said = await verdict(ui, call_id)
    assert (said.approved, said.reason) == (False, "we have milk")


@pytest.mark.more
async def test_edited_call_that_the_server_no_longer_knows_is_not_approved(ui):
    ui.allowed_errors.append("status of 409")
    page = await approval_view(ui)
    call_id = await let_wait(ui.server)
    await page.get_by_role("button", name="Edit arguments").click()
    await page.get_by_role("textbox", name="text").fill("buy bread")
    await page.get_by_role("button", name="Show what it would do").click()
    yes = page.get_by_role("button", name="Approve as edited").and_(page.locator('[aria-disabled="false"]'))
    await yes.wait_for()
    for number in range(EDITS_KEPT):
        await ui.host.call_review.edit_call(call_id, {"text": f"another {number}"})
    await yes.click()
    await expect(page.get_by_role("alert")).to_contain_text("look at it again")
    await expect(card(page).locator("ac-diff")).to_contain_text("buy milk")
    assert is_undecided(ui, call_id)


@pytest.mark.more
async def test_what_will_happen_comes_first_and_the_rest_is_folded(ui):
    page = await approval_view(ui)
    await let_wait(ui.server)
    shown = card(page)
    await expect(shown.get_by_role("row", name="1 + buy milk")).to_be_visible()
    for text in ("A model in a chat", "/notes/today.md", '"text": "buy milk"', "Write a note."):
        await expect(shown.locator("details").first).to_contain_text(text)
    await expect(shown.get_by_text("/notes/today.md").first).to_be_hidden()
    diff, folded = await shown.locator("ac-diff").bounding_box(), await shown.locator("summary").first.bounding_box()
    assert diff["y"] < folded["y"]
    await shown.locator("summary").first.click()
    await expect(shown.get_by_text("/notes/today.md").first).to_be_visible()


class Patches(Notes):
    """Changes notes by a diff, as models write it: its hunks begin where they like."""

    def _look_at_patch(self, ctx, arguments):
        return CallPreview(frozenset(("write",)), paths=("/notes/today.md",), diff=TODAY.format(first="buy milk"))

    @tool(effects=["write"], preview=_look_at_patch)
    async def note_patch(self, text: str) -> str:
        """Change a note by a diff."""
        return "changed"


TODAY = "--- a/today.md\n+++ b/today.md\n@@ -1,2 +1,2 @@\n Today\n-buy nothing\n+{first}\n"
WIDER = "--- today.md\n+++ today.md\n@@ -7,3 +7,3 @@\n Today\n-buy nothing\n+{first}\n \n"


@pytest.mark.more
async def test_diff_that_says_what_the_preview_says_is_not_shown_twice(start_webui):
    ui = await start_webui([Patches()])
    page = await approval_view(ui)
    for patch, beside in (
        (WIDER.format(first="buy milk"), 0),
        (WIDER.format(first="buy beer"), 1),
        (TODAY.format(first="buy milk") + TODAY.format(first="buy milk").replace("today", "other"), 1),
        ("First:\n" + TODAY.format(first="buy milk"), 1),
    ):
        await let_wait(ui.server, patch, tool="note_patch")
        shown = page.get_by_role("article", name="note_patch")
        await expect(shown.get_by_role("row", name="2 + buy milk")).to_be_visible()
        await expect(shown.locator("ac-approval-arguments")).to_have_count(beside)
        reject = page.get_by_role("button", name="Reject: note_patch")
        await press(reject)
        await expect(shown).to_have_count(0)


@pytest.mark.more
async def test_approval_waits_until_the_last_line_of_what_will_happen_was_seen_on_a_phone_too(ui):
    lines = [f"line {number} of what is to be written, so long that it is broken on a phone" for number in range(60)]
    page = await approval_view(ui, viewport=PHONE, has_touch=True)
    call_id = await let_wait(ui.server, "\n".join(lines))
    no = page.get_by_role("button", name="Reject: note_write")
    await expect(no).to_have_attribute("aria-disabled", "false")
    await expect(approve(page)).to_have_attribute("aria-disabled", "true")
    await expect(page.get_by_text("Look through all of it first")).to_be_visible()
    await approve(page).tap(force=True)
    assert is_undecided(ui, call_id)
    await read(card(page), approve(page))
    await approve(page).tap()
    assert (await verdict(ui, call_id)).approved


@pytest.mark.more
async def test_buttons_are_off_while_the_server_is_away_and_back_on_by_themselves(ui):
    ui.allowed_errors += ["ERR_INTERNET_DISCONNECTED", "ERR_INCOMPLETE_CHUNKED_ENCODING"]
    page = await approval_view(ui)
    await let_wait(ui.server)
    await expect(approve(page)).to_have_attribute("aria-disabled", "false")
    await ui.lose_connection(page)
    await expect(page.get_by_text("The server is away.")).to_be_visible()
    await expect(approve(page)).to_have_attribute("aria-disabled", "true")
    await page.context.set_offline(False)
    await expect(approve(page)).to_have_attribute("aria-disabled", "false")


# -- attacks ----------------------------------------------------------------------------------------------------------


@pytest.mark.more
async def test_call_that_changed_while_it_waited_is_asked_about_again(ui):
    ui.allowed_errors.append("status of 409")
    page = await approval_view(ui)
    call_id = await let_wait(ui.server)
    shown = card(page)
    await expect(shown).not_to_contain_text("changed while this waited")
    before = ui.host.config.approvals
    rules = [*before.rules, ApprovalRule(tool="note_write", decision="ask")]
    await ui.host.apply_approvals(before.model_copy(update={"rules": rules}))
    try:
        await expect(approve(page)).to_have_attribute("aria-disabled", "false")
        await press(approve(page))
        await expect(shown).to_contain_text("The reason why you are asked changed while this waited.")
        assert is_undecided(ui, call_id)
        await expect(approve(page)).to_have_attribute("aria-disabled", "false")
        await press(approve(page))
        assert (await verdict(ui, call_id)).approved
    finally:
        await ui.host.apply_approvals(before)

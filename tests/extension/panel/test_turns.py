"""What becomes of a call in the page when the person says no, stops, closes the panel, or the server goes away."""

from playwright.async_api import expect

from tests.extension.panel.conftest import LIMIT_MS, SENTENCE, searching

PASSWORD = """<!doctype html><html lang="en"><title>Log in</title>
<form onsubmit="event.preventDefault()"><label>Password <input type="password" name="p"></label>
<button>Log in</button></form>"""


async def asked(beside, **config):
    """The panel, with a call that waits."""
    at = await beside(**config)
    at.server.provider.script = searching()
    await at.say(SENTENCE)
    await expect(at.call()).to_be_visible(timeout=LIMIT_MS)
    return at


async def test_rejected_call_does_nothing_in_the_page_and_the_model_goes_on(beside):
    at = await asked(beside)
    await at.decide(approved=False)
    await at.shows("Done after 1 call.")
    await expect(at.page.get_by_role("textbox")).to_have_value("")


async def test_stop_ends_a_call_that_waits(beside):
    at = await asked(beside)
    await at.panel.get_by_role("button", name="Stop").click()
    await expect(at.call()).to_have_count(0, timeout=LIMIT_MS)
    await expect(at.page.get_by_role("textbox")).to_have_value("")
    assert len(at.server.provider.requests) == 1


async def test_mode_that_asks_nobody_lets_a_call_run_at_once(beside):
    at = await beside(approvals={"mode": "allow"})
    at.server.provider.script = searching()
    await at.say(SENTENCE)
    await at.shows("Done after 1 call.")
    await expect(at.page.get_by_role("status")).to_have_text("Results for iPhone 16")


async def test_call_that_was_approved_runs_once_whatever_is_told_of_it_later(beside):
    at = await asked(beside)
    await at.decide()
    await at.shows("Done after 1 call.")
    await at.say("Thanks")
    await at.shows("Done after 2 call.")
    await expect(at.page.locator("form")).to_have_attribute("data-searches", "1")


async def test_panel_that_is_opened_again_goes_on_with_the_call_that_waits(beside):
    at = await asked(beside)
    address = at.panel.url
    await at.panel.close()
    at.panel = await at.extension.context.new_page()
    await at.panel.goto(address)
    await at.decide()
    await at.shows("Done after 1 call.")
    await expect(at.page.get_by_role("status")).to_have_text("Results for iPhone 16")


async def test_call_whose_panel_was_closed_in_the_middle_is_told_as_interrupted_and_not_repeated(beside):
    """A field for a password is asked about, so that the call is in the middle while the panel goes."""
    at = await beside(html=PASSWORD)
    at.server.provider.script = searching(field="password:Password", button="button:Log in")
    await at.say(SENTENCE)
    await at.decide()
    await expect(at.panel.get_by_role("button", name="Fill it in", exact=True)).to_be_visible(timeout=LIMIT_MS)
    address = at.panel.url
    await at.panel.close()
    at.panel = await at.extension.context.new_page()
    await at.panel.goto(address)
    await at.shows("Done after 1 call.")
    assert "interrupted" in at.server.provider.sent
    await expect(at.page.get_by_label("Password")).to_have_value("")


async def test_secret_field_is_filled_only_after_a_question_of_its_own(beside):
    at = await beside(html=PASSWORD)
    at.server.provider.script = searching(field="password:Password", button="button:Log in")
    await at.say(SENTENCE)
    await at.decide()
    yes = at.panel.get_by_role("button", name="Fill it in", exact=True)
    await expect(yes).to_have_attribute("aria-disabled", "false", timeout=LIMIT_MS)
    await expect(at.page.get_by_label("Password")).to_have_value("")
    await yes.click()
    await at.shows("Done after 1 call.")
    await expect(at.page.get_by_label("Password")).to_have_value("iPhone 16")


async def test_restart_of_the_server_leaves_a_waiting_call_to_the_person(beside):
    at = await asked(beside)
    await at.server.stop()
    await expect(at.panel.get_by_text("does not answer")).to_be_visible(timeout=LIMIT_MS)
    await at.server.start()
    await expect(at.panel.get_by_text("does not answer")).to_have_count(0, timeout=LIMIT_MS)
    await at.decide()
    await at.shows("Done after 1 call.")
    await expect(at.page.get_by_role("status")).to_have_text("Results for iPhone 16")


async def test_page_that_is_taken_off_does_not_go_with_a_message_until_it_is_put_on(beside):
    at = await beside()
    at.server.provider.say("First answer.")
    at.server.provider.say("Second answer.")
    await at.panel.get_by_role("button", name="Do not send this page").click()
    await at.say("Hello")
    await at.shows("First answer.")
    assert "Corner shop" not in at.server.provider.sent
    assert "tools" not in at.server.provider.requests[-1] or "page_action" not in str(
        at.server.provider.requests[-1]["tools"]
    )
    await at.panel.get_by_role("button", name="Send this page with messages").click()
    await expect(at.panel.get_by_role("button", name="Do not send this page")).to_be_visible(timeout=LIMIT_MS)
    await at.say("Hello again")
    await at.shows("Second answer.")
    assert "Corner shop" in at.server.provider.sent


async def test_chip_shows_what_is_sent_before_it_is_sent(beside):
    at = await beside()
    at.server.provider.say("An answer.")
    chip = at.panel.get_by_role("button", name="Corner shop")
    await chip.click()
    shown = at.panel.get_by_role("group", name="Goes with your next message")
    for words in (at.page.url, "Corner shop", "input:Search(placeholder:Search)", "button:Search"):
        await expect(shown.get_by_text(words, exact=True)).to_be_visible(timeout=LIMIT_MS)
    await at.say("Hello")
    await at.shows("An answer.")
    await expect(chip).to_have_attribute("aria-expanded", "false", timeout=LIMIT_MS)
    for words in (at.page.url, "Corner shop", "input:Search(placeholder:Search)", "button:Search"):
        assert words in at.server.provider.sent


async def test_calls_run_in_the_tab_that_the_message_came_with_in_either_window(beside):
    """Two panels, each beside a shop of its own: what one asks for happens beside it, and nowhere else."""
    at = await beside()
    other = await at.extension.context.new_page()
    await other.goto(at.page.url)
    second = await at.extension.open_panel(other)
    at.panel = second
    at.server.provider.script = searching()
    await at.say(SENTENCE)
    await at.decide()
    await at.shows("Done after 1 call.")
    await expect(other.get_by_role("status")).to_have_text("Results for iPhone 16")
    await expect(at.page.get_by_role("status")).to_be_empty()

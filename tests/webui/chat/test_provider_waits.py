"""A chat that waits for its provider says why and until when."""

from playwright.async_api import expect

BUSY = {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}


async def test_wait_for_a_provider_is_shown_also_to_a_page_that_opens_later_and_stop_ends_it(open_chat):
    chat = await open_chat()
    chat.provider.say(status=429, error=BUSY, headers={"Retry-After": "120"})
    await chat.say("Hi")
    shown = chat.page.get_by_text("The provider takes no more requests now. It is asked again at")
    await expect(shown).to_be_visible()
    await chat.page.reload()
    await expect(shown).to_be_visible()
    await chat.box.press("Escape")
    await expect(shown).to_be_hidden()

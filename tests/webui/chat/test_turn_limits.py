"""A turn that reaches its limit, on the page: how far it is, what was done, and a button to continue."""

import asyncio
import os

import pytest
from playwright.async_api import expect

CONFIG = {"agents": {"default": {"max_steps": 2}}, "approvals": {"mode": "allow"}}


def say_until_the_limit(provider, **more):
    provider.say("I look.", ("c1", "pantry_list", "{}"))
    provider.say("", ("c2", "pantry_list", "{}"), **more)
    provider.say("I looked into the pantry twice: there is **bread** and salt. The cellar is still open.")


async def test_turn_shows_how_far_it_is_and_continues_after_its_limit(open_chat):
    chat = await open_chat(config=CONFIG)
    gate = asyncio.Event()
    say_until_the_limit(chat.provider, gate=gate)
    await chat.say("What do we have?")
    await expect(chat.shown.get_by_text("Request 2 of at most 2")).to_be_visible()
    gate.set()
    await expect(chat.shown.get_by_text("The cellar is still open.")).to_be_visible()
    await expect(chat.shown.get_by_role("heading", name="The turn has reached its limit")).to_be_visible()
    await expect(chat.shown.get_by_text("It may make 2 requests to the model.")).to_be_visible()
    await chat.page.get_by_role("button", name="The context is").click()
    await expect(chat.page.get_by_text("2 of 2")).to_be_visible()
    await chat.page.keyboard.press("Escape")
    await chat.page.reload()
    chat.provider.say("The cellar is empty.")
    await chat.shown.get_by_role("button", name="Continue", exact=True).click()
    await expect(chat.shown.get_by_text("The cellar is empty.")).to_be_visible()
    assert chat.provider.requests[-1]["messages"][-1]["content"] == "Continue"


@pytest.mark.skipif("SHOTS" not in os.environ, reason="SHOTS names a folder for screenshots")
@pytest.mark.parametrize("locale", ["en", "zh"])
async def test_screens(open_chat, locale):
    chat = await open_chat(config={**CONFIG, "locale": locale})
    say_until_the_limit(chat.provider)
    box = chat.page.get_by_role("textbox").last
    await box.fill("What do we have?")
    await box.press("Enter")
    await chat.shown.or_(chat.page.locator("ac-chat-error")).last.wait_for()
    await chat.page.locator("ac-chat-error").wait_for()
    for width in (1200, 390):
        for scheme in ("light", "dark"):
            await chat.page.set_viewport_size({"width": width, "height": 800})
            await chat.page.emulate_media(color_scheme=scheme)
            await chat.page.screenshot(path=f"{os.environ['SHOTS']}/limit-{locale}-{width}-{scheme}.png")
    await chat.page.locator("ac-chat-tokens button").first.click()
    await chat.page.screenshot(path=f"{os.environ['SHOTS']}/limit-{locale}-tokens.png")

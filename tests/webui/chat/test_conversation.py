"""A chat in the page: it streams, asks before it acts, is stopped, tried again, gone back in, and found again."""

import asyncio
import re

import pytest
from playwright.async_api import expect

from tests.support.provider import openai_chunk

ADD = ("call-1", "pantry_add", '{"food": "rice", "count": 2}')


async def test_answer_streams_as_markdown_and_the_chat_has_its_own_address(open_chat):
    """The first half stands there while the second has not come."""
    chat = await open_chat()
    gate = asyncio.Event()
    chat.provider.say("Here is **bold** text, and then a list:\n\n- salt\n- bread\n\nThat is all.", gate=gate)
    await chat.say("hello")
    answer = chat.messages.nth(1)
    await expect(answer.locator("strong")).to_have_text("bold")
    await expect(answer.get_by_text("That is all.")).to_have_count(0)
    await expect(chat.page.get_by_role("button", name="Stop answering")).to_be_visible()
    gate.set()
    await expect(answer.get_by_text("That is all.")).to_be_visible()
    await expect(answer.locator("li")).to_have_text(["salt", "bread"])
    await expect(chat.page).to_have_url(re.compile("#/chats/s_"))
    await expect(chat.page.get_by_role("link", name="hello")).to_have_attribute("aria-current", "page")
    await expect(chat.box).to_have_value("")


@pytest.mark.more
async def test_code_of_an_answer_has_colours_and_is_copied(open_chat):
    chat = await open_chat()
    chat.provider.say("```python\ndef one():\n    return 1\n```\n\nAnd `inline`.")
    await chat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await chat.say("code")
    block = chat.messages.nth(1).locator(".block")
    await expect(block.locator(".hljs-keyword").first).to_have_text("def")
    await chat.until_idle()
    await block.get_by_role("button", name="Copy code").click()
    await expect(block.get_by_role("button", name="Copied")).to_be_visible()
    assert await chat.page.evaluate("navigator.clipboard.readText()") == "def one():\n    return 1"


@pytest.mark.more
@pytest.mark.spec("S1")
async def test_what_a_model_writes_is_text_and_loads_nothing(open_chat):
    chat = await open_chat()
    asked = []
    chat.page.on("request", lambda request: asked.append(request.url))
    chat.provider.say(
        "<img src=x onerror='window.didRun=1'> ![a picture](http://192.0.2.1/a.png) [go](javascript:window.didRun=1)"
    )
    await chat.say("attack")
    answer = chat.messages.nth(1)
    await expect(answer.get_by_role("link", name="a picture")).to_have_attribute("href", "http://192.0.2.1/a.png")
    await chat.until_idle()
    assert await answer.locator("img").count() == 0
    assert await answer.locator("a", has_text="go").get_attribute("href") is None
    assert await chat.page.evaluate("window.didRun") is None
    assert not [url for url in asked if "192.0.2.1" in url]


@pytest.mark.more
@pytest.mark.spec("C1", "S2")
async def test_call_waits_in_a_card_runs_once_it_is_approved_and_shows_its_result(open_chat):
    chat = await open_chat()
    chat.provider.say("I put it there.", ADD)
    chat.provider.say("Rice is there.")
    await chat.say("add rice")
    await expect(chat.card.get_by_text("Runs only if you say so.")).to_be_visible()
    await chat.card.get_by_role("button", name="pantry_add").click()
    await expect(chat.card.locator("dd", has_text="rice")).to_be_visible()
    await expect(chat.card.get_by_text("Writes")).to_be_visible()
    await expect(
        chat.page.get_by_role("link", name="add rice").get_by_text("1 decision waits for you")
    ).to_be_attached()
    assert await chat.card.get_by_role("button", name="Approve").count() == 0
    assert chat.pantry.added == []
    await chat.decide(approved=True)
    await expect(chat.shown.get_by_text("Rice is there.")).to_be_visible()
    assert chat.pantry.added == ["rice"]
    await expect(chat.card.locator("ac-result").get_by_text("rice")).to_be_visible()
    await expect(chat.card.get_by_role("link")).to_have_attribute("href", re.compile("^#/activity/"))


@pytest.mark.more
async def test_call_is_rejected_in_its_card_and_the_model_goes_on(open_chat):
    chat = await open_chat()
    chat.provider.say("", ADD)
    chat.provider.say("Then not.")
    await chat.say("add rice")
    await chat.card.get_by_role("button", name="Reject").click()
    await expect(chat.shown.get_by_text("Then not.")).to_be_visible()
    await expect(chat.card.get_by_role("button", name="pantry_add")).to_contain_text("rejected")
    assert chat.pantry.added == []


@pytest.mark.more
async def test_answer_is_stopped_and_what_came_of_it_stays(open_chat):
    chat = await open_chat()
    chat.provider.say("It begins like this and would go on for long.", gate=asyncio.Event())
    await chat.say("talk")
    await expect(chat.messages.nth(1)).to_contain_text("It begins")
    await chat.page.get_by_role("button", name="Stop answering").click()
    await expect(chat.page.get_by_text("You stopped the answer")).to_be_visible()
    await expect(chat.page.get_by_role("button", name="Send", exact=True)).to_be_visible()


@pytest.mark.more
async def test_last_message_is_answered_anew(open_chat):
    chat = await open_chat()
    chat.provider.say("A poor answer.")
    chat.provider.say("A better one.")
    await chat.say("question")
    await expect(chat.shown.get_by_text("A poor answer.")).to_be_visible()
    await chat.until_idle()
    await chat.page.get_by_role("button", name="Answer again").click()
    await expect(chat.shown.get_by_text("A better one.")).to_be_visible()
    await expect(chat.shown.get_by_text("A poor answer.")).to_have_count(0)
    await expect(chat.messages).to_have_count(2)


@pytest.mark.more
async def test_message_is_said_anew_and_what_came_after_it_is_gone(open_chat):
    chat = await open_chat()
    for text in ("First answer.", "Second answer.", "Third answer."):
        chat.provider.say(text)
    await chat.say("one")
    await expect(chat.shown.get_by_text("First answer.")).to_be_visible()
    await chat.until_idle()
    await chat.say("two")
    await expect(chat.shown.get_by_text("Second answer.")).to_be_visible()
    await chat.until_idle()
    await chat.messages.first.hover()
    await chat.messages.first.get_by_role("button", name="Edit and send again").click()
    editor = chat.page.get_by_role("textbox", name="Edit and send again")
    await expect(editor).to_have_value("one")
    await editor.fill("another one")
    await editor.press("Enter")
    await expect(chat.shown.get_by_text("Third answer.")).to_be_visible()
    await chat.until_idle()
    await expect(chat.messages).to_have_count(2)
    assert "Second answer." not in chat.provider.sent
    assert "another one" in chat.provider.sent


@pytest.mark.more
async def test_reload_in_the_middle_of_an_answer_restores_all(open_chat):
    """The draft, the half answer, and the rest as it comes."""
    chat = await open_chat()
    gate = asyncio.Event()
    chat.provider.say("The first half has come, and the second half follows.", gate=gate)
    await chat.say("go on")
    await expect(chat.messages.nth(1)).to_contain_text("The first half")
    await chat.box.fill("not sent yet")
    await chat.page.reload()
    await expect(chat.messages.nth(1)).to_contain_text("The first half")
    await expect(chat.box).to_have_value("not sent yet")
    gate.set()
    await expect(chat.shown.get_by_text("The first half has come, and the second half follows.")).to_be_visible()
    await expect(chat.messages).to_have_count(2)


async def test_message_that_was_not_sent_is_back_in_the_box_once_also_after_a_reload(open_chat):
    chat = await open_chat()
    chat.ui.allowed_errors.append("status of 503")
    chat.provider.say("Hello.")
    await chat.say("hi")
    await expect(chat.messages.last).to_contain_text("Hello.")
    await chat.until_idle()
    await chat.page.route("**/messages", lambda route: route.fulfill(status=503, body="away"))
    await chat.say("look here")
    await expect(chat.page.get_by_text("The message was not sent").first).to_be_visible()
    await expect(chat.box).to_have_value("look here")
    await chat.page.unroute_all()
    await chat.page.reload()
    await expect(chat.messages.last).to_contain_text("Hello.")
    await expect(chat.box).to_have_value("look here")


@pytest.mark.more
async def test_waiting_call_is_there_after_a_reload_and_can_be_rejected(open_chat):
    chat = await open_chat()
    chat.provider.say("", ADD)
    chat.provider.say("Then not.")
    await chat.say("add rice")
    await expect(chat.card.get_by_role("button", name="Reject")).to_be_visible()
    await chat.page.reload()
    await chat.card.get_by_role("button", name="Reject").click()
    await expect(chat.shown.get_by_text("Then not.")).to_be_visible()


@pytest.mark.more
async def test_web_page_in_place_of_an_answer_is_folded_behind_one_line(open_chat, provider):
    chat = await open_chat()
    provider.say(status=502, html="<html><head><title>502 Bad Gateway</title></head><body>" + "<p>nginx</p>" * 500)
    await chat.say("hello")
    card = chat.page.locator("ac-chat-error")
    await expect(card.get_by_text("sent a web page, “502 Bad Gateway”, in place of an answer")).to_be_visible()
    await expect(card.get_by_text("<p>nginx</p>")).to_be_hidden()
    await card.get_by_text("What the provider sent").click()
    await expect(card.get_by_text("<p>nginx</p>")).to_be_visible()


@pytest.mark.more
@pytest.mark.parametrize(
    ("locale", "heading", "sentence"),
    [
        ("en", "The provider cannot be reached", "Nothing answers at {address}. Is it running? Look at its address."),
        ("zh", "无法连接提供商", "{address} 没有应答。它是否在运行？请检查地址。"),
    ],
)
async def test_provider_that_does_not_answer_is_said_in_a_plain_sentence(
    open_chat, unused_tcp_port, locale, heading, sentence
):
    address = f"http://127.0.0.1:{unused_tcp_port}"
    chat = await open_chat(config={"models": {"m": {"base_url": f"{address}/v1", "max_retries": 0}}}, locale=locale)
    await chat.page.locator("ac-chat-composer textarea").fill("hello")
    await chat.page.locator("ac-chat-composer textarea").press("Enter")
    card = chat.page.locator("ac-chat-error")
    await expect(card.get_by_role("heading", name=heading)).to_be_visible()
    await expect(card.get_by_text(sentence.format(address=address))).to_be_visible()
    await expect(card.get_by_text("ConnectionRefusedError")).to_be_hidden()
    await card.get_by_text("Details" if locale == "en" else "详情").click()
    await expect(card.get_by_text("ConnectionRefusedError")).to_be_visible()


@pytest.mark.more
async def test_empty_answer_says_so_and_is_tried_again(open_chat, provider):
    chat = await open_chat()
    provider.say("")
    await chat.say("hello")
    await expect(chat.shown.get_by_text("The model answered with nothing.")).to_be_visible()
    await chat.page.reload()
    await expect(chat.shown.get_by_text("The model answered with nothing.")).to_be_visible()
    provider.say("Here I am.")
    await chat.shown.get_by_role("button", name="Answer again").click()
    await expect(chat.messages.last).to_contain_text("Here I am.")
    await expect(chat.shown.get_by_text("The model answered with nothing.")).to_have_count(0)


@pytest.mark.more
async def test_refused_key_is_a_card_that_says_what_to_do(open_chat):
    chat = await open_chat()
    chat.provider.say(status=401, error={"error": {"message": "Incorrect API key", "code": "invalid_api_key"}})
    chat.provider.say("It works now.")
    await chat.say("hello")
    card = chat.page.locator("ac-chat-error")
    await expect(card.get_by_role("heading", name="The provider refused the key")).to_be_visible()
    await card.get_by_role("button", name="Another provider or key").click()
    await expect(chat.page.get_by_role("dialog", name="Models and keys")).to_be_visible()
    await chat.page.keyboard.press("Escape")
    await card.get_by_role("button", name="Answer again").click()
    await expect(chat.shown.get_by_text("It works now.")).to_be_visible()
    await expect(card).to_have_count(0)


@pytest.mark.more
async def test_reader_who_scrolls_back_is_left_alone_and_led_to_the_newest(open_chat):
    chat = await open_chat()
    gate = asyncio.Event()
    lines = "\n\n".join(f"Paragraph {number} of a long answer." for number in range(120))
    chat.provider.say(lines, gate=gate, split=400)
    await chat.say("tell me more")
    frame = chat.page.locator("ac-chat-messages .frame")
    await expect(chat.shown.get_by_text("Paragraph 40 of")).to_be_visible()
    await frame.evaluate("(frame) => { frame.scrollTop = 0; }")
    newest = chat.page.get_by_role("button", name="Newest")
    await expect(newest).to_be_visible()
    gate.set()
    await expect(chat.shown.get_by_text("Paragraph 119 of")).to_be_attached()
    assert await frame.evaluate("(frame) => frame.scrollTop") == 0
    await newest.click()
    await expect(chat.shown.get_by_text("Paragraph 119 of")).to_be_in_viewport()
    await expect(newest).to_be_hidden()


@pytest.mark.more
async def test_model_that_gets_no_tools_writes_its_calls_after_one_click(open_chat):
    chat = await open_chat()
    call = '<tool_call>{"name": "pantry_list", "arguments": {"kind": "dry"}}</tool_call>'
    chat.provider.say(call)
    await chat.say("What is there?")
    card = chat.page.locator("ac-chat-error")
    await expect(card.get_by_role("heading")).to_have_text("The model was not given the tools")
    await chat.until_idle()
    chat.provider.say(call)
    await card.get_by_role("button", name="Let it write its calls").click()
    await expect(chat.page.locator("ac-call-card")).to_contain_text("pantry")
    await expect(card).to_have_count(0)
    assert "tools" not in chat.provider.requests[-1]


async def test_long_reading_of_a_local_server_shows_how_far_it_is(open_chat):
    chat = await open_chat()
    chat.provider.server, chat.provider.listed = "llama.cpp", {"data": [{"id": "test-model"}]}
    gate = asyncio.Event()
    progress = {"total": 7421, "cache": 0, "processed": 2048, "time_ms": 1}
    begun = {"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}
    chunks = [
        openai_chunk(begun, prompt_progress=progress),
        openai_chunk({"index": 0, "delta": {"content": "All read."}, "finish_reason": None}),
        openai_chunk({"index": 0, "delta": {}, "finish_reason": "stop"}),
    ]
    chat.provider.say(raw=b"".join(chunks) + b"data: [DONE]\n\n", gate=gate)
    await chat.box.fill("hello")
    await chat.box.press("Enter")
    shown = chat.page.get_by_text("The server reads the conversation: 2,048 of 7,421 tokens.")
    await expect(shown).to_be_visible()
    await chat.page.reload()
    await expect(shown).to_be_visible()
    gate.set()
    await expect(chat.messages.last).to_contain_text("All read.")
    await expect(shown).to_have_count(0)

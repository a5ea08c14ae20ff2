"""A chat that a paired client began, in the page: which page went with a message, and who is to answer a call."""

import aiohttp
import pytest
from playwright.async_api import expect

pytestmark = pytest.mark.spec("C2")

PAGE = {
    "url": "https://shop.example/items?id=7",
    "title": "Lamps – The little shop",
    "elements": [{"id": "e_1_a", "desc": "button:Buy"}, {"id": "e_1_b", "desc": "link:Back"}],
    "selectedText": "Lamp, brass",
}
CLICK = {"name": "page_click", "description": "Click.", "parameters": {"type": "object", "properties": {}}}


async def test_message_shows_its_page_and_a_call_who_is_to_answer_it(open_chat):
    chat = await open_chat()
    chat.provider.say("I press it.", ("a", "page_click", "{}"))
    chat.provider.say("Pressed.")
    key = await chat.ui.host.store.client_keys.create_key("my-laptop", ["chat"])
    async with aiohttp.ClientSession(chat.ui.address, headers={"Authorization": f"Bearer {key}"}) as client:

        async def post(path, body):
            async with client.post(path, json=body) as answer:
                assert answer.ok, await answer.text()
                return await answer.json() if answer.content_type == "application/json" else await answer.text()

        session_id = (await post("/api/sessions", {}))["sessionId"]
        await chat.page.goto(f"{chat.ui.address}/#/chats/{session_id}")
        sent = {"text": "Buy the lamp", "currentPageInfo": PAGE, "browserTools": [CLICK]}
        await post(f"/api/sessions/{session_id}/messages", sent)
        # as it happens, and as it is read later
        for reads_anew in (False, True):
            if reads_anew:
                await chat.page.reload()
            shown = chat.messages.first.get_by_role("link")
            await expect(shown).to_have_attribute("href", PAGE["url"])
            await expect(shown).to_contain_text("Lamps – The little shop")
            await expect(shown).to_contain_text("shop.example")
            await expect(shown).to_have_attribute(
                "title", f"{PAGE['title']}\n{PAGE['url']}\n2 elements · 11 selected characters"
            )
            await expect(chat.card).to_contain_text("Waits for your word in my-laptop.")
            await expect(chat.card.get_by_role("button", name="Reject")).to_be_visible()
        tool_id = (await chat.ui.host.store.chats.load_waiting_calls([session_id]))[session_id][0]
        word = f'{{"toolId": "{tool_id}", "approved": true}}'
        await post("/api/v1/agent/chat", {"session_id": session_id, "role": "function", "message": word})
        await expect(chat.card).to_contain_text("my-laptop runs this call.")
        await expect(chat.card.get_by_role("button", name="Reject")).to_have_count(0)
        done = {"session_id": session_id, "message": "Browser tool page_click result: {}", "toolId": tool_id}
        await post("/api/v1/agent/chat", done)
    await expect(chat.messages.last).to_contain_text("Pressed.")

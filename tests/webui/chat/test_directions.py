"""Text that is written from right to left is laid out so, block by block."""

from playwright.async_api import expect

ARABIC = "مرحبا، هذا ملف `notes.md` جديد."
ANSWER = f"""{ARABIC}

An English paragraph.

- أولا
- second

> اقتباس

```python
print("مرحبا")
```
"""


async def test_paragraphs_lists_and_messages_have_the_direction_of_their_first_letter(open_chat):
    chat = await open_chat()
    chat.provider.say(ANSWER)
    await chat.box.fill(ARABIC)
    assert await chat.box.evaluate("e => getComputedStyle(e).direction") == "rtl"
    await chat.box.press("Enter")
    answer = chat.page.locator("ac-chat-text")
    await expect(answer.get_by_text("English")).to_be_visible()

    async def direction(selector: str) -> str:
        return await answer.locator(selector).first.evaluate("e => getComputedStyle(e).direction")

    assert await direction("p:has-text('مرحبا')") == "rtl"
    assert await direction("p:has-text('English')") == "ltr"
    assert await direction("ul") == "rtl"
    assert await direction("blockquote") == "rtl"
    assert await direction("pre") == "ltr"
    said = chat.page.locator("ac-user-message .said")
    assert await said.evaluate("e => getComputedStyle(e).direction") == "rtl"

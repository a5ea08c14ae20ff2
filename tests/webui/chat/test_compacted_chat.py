"""A chat that was made shorter for its model: a line says so in every window, opens, and stays."""

import json

import pytest
from playwright.async_api import expect

from agentcore.api import Module, ToolContext, tool

pytestmark = pytest.mark.spec("K9")


class Reader(Module):
    """Reads much."""

    name = "reader"

    @tool(read_only=True, open_world=False)
    async def reader_page(self, ctx: ToolContext, number: int) -> str:
        """Read a page."""
        return f"page {number}\n" + "a line of it\n" * 300


@pytest.fixture
def play(provider):
    """A model that reads five pages, then sums them up where it is asked to."""
    pages = iter(range(1, 6))

    def script(request):
        if "<conversation>" in str(request["messages"][-1]["content"]):
            provider.say("**Five pages** were to be read.\n\n- page 1 was dull")
        elif (number := next(pages, None)) is not None:
            provider.say("", ("a", "reader_page", json.dumps({"number": number})))
        else:
            provider.say("All are read.")
        return provider.replies.pop()

    provider.script = script
    return provider


async def test_notice_says_what_happened_and_shows_the_summary_in_both_windows_and_after_a_reload(open_chat, play):
    model = {"provider": "openai", "base_url": f"{play.url}/v1", "max_retries": 0, "context_tokens": 3000}
    chat = await open_chat(Reader(), config={"models": {"test-model": model}, "approvals": {"mode": "allow"}})
    await chat.say("Read all five pages.")
    await expect(chat.shown.get_by_text("All are read.")).to_be_visible()
    await chat.until_idle()
    notices = chat.page.locator("ac-chat-compaction")
    summarised = notices.filter(has_text="summarised")
    await expect(summarised.first).to_contain_text("earlier messages were summarised")
    count = await notices.count()
    for number in range(1, 6):
        await expect(chat.page.locator("ac-call-card").nth(number - 1)).to_contain_text(str(number))
    other = await chat.ui.page(f"#/chats/{(await chat.ui.host.store.chats.list_sessions())[0].session_id}")
    await expect(other.locator("ac-chat-compaction")).to_have_count(count)
    await chat.page.reload()
    await expect(notices).to_have_count(count)
    await summarised.first.locator("summary").click()
    await expect(summarised.first.locator("strong")).to_have_text("Five pages")
    await expect(chat.shown.get_by_text("Read all five pages.").first).to_be_visible()

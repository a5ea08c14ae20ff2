"""A shared tab in chats elsewhere: what a person approves happens there once, whatever breaks meanwhile."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.chat.conftest import Reply
from tests.extension.serving import LIMIT_S
from tests.extension.sharing import SHOP, share_with_new_session

pytestmark = pytest.mark.spec("C4")

FILL = {"actions": [{"action": "fill", "target": {"selector": "#search"}, "params": {"value": "iPhone 16"}}]}
COUNT = """document.querySelector('#search').addEventListener('input', () => {
    globalThis.inputs = (globalThis.inputs ?? 0) + 1;
})"""


@pytest_asyncio.fixture(loop_scope="session")
async def chat(start_server, extension, site, provider):
    """A shop's tab, shared with a chat whose model fills the search box in and is asked about it."""
    site.show("/", SHOP)
    server = await start_server(["user_tabs"])
    await extension.pair(server)
    page = await extension.context.new_page()
    await page.goto(site.url())
    await page.evaluate(COUNT)
    provider.script = fill_once
    return await share_with_new_session(extension, server, page)


def fill_once(request):
    if any(message["role"] == "tool" for message in request["messages"]):
        return Reply("It stands there now.")
    return Reply("", [("call_1", "page_action", json.dumps(FILL))])


async def send(chat, text):
    path = f"/api/sessions/{chat.session_id}/messages"
    status, sent = await chat.server.ask("POST", path, {"text": text})
    assert status == 202, sent


async def waiting_call(chat):
    """The call that waits for a person."""
    async with asyncio.timeout(LIMIT_S):
        while not (waiting := chat.server.host.approvals.waiting):
            await asyncio.sleep(0.02)
    return waiting[0]


async def approve(chat):
    waiting = await waiting_call(chat)
    person = await chat.server.person()
    decision = {"approved": True, "digest": waiting.digest}
    status, said = await person.ask("POST", f"/api/approvals/{waiting.call_id}/decision", decision)
    assert status == 200, said


async def until_said(chat, text):
    async with asyncio.timeout(LIMIT_S):
        while text not in str((await chat.server.ask("GET", f"/api/sessions/{chat.session_id}/messages"))[1]):
            await asyncio.sleep(0.05)


async def test_call_that_waits_over_a_restart_of_the_server_happens_once_when_it_is_approved(chat):
    await send(chat, "Fill it in")
    await waiting_call(chat)
    await chat.server.stop()
    await chat.server.start()
    await chat.reconnected()
    await approve(chat)
    await until_said(chat, "It stands there now.")
    await expect(chat.page.locator("#search")).to_have_value("iPhone 16")
    assert await chat.page.evaluate("globalThis.inputs") == 1


async def test_agentcore_chat_in_a_terminal_acts_in_the_tab_that_its_chat_was_given(chat):
    server = chat.server
    # as `agentcore serve` does, so that commands find it
    server.host.state.write_server_info({"page": server.address, "approval": server.client.approval_address})
    command = await asyncio.create_subprocess_exec(
        *(str(Path(sys.executable).with_name("agentcore")), "chat", "--session", chat.session_id, "Fill it in"),
        cwd=server.folder,
        env={**os.environ, "AGENTCORE_STATE_DIR": str(server.host.state.path)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    await approve(chat)
    async with asyncio.timeout(LIMIT_S):
        said = (await command.communicate())[0].decode()
    assert "It stands there now." in said, said
    await expect(chat.page.locator("#search")).to_have_value("iPhone 16")
    assert await chat.page.evaluate("globalThis.inputs") == 1

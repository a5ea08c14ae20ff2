"""A panel beside a shop, paired with a server whose model says what a test wrote."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from agentcore.testing.hosting import ModuleLike
from tests.chat.conftest import Reply
from tests.extension.driving import Extension
from tests.extension.serving import SCOPES, Server

SHOP = """<!doctype html><html lang="en"><title>Corner shop</title>
<h1>Corner shop</h1>
<form onsubmit="event.preventDefault(); document.querySelector('output').textContent = `Results for ${this.q.value}`;
 this.dataset.searches = 1 + Number(this.dataset.searches ?? 0)">
<label>Search <input name="q" placeholder="Search"></label> <button>Search</button></form><output></output>"""
SHOP_ZH = SHOP.replace('lang="en"', 'lang="zh"').replace("Corner shop", "街角商店").replace("Search", "搜索")
SENTENCE = "Type iPhone 16 into the search box and press search"
NARROW = {"width": 400, "height": 800}
LIMIT_MS = 60_000


@dataclass
class Beside:
    """A panel, the page that it stands beside, and the server that it is paired with."""

    extension: Extension
    server: Server
    page: Page
    panel: Page
    locale: str

    async def say(self, text: str) -> None:
        """Write a message, and send it."""
        await self.panel.get_by_role("textbox", name="消息" if self.locale == "zh" else "Message").fill(text)
        await self.panel.keyboard.press("Enter")

    def call(self) -> Locator:
        """The call that waits."""
        return self.panel.locator("ac-client-ask article")

    async def decide(self, *, approved: bool = True) -> None:
        """Approve or reject the call that waits, once the buttons count."""
        name = {True: ("Approve", "批准"), False: ("Reject", "拒绝")}[approved][self.locale == "zh"]
        button = self.call().get_by_role("button", name=name)
        await expect(button).to_have_attribute("aria-disabled", "false", timeout=LIMIT_MS)
        await button.click()

    async def shows(self, text: str) -> None:
        """Wait for words among the messages."""
        messages = self.panel.locator("ac-chat-messages").get_by_text(text)
        await expect(messages.last).to_be_visible(timeout=LIMIT_MS)


@pytest_asyncio.fixture(loop_scope="session")
async def beside(
    start_extension: Callable[..., Awaitable[Extension]], start_server: Callable[..., Awaitable[Server]], site: Any
) -> Callable[..., Awaitable[Beside]]:
    """`await beside(locale="zh", model={"tools": "prompted"})`: a panel beside the shop."""

    async def start(
        locale: str = "en",
        html: str = "",
        modules: Sequence[ModuleLike] = (),
        scopes: tuple[str, ...] = SCOPES,
        **config: Any,
    ) -> Beside:
        extension = await start_extension(locale="zh-CN" if locale == "zh" else "en-US", viewport=NARROW)
        server = await start_server(modules, locale=locale, **config)
        site.show("/shop", html or (SHOP_ZH if locale == "zh" else SHOP))
        await extension.pair(server, scopes)
        page = await extension.context.new_page()
        await page.goto(site.url("/shop"))
        return Beside(extension, server, page, await extension.open_panel(page), locale)

    return start


def id_of(request: dict[str, Any], desc: str) -> str:
    """The id of the page's element that the model was told of by a description, or by its beginning."""
    told = "\n".join(str(message["content"]) for message in request["messages"])
    return re.findall(rf"(e_\w+) \| {re.escape(desc)}", told)[-1]


def search_call(request: dict[str, Any], field: str, button: str) -> str:
    """Arguments with which a model types into a field, and presses a button."""
    fill = {"action": "fill", "target": {"elementId": id_of(request, field)}, "params": {"value": "iPhone 16"}}
    click = {"action": "click", "target": {"elementId": id_of(request, button)}}
    return json.dumps({"actions": [fill, click]}, ensure_ascii=False)


def searching(
    field: str = "input:Search", button: str = "button:Search", *, prompted: bool = False
) -> Callable[[dict[str, Any]], Reply]:
    """A model that calls page_action once, and says in the next turn that it is done."""
    calls = 0

    def reply(request: dict[str, Any]) -> Reply:
        nonlocal calls
        calls += 1
        if calls > 1:
            return Reply(f"Done after {calls - 1} call.")
        arguments = search_call(request, field, button)
        if prompted:
            call = {"tool_call": {"tool_name": "page_action", "arguments": arguments}}
            return Reply(json.dumps(call, ensure_ascii=False))
        return Reply("", [("call_1", "page_action", arguments)])

    return reply

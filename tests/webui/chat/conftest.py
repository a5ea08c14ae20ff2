"""Chats in the real page: the real server, and a provider of models on loopback that plays what a test wrote."""

import asyncio
import importlib
import importlib.util
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import FrameLocator, Locator, Page, expect

from agentcore.api import Module, ToolContext, tool
from agentcore.core.approvals.approval_queue import Verdict

_PROVIDER = Path(__file__).parents[2] / "chat" / "conftest.py"
_KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")


def _tests_of_chat() -> Any:
    """The provider that the tests of the chat play with; conftest files cannot import each other by name."""
    spec = importlib.util.spec_from_file_location("agentcore_tests_chat", _PROVIDER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Pantry(Module):
    """Keeps food."""

    name = "pantry"

    def __init__(self) -> None:
        self.added: list[str] = []

    @tool(effects=["write"])
    async def pantry_add(self, ctx: ToolContext, food: str, count: int = 1) -> dict[str, Any]:
        """Put food into the pantry.

        Args:
            food: What.
            count: How many pieces.
        """
        self.added.append(food)
        return {"food": food, "count": count}

    @tool(read_only=True)
    async def pantry_list(self, ctx: ToolContext, kind: str = "any") -> str:
        """Tell what is in the pantry."""
        return f"bread and salt, {kind}"


@dataclass
class Chat:
    """A page at the chats, and what is behind it."""

    ui: Any
    page: Page
    provider: Any
    pantry: Pantry

    @property
    def box(self) -> Locator:
        """Where a person writes."""
        return self.page.get_by_role("textbox", name="Message", exact=True)

    @property
    def messages(self) -> Locator:
        """The messages, oldest first."""
        return self.page.locator("ac-chat-messages ac-chat-message")

    @property
    def shown(self) -> Locator:
        """What stands in the chat, as a reader sees it."""
        return self.page.get_by_role("region", name="Messages")

    @property
    def card(self) -> Locator:
        """The newest card of a call."""
        return self.page.locator("ac-call-card").last

    async def say(self, text: str) -> None:
        """Write something, and send it."""
        await self.box.fill(text)
        await self.box.press("Enter")

    async def until_idle(self) -> None:
        """Wait until nothing is being answered, and what was said has its number."""
        await expect(self.page.get_by_role("button", name="Stop answering")).to_have_count(0)

    @property
    def decision(self) -> FrameLocator:
        """The frame of the approval view in the newest card of a call."""
        return self.card.frame_locator("ac-approval-frame iframe")

    async def log_in_to_approve(self) -> None:
        """Log the browser in to the approval view as well, in a tab that is closed again."""
        tab = await self.page.context.new_page()
        code = self.ui.host.store.approval_sessions.create_code()
        await tab.goto(f"{self.ui.server.approval_address}/#code={code}")
        await tab.get_by_role("heading", name=re.compile("Nothing waits|没有等待")).wait_for()
        await tab.close()

    async def decide(self, *, approved: bool) -> None:
        """Answer the one call that waits, as a person at the approval view does."""
        (request,) = self.ui.host.approvals.waiting
        await self.ui.host.approvals.decide_call(request.call_id, Verdict(approved=approved, by="test"))


OpenChat = Callable[..., Any]
_TOO_HIGH = """() => {
    const main = document.querySelector('ac-app')?.shadowRoot?.querySelector('main.filled');
    return main ? main.scrollHeight - main.clientHeight : 0;
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def provider() -> AsyncIterator[Any]:
    """A provider that has no reply yet."""
    # seconds on a busy machine, which are not the page's
    for name in ("agentcore.chat.turn.turn", "agentcore.chat.model.openai_model"):
        await asyncio.to_thread(importlib.import_module, name)
    played = _tests_of_chat().Provider()
    app = web.Application(client_max_size=32 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", played.openai)
    app.router.add_get("/v1/models", played.models)
    async with TestServer(app) as server:
        played.url = f"http://127.0.0.1:{server.port}"
        yield played


@pytest_asyncio.fixture(loop_scope="session")
async def open_chat(start_webui: Any, provider: Any, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OpenChat]:
    """Open the chats: `chat = await open_chat()`; `has_model=False`: none is set up.

    Whatever a test does there, the chat fills its window in the end, and only its messages scroll.
    """
    opened: list[Chat] = []
    for name in _KEYS:
        monkeypatch.delenv(name, raising=False)

    async def make(
        *modules: Any,
        path: str = "#/chats",
        has_model: bool = True,
        config: Any = None,
        roots: Any = (),
        **options: Any,
    ) -> Chat:
        pantry = Pantry()
        model = {"provider": "openai", "base_url": f"{provider.url}/v1", "max_retries": 0}
        models = {"models": {"test-model": model}} if has_model else {}
        ui = await start_webui([pantry, *modules], config={**models, **(config or {})}, roots=roots)
        page = await ui.page(path, **options)
        await page.locator("ac-view-chats ac-chat-composer").wait_for()
        opened.append(Chat(ui, page, provider, pantry))
        return opened[-1]

    yield make
    for chat in opened:
        assert chat.page.is_closed() or await chat.page.evaluate(_TOO_HIGH) == 0

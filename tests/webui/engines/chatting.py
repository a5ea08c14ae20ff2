"""Chats in any engine: a page at the chats, the provider of models that plays a part in it, and its modules."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.webui.chat.conftest import Pantry, provider
from tests.webui.engines.conftest import Visit
from tests.webui.engines.page import Found, Page

__all__ = ["ADD", "PHONE", "Chat", "OpenChat", "open_chat", "provider"]

ADD = ("call-1", "pantry_add", '{"food": "rice", "count": 2}')
PHONE = (390, 844)


@dataclass
class Chat:
    """A page at the chats, and what is behind it."""

    ui: Any
    page: Page
    provider: Any
    pantry: Pantry

    @property
    def box(self) -> Found:
        """Where a person writes."""
        return self.page.role("textbox", "Message", exact=True)

    @property
    def messages(self) -> Found:
        """The messages, oldest first."""
        return self.page.css("ac-chat-message")

    @property
    def queue(self) -> Found:
        """What waits for its turn."""
        return self.page.role("region", "Waiting to be sent")

    @property
    def card(self) -> Found:
        """The newest card of a call."""
        return self.page.css("ac-call-card").last

    async def say(self, text: str) -> None:
        """Write something, and send it."""
        await self.box.fill(text)
        await self.page.press("Enter")

    async def until_idle(self) -> None:
        """Wait until nothing is being answered."""
        await self.page.role("button", "Stop answering").gone()


OpenChat = Callable[..., Awaitable[Chat]]


@pytest.fixture
def open_chat(visit: Any, provider: Any, monkeypatch: pytest.MonkeyPatch) -> OpenChat:
    """Open the chats, with a model that plays what the provider says."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    async def make(*modules: Any, has_model: bool = True, config: Any = None, **options: Any) -> Chat:
        pantry = Pantry()
        model = {"provider": "openai", "base_url": f"{provider.url}/v1", "max_retries": 0}
        models = {"models": {"test-model": model}} if has_model else {}
        plan = {"modules": [pantry, *modules], "config": {**models, **(config or {})}}
        shown: Visit = await visit("#/chats", **plan, **options)
        await shown.page.css("ac-chat-composer").seen()
        return Chat(shown.ui, shown.page, provider, pantry)

    return make

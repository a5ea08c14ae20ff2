"""A chat with the module, and a provider of models on loopback that answers as a test says."""

import asyncio
import importlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from agentcore.testing import ClientFactory, ServerClient

Call = tuple[str, dict[str, Any]]


@dataclass
class Provider:
    """Speaks the protocol of OpenAI-compatible servers.

    Attributes:
        answers: What it says next: a text, or the call of a tool.
        requests: What it was sent.
        url: Its address.
    """

    answers: list[str | Call] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """`POST /v1/chat/completions`, streamed."""
        self.requests.append(await request.json())
        said = self.answers.pop(0)
        delta: dict[str, Any] = {"role": "assistant"}
        if isinstance(said, str):
            delta["content"] = said
        else:
            called = {"name": said[0], "arguments": json.dumps(said[1])}
            delta["tool_calls"] = [{"index": 0, "id": f"c{len(self.requests)}", "type": "function", "function": called}]
        reason = "stop" if isinstance(said, str) else "tool_calls"
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for choice in ({"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": reason}):
            chunk = {
                "id": "c",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, **choice}],
            }
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        return response


@dataclass
class Talk:
    """A session of a chat.

    Attributes:
        server: The server.
        session_id: The session.
        events: What it told so far.
        news: Set when it told something.
    """

    server: ServerClient
    session_id: str
    events: list[dict[str, Any]] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def say(self, text: str) -> list[dict[str, Any]]:
        """Say something, and give the results of the calls that were made until the turn ended."""
        began = len(self.events)
        async with self.server.post(f"/api/sessions/{self.session_id}/messages", json={"text": text}) as answer:
            assert answer.status == 202, await answer.text()
        await self.until("session.finished", after=began)
        return [event["tool_result"] for event in self.events[began:] if event["type"] == "session.toolResult"]

    async def again(self, agent: str = "default") -> "Talk":
        """Begin another session of the same server."""
        async with self.server.post("/api/sessions", json={"agentId": agent}) as answer:
            session_id = (await answer.json())["sessionId"]
        return follow_session(self.server, session_id)

    async def until(self, event_type: str, *, after: int = 0) -> dict[str, Any]:
        """The first event of a type."""
        async with asyncio.timeout(60):
            while True:
                self.news.clear()
                for event in self.events[after:]:
                    if event["type"] == event_type:
                        return event
                await self.news.wait()


def follow_session(server: ServerClient, session_id: str) -> Talk:
    """Keep what a session tells from now on."""
    talk = Talk(server, session_id)

    def keep(event: Any) -> None:
        if event.session_id == session_id:
            talk.events.append(event.to_json())
            talk.news.set()

    server.running.host.events.subscribe("session.*", keep)
    return talk


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    """The provider."""
    # seconds on a busy machine, which are not the answer's
    for name in ("agentcore.chat.turn.turn", "agentcore.chat.model.openai_model"):
        await asyncio.to_thread(importlib.import_module, name)
    provider = Provider()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", provider.answer)
    server = TestServer(app)
    await server.start_server()
    provider.url = f"{server.make_url('/v1')}"
    yield provider
    await server.close()


@pytest.fixture
def start(agentcore_client: ClientFactory, provider: Provider) -> Callable[..., Awaitable[Talk]]:
    """Begin a session in which every call is allowed, unless its approvals say otherwise."""

    async def begin(
        approvals: Mapping[str, Any] | None = None,
        modules: Sequence[Any] = (),
        others: Mapping[str, Any] | None = None,
        top: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> Talk:
        model = {"provider": "openai", "model": "m", "base_url": provider.url, "api_key_env": "TEST_KEY"}
        config = {
            "config": {"agent_tools": settings, **(others or {})},
            "models": {"test": model},
            "approvals": {"mode": "allow"} if approvals is None else dict(approvals),
            **(top or {}),
        }
        server = await agentcore_client(modules=["agent_tools", *modules], config=config)
        async with server.post("/api/sessions", json={}) as answer:
            session_id = (await answer.json())["sessionId"]
        return follow_session(server, session_id)

    return begin


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key for the provider, which asks for none."""
    monkeypatch.setenv("TEST_KEY", "key")

"""A provider of models on loopback, which plays what a test wrote; and the server that asks it."""

import asyncio
import importlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from agentcore.chat.model.services import SERVICES
from agentcore.chat.system.sources import read_sources
from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import ServerClient, running_server

LIMIT_S = 60


@dataclass
class Reply:
    """One answer of the provider.

    Args:
        text: What it says.
        calls: Tools that it calls: id, name, JSON text of the arguments.
        split: Bytes in each write of the stream; few of them cut through characters and lines, and cost much.
        status: HTTP status; other than 200, `error` is the body.
        error: Body of a refusal; with status 200 an error in the middle of the stream.
        breaks: Whether the connection ends in the middle.
        ends_early: Whether the stream ends in order, and the answer does not.
        gate: Waited for in the middle of the answer; of `raw`, after its first event.
        reason: Why the answer ends, in the provider's word; empty: in order.
        raw: The bytes of the whole stream, in place of all that but the gate.
        sent: Tokens of the request, as the provider counts them.
        cached: Those of them that it had kept.
        html: A web page in place of an answer, under `status`.
        document: A JSON document in place of a stream.
        headers: Of a refusal.
    """

    text: str = ""
    calls: Sequence[tuple[str, str, str]] = ()
    split: int = 4096
    status: int = 200
    error: dict[str, Any] | None = None
    breaks: bool = False
    ends_early: bool = False
    gate: asyncio.Event | None = None
    reason: str = ""
    raw: bytes | None = None
    sent: int = 10
    cached: int = 0
    html: str = ""
    document: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Provider:
    """Plays replies in the protocols of OpenAI and of Anthropic, and keeps what it was sent.

    Attributes:
        key: What it lists its models for only, as LM Studio does; empty: it lists them to anyone.
        properties: What a llama.cpp server says of itself; None: it is another one.
        server: The header `Server` of its lists of models and streams.
        script: Gives the reply to a request, in place of `replies`; it may be awaited for.
    """

    replies: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""
    listed: Any = None
    list_status: int = 200
    list_gate: asyncio.Event | None = None
    key: str = ""
    properties: Any = None
    server: str = "test"
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    script: Callable[[dict[str, Any]], Reply | Awaitable[Reply]] | None = None

    def say(self, text: str = "", *calls: tuple[str, str, str], **fields: Any) -> None:
        """Add a reply."""
        self.replies.append(Reply(text, calls, **fields))

    @property
    def sent(self) -> str:
        """All that the model was sent last, as text."""
        return json.dumps(self.requests[-1], ensure_ascii=False)

    async def openai(self, request: web.Request) -> web.StreamResponse:
        """`POST /v1/chat/completions`."""
        return await self._play(request, openai_events)

    async def anthropic(self, request: web.Request) -> web.StreamResponse:
        """`POST /v1/messages`."""
        return await self._play(request, anthropic_events)

    async def responses(self, request: web.Request) -> web.StreamResponse:
        """`POST /v1/responses`; replies have `raw` streams, or are refusals."""
        return await self._play(request, lambda reply: [])

    async def models(self, request: web.Request) -> web.Response:
        """`GET /v1/models`."""
        self.headers.append(dict(request.headers))
        if self.list_gate is not None:
            await self.list_gate.wait()
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            error = {"code": "invalid_api_key", "message": "An LM Studio API token is required"}
            return web.json_response({"error": error}, status=401)
        return web.json_response(self.listed, status=self.list_status, headers={"Server": self.server})

    async def props(self, request: web.Request) -> web.Response:
        """`GET /props`, as llama.cpp has it."""
        return web.json_response(self.properties, status=404 if self.properties is None else 200)

    async def _play(self, request: web.Request, events: Callable[[Reply], list[bytes]]) -> web.StreamResponse:
        self.requests.append(await request.json())
        self.headers.append(dict(request.headers))
        self.asked.set()
        given = self.replies.pop(0) if self.script is None else self.script(self.requests[-1])
        reply = given if isinstance(given, Reply) else await given
        if reply.html:
            return web.Response(text=reply.html, content_type="text/html", status=reply.status)
        if reply.document is not None:
            return web.json_response(reply.document)
        if reply.status != 200:
            return web.json_response(reply.error, status=reply.status, headers=reply.headers)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Server": self.server})
        await response.prepare(request)
        if reply.raw is not None:
            first, end, rest = reply.raw.partition(b"\n\n")
            await write(response, first + end, 512)
            if reply.gate is not None:
                await reply.gate.wait()
            await write(response, rest, 512)
            return response
        played = events(reply)
        middle = len(played) // 2
        await write(response, b"".join(played[:middle]), reply.split)
        if reply.gate is not None:
            await reply.gate.wait()
        if reply.breaks:
            assert request.transport is not None
            request.transport.abort()
            return response
        if reply.error is not None:
            await write(response, b"event: error\ndata: " + json.dumps(reply.error).encode() + b"\n\n", reply.split)
        elif not reply.ends_early:
            await write(response, b"".join(played[middle:]), reply.split)
        await response.write_eof()
        return response


def spoken(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The conversation that a model was sent, without what it is told before."""
    return [message for message in request["messages"] if message["role"] != "system"]


async def write(response: web.StreamResponse, data: bytes, split: int) -> None:
    for start in range(0, len(data), split):
        await response.write(data[start : start + split])


def openai_events(reply: Reply) -> list[bytes]:
    """The stream of an OpenAI-compatible server: text word by word, each call in several pieces."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in pieces(reply.text)]
    for index, (call_id, name, arguments) in enumerate(reply.calls):
        head = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
        deltas.append({"tool_calls": [head]})
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in pieces(arguments)]
    chunks = [openai_chunk({"index": 0, "delta": delta, "finish_reason": None}) for delta in deltas]
    reason = reply.reason or ("tool_calls" if reply.calls else "stop")
    chunks.append(openai_chunk({"index": 0, "delta": {}, "finish_reason": reason}))
    usage = {"prompt_tokens": reply.sent, "completion_tokens": 5, "total_tokens": reply.sent + 5}
    if reply.cached:
        usage["prompt_tokens_details"] = {"cached_tokens": reply.cached}
    return [*chunks, openai_chunk(None, usage=usage), b"data: [DONE]\n\n"]


def openai_chunk(choice: dict[str, Any] | None, **fields: Any) -> bytes:
    choices = [] if choice is None else [choice]
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **fields}
    return b"data: " + json_bytes(chunk) + b"\n\n"


def json_bytes(value: Any) -> bytes:
    """JSON text as providers send it: as it is, or with escapes where it holds half of a surrogate pair."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def anthropic_events(reply: Reply) -> list[bytes]:
    """The stream of Anthropic: blocks of text and of calls, each in pieces."""
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
    usage = {"input_tokens": reply.sent - reply.cached, "output_tokens": 1}
    if reply.cached:
        usage["cache_read_input_tokens"] = reply.cached
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "usage": usage}}]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if reply.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(reply.text)]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for call_id, name, arguments in reply.calls:
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(arguments)]
        blocks.append(({"type": "tool_use", "id": call_id, "name": name, "input": {}}, deltas))
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    reason = reply.reason or ("tool_use" if reply.calls else "end_turn")
    ended = {"stop_reason": reason, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 5}})
    events.append({"type": "message_stop"})
    return [b"event: %b\ndata: %b\n\n" % (event["type"].encode(), json_bytes(event)) for event in events]


def pieces(text: str, size: int = 8) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


async def accept_instructions(host: Any) -> None:
    """Accept, as the user does, the instruction files and skills that a host finds now."""
    await read_sources(host)
    for change in host.policy_changes.waiting:
        if change.proposal.kind in {"instructions", "skill"}:
            await host.policy_changes.decide_change(change.change_id, approved=True, by="test")


@dataclass
class Talk:
    """A client of the chat."""

    client: ServerClient
    provider: Provider

    @property
    def host(self) -> Any:
        """The host behind the server."""
        return self.client.running.host

    async def accept_instructions(self) -> None:
        """Accept, as the user does, the instruction files that are in the working folder now."""
        await accept_instructions(self.host)

    async def post(self, message: Any = "hello", *, limit_s: float = LIMIT_S, **body: Any) -> list[dict[str, Any]]:
        """The events that answer one request."""
        text = message if isinstance(message, str) else json.dumps(message)
        document = {"message": text, "session_id": "s1", "agent_id": "default", "user_id": "u1", **body}
        async with asyncio.timeout(limit_s), self.client.post("/api/v1/agent/chat", json=document) as response:
            assert response.status == 200, await response.text()
            raw = (await response.read()).decode()
        return [json.loads(line[6:]) for line in raw.splitlines() if line.startswith("data: ")]

    async def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """The JSON that answers a request of a page, whose status is as expected."""
        json_body = {} if body is None and method != "GET" else body
        async with asyncio.timeout(LIMIT_S), self.client.request(method, path, json=json_body) as response:
            document = await response.json()
            assert response.status == status, document
            return document

    async def begin(self, **body: Any) -> str:
        """A new session of a page; its id."""
        return str((await self.ask("POST", "/api/sessions", body, status=201))["sessionId"])

    @asynccontextmanager
    async def events(self, session_id: str) -> AsyncIterator["Events"]:
        """The events of a session from now on."""
        path = f"/api/events?types=session.*,approval.*&session_id={session_id}"
        async with self.client.get(path) as response:
            assert response.status == 200
            await response.content.readline()
            yield Events(response)

    async def say(self, session_id: str, text: str, **body: Any) -> list[dict[str, Any]]:
        """The events of a turn that a page begins."""
        async with self.events(session_id) as events:
            await self.ask("POST", f"/api/sessions/{session_id}/messages", {"text": text, **body}, status=202)
            return await events.until("session.finished")

    async def items(self, session_id: str) -> list[dict[str, Any]]:
        """The messages of a session."""
        return (await self.ask("GET", f"/api/sessions/{session_id}/messages"))["items"]

    async def approve(self, tool_id: str, *, approved: bool = True, **body: Any) -> list[dict[str, Any]]:
        """Answer a call that waits."""
        return await self.post({"toolId": tool_id, "approved": approved}, role="function", **body)


@dataclass
class Events:
    """Reads a stream of events."""

    response: Any

    async def next(self, *, limit_s: float = LIMIT_S) -> dict[str, Any]:
        """The next event."""
        async with asyncio.timeout(limit_s):
            async for line in self.response.content:
                if line.startswith(b"data: "):
                    return json.loads(line[6:])
        raise AssertionError("the stream ended")

    async def until(self, event_type: str) -> list[dict[str, Any]]:
        """All events up to the first of a type."""
        seen = [await self.next()]
        while seen[-1]["type"] != event_type:
            seen.append(await self.next())
        return seen


MakeTalk = Callable[..., Any]


async def _import(name: str) -> None:
    """Import what takes seconds on a busy machine, which are not the answer's."""
    await asyncio.to_thread(importlib.import_module, name)


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    """A provider that has no reply yet."""
    for name in ("agentcore.chat.turn.turn", "agentcore.chat.model.openai_model"):
        await _import(name)
    async with serve_provider() as played:
        yield played


@asynccontextmanager
async def serve_provider() -> AsyncIterator[Provider]:
    """Serve a provider that has no reply yet."""
    played = Provider()
    app = web.Application(client_max_size=32 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", played.openai)
    app.router.add_post("/v1/messages", played.anthropic)
    app.router.add_post("/v1/responses", played.responses)
    app.router.add_get("/v1/models", played.models)
    app.router.add_get("/props", played.props)
    async with TestServer(app) as server:
        played.url = f"http://127.0.0.1:{server.port}"
        yield played


@pytest.fixture
def open_talk(provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeTalk:
    """Open a server over a folder; opened again, it is the same server after a restart."""
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", *(service.key_variable for service in SERVICES.values())):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TEST_MODEL_KEY", "sk-test-secret")

    @asynccontextmanager
    async def make(*modules: Any, model: dict[str, Any] | None = None, **config: Any) -> AsyncIterator[Talk]:
        named = {"base_url": f"{provider.url}/v1", "api_key_env": "TEST_MODEL_KEY", "max_retries": 0}
        if (model or {}).get("provider") == "anthropic":
            await _import("agentcore.chat.model.anthropic_model")
            named["base_url"] = provider.url
        document = {"models": {"m": {"provider": "openai", **named, **(model or {})}}, **config}
        async with running_server(HostPlan(modules, document), tmp_path) as client:
            yield Talk(client, provider)

    return make


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [next(iter(event)) for event in events]


@pytest.fixture
def text_of() -> Callable[[list[dict[str, Any]]], str]:
    """The text of an answer."""
    return lambda events: "".join(event.get("content", "") for event in events)


@pytest.fixture
def calls_of() -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    """The calls of an answer."""
    return lambda events: [event["tool_call"] for event in events if "tool_call" in event]

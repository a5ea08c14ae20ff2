"""A provider of models on loopback whose words are the moments at which they were sent; and a bare relay of it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.servers import free_port, wait_for_200

_PROVIDER = """
import asyncio, json, sys, time
from aiohttp import web

async def health(request):
    return web.json_response({"ok": True})

async def complete(request):
    asked = (await request.json())["messages"][-1]["content"]
    count, pause_s = (float(word) for word in asked.split()[:2])
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    loop = asyncio.get_running_loop()
    begin = loop.time()
    for number in range(int(count)):
        await asyncio.sleep(begin + number * pause_s - loop.time())
        await send(response, {"content": f"{time.monotonic_ns()} "})
    await send(response, {}, "stop")
    await response.write(b"data: [DONE]\\n\\n")
    return response

async def send(response, delta, reason=None):
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    await response.write(b"data: " + json.dumps(chunk).encode() + b"\\n\\n")

app = web.Application()
app.router.add_post("/v1/chat/completions", complete)
app.router.add_get("/api/health", health)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
"""

_RELAY = """
import json, sys
import aiohttp
from aiohttp import web

async def health(request):
    return web.json_response({"ok": True})

async def relay(request):
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": (await request.json())["message"]}]}
    async with aiohttp.ClientSession() as session, session.post(sys.argv[2], json=body) as upstream:
        async for line in upstream.content:
            if line.startswith(b"data: {"):
                delta = json.loads(line[6:])["choices"][0]["delta"]
                if "content" in delta:
                    await response.write(b"data: " + json.dumps({"content": delta["content"]}).encode() + b"\\n\\n")
    return response

app = web.Application()
app.router.add_post("/chat", relay)
app.router.add_get("/api/health", health)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
"""


@contextmanager
def provider() -> Iterator[str]:
    """A provider that answers `COUNT PAUSE` with so many words, so many seconds apart; gives its base URL."""
    with _running(_PROVIDER) as port:
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def relay(base_url: str) -> Iterator[int]:
    """The least that can pass a provider's words on: an aiohttp client behind an aiohttp server; gives its port."""
    with _running(_RELAY, f"{base_url}/chat/completions") as port:
        yield port


@contextmanager
def _running(source: str, *arguments: str) -> Iterator[int]:
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", source, str(port), *arguments], cwd=Path("/"))
    try:
        wait_for_200(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(20)

"""A server as a process of its own that a test can kill, and requests to it."""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from tests.forking import Command

LIMIT_S = 180
"""For what a server that was just started does: it imports all that it needs first."""


@asynccontextmanager
async def served(folder) -> AsyncIterator[tuple[Command, str]]:
    """A server process and its address; killed at the end."""
    environ = {**os.environ, "AGENTCORE_STATE_DIR": str(folder / "state"), "AGENTCORE_TOKEN": "t" * 43}
    process = Command(
        *("serve", "--config", str(folder / "app.json"), "--port", "0"),
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    lines = []
    try:
        async with asyncio.timeout(LIMIT_S):
            while b'"server_ready"' not in (line := await asyncio.to_thread(process.stdout.readline)):
                assert line, b"".join(lines).decode()
                lines.append(line)
        yield process, json.loads(line)["address"]
    finally:
        process.kill()
        await asyncio.to_thread(process.communicate)


async def post(address, message, role="user"):
    body = {"message": message, "role": role, "session_id": "s1", "agent_id": "default", "user_id": ""}
    headers = {"Authorization": "Bearer " + "t" * 43}
    async with (
        asyncio.timeout(LIMIT_S),
        aiohttp.ClientSession(headers=headers) as client,
        client.post(f"{address}/api/v1/agent/chat", json=body) as response,
    ):
        raw = (await response.read()).decode()
    return [json.loads(line[6:]) for line in raw.splitlines() if line.startswith("data: ")]


def approval(tool_id):
    return json.dumps({"toolId": tool_id, "approved": True})


async def shown(address, session_id="s1"):
    """The messages of a session, as a page gets them."""
    return (await request(address, "GET", f"/api/sessions/{session_id}/messages"))["items"]


async def answered(address, text, session_id="s1"):
    """The messages of a session once this is the last of them: it is looked again at each sign of the session."""
    headers, signs = {"Authorization": "Bearer " + "t" * 43}, {"types": "session.*", "session_id": session_id}
    async with (
        asyncio.timeout(LIMIT_S),
        aiohttp.ClientSession(address, headers=headers) as client,
        client.get("/api/events", params=signs, timeout=aiohttp.ClientTimeout()) as events,
    ):
        while (items := await shown(address, session_id))[-1]["text"] != text:
            assert await events.content.readline(), items
    return items


async def request(address, method, path, body=None):
    headers = {"Authorization": "Bearer " + "t" * 43}
    async with (
        asyncio.timeout(LIMIT_S),
        aiohttp.ClientSession(address, headers=headers) as client,
        client.request(method, path, json=body) as response,
    ):
        document = await response.json()
    assert response.ok, document
    return document

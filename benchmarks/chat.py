"""Streaming of a model's answer: a word's way from the provider to the page, and many sessions at once on one core."""

import asyncio
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks import servers
from benchmarks.measure import Row
from benchmarks.provider import provider, relay

_WORDS = 200
_PAUSE_S = 0.01
_ROUNDS = 5
_SESSIONS = 50
_RATE = 20  # words a second of each: several times what a fast reader takes
_SECONDS = 10
_LOOP_MS = 250  # from here on the server itself calls its event loop blocked

_PROBE = '''
import asyncio, time
from agentcore.api import Module, tool

PAUSE_S = 0.005

class Probe(Module):
    """Looks at how late the event loop is, and how much of that is its own work."""

    def __init__(self):
        self.late, self.own, self.task = [0.0], [0.0], None

    async def shutdown(self):
        if self.task is not None:
            self.task.cancel()

    @tool(read_only=True)
    async def probe_begin(self) -> str:
        """Begin."""
        self.late, self.own = [], []
        self.task = asyncio.get_running_loop().create_task(self._look())
        return "begun"

    @tool(read_only=True)
    async def probe_end(self) -> dict:
        """End, and give the milliseconds."""
        self.task.cancel()
        return {"late": self.late, "own": self.own}

    async def _look(self):
        while True:
            due, worked = time.perf_counter() + PAUSE_S, time.thread_time()
            await asyncio.sleep(PAUSE_S)
            late = max(time.perf_counter() - due, 0)
            self.late.append(late * 1000)
            self.own.append(min(late, time.thread_time() - worked) * 1000)
'''


def run() -> list[Row]:
    """Measure, and give the rows."""
    with tempfile.TemporaryDirectory() as folder, provider() as base_url:
        app = {"models": {"m": {"provider": "openai", "base_url": base_url}}}
        with servers.agentcore(Path(folder) / "app", {"probe": _PROBE}, app) as subject, relay(base_url) as port:
            return asyncio.run(_measure(subject, port))


async def _measure(subject: servers.Running, relay_port: int) -> list[Row]:
    headers = {"Authorization": f"Bearer {subject.token}"}
    async with aiohttp.ClientSession(f"http://127.0.0.1:{subject.port}", headers=headers) as ours:
        await answer(ours, 3, 0)  # the model libraries are imported by the first message
        async with aiohttp.ClientSession(f"http://127.0.0.1:{relay_port}") as bare:
            word = await _word(ours, bare)
        return [word, *await _many(ours, subject.pid)]


async def _word(ours: aiohttp.ClientSession, bare: aiohttp.ClientSession) -> Row:
    """A word's way, over the events that the page reads."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(_ROUNDS):
        times[0].extend(await answer(ours, _WORDS, _PAUSE_S))
        async with bare.post("/chat", json={"message": f"{_WORDS} {_PAUSE_S}"}) as response:
            times[1].extend(await _ways(response, _WORDS))
    name = "a word from the provider to the page's event, over a bare relay"
    return Row(name, statistics.median(times[0]), statistics.median(times[1]), 5, is_difference=True)


async def _many(ours: aiohttp.ClientSession, pid: int) -> list[Row]:
    """Fifty answers at once, with the server on one core and everything else on the others."""
    cores = sorted(os.sched_getaffinity(0))
    for task in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), cores[:1])
    await _call(ours, "probe_begin")
    count = _RATE * _SECONDS
    answers = await asyncio.gather(*(answer(ours, count, 1 / _RATE) for _ in range(_SESSIONS)))
    probed = await _call(ours, "probe_end")
    late, own = (statistics.quantiles(probed[name], n=1000) for name in ("late", "own"))
    ways = [way for answer in answers for way in answer]
    begin = f"{_SESSIONS} answers at {_RATE} words a second each, the server on one core"
    return [
        Row(f"{begin}: a word's way", statistics.median(ways), 0, None),
        Row(f"{begin}: event loop late by its own work, 99 %", own[989], 0, 20),
        Row(f"{begin}: the same, at most", max(probed["own"]), 0, _LOOP_MS),
        Row(f"{begin}: late for any reason, 99 %", late[989], 0, None),
        Row(f"{begin}: the same, at most", max(probed["late"]), 0, _LOOP_MS),
    ]


async def answer(ours: aiohttp.ClientSession, count: int, pause_s: float) -> list[float]:
    """Have an answer streamed into a session of its own; milliseconds of each word on its way to `/api/events`."""
    session_id = f"bench{time.monotonic_ns()}"
    query = {"session_id": session_id, "types": "session.*"}
    async with ours.get("/api/events", params=query) as events:
        body = {"message": f"{count} {pause_s}", "session_id": session_id, "user_id": "", "agent_id": "default"}
        async with ours.post("/api/v1/agent/chat", json=body) as response:
            assert response.status == 200, await response.text()
            response.close()  # the page reads the events: the turn goes on without this reader
        return await _ways(events, count)


async def _ways(response: aiohttp.ClientResponse, count: int) -> list[float]:
    assert response.status == 200, await response.text()
    ways: list[float] = []
    rest = ""
    async for line in response.content:
        if not line.startswith(b"data: {"):
            continue
        now = time.monotonic_ns()
        event = json.loads(line[6:])
        assert "error" not in event, event
        *words, rest = (rest + event.get("content", "")).split(" ")
        ways += [(now - int(word)) / 1e6 for word in words]
        if len(ways) == count:
            return ways
    raise AssertionError(f"{len(ways)} of {count} words came")


async def _call(ours: aiohttp.ClientSession, tool: str) -> dict[str, Any]:
    async with ours.post(f"/api/tools/{tool}/call", json={"arguments": {}}) as response:
        envelope = await response.json()
        assert envelope["ok"], envelope
        data: dict[str, Any] = envelope["data"]
        return data

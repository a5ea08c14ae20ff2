"""Notifications that a server sends faster than they are handled wait in bounded memory."""

import asyncio
import json

from agentcore_mcp_servers.dispatcher import LineDispatcher
from agentcore_mcp_servers.messages import MESSAGE_BYTES

SIZE = 1024 * 1024
SENT = 40


async def test_large_notifications_that_wait_are_limited_by_their_bytes_and_small_ones_still_come_afterwards():
    reported, heard = [], []
    is_last = asyncio.Event()

    async def write(_line):
        """Write nothing."""

    async def on_request(*_):
        return {}

    async def on_notify(_context, _method, params):
        heard.append(len(params["data"]))
        if params["data"] == "last":
            is_last.set()

    def line(data):
        return (
            json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": data}}).encode() + b"\n"
        )

    dispatcher = LineDispatcher(write, reported.append)
    started = asyncio.Event()

    class Started:
        def started(self, *_):
            started.set()

    running = asyncio.create_task(dispatcher.run(on_request, on_notify, task_status=Started()))
    await started.wait()
    for _ in range(SENT):
        dispatcher.feed(line("x" * SIZE))
    async with asyncio.timeout(30):
        while not heard:
            await asyncio.sleep(0)
        dispatcher.feed(line("last"))
        await is_last.wait()
    dispatcher.end()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert 1 <= heard.count(SIZE) <= MESSAGE_BYTES // SIZE
    assert heard[-1] == len("last")
    assert any("at once" in each for each in reported)

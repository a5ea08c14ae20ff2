"""Notifications that a server sends faster than they are handled wait in bounded memory."""

import asyncio
import json

from agentcore_mcp_servers.dispatcher import LineDispatcher
from agentcore_mcp_servers.messages import MESSAGE_BYTES

SIZE = 1024 * 1024
SENT = 40


class Started:
    """What a dispatcher calls once it runs."""

    def __init__(self):
        self.event = asyncio.Event()

    def started(self, *_):
        self.event.set()


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
    started = Started()
    running = asyncio.create_task(dispatcher.run(on_request, on_notify, task_status=started))
    await started.event.wait()
    for _ in range(SENT):
        dispatcher.feed(line("x" * SIZE))
    async with asyncio.timeout(30):
        while not heard:
            await asyncio.sleep(0)
        dispatcher.feed(line("last"))
        await is_last.wait()
    dispatcher.mark_closed()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert 1 <= heard.count(SIZE) <= MESSAGE_BYTES // SIZE
    assert heard[-1] == len("last")
    assert any("at once" in each for each in reported)


async def test_large_requests_whose_refusal_waits_to_be_sent_are_limited_by_their_bytes():
    reported, written = [], []
    gate = asyncio.Event()

    async def write(line):
        await gate.wait()
        written.append(json.loads(line)["id"])

    async def on_request(*_):
        await asyncio.Event().wait()

    async def on_notify(*_):
        """Hear nothing."""

    def line(number, data):
        request = {"jsonrpc": "2.0", "id": number, "method": "roots/list", "params": {"data": data}}
        return json.dumps(request).encode() + b"\n"

    dispatcher = LineDispatcher(write, reported.append)
    started = Started()
    running = asyncio.create_task(dispatcher.run(on_request, on_notify, task_status=started))
    await started.event.wait()
    for number in range(32):
        dispatcher.feed(line(number, "worked on"))
    for number in range(SENT):
        dispatcher.feed(line(100 + number, "x" * SIZE))
    gate.set()
    async with asyncio.timeout(30):
        while not written:
            await asyncio.sleep(0)
        dispatcher.feed(line(1000, "small"))
        while 1000 not in written:
            await asyncio.sleep(0)
    dispatcher.mark_closed()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert 1 <= len(written) - 1 <= MESSAGE_BYTES // SIZE
    assert any("at once" in each for each in reported)

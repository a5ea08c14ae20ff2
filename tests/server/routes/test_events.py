"""`GET /api/events`: what happens, to many at once, resumable, and never held up by one slow reader."""

import asyncio
import json
import socket
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.core.events import EventBus
from agentcore.server.http.server_limits import STREAM_BUFFER_BYTES, TimeLimits


class Listener:
    """One open event stream."""

    def __init__(self, response) -> None:
        self.response = response
        self.comments: list[str] = []
        self.last_id = ""

    async def block(self) -> dict[str, str]:
        """The next block of lines."""
        async with asyncio.timeout(30):
            text = (await self.response.content.readuntil(b"\n\n")).decode()
        fields = dict(line.partition(": ")[::2] for line in text.strip().split("\n"))
        self.last_id = fields.get("id", self.last_id)
        return fields

    async def next(self) -> dict:
        """The next event; that the machine was too busy for the event loop is none of a test's."""
        while "data" not in (fields := await self.block()) or fields["event"] == "module.blocked":
            pass
        event = json.loads(fields["data"])
        assert (event["type"], event["id"]) == (fields["event"], fields["id"])
        return event


@asynccontextmanager
async def listening(bare_server, query: str = "", **headers: str):
    async with bare_server.client.get(f"{bare_server.url}/api/events{query}", headers=headers) as response:
        assert response.content_type == "text/event-stream"
        listener = Listener(response)
        await listener.block()
        yield listener


@pytest.mark.spec("K8")
async def test_event_comes_with_id_type_time_and_session(bare_server):
    async with listening(bare_server) as listener:
        bare_server.host.events.publish(
            "approval.requested", {"callId": "c1", "tool": "t", "expiresAt": 1}, session_id="s1"
        )
        event = await listener.next()
    assert event.pop("id")
    assert event.pop("time") > 1_600_000_000_000
    assert event == {"type": "approval.requested", "sessionId": "s1", "callId": "c1", "tool": "t", "expiresAt": 1}


async def test_filters_by_type_and_session(bare_server):
    async with listening(bare_server, "?types=clock.*,x.changed&session_id=s1") as listener:
        bare_server.host.events.publish("clock.started", {"n": 1}, session_id="s2")
        bare_server.host.events.publish("clockwork.changed", {"n": 2}, session_id="s1")
        bare_server.host.events.publish("x.changed", {"n": 3}, session_id="s1")
        bare_server.host.events.publish("clock.finished", {"n": 4}, session_id="s1")
        assert [(await listener.next())["n"] for _ in range(2)] == [3, 4]


@pytest.mark.spec("K8")
async def test_stream_resumes_after_the_last_event_that_was_seen(bare_server):
    async with listening(bare_server) as listener:
        bare_server.host.events.publish("a", {"n": 1})
        await listener.next()
    for number in (2, 3):
        bare_server.host.events.publish("a", {"n": number})
    async with listening(bare_server, **{"Last-Event-ID": listener.last_id}) as resumed:
        bare_server.host.events.publish("a", {"n": 4})
        assert [(await resumed.next())["n"] for _ in range(3)] == [2, 3, 4]
    async with listening(bare_server, f"?after={listener.last_id}") as resumed:
        assert [(await resumed.next())["n"] for _ in range(3)] == [2, 3, 4]


async def test_stream_can_resume_from_its_very_beginning(bare_server):
    async with bare_server.client.get(f"{bare_server.url}/api/events") as response:
        first = Listener(response)
        beginning = (await first.block())["id"]
    bare_server.host.events.publish("a", {"n": 1})
    async with listening(bare_server, f"?after={beginning}") as resumed:
        assert (await resumed.next())["n"] == 1


@pytest.mark.spec("K8")
@pytest.mark.parametrize("after", ["0123abcd-5", "nonsense", "-1", "{boot}-999999", "{boot}-0x1"])
async def test_gap_that_cannot_be_filled_is_told(bare_server, after):
    boot = bare_server.host.events.last_id.partition("-")[0]
    async with listening(bare_server, f"?after={after.format(boot=boot)}") as listener:
        event = await listener.next()
        assert event["type"] == "events.reset"
        bare_server.host.events.publish("a", {"n": 1})
        assert (await listener.next())["n"] == 1


async def test_events_that_are_kept_no_longer_are_a_gap(bare_server):
    before = bare_server.host.events.last_id
    for number in range(10_100):
        bare_server.host.events.publish("a", {"n": number})
    async with listening(bare_server, f"?after={before}") as listener:
        assert (await listener.next())["type"] == "events.reset"


async def test_events_of_one_moment_come_in_order_to_all(bare_server):
    async with listening(bare_server) as one, listening(bare_server, "?types=a") as other:
        for number in range(100):
            bare_server.host.events.publish("a", {"n": number})
        for listener in (one, other):
            assert [(await listener.next())["n"] for _ in range(100)] == list(range(100))


async def test_sign_of_life_moves_the_place_to_resume_from(make_server):
    bare_server = await make_server(limits=TimeLimits(heartbeat=0.05))
    async with listening(bare_server, "?types=nothing") as listener:
        bare_server.host.events.publish("a", {})
        while (fields := await listener.block())["id"] != bare_server.host.events.last_id:
            assert "data" not in fields
    assert "data" not in fields


async def test_reader_that_leaves_is_forgotten(bare_server):
    async with listening(bare_server):
        assert bare_server.app.dispatcher.parts.events.reader_count == 1
    async with asyncio.timeout(30):
        while bare_server.app.dispatcher.parts.events.reader_count:
            await asyncio.sleep(0)


async def test_http_1_0_reader_gets_events_without_chunks(bare_server):
    reader, writer = await asyncio.open_connection("127.0.0.1", bare_server.port)
    writer.write(bare_server.head(start="GET /api/events HTTP/1.0"))
    async with asyncio.timeout(30):
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"Transfer-Encoding" not in head
        assert (await reader.readline()).startswith(b"retry: ")
        await reader.readuntil(b"\n\n")
        bare_server.host.events.publish("a", {"n": 1})
        assert (await reader.readline()).startswith(b"id: ")
    writer.close()


def slow_socket(bare_server) -> socket.socket:
    """A reader that has asked for events and reads nothing, with a small buffer of its own."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", bare_server.port))
    client.sendall(bare_server.head("Accept: text/event-stream", start="GET /api/events HTTP/1.0"))
    client.setblocking(False)
    return client


async def read_events(client: socket.socket, last_type: str) -> list[dict]:
    """All events that come, up to the first of a type."""
    loop, data, mark = asyncio.get_running_loop(), bytearray(), f"event: {last_type}\n".encode()
    async with asyncio.timeout(60):
        while mark not in data[-(1 << 16) :] or not data.endswith(b"\n\n"):
            data += await loop.sock_recv(client, 1 << 15)
    return [json.loads(line[6:]) for line in bytes(data).split(b"\n") if line.startswith(b"data: ")]


@pytest.mark.more
@pytest.mark.spec("S7")
@pytest.mark.slow
async def test_slow_reader_is_skipped_others_are_not_and_it_gets_all_later(bare_server):
    """A reader stops reading while 16 MB of events go by; memory stays bounded, and nothing is lost for it."""
    events, parts = bare_server.host.events, bare_server.app.dispatcher.parts
    with slow_socket(bare_server) as slow:
        async with asyncio.timeout(30):
            while parts.events.reader_count < 1:
                await asyncio.sleep(0)
        async with listening(bare_server, "?types=a") as quick:  # a busy machine has events of its own
            for number in range(400):
                events.publish("a", {"n": number, "filler": "x" * 40_000})
                assert (await quick.next())["n"] == number
        transport = next(iter(bare_server.app.dispatcher.connections._connections.values()))
        assert parts.hits.counts["slow_event_reader"] == 1
        assert transport.get_write_buffer_size() < 2 * STREAM_BUFFER_BYTES
        events.publish("last", {"n": 400})
        received = await read_events(slow, "last")
    assert [event["n"] for event in received if "n" in event] == list(range(401))


async def test_slow_reader_that_has_missed_too_much_is_told(bare_server):
    events, parts = bare_server.host.events, bare_server.app.dispatcher.parts
    with slow_socket(bare_server) as slow:
        async with asyncio.timeout(30):
            while parts.events.reader_count < 1:
                await asyncio.sleep(0)
        for number in range(400):
            events.publish("a", {"n": number, "filler": "x" * 40_000})
            await asyncio.sleep(0)
        for number in range(10_100):
            events.publish("a", {"n": number})
        events.publish("last", {})
        received = await read_events(slow, "events.reset")
    assert "events.reset" in {event["type"] for event in received}


@pytest.mark.spec("S1")
async def test_streams_end_with_the_server(bare_server):
    async with listening(bare_server) as listener:
        bare_server.app.dispatcher.parts.events.close()
        async with asyncio.timeout(30):
            assert await listener.response.content.read() == b""
    async with bare_server.client.get(f"{bare_server.url}/api/events") as late:
        assert await late.read() == b""


@pytest.mark.parametrize("query", ["?types=a%0Ab", "?types=", "?colour=red", f"?types={','.join(['a'] * 600)}"])
async def test_wrong_filter_is_refused(bare_server, query):
    status, answer = await bare_server.get(f"/api/events{query}")
    assert (status, answer["error"]["type"]) == (400, "invalid_query")


async def test_too_many_patterns_are_refused(bare_server):
    types = ",".join(f"a{number}" for number in range(40))
    status, answer = await bare_server.get(f"/api/events?types={types}")
    assert (status, answer["error"]["type"]) == (400, "invalid_query")


@given(st.lists(st.booleans(), max_size=30), st.data())
def test_resuming_gives_each_kept_event_once(kept, data):
    bus = EventBus()
    ids = [bus.last_id]
    for number, is_kept in enumerate(kept):
        bus.publish("a", {"n": number}, kept=is_kept)
        ids.append(bus.last_id)
    place = data.draw(st.integers(0, len(kept)))
    missed = bus.events_since(ids[place])
    assert missed is not None
    assert [json.loads(event.encode())["n"] for event in missed] == [
        n for n, is_kept in enumerate(kept) if is_kept and n >= place
    ]

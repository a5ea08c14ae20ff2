"""What clients should never write to `agentcore mcp`: each is refused, and ends nothing."""

import json
import os
import select

import pytest

from tests.cli.relay.conftest import server_of

LOOK = {"name": "shop_look", "arguments": {"shelf": "rice"}}


def call(**changed):
    """A call as a line without its end, with parts of it that are otherwise."""
    return json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": LOOK} | changed).encode()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (call()[:-5], -32700),
        (call() + call(), -32700),
        (call().decode().encode("utf-16-le"), -32700),
        (b"[" * 200_000, -32700),
        (b"[" + call() + b"]", -32600),
        (b'"hello"', -32600),
        (call(jsonrpc="1.0"), -32600),
        (call(id=[1]), -32600),
        (call(id=1.5), -32600),
        (call(method=7), -32600),
        (b'{"jsonrpc": "2.0", "id": 3}', -32600),
        (b'{"a": 1, "a": 2}', -32700),
    ],
    ids=[
        *("half", "two", "UTF-16", "deep", "batch", "text", "version", "list as id", "part as id", "number as method"),
        *("no method", "key twice"),
    ],
)
def test_a_line_that_is_no_message_is_answered_and_ends_nothing(visitor, line, code):
    visitor.write(line + b"\n")
    assert visitor.answer(None)["error"]["code"] == code
    assert visitor.call("shop_look", shelf="rice") == "rice: 3"


@pytest.mark.more
def test_a_message_of_100_mb_is_refused_under_its_id_and_kept_by_nobody(visit, open_shop):
    client, shop = visit(), open_shop
    client.connect()
    before, own = memory_of(server_of(shop)), memory_of(client.process.pid)
    client.write(b'{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "')
    for _ in range(100):
        client.write(b"x" * 1_000_000)
    client.write(b'"}}\n')
    assert client.answer(9)["error"]["code"] == -32700
    assert client.call("shop_look", shelf="rice") == "rice: 3"
    assert memory_of(server_of(shop)) - before < 60_000_000
    assert memory_of(client.process.pid) - own < 60_000_000


def test_a_message_in_pieces_is_one(visitor):
    client = visitor
    line = call(id=5) + b"\n"
    for at in range(0, len(line), 7):
        client.write(line[at : at + 7])
    assert client.answer(5)["result"]["content"][0]["text"] == "rice: 3"


def test_half_of_a_message_before_the_end_is_no_call(visit, tmp_path):
    client = visit()
    client.connect()
    mark = tmp_path / "mark"
    params = {"name": "shop_wait", "arguments": {"path": str(mark)}}
    client.write(call(params=params))  # whole, but for the end of its line
    client.end()
    assert not mark.exists()


def test_ids_of_all_kinds_are_given_back_as_they_are(visitor):
    for request_id in ("3", 3, -1, 0, 2**53, "x" * 300, 'with "quotes" and \\', "名字"):
        assert visitor.ask("ping", request_id=request_id)["id"] == request_id


@pytest.mark.more
def test_a_client_that_writes_and_never_reads_is_read_no_further(visit, open_shop):
    client = visit()
    client.connect()
    server = server_of(open_shop)
    before = memory_of(server)
    assert written_at_most(client, {"jsonrpc": "2.0", "method": "tools/list"}, 4_000_000) < 4_000_000
    assert memory_of(server) - before < 60_000_000
    other = visit(name="other")
    other.connect()
    assert other.call("shop_look", shelf="rice") == "rice: 3"


def test_more_requests_at_one_time_than_are_answered_are_refused(visitor, visit):
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    modern = visit(name="modern")
    listen = {"_meta": meta, "notifications": {"toolsListChanged": True}}
    for number in range(513):
        modern.write({"jsonrpc": "2.0", "id": number, "method": "subscriptions/listen", "params": listen})
    refused = modern.answer(512)["error"]
    assert refused["code"] == -32600
    assert refused["message"].startswith("512 requests of this client")
    assert visitor.call("shop_look", shelf="rice") == "rice: 3"


def written_at_most(client, message, limit_bytes):
    """How many bytes of requests a client gets rid of that reads no answer."""
    fd = client.process.stdin.fileno()
    os.set_blocking(fd, False)
    written, number, rest = 0, 100, b""
    while written < limit_bytes and select.select([], [fd], [], 3)[1]:
        if not rest:
            requests = (json.dumps({**message, "id": number + each}) for each in range(100))
            number, rest = number + 100, "".join(f"{request}\n" for request in requests).encode()
        done = os.write(fd, rest[:4096])
        written, rest = written + done, rest[done:]
    return written


def memory_of(pid):
    """What a process holds, in bytes."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

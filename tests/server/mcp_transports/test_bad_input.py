"""What clients should never send over HTTP: each is refused with what is wrong, and harms nothing."""

import asyncio
import json

import aiohttp
import pytest

from tests.server.mcp_transports.conftest import ACCEPT, LIMIT_S, REVISION, Shop, request
from tests.server.mcp_transports.test_calls import said

SERVER = {"modules": [Shop()]}
LOOK = {"name": "shop_look", "arguments": {"shelf": "rice"}}


def call(**changed):
    """A call, with parts of it that are otherwise."""
    return json.dumps(request("tools/call", LOOK) | changed).encode()


NO_MESSAGES = {
    "nothing": b"",
    "white space": b" \n ",
    "a text": b'"hello"',
    "a number": b"1e999",
    "half of one": call()[:-5],
    "two of them": call() + call(),
    "a list of one": b"[" + call() + b"]",
    "no UTF-8": b"\xff\xfe" + call(),
    "UTF-16": call().decode().encode("utf-16"),
    "half of a character": call().replace(b"rice", b"\\ud800"),
    "a key twice": call()[:-1] + b', "method": "ping"}',
    "very deep": b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": ' + b"[" * 200_000,
    "not a number": call().replace(b'"rice"', b"NaN"),
    "an earlier JSON-RPC": call(jsonrpc="1.0"),
    "no method": call(method=None),
    "a method that is a list": call(method=["tools/call"]),
    "parameters that are a list": call(params=["shop_look"]),
    "an id that is a list": call(id=[1]),
    "an id that is an object": call(id={}),
    "an id that is half a number": call(id=1.5),
}


@pytest.mark.parametrize("name", NO_MESSAGES)
async def test_what_is_no_message_is_refused_and_the_session_goes_on(hand, name):
    status, answer, _ = await hand.post(NO_MESSAGES[name])
    assert status == 400, answer
    assert answer["error"]["code"] in (-32700, -32600)
    assert answer["error"]["message"]
    assert said(await hand.call("shop_look", {"shelf": "rice"}))


NOTHING_TO_ANSWER = {
    "an unknown notification": {"jsonrpc": "2.0", "method": "notifications/burn"},
    "a notification with wrong parameters": {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"a": 1}},
    "cancelling what nobody asked": {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": "never"},
    },
    "cancelling without an id": {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}},
    "an answer to nothing": {"jsonrpc": "2.0", "id": "agentcore-1", "result": {}},
    "an error to nothing": {"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "no"}},
    "an error without an id": {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "no"}},
}


@pytest.mark.parametrize("name", NOTHING_TO_ANSWER)
async def test_what_wants_no_answer_and_means_nothing_is_taken_and_dropped(hand, name):
    assert (await hand.post(NOTHING_TO_ANSWER[name]))[0] == 202
    assert said(await hand.call("shop_look", {"shelf": "rice"}))


WRONG_PARAMETERS = {
    "unknown method": ("tools/burn", {}, -32601),
    "a method of ten thousand letters": ("x" * 10_000, {}, -32601),
    "a method of the client's": ("sampling/createMessage", {}, -32601),
    "no tool": ("tools/call", {"arguments": {}}, -32602),
    "a tool that is a number": ("tools/call", {"name": 1}, -32602),
    "arguments that are a list": ("tools/call", {"name": "shop_look", "arguments": [1]}, -32602),
    "a progress token that is a list": ("tools/call", LOOK | {"_meta": {"progressToken": [1]}}, -32602),
    "meta that is a text": ("tools/call", LOOK | {"_meta": "x"}, -32602),
    "an address that is a number": ("resources/read", {"uri": 1}, -32602),
    "a level that there is not": ("logging/setLevel", {"level": "loud"}, -32602),
    "a second handshake of no revision": ("initialize", {"protocolVersion": 1}, -32602),
}


@pytest.mark.parametrize("name", WRONG_PARAMETERS)
async def test_wrong_methods_and_parameters_are_errors_under_their_id(hand, name):
    method, params, code = WRONG_PARAMETERS[name]
    _, answer, _ = await hand.post(request(method, params, "mine"))
    assert (answer["id"], answer["error"]["code"]) == ("mine", code), answer
    assert said(await hand.call("shop_look", {"shelf": "rice"}))


@pytest.mark.parametrize("version", ["1999-01-01", "2099-01-01", "2026-07-28", "", "x" * 10_000])
async def test_client_that_asks_for_a_revision_that_is_not_shaken_hands_in_gets_one_that_is(hand, version):
    hand.session = ""
    assert (await hand.connect(version))["protocolVersion"] == REVISION


@pytest.mark.parametrize("session", ["x", "mcp-" + "0" * 32, "../../etc/passwd", "x" * 4000])
async def test_session_that_there_is_not_is_not_found(hand, session):
    hand.session = session
    assert (await hand.post(request("tools/list")))[0] == 404


async def test_id_may_be_used_again_once_it_was_answered(hand):
    for request_id in (7, "7", 7, -1, 2**53, "x" * 1000):
        assert said(await hand.call("shop_look", {"shelf": "rice"}, request_id))


async def test_id_as_text_is_another_one_than_as_number(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    first = asyncio.create_task(hand.call("shop_count", request_id=5))
    await mcp.shop.begun.wait()
    assert said(await hand.call("shop_look", {"shelf": "rice"}, "5"))
    mcp.shop.gate.set()
    assert said(await first) == "counted"


async def pieces(count):
    """A message that is always longer than what was sent of it."""
    yield call()[:-2].replace(b"rice", b"")[:-3]
    for _ in range(count):
        yield b"x" * 1_000_000


async def test_message_of_100_mb_whose_length_nobody_said_is_not_read(hand):
    shown = {"Accept": ACCEPT, "Content-Type": "application/json", "Authorization": f"Bearer {hand.key}"}
    shown |= {"Mcp-Session-Id": hand.session, "Mcp-Protocol-Version": REVISION}
    async with aiohttp.ClientSession(headers=shown) as client:
        try:
            async with client.post(hand.url, data=pieces(100)) as answer:
                assert answer.status == 413
        except aiohttp.ClientConnectionError:
            pass  # the server had said no, and closed, before all was sent
    assert said(await hand.call("shop_look", {"shelf": "rice"}))


async def test_half_of_a_message_is_no_call(start_mcp, by_hand):
    mcp = await start_mcp(clients={"hand": {"mode": "allow"}})
    hand = await by_hand(mcp)
    body = json.dumps(request("tools/call", {"name": "shop_sell", "arguments": {"item": "rice"}})).encode()
    url = mcp.server.make_url("/mcp")
    reader, writer = await asyncio.open_connection(url.host, url.port)
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: {url.authority}\r\nAccept: {ACCEPT}\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {hand.key}\r\nMcp-Session-Id: {hand.session}\r\nContent-Length: {len(body) + 1}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    writer.write_eof()
    async with asyncio.timeout(LIMIT_S):
        said_of_it = await reader.read()
    writer.close()
    assert b"200 OK" not in said_of_it
    assert mcp.shop.sold == []
    assert said(await hand.call("shop_sell", {"item": "oil"})) == "sold oil"


async def test_what_is_stored_of_a_very_long_handshake_is_short(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    long = "x" * 500_000
    about = {
        "protocolVersion": REVISION,
        "clientInfo": {"name": f"hand {long}", "version": long, "description": long, "icons": [{"src": long}]},
        "capabilities": {
            "elicitation": {"form": {"of mine": long}},
            "roots": {"listChanged": True},
            "experimental": {f"{number} {long[:1000]}": {} for number in range(100)},
        },
    }
    status, answer, headers = await hand.post(request("initialize", about))
    assert (status, answer["result"]["protocolVersion"]) == (200, REVISION)
    rows = await mcp.host.store.mcp_sessions.load_all()
    (stored,) = [row.handshake for row in rows if row.session_id == headers["Mcp-Session-Id"]]
    assert len(stored) < 2_000
    client = json.loads(stored)["client"]
    assert client["clientInfo"]["name"].startswith("hand x")
    assert client["capabilities"] == {"elicitation": {"form": {}}, "roots": {"listChanged": True}}
    hand.session = headers["Mcp-Session-Id"]
    assert said(await hand.call("shop_look", {"shelf": "rice"}))

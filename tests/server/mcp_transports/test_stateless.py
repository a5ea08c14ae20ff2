"""The stateless revision, by hand: each request says all of itself, and headers and body have to agree."""

import asyncio
import json
from contextlib import suppress
from typing import Any

import aiohttp

from agentcore.api import Module, ToolDefinition
from tests.server.approving import approver
from tests.server.mcp_transports.conftest import ACCEPT, LIMIT_S, ByHand, request
from tests.server.mcp_transports.test_calls import said
from tests.server.mcp_transports.test_door import Many

REVISION = "2026-07-28"
META = "io.modelcontextprotocol/"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def whole(method: str, params: Any = None, request_id: Any = 1, **capabilities: Any) -> dict[str, Any]:
    """A request that says all of itself."""
    meta = {
        META + "protocolVersion": REVISION,
        META + "clientInfo": {"name": "hand", "version": "1"},
        META + "clientCapabilities": capabilities,
    }
    given = dict(params or {})
    return request(method, {**given, "_meta": meta | given.get("_meta", {})}, request_id)


def headers_of(message: dict[str, Any]) -> dict[str, str]:
    """The headers that say the same."""
    shown = {"Mcp-Protocol-Version": REVISION, "Mcp-Method": message["method"]}
    key = NAMED.get(message["method"])
    return shown | ({"Mcp-Name": message["params"][key]} if key else {})


def calling(tool: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
    """A call of a tool."""
    return whole("tools/call", {"name": tool, "arguments": arguments or {}, **more}, 7)


async def hand(mcp, name="hand", query="?wait=1"):
    return ByHand(mcp.url + query, await mcp.key(name))


async def ask(client, message, **headers):
    """Status, message and headers of the answer to a request that says all of itself."""
    return await client.post(message, **headers_of(message) | headers)


async def test_call_is_one_exchange_without_a_session_and_says_who_answered(start_mcp):
    mcp = await start_mcp()
    client = await hand(mcp)
    status, answer, headers = await ask(client, calling("shop_look", {"shelf": "rice"}))
    assert (status, answer["id"]) == (200, 7)
    assert answer["result"]["structuredContent"] == {"shelf": "rice", "goods": 3}
    assert answer["result"]["resultType"] == "complete"
    assert answer["result"]["_meta"][META + "serverInfo"]["name"] == "agentcore"
    assert "Mcp-Session-Id" not in headers
    assert headers["Content-Type"] == "application/json"


async def test_server_says_what_it_can_do(start_mcp):
    mcp = await start_mcp()
    _, answer, _ = await ask(await hand(mcp), whole("server/discover"))
    assert answer["result"]["supportedVersions"] == [REVISION]
    assert {"tools", "resources"} <= answer["result"]["capabilities"].keys()
    assert "approval_required" in answer["result"]["instructions"]


LOOK = calling("shop_look", {"shelf": "rice"})
WRONG = {
    "no method": (LOOK, {"Mcp-Method": None}, 400, -32020, "mcp-method header does not match"),
    "another method": (LOOK, {"Mcp-Method": "tools/list"}, 400, -32020, "mcp-method header does not match"),
    "another name": (LOOK, {"Mcp-Name": "shop_sell"}, 400, -32020, "mcp-name header does not match"),
    "broken name": (LOOK, {"Mcp-Name": "=?base64?%%?="}, 400, -32020, "mcp-name header does not match"),
    "another revision": (LOOK, {"Mcp-Protocol-Version": "2027-01-01"}, 400, -32020, "protocol-version"),
    "no revision in the body": (
        request("tools/list", {"_meta": {META + "clientCapabilities": {}}}),
        {},
        400,
        -32602,
        "protocolVersion",
    ),
    "no capabilities": (
        request("tools/list", {"_meta": {META + "protocolVersion": REVISION}}),
        {},
        400,
        -32602,
        "clientCapabilities",
    ),
    "nothing of itself": (request("tools/list"), {}, 400, -32602, "_meta"),
    "no such method": (whole("tools/burn"), {}, 404, -32601, "Method not found"),
    "a method of before": (whole("ping"), {}, 404, -32601, "Method not found"),
    "bad parameters": (whole("resources/read", {"uri": 1}), {"Mcp-Name": "1"}, 400, -32020, "mcp-name"),
    "no name": (whole("tools/call", {"arguments": {}}), {"Mcp-Name": None}, 400, -32602, ""),
    "no such page": (whole("tools/list", {"cursor": "x"}), {}, 400, -32602, "no page"),
}


async def test_request_that_disagrees_with_itself_or_means_nothing_is_refused_with_its_id(start_mcp):
    client = await hand(await start_mcp())
    for name, (message, changed, status, code, text) in WRONG.items():
        shown = {"Mcp-Protocol-Version": REVISION, "Mcp-Method": message["method"]}
        if message["method"] == "tools/call":
            shown["Mcp-Name"] = "shop_look"
        shown = {key: value for key, value in (shown | changed).items() if value is not None}
        got, answer, _ = await client.post(message, **shown)
        assert (got, answer["error"]["code"], answer["id"]) == (status, code, message["id"]), name
        assert text in answer["error"]["message"], name


async def test_revision_that_is_not_served_is_refused_with_those_that_are(start_mcp):
    mcp = await start_mcp()
    message = whole("tools/list")
    message["params"]["_meta"][META + "protocolVersion"] = "2027-01-01"
    status, answer, _ = await ask(await hand(mcp), message, Mcp_Protocol_Version="2027-01-01")
    assert (status, answer["error"]["code"]) == (400, -32022)
    assert answer["error"]["data"] == {"supported": [REVISION], "requested": "2027-01-01"}


BAD = {
    "no JSON": (b"{", {}, 400, -32700),
    "a batch": (b"[]", {}, 400, -32600),
    "an answer": (b'{"jsonrpc":"2.0","id":1,"result":{}}', {}, 400, -32600),
    "no note": (b'{"hello":1}', {}, 400, -32600),
    "another type": (b"{}", {"Content_Type": "text/plain"}, 415, -32600),
    "no stream": (b"{}", {"Accept": "application/json"}, 406, -32600),
}


async def test_junk_is_refused_with_what_is_wrong(start_mcp):
    client = await hand(await start_mcp())
    for name, (body, headers, status, code) in BAD.items():
        got, answer, _ = await client.post(body, Mcp_Protocol_Version=REVISION, **headers)
        assert (got, answer["error"]["code"], answer["id"]) == (status, code, None), name


async def test_header_that_stands_twice_is_refused(start_mcp):
    mcp = await start_mcp()
    client = await hand(mcp)
    shown = [*headers_of(LOOK).items(), ("Mcp-Name", "shop_look"), ("Accept", ACCEPT)]
    shown += [("Content-Type", "application/json"), ("Authorization", f"Bearer {client.key}")]
    async with (
        aiohttp.ClientSession() as session,
        session.post(client.url, data=json.dumps(LOOK), headers=shown) as answer,
    ):
        assert (answer.status, (await answer.json())["error"]["code"]) == (400, -32020)


async def test_only_posts_are_served_and_notes_mean_nothing(start_mcp):
    mcp = await start_mcp()
    client = await hand(mcp)
    shown = {"Authorization": f"Bearer {client.key}", "Mcp-Protocol-Version": REVISION}
    async with aiohttp.ClientSession(headers=shown) as session:
        for method in ("GET", "DELETE"):
            async with session.request(method, client.url) as answer:
                assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    assert (await client.post(note, Mcp_Protocol_Version=REVISION))[0] == 202
    assert (await client.post(note, Mcp_Protocol_Version="2027-01-01"))[1]["error"]["code"] == -32022


async def test_progress_comes_in_a_stream_that_ends_with_the_result(start_mcp):
    mcp = await start_mcp()
    client = await hand(mcp)
    message = calling("shop_count", _meta={"progressToken": "p"})
    async with open_stream(client, message) as stream:
        told = await stream.next()
        assert told["method"] == "notifications/progress"
        assert told["params"] == {"progressToken": "p", "progress": 0.5, "total": 1.0, "message": "half of it"}
        mcp.shop.gate.set()
        result = await stream.next()
    assert (result["id"], said(result["result"])) == (7, "counted")


async def test_client_cancels_by_closing_its_connection(start_mcp):
    mcp = await start_mcp()
    client = await hand(mcp)
    call = asyncio.create_task(ask(client, calling("shop_count")))
    await mcp.shop.begun.wait()
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    async with asyncio.timeout(LIMIT_S):
        while mcp.shop.sold != ["cancelled"]:
            await asyncio.sleep(0.01)


async def test_call_that_needs_a_person_is_asked_once_and_runs_once(start_mcp):
    mcp = await start_mcp()
    client = await hand(mcp)
    first = (await ask(client, calling("shop_sell", {"item": "rice"})))[1]["result"]
    assert "approval_required" in said(first)
    assert mcp.server.approval_address in said(first)
    await mcp.decide()
    assert said((await ask(client, calling("shop_sell", {"item": "rice"})))[1]["result"]) == "sold rice"
    assert mcp.shop.sold == ["rice"]


async def test_key_that_is_revoked_ends_a_stream(start_mcp):
    mcp = await start_mcp()
    client = await hand(mcp)
    async with open_stream(client, listening()) as stream:
        assert (await stream.next())["method"] == "notifications/subscriptions/acknowledged"
        person = await approver(mcp.server)
        assert (await person.ask("DELETE", "/api/approvers/hand"))[0] == 200
        assert await stream.rest() == []


async def test_server_that_stops_does_not_wait_for_who_listens(start_mcp):
    mcp = await start_mcp()
    async with open_stream(await hand(mcp), listening()) as stream:
        await stream.next()
        async with asyncio.timeout(LIMIT_S):
            await mcp.stop()
        assert await stream.rest() == []


def listening(**kinds):
    return whole("subscriptions/listen", {"notifications": kinds or {"toolsListChanged": True}}, "listen-1")


async def test_client_that_listens_hears_that_the_tools_have_changed_and_of_nothing_else(start_mcp):
    mcp = await start_mcp()
    client, other = await hand(mcp), await hand(mcp, "other")
    async with (
        open_stream(client, listening()) as stream,
        open_stream(other, listening(promptsListChanged=True)) as deaf,
    ):
        told = [await stream.next(), await deaf.next()]
        assert [each["method"] for each in told] == ["notifications/subscriptions/acknowledged"] * 2
        mcp.host.registry.rebuild()
        mcp.host.events.publish("tools.changed", {"version": mcp.host.registry.version})
        changed = await stream.next()
        assert changed["method"] == "notifications/tools/list_changed"
        assert changed["params"]["_meta"][META + "subscriptionId"] == "listen-1"
        await mcp.stop()
        assert await deaf.rest() == []


async def test_tools_that_a_client_has_found_stay_in_its_list(start_mcp):
    mcp = await start_mcp([Many()])
    client, other = await hand(mcp), await hand(mcp, "other")
    await ask(client, calling("find_tools", {"query": "polish silver number 59"}))
    names = [tool["name"] for tool in (await ask(client, whole("tools/list")))[1]["result"]["tools"]]
    plain = [tool["name"] for tool in (await ask(other, whole("tools/list")))[1]["result"]["tools"]]
    assert len(names) > len(plain)
    assert names[: len(plain)] == plain


class Regional(Module):
    """Wants an argument in a header too."""

    def get_tool_definitions(self):
        """One tool."""
        properties = {"region": {"type": "string", "x-mcp-header": "Region"}, "text": {"type": "string"}}
        schema = {"type": "object", "properties": properties}
        return [ToolDefinition("regional", "Say where.", schema, effects=frozenset(("session",)))]

    async def execute_tool_call(self, tool_name, args):
        """Say it."""
        return args.get("region", "nowhere")


async def test_argument_that_a_tool_wants_in_a_header_has_to_stand_there_alike(start_mcp):
    mcp = await start_mcp([Regional()])
    client = await hand(mcp)
    listed = (await ask(client, whole("tools/list")))[1]["result"]["tools"]
    (tool,) = [each for each in listed if each["name"] == "regional"]
    assert tool["inputSchema"]["properties"]["region"]["x-mcp-header"] == "Region"
    call = calling("regional", {"region": "eu"})
    assert said((await ask(client, call, Mcp_Param_Region="eu"))[1]["result"]) == "eu"
    assert said((await ask(client, calling("regional", {"text": "x"})))[1]["result"]) == "nowhere"
    for shown in ({}, {"Mcp_Param_Region": "us"}):
        status, answer, _ = await ask(client, call, **shown)
        assert (status, answer["error"]["code"], answer["id"]) == (400, -32020, 7)


class Stream:
    """The events of one answer."""

    def __init__(self, answer):
        self._answer = answer

    async def next(self):
        """The next message."""
        async with asyncio.timeout(LIMIT_S):
            while not (line := await self._answer.content.readline()).startswith(b"data: {"):
                assert line, "the stream has ended"
        return json.loads(line.removeprefix(b"data: "))

    async def rest(self):
        """What comes until its end, however that comes."""
        messages = []
        with suppress(aiohttp.ClientError):
            async with asyncio.timeout(LIMIT_S):
                while line := await self._answer.content.readline():
                    messages += [line] if line.startswith(b"data: {") else []
        return messages


class open_stream:  # noqa: N801 - used as a function
    """A request whose answer is a stream of events."""

    def __init__(self, client, message):
        self._client, self._message = client, message

    async def __aenter__(self):
        shown = {"Accept": ACCEPT, "Authorization": f"Bearer {self._client.key}", **headers_of(self._message)}
        self._session = aiohttp.ClientSession(headers=shown)
        self._answer = await self._session.post(self._client.url, json=self._message)
        assert self._answer.status == 200
        assert self._answer.content_type == "text/event-stream"
        return Stream(self._answer)

    async def __aexit__(self, *_):
        self._answer.close()
        await self._session.close()

"""Clients that are cut off in the middle of a stream: they take it up again, and nothing runs twice."""

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import replace

import aiohttp
import pytest

from agentcore.api import Image, Module, Text, ToolContext, ToolResult, tool
from agentcore.server.mcp_transports import resuming
from agentcore.server.mcp_transports.resuming import CLIENT_EVENTS_KEPT_BYTES
from tests.server.approving import approver
from tests.server.mcp_transports.conftest import ACCEPT, LIMIT_S, REVISION, request
from tests.server.mcp_transports.test_calls import cancel, said
from tests.support.waiting import wait_until


class Kiln(Module):
    """Burns for as long as a test wants."""

    def __init__(self):
        super().__init__()
        self.runs, self.ends, self.gate = 0, [], asyncio.Event()

    @tool(effects=["session"], timeout_s=60)
    async def kiln_burn(self, ctx: ToolContext, pot: str) -> str:
        """Burn a pot."""
        self.runs += 1
        ctx.progress(0.25, "hot")
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.ends.append("cancelled")
            raise
        ctx.progress(0.75, "cooling")
        return f"burnt {pot}"

    @tool(effects=["session"], timeout_s=60)
    async def kiln_paint(self, ctx: ToolContext, pot: str) -> ToolResult[None]:
        """Paint a pot, and give large pictures of it."""
        self.runs += 1
        ctx.progress(0.25, "dry")
        await self.gate.wait()
        picture = Image(b"\x89PNG\r\n\x1a\n" + bytes(CLIENT_EVENTS_KEPT_BYTES // 10), "image/png")
        return ToolResult((Text(f"painted {pot}"), picture, picture), None)

    @tool(effects=["session"], served_as="kiln://heat/{number}")
    async def kiln_heat(self, number: int) -> str:
        """How hot it is."""
        return str(number)


class Events:
    """The events of one answer: id and message."""

    def __init__(self, answer):
        self._answer = answer

    async def next(self):
        """The next one."""
        event_id, data = "", None
        async with asyncio.timeout(LIMIT_S):
            while line := (await self._answer.content.readline()).decode():
                if line.startswith("id: "):
                    event_id = line.removeprefix("id: ").strip()
                elif line.startswith("data: "):
                    data = line.removeprefix("data: ").strip()
                elif line == "\n" and data is not None:
                    return event_id, json.loads(data) if data else None
        raise AssertionError("the stream has ended")

    async def until_answer(self):
        """What comes up to the answer of a request."""
        told = [(await self.next())[1]]
        while "id" not in (told[-1] or {}):
            told.append((await self.next())[1])
        return told


@asynccontextmanager
async def answer_to(client, method, message=None, **headers):
    """An answer of the server, which is cut off at the end of the block."""
    shown = {
        "Accept": ACCEPT,
        "Authorization": f"Bearer {client.key}",
        "Mcp-Session-Id": client.session,
        "Mcp-Protocol-Version": REVISION,
    }
    async with aiohttp.ClientSession(headers=shown | headers) as http:
        answer = await http.request(method, client.url, json=message)
        try:
            yield answer
        finally:
            answer.close()


def burning(pot="bowl", request_id=7, tool_name="kiln_burn"):
    """A call of which progress is told."""
    params = {"name": tool_name, "arguments": {"pot": pot}, "_meta": {"progressToken": f"t{request_id}"}}
    return request("tools/call", params, request_id)


async def begin_and_lose(client, message):
    """Begin a call, and lose the connection once something was told; the ids of the events that came."""
    async with answer_to(client, "POST", message) as answer:
        assert answer.content_type == "text/event-stream"
        stream = Events(answer)
        return [(await stream.next())[0] for _ in range(2)]


async def take_up(client, event_id):
    """All that a client gets that comes back with the id of an event."""
    async with answer_to(client, "GET", **{"Last-Event-ID": event_id}) as answer:
        assert answer.status == 200, await answer.text()
        return await Events(answer).until_answer()


@pytest.fixture
async def kiln(start_mcp, by_hand):
    """A kiln, the server that has it, and a client."""
    module = Kiln()
    mcp = await start_mcp([module])
    module.mcp, module.client = mcp, await by_hand(mcp)
    return module


async def test_a_call_whose_stream_was_cut_goes_on_and_its_result_is_not_lost(kiln):
    _, last = await begin_and_lose(kiln.client, burning())
    kiln.gate.set()
    *told, answer = await take_up(kiln.client, last)
    assert [each["params"]["message"] for each in told] == ["cooling"]
    assert (answer["id"], said(answer["result"])) == (7, "burnt bowl")
    assert kiln.runs == 1


async def test_what_was_told_before_the_cut_is_told_again_to_who_has_not_seen_it(kiln):
    first, _ = await begin_and_lose(kiln.client, burning())
    kiln.gate.set()
    *told, answer = await take_up(kiln.client, first)
    assert [each["params"]["message"] for each in told] == ["hot", "cooling"]
    assert said((await take_up(kiln.client, first))[-1]["result"]) == said(answer["result"])  # lost once more


async def test_who_comes_back_before_the_server_has_noticed_the_cut_reads_on(kiln):
    async with answer_to(kiln.client, "POST", burning()) as answer:
        stream = Events(answer)
        await stream.next()
        last, _ = await stream.next()
        taken = asyncio.create_task(take_up(kiln.client, last))
        await wait_until(lambda: taken.done() or kiln.runs)
        kiln.gate.set()
        assert said((await taken)[-1]["result"]) == "burnt bowl"


async def test_a_call_that_is_sent_again_after_a_cut_runs_once(kiln):
    await begin_and_lose(kiln.client, burning())
    again = asyncio.create_task(kiln.client.post(burning(request_id=8)))
    other = asyncio.create_task(kiln.client.post(burning("cup", request_id=9)))
    await wait_until(lambda: kiln.runs == 2)
    kiln.gate.set()
    _, answer, _ = await again
    assert (answer["id"], said(answer["result"])) == (8, "burnt bowl")
    assert said((await other)[1]["result"]) == "burnt cup"
    assert kiln.runs == 2


async def test_a_result_that_nobody_got_is_given_once_to_an_equal_call(kiln):
    ended = []
    kiln.mcp.host.events.subscribe("call.finished", ended.append)
    await begin_and_lose(kiln.client, burning())
    kiln.gate.set()
    await wait_until(lambda: ended)
    assert said((await kiln.client.post(burning(request_id=8)))[1]["result"]) == "burnt bowl"
    assert kiln.runs == 1
    assert said((await kiln.client.post(burning(request_id=9)))[1]["result"]) == "burnt bowl"
    assert kiln.runs == 2


async def test_a_call_whose_client_does_not_come_back_goes_on_though_nobody_can_take_up_its_stream(kiln, monkeypatch):
    monkeypatch.setattr(resuming, "RESUMED_SECONDS", 0.01)  # shorter than the pause below: who asks keeps it
    _, last = await begin_and_lose(kiln.client, burning())

    async def is_forgotten():
        async with answer_to(kiln.client, "GET", **{"Last-Event-ID": last}) as answer:
            return answer.status == 400

    async with asyncio.timeout(LIMIT_S):
        while not await is_forgotten():
            await asyncio.sleep(0.05)
    kiln.gate.set()
    assert said((await kiln.client.post(burning(request_id=8)))[1]["result"]) == "burnt bowl"
    assert (kiln.runs, kiln.ends) == (1, [])


async def test_a_client_that_was_cut_off_can_still_cancel(kiln):
    _, last = await begin_and_lose(kiln.client, burning())
    assert (await kiln.client.post(cancel(7)))[0] == 202
    await wait_until(lambda: kiln.ends == ["cancelled"])
    assert (await take_up(kiln.client, last))[-1]["error"]["message"] == "Request cancelled"


async def test_a_call_that_was_sent_again_after_a_cut_is_cancelled_by_its_new_id(kiln):
    await begin_and_lose(kiln.client, burning())
    again = asyncio.create_task(kiln.client.post(burning(request_id=8)))
    other = asyncio.create_task(kiln.client.post(burning("cup", request_id=9)))
    await wait_until(lambda: kiln.runs == 2)
    assert (await kiln.client.post(cancel(8)))[0] == 202
    await wait_until(lambda: kiln.ends == ["cancelled"])
    assert (await again)[1]["error"]["message"] == "Request cancelled"
    kiln.gate.set()
    assert said((await other)[1]["result"]) == "burnt cup"
    assert said((await kiln.client.post(burning(request_id=10)))[1]["result"]) == "burnt bowl"
    assert kiln.runs == 3  # what was cancelled gives nothing to the next equal call


async def test_a_key_that_is_revoked_ends_what_goes_on_without_its_client(kiln):
    await begin_and_lose(kiln.client, burning())
    person = await approver(kiln.mcp.server)
    assert (await person.ask("DELETE", "/api/approvers/hand"))[0] == 200
    await wait_until(lambda: kiln.ends == ["cancelled"])


@pytest.mark.parametrize("event_id", ["x", "00000000-1-1", "00000000-1-²", "-" * 3000])
async def test_an_event_that_nobody_knows_is_refused(kiln, event_id):
    async with answer_to(kiln.client, "GET", **{"Last-Event-ID": event_id.replace("²", "%C2%B2")}) as answer:
        assert answer.status == 400
        assert "send the request again" in await answer.text()


async def test_an_event_of_another_session_is_refused(kiln, by_hand):
    _, last = await begin_and_lose(kiln.client, burning())
    other = await by_hand(kiln.mcp, "other")
    async with answer_to(other, "GET", **{"Last-Event-ID": last}) as answer:
        assert answer.status == 400


async def test_clients_of_earlier_revisions_get_no_event_without_data(kiln):
    await kiln.client.connect("2025-06-18")
    message = burning()
    async with answer_to(kiln.client, "POST", message, **{"Mcp-Protocol-Version": "2025-06-18"}) as answer:
        event_id, told = await Events(answer).next()
    assert told["params"]["message"] == "hot"
    kiln.gate.set()
    assert said((await take_up(kiln.client, event_id))[-1]["result"]) == "burnt bowl"


async def test_what_belongs_to_no_request_is_told_again_too(kiln):
    for number in (1, 2):
        await kiln.client.post(request("resources/subscribe", {"uri": f"kiln://heat/{number}"}))
    async with answer_to(kiln.client, "GET") as answer:
        stream = Events(answer)
        await stream.next()
        kiln.runtime.served_changed("kiln://heat/1")
        last, told = await stream.next()
        assert told["params"]["uri"] == "kiln://heat/1"
    kiln.runtime.served_changed("kiln://heat/2")
    async with answer_to(kiln.client, "GET", **{"Last-Event-ID": last}) as answer:
        stream = Events(answer)
        assert (await stream.next())[1]["params"]["uri"] == "kiln://heat/2"
    async with answer_to(kiln.client, "GET", **{"Last-Event-ID": "00000000-0-3"}) as answer:
        assert (await Events(answer).next())[1] is None  # of a server that is gone: it begins anew


async def test_events_that_are_stored_for_a_client_are_limited_over_all_its_sessions_and_nothing_runs_twice(
    kiln, by_hand
):
    first, other = kiln.client, await by_hand(kiln.mcp, "other")
    second = replace(first)
    await second.connect()
    clients = [first, second, first, second, first]
    pots = {f"pot {number}": client for number, client in enumerate(clients)} | {"other": other}
    ended, lasts = [], {}
    kiln.mcp.host.events.subscribe("call.finished", ended.append)
    for pot, client in pots.items():
        _, lasts[pot] = await begin_and_lose(client, burning(pot, pot, "kiln_paint"))
    kiln.gate.set()
    await wait_until(lambda: len(ended) == len(pots))

    async def is_stored(pot):
        async with answer_to(pots[pot], "GET", **{"Last-Event-ID": lasts[pot]}) as answer:
            return answer.status == 200

    await wait_until(lambda: is_dropped(is_stored, "pot 1"))
    assert [await is_stored(pot) for pot in pots] == [False, False, True, True, True, True]
    async with answer_to(other, "GET", **{"Last-Event-ID": lasts["other"]}) as answer:
        assert "painted other" in await answer.text()
    _, again, _ = await first.post(burning("pot 0", 8, "kiln_paint"))
    assert "no longer stored" in again["error"]["message"]
    assert kiln.runs == len(pots)


async def is_dropped(is_stored, pot):
    """True once the events of a call are stored no longer."""
    return not await is_stored(pot)

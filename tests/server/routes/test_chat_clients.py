"""Paired clients that chat: all of their own sessions, one stream of events for these, and nothing of others."""

import asyncio
import json
from contextlib import asynccontextmanager

import aiohttp
import pytest

from agentcore.api import Module, ToolContext, tool
from agentcore.core.calls.call import CallRequest
from tests.server.approving import MODEL, a_client, approver, page, paired

pytestmark = pytest.mark.spec("K11")

LIMIT_S = 60


class Writer(Module):
    """Writes until it may end."""

    def __init__(self) -> None:
        super().__init__()
        self.may_end = asyncio.Event()

    @tool(effects=["session"])
    async def write_on(self, ctx: ToolContext) -> str:
        """Write, and wait."""
        ctx.show_output("written\n")
        await self.may_end.wait()
        return "done"


@pytest.fixture
def writer():
    return Writer()


@pytest.fixture
async def server(agentcore_client, writer):
    models = {"local": {"base_url": "http://user:secret@10.0.0.1/v1"}}
    return await agentcore_client(
        [writer], config={"models": models}, environ={"OPENAI_BASE_URL": "http://10.0.0.2/v1"}
    )


@pytest.fixture
async def person(server):
    return await approver(server)


@pytest.fixture
def client(server):
    return a_client(server)


async def new_session(browser, headers=None):
    status, made = await browser.ask("POST", "/api/sessions", {}, headers=headers)
    assert status == 201
    return made["sessionId"]


@asynccontextmanager
async def events(client, shown, **more):
    """The events that a client gets, each by the next call; and its last id."""
    async with (
        aiohttp.ClientSession() as http,
        http.get(f"{client.address}/api/events", headers={**shown, **more}) as stream,
        asyncio.timeout(LIMIT_S),
    ):
        assert stream.status == 200

        async def following():
            while not (line := (await stream.content.readline()).decode()).startswith("data: "):
                assert line
            return json.loads(line.removeprefix("data: "))

        yield following


def tell(server, session_id, number):
    """An event of a session."""
    server.running.host.events.publish("session.rewound", {"number": number}, session_id=session_id)


async def test_one_stream_has_the_events_of_all_own_sessions(server, person, client):
    """Of those that are made later, too, and of those that are gone, also after a break; of others nothing."""
    shown, foreign = await paired(client, person, "panel", ["chat"]), await new_session(await page(server))
    own = await new_session(client, shown)
    async with events(client, shown) as following:
        later = await new_session(client, shown)
        for number, session_id in enumerate((foreign, own, later, foreign)):
            tell(server, session_id, number)
        server.running.host.events.publish("tabs.changed", {})
        server.running.host.events.publish("tools.changed", {"tools": 1})
        tell(server, own, 4)
        seen = [await following() for _ in range(4)]
    assert [(event.get("sessionId"), event.get("number")) for event in seen] == [
        (own, 1),
        (later, 2),
        (None, None),
        (own, 4),
    ]
    tell(server, foreign, 5)
    assert (await client.ask("DELETE", f"/api/sessions/{later}", headers=shown))[0] == 200
    async with events(client, shown, **{"Last-Event-ID": seen[-1]["id"]}) as following:
        gone = await following()
    assert (gone["type"], gone["sessionId"]) == ("session.deleted", later)


async def test_client_that_also_approves_has_what_waits_in_one_stream_with_its_sessions(server, person, client):
    shown = await paired(client, person, "panel", ["chat", "approve"])
    own, foreign = await new_session(client, shown), await new_session(await page(server))
    async with events(client, shown) as following:
        tell(server, foreign, 1)
        asked = {"callId": "call_1", "tool": "write_on", "expiresAt": 1}
        server.running.host.events.publish("approval.requested", asked, session_id=foreign)
        tell(server, own, 2)
        assert [(await following())["type"] for _ in range(2)] == ["approval.requested", "session.rewound"]


async def test_client_of_a_name_that_was_revoked_begins_with_no_sessions(server, person, client):
    before = await paired(client, person, "panel", ["chat"])
    former = await new_session(client, before)
    async with events(client, before):
        await person.ask("DELETE", "/api/approvers/panel")
    shown = await paired(client, person, "panel", ["chat"])
    own = await new_session(client, shown)
    async with events(client, shown) as following:
        tell(server, former, 1)
        tell(server, own, 2)
        assert (await following())["sessionId"] == own


async def test_client_changes_and_forgets_its_own_sessions(person, client):
    shown = await paired(client, person, "panel", ["chat"])
    own = f"/api/sessions/{await new_session(client, shown)}"
    assert (await client.ask("PATCH", own, {"title": "Shoes"}, headers=shown))[1]["title"] == "Shoes"
    assert (await client.ask("PATCH", own, {"mode": "deny"}, headers=shown))[1]["mode"] == "deny"
    assert (await client.ask("DELETE", own, headers=shown))[0] == 200


@pytest.mark.spec("K3")
async def test_looser_mode_of_an_own_session_waits_for_a_person(server, person, client):
    """Who asked is shown; revoked, it leaves nothing that could be confirmed by mistake."""
    shown = await paired(client, person, "panel", ["chat", "approve"])
    session = f"/api/sessions/{await new_session(client, shown)}"
    status, answer = await client.ask("PATCH", session, {"mode": "allow"}, headers=shown)
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    (change,) = (await person.ask("GET", "/api/approvals"))[1]["changes"]
    assert (change["kind"], change["askedBy"]["name"]) == ("session_mode", "panel")
    decision = f"/api/policy-changes/{change['changeId']}/decision"
    assert (await client.ask("POST", decision, {"approved": True}, headers=shown))[1]["error"]["type"] == "forbidden"
    assert (await client.ask("GET", session, headers=shown))[1]["mode"] == "ask"
    assert (await person.ask("POST", decision, {"approved": True}))[0] == 200
    assert (await client.ask("GET", session, headers=shown))[1]["mode"] == "allow"

    other = f"/api/sessions/{await new_session(client, shown)}"
    await client.ask("PATCH", other, {"mode": "allow"}, headers=shown)
    await person.ask("DELETE", "/api/approvers/panel")
    assert (await person.ask("GET", "/api/approvals"))[1]["changes"] == []


async def test_new_session_of_a_client_has_no_looser_mode_from_the_start(person, client):
    shown = await paired(client, person, "panel", ["chat"])
    status, answer = await client.ask("POST", "/api/sessions", {"mode": "allow"}, headers=shown)
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    assert (await client.ask("GET", "/api/sessions", headers=shown))[1]["sessions"] == []


async def test_client_sees_what_it_can_chat_with_and_not_where_that_is(server, person, client):
    """Addresses of the person's own can hold a log-in, and name what is not for everybody to know."""
    shown = await paired(client, person, "panel", ["chat"])
    status, told = await client.ask("GET", "/api/chat", headers=shown)
    assert (status, told["isSetUp"], [model["name"] for model in told["models"]]) == (200, True, ["local"])
    assert not [text for text in ("10.0.0", "secret") if text in json.dumps(told)]
    assert "user:secret@10.0.0.1" in await (await server.get("/api/chat")).text()


async def test_client_that_shares_tabs_is_told_the_names_of_sessions_and_nothing_else(server, person, client):
    own = await new_session(await page(server))
    await (await server.patch(f"/api/sessions/{own}", json={"title": "Shoes"})).json()
    shown = await paired(client, person, "panel", ["tab"])
    status, names = await client.ask("GET", "/api/sessions/names", headers=shown)
    (name,) = names["sessions"]
    assert (status, name.pop("lastUsedAt") > 0) == (200, True)
    assert name == {"sessionId": own, "title": "Shoes", "isRunning": False}
    assert (await client.ask("GET", "/api/sessions", headers=shown))[0] == 403
    assert (await client.ask("GET", f"/api/sessions/{own}", headers=shown))[0] == 403
    assert (await client.ask("GET", "/api/sessions/names?q=x", headers=shown))[0] == 400


async def test_output_of_a_call_is_for_the_client_of_its_session(server, person, client, writer):
    shown = await paired(client, person, "panel", ["chat"])
    own = await new_session(client, shown)
    host = server.running.host
    async with events(client, shown) as following, asyncio.TaskGroup() as group:
        for session_id in ("s1", own):
            group.create_task(host.run_call(CallRequest("write_on", {}, MODEL, session_id=session_id)))
        while (await following())["type"] != "call.output":
            pass
        seen = {}
        for call in list(host.calls.in_flight.values()):
            answer = await client.ask("GET", f"/api/calls/{call.id}/output", headers=shown)
            seen[call.session_id] = answer[1]["text"]
        writer.may_end.set()
    assert seen == {own: "written\n", "s1": ""}


async def test_client_answers_questions_of_its_own_sessions_only(server, person, client):
    shown = await paired(client, person, "panel", ["chat"])
    foreign, own = await new_session(await page(server)), await new_session(client, shown)
    body = {"questionId": "q_0", "text": "yes"}
    answers = {
        session_id: (await client.ask("POST", f"/api/approvals/sessions/{session_id}/answer", body, headers=shown))[1]
        for session_id in (foreign, own)
    }
    assert answers[foreign]["error"]["type"] == "forbidden"
    assert answers[own]["error"]["type"] == "question_not_found"

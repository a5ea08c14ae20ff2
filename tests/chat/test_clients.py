"""A paired client with the scope `chat`: sessions of its own, and nothing of anybody else's."""

import asyncio
import json

import aiohttp
import pytest

from tests.chat.notes import TOKEN, Notes
from tests.support.provider import LIMIT_S, Events

pytestmark = pytest.mark.spec("K11")


class Client:
    """A program with a key of its own."""

    def __init__(self, talk, key):
        self.talk, self.headers = talk, {"Authorization": f"Bearer {key}"}

    async def ask(self, method, path, body=None):
        json_body = {} if body is None and method != "GET" else body
        async with (
            asyncio.timeout(LIMIT_S),
            self.talk.client.request(method, path, json=json_body, headers=self.headers) as response,
        ):
            return response.status, await response.json()

    async def begin(self):
        return (await self.ask("POST", "/api/sessions"))[1]["sessionId"]

    async def chat(self, message, session_id, **body):
        document = {"message": message, "session_id": session_id, "user_id": "u1", **body}
        async with (
            asyncio.timeout(LIMIT_S),
            self.talk.client.post("/api/v1/agent/chat", json=document, headers=self.headers) as response,
        ):
            raw = await response.text()
        if response.status != 200:
            return [json.loads(raw)]
        return [json.loads(line[6:]) for line in raw.splitlines() if line.startswith("data: ")]


async def paired(talk, name="panel", scopes=("chat",)):
    return Client(talk, await talk.host.store.client_keys.create_key(name, scopes))


async def test_client_makes_a_session_talks_follows_and_decides_its_calls(open_talk, provider):
    notes = Notes()
    provider.say("I add. ", ("a", "note_add", '{"text": "milk"}'))
    provider.say("Added.")
    async with open_talk(notes) as talk:
        client = await paired(talk)
        session_id = await client.begin()
        path = f"/api/events?session_id={session_id}"
        async with talk.client.get(path, headers=client.headers) as response:
            events = Events(response)
            await response.content.readline()
            sent = await client.ask("POST", f"/api/sessions/{session_id}/messages", {"text": "add milk"})
            await events.until("session.finished")
            ((call,), changes, pairings) = [
                (await client.ask("GET", "/api/approvals"))[1][kind] for kind in ("calls", "changes", "pairings")
            ]
            word = {"approved": True, "digest": call["digest"]}
            decided = await client.ask("POST", f"/api/approvals/{call['callId']}/decision", word)
            await events.until("session.finished")
        items = (await client.ask("GET", f"/api/sessions/{session_id}/messages"))[1]["items"]
        listed = (await client.ask("GET", "/api/sessions"))[1]["sessions"]
    assert (sent[0], decided[0], changes, pairings, notes.added) == (202, 200, [], [], ["milk"])
    assert items[-1]["text"] == "Added."
    assert [session["sessionId"] for session in listed] == [session_id]


async def test_client_talks_and_decides_over_the_chat_s_wire(open_talk, provider, text_of, calls_of):
    notes = Notes()
    provider.say("", ("a", "note_add", '{"text": "milk"}'))
    provider.say("Added.")
    async with open_talk(notes) as talk:
        client = await paired(talk)
        session_id = await client.begin()
        (call,) = calls_of(await client.chat("add milk", session_id))
        answer = json.dumps({"toolId": call["toolId"], "approved": True})
        events = await client.chat(answer, session_id, role="function")
    assert text_of(events) == "Added."
    assert notes.added == ["milk"]


async def test_client_reaches_no_session_that_it_did_not_make(open_talk, provider, calls_of):
    notes = Notes()
    provider.say("", ("a", "note_add", '{"text": "milk"}'))
    async with open_talk(notes, **TOKEN) as talk:
        client = await paired(talk)
        other = Client(talk, await talk.host.store.client_keys.create_key("other", ["chat"]))
        theirs = await other.begin()
        (call,) = calls_of(await talk.post("add milk"))
        (waiting,) = (await talk.ask("GET", "/api/approvals"))["calls"]
        answer = json.dumps({"toolId": call["toolId"], "approved": True})
        rejection = json.dumps({"toolId": call["toolId"], "approved": False})
        digest, decision = waiting["digest"], f"/api/approvals/{waiting['callId']}/decision"
        refused = [
            await client.ask(method, path, body)
            for session_id in ("s1", theirs, "nothing")
            for method, path, body in (
                ("GET", f"/api/sessions/{session_id}", None),
                ("GET", f"/api/sessions/{session_id}/messages", None),
                ("POST", f"/api/sessions/{session_id}/messages", {"text": "hello"}),
                ("POST", f"/api/sessions/{session_id}/stop", None),
                ("POST", f"/api/sessions/{session_id}/reject", {"toolId": call["toolId"]}),
                ("POST", f"/api/sessions/{session_id}/answer", {"questionId": "x", "text": "y"}),
                ("GET", f"/api/events?session_id={session_id}", None),
                ("PATCH", f"/api/sessions/{session_id}", {"title": "mine"}),
                ("POST", f"/api/sessions/{session_id}/edit", {"number": 1, "text": "x"}),
                ("POST", f"/api/sessions/{session_id}/retry", None),
                ("DELETE", f"/api/sessions/{session_id}", None),
                ("POST", decision, {"approved": True, "digest": digest}),
                ("POST", decision, {"approved": False}),
                ("POST", f"/api/approvals/{waiting['callId']}/edit", {"arguments": {"text": "x"}}),
            )
        ]
        over_the_wire = [
            await client.chat("hello", "s1"),
            await client.chat(answer, "s1", role="function"),
            await client.chat(rejection, "s1", role="function"),
            await client.chat(answer, theirs, role="function"),
        ]
        seen = (await client.ask("GET", "/api/approvals"))[1]["calls"]
        listed = (await client.ask("GET", "/api/sessions"))[1]["sessions"]
        assert len(talk.host.approvals.waiting) == 1
    assert {(status, answer["error"]["type"]) for status, answer in refused} == {(403, "forbidden")}
    assert [events[0]["error"]["type"] for events in over_the_wire] == ["forbidden"] * 4
    assert (seen, listed, notes.added) == ([], [], [])


@pytest.mark.parametrize("name", ["token", "cli", "new"])
async def test_client_makes_no_session_under_a_name_of_its_choice(open_talk, provider, name):
    """It could be one under which calls of others run, with what these have open."""
    async with open_talk(Notes()) as talk:
        client = await paired(talk)
        events = await client.chat("hello", name)
        assert await talk.host.store.chats.find_session(name) is None
        status, _ = await client.ask("GET", f"/api/events?session_id={name}")
    assert (events[0]["error"]["type"], status) == ("session_not_found", 403)


async def test_client_gets_no_looser_mode_and_changes_nothing_for_other_sessions(open_talk, provider):
    provider.say("", ("a", "note_add", '{"text": "milk"}'))
    async with open_talk(Notes()) as talk:
        client = await paired(talk)
        loose = await client.ask("POST", "/api/sessions", {"mode": "allow"})
        session_id = await client.begin()
        changed = await client.ask("PATCH", f"/api/sessions/{session_id}", {"mode": "allow"})
        command = await client.ask("POST", f"/api/sessions/{session_id}/command", {"tool": "note_nothing"})
        await client.chat("add milk", session_id)
        (call,) = (await client.ask("GET", "/api/approvals"))[1]["calls"]
        always = [offer["scope"] for offer in call["offers"]].index("always")
        word = {"approved": True, "digest": call["digest"], "offer": always}
        kept = await client.ask("POST", f"/api/approvals/{call['callId']}/decision", word)
        assert len(talk.host.approvals.waiting) == 1
        assert list(talk.host.policy.grants) == []
        (session,) = (await client.ask("GET", "/api/sessions"))[1]["sessions"]
    refused = [(status, answer["error"]["type"]) for status, answer in (loose, changed, command, kept)]
    assert refused == [(403, "confirmation_required")] * 2 + [(403, "forbidden")] * 2
    assert (session["sessionId"], session["mode"]) == (session_id, "ask")


async def test_what_goes_on_for_a_client_ends_when_it_is_revoked(open_talk, provider):
    """Its stream, its turn; its session stays as the person's, and the next client of its name does not get it."""
    gate = asyncio.Event()
    provider.say("Once upon a time", gate=gate)
    async with open_talk() as talk:
        client = await paired(talk)
        session_id = await client.begin()
        talking = asyncio.create_task(client.chat("tell me", session_id))
        async with asyncio.timeout(LIMIT_S):
            await provider.asked.wait()
        ended = asyncio.Event()
        talk.host.events.subscribe("session.finished", lambda event: ended.set())
        await talk.ask("DELETE", "/api/approvers/panel")
        async with asyncio.timeout(LIMIT_S):
            with pytest.raises(aiohttp.ClientError):
                await talking
            await ended.wait()
        again = await paired(talk)
        refused = await again.chat("go on", session_id)
        status, _ = await again.ask("GET", f"/api/sessions/{session_id}")
        session = await talk.ask("GET", f"/api/sessions/{session_id}")
    assert (refused[0]["error"]["type"], status) == ("forbidden", 403)
    assert session["isRunning"] is False


async def test_client_that_approves_answers_calls_of_all_sessions_and_brings_nothing(
    open_talk, provider, text_of, calls_of
):
    notes = Notes()
    provider.say("", ("a", "note_add", '{"text": "milk"}'))
    provider.say("Added.")
    async with open_talk(notes) as talk:
        client = await paired(talk, scopes=["approve"])
        (call,) = calls_of(await talk.post("add milk"))
        said = await client.chat("hello", "s1")
        tool = {"name": "spy", "description": "Spy.", "parameters": {"type": "object", "properties": {}}}
        context = ({"model": "m"}, {"browser_tools": [tool]}, {"current_page_info": {"url": "http://x/"}})
        answer = json.dumps({"toolId": call["toolId"], "approved": True})
        refused = [await client.chat(answer, "s1", role="function", **more) for more in context]
        events = await client.chat(answer, "s1", role="function")
    assert {events[0]["error"]["type"] for events in (said, *refused)} == {"forbidden"}
    assert (text_of(events), notes.added) == ("Added.", ["milk"])

"""Messages that are sent while something goes on: they wait, are changed, go out in their order, or join the turn."""

import asyncio

import pytest

from agentcore.chat.chat_limits import QUEUED_MESSAGES
from agentcore.core.approvals.approval_queue import Verdict
from tests.chat.test_conversations import Shelf, of_type
from tests.support.provider import spoken

pytestmark = pytest.mark.spec("K13")

ALLOW = {"approvals": {"mode": "allow"}}


class Waiting:
    """A session whose turn stands in the middle of an answer, and its queue."""

    def __init__(self, talk, session_id, events):
        self.talk, self.events, self.path = talk, events, f"/api/sessions/{session_id}"
        self.session_id = session_id

    async def send(self, text, status=202, **body):
        return await self.talk.ask("POST", f"{self.path}/messages", {"text": text, **body}, status=status)

    async def queue(self, method="GET", rest="", body=None, status=200):
        return await self.talk.ask(method, f"{self.path}/queue{rest}", body, status=status)

    async def finished(self, times=1):
        return [event for _ in range(times) for event in await self.events.until("session.finished")]

    async def stop(self):
        return await self.talk.ask("POST", f"{self.path}/stop")


def texts(view):
    return [message["text"] for message in view["messages"]]


def said(provider, role="user"):
    """The texts that a model was sent; adjacent messages of one role are sent as one."""
    sent = [message["content"] for message in spoken(provider.requests[-1]) if message["role"] == role]
    return [text for content in sent for text in content.split("\n\n")]


@pytest.fixture
def open_busy(open_talk, provider):
    """A server, and a session whose first turn waits in the middle of its answer until `gate` is set."""
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def make(*modules, **config):
        gate = asyncio.Event()
        provider.say("One two three four.", gate=gate)
        async with open_talk(*modules, **config) as talk:
            session_id = await talk.begin()
            async with talk.events(session_id) as events:
                waiting = Waiting(talk, session_id, events)
                waiting.gate = gate
                assert (await waiting.send("first"))["state"] == "started"
                await events.until("session.content")
                yield waiting

    return make


async def test_messages_sent_meanwhile_wait_and_go_out_one_turn_each_in_order(open_busy, provider):
    async with open_busy() as chat:
        provider.say("Two.")
        provider.say("Three.")
        async with chat.talk.client.post("/api/artifacts?name=note.txt", data=b"milk and bread") as answer:
            note = (await answer.json())["artifactId"]
        sent = [await chat.send("second"), await chat.send("third", attachments=[note], when="queue")]
        listed = await chat.queue()
        told = (await chat.events.until("session.queue"))[-1]
        chat.gate.set()
        await chat.finished(3)
        items = await chat.talk.items(chat.session_id)
        left = await chat.queue()
    assert [each["state"] for each in sent] == ["queued", "queued"]
    assert [each["messageId"] for each in listed["messages"]] == [each["messageId"] for each in sent]
    assert [each["attachments"] for each in listed["messages"]] == [[], [note]]
    assert (listed["isPaused"], texts(told), told["isPaused"]) == (False, ["second"], False)
    assert [item["text"] for item in items] == ["first", "One two three four.", "second", "Two.", "third", "Three."]
    assert left == {"messages": [], "isPaused": False}
    assert "milk and bread" in provider.sent


async def test_of_messages_sent_at_the_same_time_one_starts_and_the_others_wait(open_talk, provider):
    gate = asyncio.Event()
    provider.say("One.", gate=gate)
    provider.say("Two.")
    provider.say("Three.")
    async with open_talk() as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            chat = Waiting(talk, session_id, events)
            sent = await asyncio.gather(*(chat.send(text) for text in ("a", "b", "c")))
            gate.set()
            await chat.finished(3)
        items = await talk.items(session_id)
    assert sorted(each["state"] for each in sent) == ["queued", "queued", "started"]
    assert sorted(item["text"] for item in items if item["role"] == "user") == ["a", "b", "c"]
    assert [item["text"] for item in items if item["role"] == "assistant"] == ["One.", "Two.", "Three."]


async def test_message_of_a_client_that_waits_for_the_answer_goes_first_and_resumes_the_queue(open_busy, provider):
    async with open_busy() as chat:
        await chat.send("second")
        await chat.stop()
        await chat.finished()
        provider.say("Now.")
        provider.say("Two.")
        events = await chat.talk.post("now", session_id=chat.session_id, user_id="")
        await chat.finished(2)
        items = await chat.talk.items(chat.session_id)
    assert events[0] == {"content": "Now."}
    assert [item["text"] for item in items if item["role"] != "notice"][2:] == ["now", "Now.", "second", "Two."]


async def test_message_that_waits_is_changed_and_taken_out_by_its_id(open_busy, provider):
    async with open_busy() as chat:
        provider.say("Two.")
        first, second = [(await chat.send(text))["messageId"] for text in ("b", "c")]
        changed = await chat.queue("PATCH", f"/{first}", {"text": "B"})
        removed = await chat.queue("DELETE", f"/{second}")
        chat.gate.set()
        await chat.finished(2)
        gone = [
            await chat.queue("PATCH", f"/{first}", {"text": "late"}, status=404),
            await chat.queue("DELETE", f"/{first}", status=404),
        ]
    assert (texts(changed), texts(removed)) == (["B", "c"], ["B"])
    assert said(provider) == ["first", "B"]
    assert [each["error"]["type"] for each in gone] == ["message_not_found"] * 2


async def test_queue_is_bounded_and_says_what_to_do(open_busy):
    async with open_busy() as chat:
        for number in range(QUEUED_MESSAGES):
            await chat.send(str(number))
        refused = await chat.send("one more", status=429)
        assert len((await chat.queue())["messages"]) == QUEUED_MESSAGES
        await chat.stop()
    assert refused["error"]["type"] == "queue_full"
    assert "wait until some have gone out, or take some out" in refused["error"]["message"]


async def test_stop_holds_the_queue_until_the_next_message_or_a_resume(open_busy, provider):
    async with open_busy() as chat:
        await chat.send("second")
        await chat.stop()
        held = await chat.queue()
        await chat.finished()
        provider.say("Instead.")
        provider.say("Two.")
        assert (await chat.send("instead"))["state"] == "started"
        await chat.finished(2)
        order = said(provider)
        gate = asyncio.Event()
        provider.say("Three.", gate=gate)
        await chat.send("third")
        await chat.events.until("session.content")
        await chat.send("fourth")
        await chat.stop()
        provider.say("Four.")
        resumed = await chat.queue("PATCH", body={"isPaused": False})
        await chat.finished(2)
    assert (texts(held), held["isPaused"]) == (["second"], True)
    assert [text for text in order if not text.startswith("[")] == ["first", "instead", "second"]
    assert resumed["isPaused"] is False
    assert said(provider)[-1] == "fourth"


async def test_steer_reaches_the_model_with_its_next_request_and_cuts_no_call(open_talk, provider):
    shelf = Shelf()
    provider.say("", ("a", "shelf_wait", "{}"), ("b", "shelf_add", '{"text": "milk"}'))
    provider.say("Differently, then.")
    async with open_talk(shelf, **ALLOW) as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            chat = Waiting(talk, session_id, events)
            await chat.send("go")
            await shelf.entered.wait()
            sent = await chat.send("not like that", when="steer")
            shelf.released.set()
            seen = await chat.finished()
        items = await talk.items(session_id)
    assert sent["state"] == "steering"
    assert len(of_type(seen, "session.finished")) == 1
    roles = [message["role"] for message in spoken(provider.requests[-1])]
    assert roles == ["user", "assistant", "tool", "tool", "user"]
    waited, added = [message["content"] for message in spoken(provider.requests[-1])[2:4]]
    assert (waited, shelf.added) == ("let go", [])
    assert "The person sent a new message instead" in added
    assert [(item["role"], item["text"]) for item in items][2:] == [
        ("user", "not like that"),
        ("assistant", "Differently, then."),
    ]


async def test_steer_after_the_last_answer_has_begun_is_answered_in_the_same_turn(open_busy, provider):
    async with open_busy() as chat:
        provider.say("More.")
        message_id = (await chat.send("and more"))["messageId"]
        await chat.queue("PATCH", f"/{message_id}", {"when": "steer"})
        chat.gate.set()
        seen = await chat.finished()
        items = await chat.talk.items(chat.session_id)
    assert [item["text"] for item in items] == ["first", "One two three four.", "and more", "More."]
    assert len(of_type(seen, "session.finished")) == 1


async def test_message_while_a_call_waits_is_queued_and_one_that_steers_takes_the_call_s_place(open_talk, provider):
    shelf = Shelf()
    provider.say("", ("a", "shelf_add", '{"text": "milk"}'))
    provider.say("Not milk.")
    provider.say("Later.")
    async with open_talk(shelf) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "add")
        async with talk.events(session_id) as events:
            chat = Waiting(talk, session_id, events)
            later = await chat.send("later")
            steered = await chat.send("no milk", when="steer")
            await chat.finished(2)
        items = await talk.items(session_id)
        assert talk.host.approvals.waiting == []
    assert (later["state"], steered["state"]) == ("queued", "started")
    assert items[1]["calls"][0]["state"] == "rejected"
    assert [item["text"] for item in items[2:]] == ["no milk", "Not milk.", "later", "Later."]


async def test_message_goes_out_when_the_call_that_waited_was_decided(open_talk, provider):
    shelf = Shelf()
    provider.say("", ("a", "shelf_add", '{"text": "milk"}'))
    provider.say("Added.")
    provider.say("Later.")
    async with open_talk(shelf) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "add")
        async with talk.events(session_id) as events:
            chat = Waiting(talk, session_id, events)
            await chat.send("later")
            (request,) = talk.host.approvals.waiting
            await talk.host.approvals.decide_call(request.call_id, Verdict(approved=True, by="test"))
            await chat.finished(2)
    assert (shelf.added, said(provider)) == (["milk"], ["add", "later"])


async def test_queue_outlives_a_restart_and_goes_on_after_the_turn(open_talk, provider):
    provider.say("Half", gate=asyncio.Event())
    async with open_talk() as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            chat = Waiting(talk, session_id, events)
            await chat.send("first")
            await events.until("session.content")
            await chat.send("second")
    provider.say("Whole.")
    provider.say("Two.")
    async with open_talk() as talk, talk.events(session_id) as events:
        chat = Waiting(talk, session_id, events)
        kept = texts(await chat.queue())
        await talk.client.server.app.dispatcher.parts.chat.resume_turns()
        await chat.finished(2)
        items = await talk.items(session_id)
    assert kept == ["second"]
    assert [item["text"] for item in items] == ["first", "Whole.", "second", "Two."]


async def test_failure_of_the_provider_holds_what_waits_and_a_retry_lets_it_go_on(open_busy, provider):
    async with open_busy() as chat:
        provider.say(status=500, error={"error": {"message": "down"}})
        await chat.send("second")
        await chat.send("third")
        chat.gate.set()
        await chat.finished(2)
        held = await chat.queue()
        provider.say("Two.")
        provider.say("Three.")
        await chat.talk.ask("POST", f"{chat.path}/retry", status=202)
        await chat.finished(2)
        items = await chat.talk.items(chat.session_id)
    assert (texts(held), held["isPaused"]) == (["third"], True)
    assert [item["text"] for item in items][2:] == ["second", "Two.", "third", "Three."]


async def test_edit_and_retry_take_the_place_of_the_turn_that_goes_on(open_busy, provider):
    async with open_busy() as chat:
        number = (await chat.talk.items(chat.session_id))[0]["number"]
        gate = asyncio.Event()
        provider.say("Again five six.", gate=gate)
        await chat.talk.ask("POST", f"{chat.path}/retry", status=202)
        await chat.finished()
        await chat.events.until("session.content")
        provider.say("Edited.")
        await chat.talk.ask("POST", f"{chat.path}/edit", {"number": number, "text": "other"}, status=202)
        await chat.finished(2)
        items = await chat.talk.items(chat.session_id)
    assert [item["text"] for item in items] == ["other", "Edited."]


async def test_model_that_is_not_there_is_refused_before_anything_waits(open_busy):
    async with open_busy() as chat:
        refused = await chat.send("second", model="nobody", status=400)
        empty = await chat.queue()
        await chat.stop()
    assert (refused["error"]["type"], empty["messages"]) == ("model_not_found", [])

"""Stop: whatever goes on in a session ends, what had come is kept, and every call has its end."""

import asyncio

import pytest

from agentcore.core.approvals.approval_queue import Verdict
from tests.chat.test_conversations import Shelf, of_type
from tests.support.provider import spoken

pytestmark = pytest.mark.spec("K13")

ALLOW = {"approvals": {"mode": "allow"}}


async def stop(talk, session_id):
    return await talk.ask("POST", f"/api/sessions/{session_id}/stop")


async def send(talk, session_id, text="go"):
    await talk.ask("POST", f"/api/sessions/{session_id}/messages", {"text": text}, status=202)


def text_in(events):
    return "".join(event["content"] for event in of_type(events, "session.content"))


async def recorded(talk, call_id):
    calls = (await talk.ask("GET", f"/api/calls?call_id={call_id}&kind=call"))["calls"]
    return calls[0]["outcome"]


async def test_text_that_had_come_is_kept_as_stopped_and_the_model_is_told(open_talk, provider):
    provider.say("One two three four five.", gate=asyncio.Event())
    provider.say("Five.")
    async with open_talk() as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            await send(talk, session_id, "count")
            begun = text_in(await events.until("session.content"))
            stopped = await stop(talk, session_id)
            ended = await events.until("session.finished")
            begun += text_in(ended)
        items = await talk.items(session_id)
        session = await talk.ask("GET", f"/api/sessions/{session_id}")
        await talk.say(session_id, "go on")
    assert begun
    assert "One two three four five.".startswith(begun)
    assert [(item["role"], item["text"], item.get("stopped")) for item in items] == [
        ("user", "count", None),
        ("assistant", begun, True),
        ("notice", "", None),
    ]
    assert items[-1]["error"]["type"] == of_type(ended, "session.error")[0]["error"]["type"] == "cancelled"
    assert (stopped, session["isRunning"]) == ({"stopped": 1}, False)
    told = spoken(provider.requests[-1])
    assert told[1] == {"role": "assistant", "content": begun}
    assert "stopped the answer above" in str(told[2:])
    assert "go on" in str(told[2:])


@pytest.mark.parametrize("is_asked", [True, False])
async def test_call_that_runs_is_cancelled_everywhere_also_after_an_approval(open_talk, provider, is_asked):
    shelf = Shelf()
    provider.say("I wait. ", ("a", "shelf_wait", "{}"), ("b", "shelf_add", '{"text": "milk"}'))
    provider.say("All right.")
    async with open_talk(shelf, **({} if is_asked else ALLOW)) as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            await send(talk, session_id)
            if is_asked:
                await events.until("session.finished")
                for request in talk.host.approvals.waiting:
                    await talk.host.approvals.decide_call(request.call_id, Verdict(approved=True, by="test"))
            await shelf.entered.wait()
            running = await talk.ask("GET", f"/api/sessions/{session_id}")
            await stop(talk, session_id)
            ended = await events.until("session.finished")
            while ended[-1]["waiting"]:  # the first decision alone started nothing: the other call still waited
                ended += await events.until("session.finished")
        first, second = (await talk.items(session_id))[1]["calls"]
        outcome = await recorded(talk, first["callId"])
        assert (talk.host.calls.in_flight, talk.host.approvals.waiting, talk.host.approvals.unused_verdicts) == (
            {},
            [],
            [],
        )
        await talk.say(session_id, "and now?")
    assert running["isRunning"] is True
    results = [event["tool_result"] for event in of_type(ended, "session.toolResult")]
    assert {result["toolId"]: result["error"]["type"] for result in results} == {
        first["toolId"]: "cancelled",
        second["toolId"]: "cancelled",
    }
    assert (first["state"], second["state"], outcome, shelf.added) == ("cancelled", "cancelled", "cancelled", [])
    told = [message["content"] for message in spoken(provider.requests[-1]) if message["role"] == "tool"]
    assert "may have taken effect or not" in told[0]
    assert "did not run" in told[1]


async def test_calls_that_wait_are_cancelled_and_nobody_is_asked_any_more(open_talk, provider):
    shelf = Shelf()
    provider.say("", ("a", "shelf_add", '{"text": "milk"}'))
    provider.say("All right.")
    async with open_talk(shelf) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "add")
        async with talk.events(session_id) as events:
            await stop(talk, session_id)
            ended = await events.until("session.finished")
        (call,) = (await talk.items(session_id))[1]["calls"]
        assert talk.host.approvals.waiting == []
        again = await stop(talk, session_id)
        items = await talk.items(session_id)
        await talk.say(session_id, "and now?")
    assert (call["state"], of_type(ended, "session.finished")[0]["waiting"]) == ("cancelled", [])
    assert of_type(ended, "session.error")[0]["error"]["type"] == "cancelled"
    assert again == {"stopped": 0}
    assert [item["role"] for item in items] == ["user", "assistant", "notice"]
    assert "did not run" in str(spoken(provider.requests[-1]))


async def test_command_of_a_person_is_cancelled_and_no_turn_is_said_to_have_stopped(open_talk):
    shelf = Shelf()
    async with open_talk(shelf, models={}) as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            await talk.ask("POST", f"/api/sessions/{session_id}/command", {"tool": "shelf_wait"}, status=202)
            await shelf.entered.wait()
            await stop(talk, session_id)
            await events.until("session.toolResult")
        items = await talk.items(session_id)
    assert [(item["role"], item["calls"][0]["state"]) for item in items] == [("notice", "cancelled")]


async def test_stop_before_the_first_word_and_twice_gives_one_end(open_talk, provider):
    provider.say("Slowly.", gate=asyncio.Event())
    async with open_talk() as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            await send(talk, session_id)
            await asyncio.gather(stop(talk, session_id), stop(talk, session_id))
            await events.until("session.finished")
        items = await talk.items(session_id)
    assert [item["error"]["type"] for item in items if item["role"] == "notice"] == ["cancelled"]

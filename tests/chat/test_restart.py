"""A server that ends in the middle, and a client that goes away: nothing is lost, and nothing runs twice."""

import asyncio

import pytest

from tests.chat.notes import TOKEN, Notes

pytestmark = pytest.mark.spec("C2")


@pytest.mark.spec("K2")
async def test_call_that_waits_survives_a_restart_and_runs_once(open_talk, provider, calls_of, text_of):
    notes = Notes()
    provider.say("", ("a", "note_add", '{"text": "milk"}'))
    provider.say("Added.")
    async with open_talk(Notes(), **TOKEN) as talk:
        (call,) = calls_of(await talk.post("add"))
    async with open_talk(notes, **TOKEN) as talk:
        events = await talk.approve(call["toolId"])
        again = await talk.approve(call["toolId"])
    assert text_of(events) == "Added."
    assert again[0]["error"]["type"] == "tool_call_answered"
    assert notes.added == ["milk"]


@pytest.mark.spec("K2")
async def test_call_that_was_queued_for_a_decision_as_the_server_ended_waits_after_the_restart(
    open_talk, provider, calls_of, text_of
):
    notes, closing = Notes(), []
    provider.say("", ("a", "note_add", '{"text": "milk"}'))
    provider.say("Added.")
    async with open_talk(Notes(), **TOKEN) as talk:
        chat = talk.client.server.app.dispatcher.parts.chat

        def close(event):
            closing.append(asyncio.ensure_future(chat.close()))

        talk.host.events.subscribe("approval.requested", close)
        assert calls_of(await talk.post("add")) == []  # it ends before the client hears of the call
        await closing[0]
    async with open_talk(notes, **TOKEN) as talk:
        await talk.client.server.app.dispatcher.parts.chat.resume_turns()
        (request,) = talk.host.approvals.waiting
        call = await waiting_call(talk, request.session_id)
        assert text_of(await talk.approve(call.tool_id)) == "Added."
    assert notes.added == ["milk"]


async def waiting_call(talk, session_id):
    """The one open call of a session, once it waits."""
    async with asyncio.timeout(30):
        while (await talk.host.store.chats.load_open_calls(session_id))[0].state != "waiting":
            await asyncio.sleep(0.01)
    return (await talk.host.store.chats.load_open_calls(session_id))[0]


@pytest.mark.spec("K2")
async def test_call_that_ran_at_the_end_is_interrupted_and_not_run_again(open_talk, provider, calls_of, text_of):
    """The server ends while an approved call runs; after the restart the model is told, and the turn goes on."""
    first, second = Notes(), Notes()
    provider.say("", ("a", "note_wait", "{}"))
    provider.say("I look first.")
    async with open_talk(first, limits={"stop_grace": 0.1}, **TOKEN) as talk:
        (call,) = calls_of(await talk.post("wait"))
        answer = asyncio.create_task(talk.approve(call["toolId"]))
        await first.entered.wait()
        answer.cancel()
        await asyncio.wait({answer})
    async with open_talk(second, **TOKEN) as talk:
        finished = asyncio.Event()
        talk.host.events.subscribe("session.finished", lambda event: finished.set())
        await talk.client.server.app.dispatcher.parts.chat.resume_turns()
        async with asyncio.timeout(30):
            await finished.wait()
    assert not second.entered.is_set()
    assert "interrupted" in provider.sent


@pytest.mark.spec("K2")
async def test_answer_that_was_cut_off_by_a_restart_is_asked_for_again(open_talk, provider):
    provider.say("Half", gate=asyncio.Event())
    provider.say("Whole.")
    async with open_talk() as talk:
        asked = asyncio.create_task(talk.post("tell"))
        await provider.asked.wait()
        asked.cancel()
        await asyncio.wait({asked})
    async with open_talk() as talk:
        finished = asyncio.Event()
        talk.host.events.subscribe("session.finished", lambda event: finished.set())
        await talk.client.server.app.dispatcher.parts.chat.resume_turns()
        async with asyncio.timeout(30):
            await finished.wait()
        assert len(await talk.host.store.chats.load_context_messages("s1")) == 2


async def test_client_that_went_away_resumes_from_the_last_event(open_talk, provider):
    provider.say("One two three.")
    async with open_talk() as talk:
        before = talk.host.events.last_id
        await talk.post()
        missed = talk.host.events.events_since(before)
    texts = [event.data["content"] for event in missed if event.type == "session.content"]
    assert "".join(texts) == "One two three."
    assert missed[-1].type == "session.finished"

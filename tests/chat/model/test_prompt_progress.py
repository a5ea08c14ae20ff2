"""While a local server reads a long request, the chat shows how far it is, by the server's own counters."""

import asyncio

import pytest

from agentcore.cli.conversation.event_output import _wait_text
from tests.support.provider import openai_chunk

pytestmark = pytest.mark.spec("C2")


def stream(total, *processed):
    delta = {"index": 0, "delta": {"role": "assistant", "content": None}, "finish_reason": None}
    progress = [{"total": total, "cache": 0, "processed": each, "time_ms": 1} for each in processed]
    chunks = [openai_chunk(delta, prompt_progress=each) for each in progress]
    chunks += [
        openai_chunk({"index": 0, "delta": {"content": "Read."}, "finish_reason": None}),
        openai_chunk({"index": 0, "delta": {}, "finish_reason": "stop"}),
    ]
    return b"".join(chunks) + b"data: [DONE]\n\n"


def waits_of(events):
    return [event["wait"] for event in events if event["type"] == "session.modelWait"]


async def test_progress_is_shown_until_the_answer_begins(open_talk, provider):
    provider.server, provider.listed = "llama.cpp", {"data": [{"id": "m"}]}
    provider.say(raw=stream(4000, 0, 2048, 4000))
    async with open_talk() as talk:
        session = await talk.begin()
        events = await talk.say(session, "hello")
        shown = await talk.ask("GET", f"/api/sessions/{session}/messages")
    assert provider.requests[0]["return_progress"] is True
    assert waits_of(events) == [
        *({"reason": "reading", "readTokens": read, "promptTokens": 4000} for read in (0, 2048, 4000)),
        None,
    ]
    kinds = [event["type"] for event in events]
    assert kinds.index("session.content") > max(at for at, kind in enumerate(kinds) if kind == "session.modelWait")
    assert [item.get("text") for item in shown["items"]][-1] == "Read."
    assert _wait_text(waits_of(events)[1]) == "the server reads the conversation: 2,048 of 4,000 tokens"


async def test_reading_is_shown_to_new_pages_and_can_be_stopped(open_talk, provider):
    provider.server, provider.listed = "llama.cpp", {"data": [{"id": "m"}]}
    provider.say(raw=stream(4000, 0, 4000), gate=asyncio.Event())
    async with open_talk() as talk:
        session = await talk.begin()
        async with talk.events(session) as events:
            await talk.ask("POST", f"/api/sessions/{session}/messages", {"text": "Hi"}, status=202)
            (wait,) = waits_of(await events.until("session.modelWait"))
            shown = await talk.ask("GET", f"/api/sessions/{session}/messages")
            assert shown["modelWait"] == wait == {"reason": "reading", "readTokens": 0, "promptTokens": 4000}
            await talk.ask("POST", f"/api/sessions/{session}/stop")
            assert waits_of(await events.until("session.finished")) == [None]
        assert (await talk.ask("GET", f"/api/sessions/{session}/messages")).get("modelWait") is None


@pytest.mark.parametrize("processed", [(0,), (3600, 4000), ()])
async def test_progress_of_a_short_reading_is_not_shown(open_talk, provider, processed):
    provider.server, provider.listed = "llama.cpp", {"data": [{"id": "m"}]}
    provider.say(raw=stream(4000 if processed != (0,) else 300, *processed))
    async with open_talk() as talk:
        events = await talk.say(await talk.begin(), "hello")
    assert waits_of(events) == []


async def test_server_is_known_by_its_answer_where_its_list_was_not_read(open_talk, provider):
    provider.server = "llama.cpp"
    for _ in range(2):
        provider.say(raw=stream(10))
    async with open_talk(model={"context_tokens": 8_000}) as talk:
        session = await talk.begin()
        for text in ("one", "two"):
            await talk.say(session, text)
    assert ["return_progress" in request for request in provider.requests] == [False, True]


async def test_other_servers_are_not_asked_for_it(open_talk, provider):
    for _ in range(2):
        provider.say("Hi.")
    async with open_talk() as talk:
        session = await talk.begin()
        for text in ("one", "two"):
            await talk.say(session, text)
    assert not any("return_progress" in request for request in provider.requests)


@pytest.mark.parametrize(
    "said", [7, {}, {"total": "4000", "processed": 0}, {"total": 4000, "processed": -1}, {"total": 1, "processed": 900}]
)
async def test_counters_of_another_form_are_ignored(open_talk, provider, text_of, said):
    provider.server, provider.listed = "llama.cpp", {"data": [{"id": "m"}]}
    delta = {"index": 0, "delta": {"content": "Read."}, "finish_reason": None}
    whole = [openai_chunk({"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}, prompt_progress=said)]
    whole += [openai_chunk(delta), openai_chunk({"index": 0, "delta": {}, "finish_reason": "stop"})]
    provider.say(raw=b"".join(whole) + b"data: [DONE]\n\n")
    async with open_talk() as talk:
        events = await talk.say(await talk.begin(), "hello")
    assert waits_of(events) == []
    assert "Read." in str(events)

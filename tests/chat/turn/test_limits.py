"""A turn near its limit: the model is told, sums up without tools, and the user can continue the turn."""

import json

import pytest

from tests.chat.notes import Notes
from tests.support.provider import Reply

ALLOW = {"approvals": {"mode": "allow"}}


def call_while_possible(request):
    """A model that calls a tool as long as it may."""
    may_call = bool(request.get("tools")) and request.get("tool_choice") not in ("none", {"type": "none"})
    return Reply("Looking.", [("a", "note_run", "{}")]) if may_call else Reply("Done: half of it.")


def sent_last(request):
    return json.dumps(request["messages"][-1], ensure_ascii=False)


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_turn_that_reaches_its_limit_is_summed_up_and_continues(open_talk, provider, kind, text_of):
    provider.script = call_while_possible
    agents = {"default": {"max_steps": 4}}
    async with open_talk(Notes(), model={"provider": kind}, agents=agents, **ALLOW) as talk:
        events = await talk.post("Work")
        first = list(provider.requests)
        after = await talk.post("Continue")
        items = await talk.items("s1")
        session = await talk.ask("GET", "/api/sessions/s1")
    assert len(first) == 5
    assert "This is the last request of this turn" in sent_last(first[-1])
    assert not any("last request of this turn" in json.dumps(request) for request in first[:-1])
    assert not any("last request of this turn" in json.dumps(request) for request in provider.requests[5:-1])
    assert text_of(events).endswith("Done: half of it.")
    assert [event["error"]["type"] for event in events if "error" in event] == ["budget_exceeded"]
    assert [event["error"]["context"] for event in after if "error" in event] == [{"max_steps": 4}]
    assert len(provider.requests) == 10
    assert [item["text"] for item in items if not item.get("calls")][:3] == ["Work", "Done: half of it.", ""]
    assert session["turn"].pop("seconds") >= 0
    assert session["turn"] == {"steps": 4, "maxSteps": 4, "tokens": 75, "maxTokens": 2_000_000}


async def test_calls_that_a_model_makes_when_it_must_not_are_left_out(open_talk, provider, text_of):
    for _ in range(3):
        provider.say("On it.", ("a", "note_run", "{}"))
    provider.say("Goes on.")
    async with open_talk(Notes(), agents={"default": {"max_steps": 2}}, **ALLOW) as talk:
        events = await talk.post("Work")
        after = await talk.post("Continue")
    assert len([event for event in events if "tool_result" in event]) == 2
    assert text_of(after) == "Goes on."


async def test_limit_of_tokens_is_summed_up_too(open_talk, provider, text_of):
    provider.script = call_while_possible
    async with open_talk(Notes(), agents={"default": {"max_tokens": 40}}, **ALLOW) as talk:
        events = await talk.post("Work")
    assert len(provider.requests) == 4
    assert text_of(events).endswith("Done: half of it.")
    assert [event["error"]["context"] for event in events if "error" in event] == [{"max_tokens": 40}]


async def test_limit_of_time_counts_work_and_is_summed_up(open_talk, provider, calls_of, text_of):
    provider.script = call_while_possible
    async with open_talk(Notes(), agents={"default": {"max_minutes": 1}}) as talk:
        (call,) = calls_of(await talk.post("Work"))
        await talk.host.store.chats.update_session("s1", worked_ms=60_000)
        events = await talk.approve(call["toolId"], approved=False)
    assert text_of(events).endswith("Done: half of it.")
    assert [event["error"]["context"] for event in events if "error" in event] == [{"max_minutes": 1}]


async def test_model_is_told_before_the_last_requests_of_a_long_turn(open_talk, provider):
    provider.script = call_while_possible
    async with open_talk(Notes(), agents={"default": {"max_steps": 8}}, **ALLOW) as talk:
        await talk.post("Work")
    told = ["Requests left in this turn" in json.dumps(request) for request in provider.requests]
    assert told == [False] * 5 + [True] * 3 + [False]
    assert "[Requests left in this turn, this one included: 3." in sent_last(provider.requests[5])


async def test_progress_of_a_turn_is_published(open_talk, provider):
    provider.script = call_while_possible
    async with open_talk(Notes(), agents={"default": {"max_steps": 2, "max_minutes": 3}}, **ALLOW) as talk:
        events = await talk.say(await talk.begin(), "Work")
    turns = [event["turn"] for event in events if event["type"] == "session.progress"]
    assert [(turn["steps"], turn["maxSteps"], turn["maxSeconds"]) for turn in turns] == [
        (1, 2, 180),
        (2, 2, 180),
        (2, 2, 180),
    ]

"""A provider that cannot answer now is asked again, and the chat shows until when it waits."""

import time
from email.utils import formatdate

import pytest

from agentcore.chat.model.retries import Retries
from agentcore.chat.settings import ModelChoice

BUSY = {"error": {"message": "slow down", "type": "requests", "code": "rate_limit_exceeded"}}
LOADING = {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
NO_QUOTA = {"error": {"message": "no credit", "type": "insufficient_quota", "code": "insufficient_quota"}}


def waits_of(events):
    return [event["wait"] for event in events if event["type"] == "session.modelWait"]


@pytest.mark.parametrize("model", [{}, {"provider": "anthropic"}])
async def test_wait_that_a_provider_asks_for_is_shown_and_then_it_is_asked_again(open_talk, provider, model):
    provider.say(status=429, error=BUSY, headers={"Retry-After": "1"})
    provider.say("Hello.")
    async with open_talk(model=model) as talk:
        session = await talk.begin()
        before_ms = time.time() * 1000
        events = await talk.say(session, "Hi")
        wait, end = waits_of(events)
        assert (wait["reason"], end) == ("rate_limited", None)
        assert before_ms + 900 <= wait["until"] <= time.time() * 1000
        assert (await talk.items(session))[-1]["text"] == "Hello."
    assert len(provider.requests) == 2


@pytest.mark.parametrize(
    ("status", "error", "headers", "reason"),
    [
        (429, BUSY, {"Retry-After": "20"}, "rate_limited"),
        (429, BUSY, {"Retry-After": formatdate(time.time() + 500, usegmt=True)}, "rate_limited"),
        (503, BUSY, {"Retry-After": "300"}, "unavailable"),
        (503, LOADING, {}, "loading"),
        (529, OVERLOADED, {"retry-after": "60"}, "unavailable"),
    ],
)
async def test_chat_that_waits_for_its_provider_shows_it_to_new_pages_and_can_be_stopped(
    open_talk, provider, status, error, headers, reason
):
    provider.say(status=status, error=error, headers=headers)
    async with open_talk() as talk:
        session = await talk.begin()
        async with talk.events(session) as events:
            await talk.ask("POST", f"/api/sessions/{session}/messages", {"text": "Hi"}, status=202)
            (wait,) = waits_of(await events.until("session.modelWait"))
            assert wait["reason"] == reason
            shown = await talk.ask("GET", f"/api/sessions/{session}/messages")
            assert shown["modelWait"] == wait
            await talk.ask("POST", f"/api/sessions/{session}/stop")
            await events.until("session.finished")
        assert (await talk.ask("GET", f"/api/sessions/{session}/messages")).get("modelWait") is None
    assert len(provider.requests) == 1


async def test_wait_that_is_too_long_is_an_error_that_names_it(open_talk, provider):
    provider.say(status=429, error=BUSY, headers={"Retry-After": "7200"})
    async with open_talk() as talk:
        session = await talk.begin()
        events = await talk.say(session, "Hi")
    (error,) = [event["error"] for event in events if event["type"] == "session.error"]
    assert error["type"] == "provider_rate_limited"
    assert "2 hours" in error["message"]


async def test_account_without_quota_is_not_waited_for(open_talk, provider):
    provider.say(status=429, error=NO_QUOTA, headers={"Retry-After": "20"})
    async with open_talk() as talk:
        events = await talk.say(await talk.begin(), "Hi")
    assert waits_of(events) == []


async def test_refusal_without_a_time_is_repeated_as_often_as_the_model_says(open_talk, provider):
    for _ in range(3):
        provider.say(status=500, error=BUSY)
    async with open_talk(model={"max_retries": 2}) as talk:
        events = await talk.say(await talk.begin(), "Hi")
    assert [wait["reason"] for wait in waits_of(events) if wait] == ["unavailable", "unavailable"]
    assert len(provider.requests) == 3


def test_other_errors_are_final():
    choice = ModelChoice(provider="openai", model="m")
    assert Retries(choice).plan_wait(ValueError("no answer")) is None

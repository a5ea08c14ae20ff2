"""OpenAI's responses API in a chat: recorded streams, what goes back to the model, and how answers fail."""

import json
from pathlib import Path

import pytest

from agentcore.api import Module, tool
from agentcore.chat.settings import ChatSettings
from tests.chat.test_several_providers import enter

pytestmark = pytest.mark.spec("C2", "C5")

RECORDINGS = Path(__file__).parent / "recordings"
SOURCES = json.loads((RECORDINGS / "sources.json").read_text())
THINKS = "openai-responses-thinking"
MODEL = {"provider": "openai_responses", "model": "gpt-5.6-luna"}
ALLOW = {"approvals": {"mode": "allow"}}


class Weather(Module):
    """Knows the weather."""

    name = "weather"

    @tool(read_only=True)
    def get_weather(self, location: str) -> str:
        """Say the weather.

        Args:
            location: Where.
        """
        return f"Sunny in {location}"


def recorded(name):
    return (RECORDINGS / f"{name}.sse").read_bytes()


def events_of(name):
    lines = recorded(name).decode().split("\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


def stream(*events):
    return b"".join(b"event: %b\ndata: %b\n\n" % (one["type"].encode(), json.dumps(one).encode()) for one in events)


def items(request, kind):
    return [item for item in request["input"] if item.get("type", "message") == kind]


async def test_encrypted_reasoning_goes_back_also_after_a_restart(open_talk, provider, text_of):
    provider.say(raw=recorded(THINKS))
    async with open_talk(model=MODEL) as talk:
        events = await talk.post("What was the third tallest building in the year 2000?")
    assert text_of(events) == SOURCES[THINKS]["answer"]["text"]
    provider.say(raw=recorded(THINKS))
    async with open_talk(model=MODEL) as talk:
        await talk.post("Thank you.")
    first, second = provider.requests
    assert (first["store"], first["stream"], first["model"]) == (False, True, "gpt-5.6-luna")
    assert first["include"] == ["reasoning.encrypted_content"]
    assert "You work for a person" in first["instructions"]
    assert "previous_response_id" not in second
    (reasoning,) = items(second, "reasoning")
    assert reasoning["encrypted_content"] == SOURCES[THINKS]["answer"]["signature"]
    assert reasoning["id"].startswith("rs_")
    places = [item.get("type") or item["role"] for item in second["input"]]
    assert places.index("reasoning") == 1, places
    assert second["input"][: len(first["input"])] == first["input"]


async def test_reasoning_is_sent_to_no_other_address_and_no_other_protocol(open_talk, provider):
    provider.say(raw=recorded(THINKS))
    async with open_talk(model=MODEL) as talk:
        await talk.post("one")
    elsewhere = provider.url.replace("127.0.0.1", "localhost")
    provider.say(raw=recorded(THINKS))
    async with open_talk(model={**MODEL, "base_url": f"{elsewhere}/v1"}) as talk:
        await talk.post("two")
    provider.say("Three.")
    async with open_talk(model={"provider": "openai", "model": "gpt-5"}) as talk:
        await talk.post("three")
    signature = SOURCES[THINKS]["answer"]["signature"]
    assert len(provider.requests) == 3
    assert [signature in json.dumps(request) for request in provider.requests] == [False] * 3
    assert [item.get("role") for item in provider.requests[1]["input"]] == ["user", "assistant", "user"]
    assert "<think" not in json.dumps(provider.requests)


async def test_recorded_call_runs_and_its_result_goes_back(open_talk, provider, calls_of, text_of):
    provider.say(raw=recorded("openai-responses"))
    provider.say(raw=recorded(THINKS))
    async with open_talk(Weather(), model={**MODEL, "model": "gpt-5.2"}, **ALLOW) as talk:
        events = await talk.post("What is the weather in San Francisco, CA?")
        shown = await talk.ask("GET", "/api/sessions/s1")
    (call,) = calls_of(events)
    assert (call["tool_name"], json.loads(call["arguments"])) == ("get_weather", {"location": "San Francisco, CA"})
    offered, answered = provider.requests
    (definition,) = [each for each in offered["tools"] if each["name"] == "get_weather"]
    assert (definition["type"], definition["parameters"]["required"]) == ("function", ["location"])
    (made,) = items(answered, "function_call")
    (result,) = items(answered, "function_call_output")
    assert result["call_id"] == made["call_id"]
    assert result["output"] == "Sunny in San Francisco, CA"
    assert (shown["usage"]["inputTokens"], shown["usage"]["outputTokens"]) == (53 + 20, 33 + 282)


async def test_effort_is_sent_and_text_that_is_cut_by_the_limit_says_so(open_talk, provider):
    *before, ended = events_of(THINKS)
    incomplete = {**ended["response"], "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    provider.say(raw=stream(*before, {**ended, "type": "response.incomplete", "response": incomplete}))
    async with open_talk(model={**MODEL, "effort": "low"}) as talk:
        events = await talk.post("one")
    assert provider.requests[0]["reasoning"]["effort"] == "low"
    assert [event["error"]["type"] for event in events if event.get("error")] == ["answer_cut"]


async def test_stream_without_its_end_is_broken(open_talk, provider):
    provider.say(raw=stream(*events_of(THINKS)[:-1]))
    async with open_talk(model=MODEL) as talk:
        events = await talk.post("one")
    assert [event["error"]["type"] for event in events if event.get("error")] == ["provider_stream_broken"]


async def test_refusal_has_the_model_s_words(open_talk, provider):
    head = events_of(THINKS)[:2]
    item = {"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    provider.say(
        raw=stream(
            *head,
            {"type": "response.output_item.added", "output_index": 0, "sequence_number": 2, "item": item},
            {"type": "response.refusal.delta", "sequence_number": 3, "delta": "No.", **place},
            {"type": "response.refusal.done", "sequence_number": 4, "refusal": "No.", **place},
            {**events_of(THINKS)[-1], "sequence_number": 5},
        )
    )
    async with open_talk(model=MODEL) as talk:
        events = await talk.post("one")
    (error,) = [event["error"] for event in events if event.get("error")]
    assert error["type"] == "provider_refused"
    assert "No." in error["message"]


FAILURES = [
    (401, {"error": {"message": "bad key"}}, "provider_unauthorized"),
    (404, {"error": {"message": "no such model", "code": "model_not_found"}}, "model_not_found"),
    (400, {"error": {"message": "too long", "code": "context_length_exceeded"}}, "context_too_long"),
    (429, {"error": {"message": "pay", "code": "insufficient_quota"}}, "provider_quota_exceeded"),
]


@pytest.mark.parametrize(("status", "body", "kind"), FAILURES)
async def test_refusals_are_what_they_are(open_talk, provider, status, body, kind):
    for _ in range(2):
        provider.say(status=status, error=body)
    async with open_talk(model=MODEL) as talk:
        events = await talk.post("one")
    assert [event["error"]["type"] for event in events if event.get("error")] == [kind]


async def test_failure_inside_the_stream_has_the_server_s_words(open_talk, provider):
    *_, ended = events_of(THINKS)
    failed = {**ended["response"], "status": "failed", "error": {"code": "server_error", "message": "no power"}}
    provider.say(raw=stream(*events_of(THINKS)[:8], {**ended, "type": "response.failed", "response": failed}))
    async with open_talk(model=MODEL) as talk:
        events = await talk.post("one")
    (error,) = [event["error"] for event in events if event.get("error")]
    assert "no power" in error["message"]


async def test_it_is_added_in_the_page_beside_openai(open_talk, provider):
    provider.listed = {"data": [{"id": "gpt-5.6-luna"}, {"id": "text-embedding-3"}]}
    address = f"{provider.url}/v1"
    provider.say(raw=recorded(THINKS))
    async with open_talk(models={}) as talk:
        shown = await talk.ask("GET", "/api/chat")
        assert "openai_responses" in [service["service"] for service in shown["services"]]
        assert "openai_responses" not in [each["provider"] for each in shown["providers"]]
        await enter(talk, "openai_responses", {"key": "sk-entered", "baseUrl": address})
        listed = await talk.ask("POST", "/api/chat/providers/openai_responses/models")
        assert listed["models"] == ["gpt-5.6-luna"]
        events = await talk.say(await talk.begin(model="openai_responses:gpt-5.6-luna"), "hello")
    assert "Sears Tower" in "".join(event["content"] for event in events if event["type"] == "session.content")
    assert provider.headers[-1]["Authorization"] == "Bearer sk-entered"


def test_key_of_openai_serves_it_and_does_not_set_it_up():
    environ = {"OPENAI_API_KEY": "sk-x"}
    settings = ChatSettings.from_config({}, None, environ)
    assert list(settings.connections) == ["openai"]
    assert settings.default_name == "openai:gpt-5"
    models = {"deep": {"provider": "openai_responses", "model": "gpt-5.6"}}
    choice = ChatSettings.from_config(models, None, environ).choose_model("deep", settings.get_agent("default"))
    assert (choice.protocol.name, choice.base_url) == ("openai_responses", None)
    assert choice.api_key.get_secret_value() == "sk-x"
    named = ChatSettings.from_config({}, None, environ, providers={"openai_responses": {}})
    choice = named.choose_model("openai_responses:gpt-5.6", settings.get_agent("default"))
    assert choice.api_key.get_secret_value() == "sk-x"
    other = {"deep": {"provider": "openai_responses", "model": "m", "base_url": "http://127.0.0.1:1234/v1"}}
    choice = ChatSettings.from_config(other, None, environ).choose_model("deep", settings.get_agent("default"))
    assert choice.api_key.get_secret_value() == "", "a key is sent to its own address only"

"""What providers do: Anthropic as well as OpenAI, refusals, streams that break off, silence."""

import asyncio
import errno
import json
import socket
import ssl

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from agentcore.chat.model.connection_failure import no_connection
from tests.chat.notes import TOKEN, Notes

pytestmark = pytest.mark.spec("C2")


async def test_anthropic_streams_text_and_calls(open_talk, provider, text_of, calls_of):
    provider.say("Let me. ", ("toolu_1", "note_add", '{"text": "äöü"}'), split=3)
    provider.say("Done.")
    async with open_talk(Notes(), model={"provider": "anthropic", "model": "claude-x"}, **TOKEN) as talk:
        first = await talk.post("add")
        second = await talk.approve(first[-1]["waiting"][0])
    assert text_of(first) == "Let me. "
    assert json.loads(calls_of(first)[0]["arguments"]) == {"text": "äöü"}
    assert text_of(second) == "Done."
    assert provider.requests[1]["messages"][-1]["content"][0]["type"] == "tool_result"


OPENAI_ERRORS = [
    (401, {"error": {"message": "bad key sk-test-secret"}}, "provider_unauthorized"),
    (429, {"error": {"message": "slow down"}}, "provider_rate_limited"),
    (500, {"error": {"message": "oops"}}, "provider_failed"),
    (503, {"error": {"message": "busy"}}, "provider_failed"),
    (404, {"error": {"message": "no such model", "code": "model_not_found"}}, "model_not_found"),
    (422, {"error": {"message": "what"}}, "provider_refused"),
    (400, {"error": {"message": "too long", "code": "context_length_exceeded"}}, "context_too_long"),
    (429, {"error": {"message": "pay", "code": "insufficient_quota"}}, "provider_quota_exceeded"),
]


@pytest.mark.spec("C5")
@pytest.mark.parametrize(("status", "body", "error_type"), OPENAI_ERRORS)
async def test_refusal_of_the_provider_is_what_it_is_and_the_session_is_intact(
    open_talk, provider, text_of, status, body, error_type
):
    provider.say(status=status, error=body)
    provider.say("Here again.")
    async with open_talk() as talk:
        events = await talk.post("one")
        after = await talk.post("two")
    assert events[0]["error"]["type"] == error_type
    assert "sk-test-secret" not in json.dumps(events)
    assert events[-1]["message"]
    assert text_of(after) == "Here again."


@pytest.mark.spec("C5")
@pytest.mark.parametrize(
    "how", [{"breaks": True}, {"ends_early": True}, {"error": {"error": {"message": "overloaded"}}}]
)
@pytest.mark.parametrize("provider_name", ["openai", "anthropic"])
async def test_stream_that_breaks_off_keeps_what_was_said(open_talk, provider, text_of, how, provider_name):
    provider.say("Once upon a time there was a tool", **how)
    provider.say("Again.")
    async with open_talk(model={"provider": provider_name}) as talk:
        events = await talk.post("tell")
        after = await talk.post("go on")
    said = text_of(events)
    assert said.startswith("Once")
    assert [event["error"]["type"] for event in events if "error" in event] == ["provider_stream_broken"]
    assert said in provider.sent
    assert text_of(after) == "Again."


ANTHROPIC_ERRORS = [
    (401, "authentication_error", "invalid x-api-key sk-test-secret", "provider_unauthorized"),
    (429, "rate_limit_error", "slow down", "provider_rate_limited"),
    (500, "api_error", "oops", "provider_failed"),
    (529, "overloaded_error", "overloaded", "provider_failed"),
    (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", "context_too_long"),
]


@pytest.mark.spec("C5")
@pytest.mark.parametrize(("status", "kind", "message", "error_type"), ANTHROPIC_ERRORS)
async def test_refusal_of_anthropic_is_what_it_is_and_the_session_is_intact(
    open_talk, provider, text_of, status, kind, message, error_type
):
    provider.say(status=status, error={"type": "error", "error": {"type": kind, "message": message}})
    provider.say("Here again.")
    async with open_talk(model={"provider": "anthropic"}) as talk:
        events = await talk.post("one")
        after = await talk.post("two")
    assert events[0]["error"]["type"] == error_type
    assert "sk-test-secret" not in json.dumps(events)
    assert text_of(after) == "Here again."


@pytest.mark.spec("C5")
@pytest.mark.parametrize(
    ("provider_name", "reason", "error_type"),
    [
        ("openai", "content_filter", "provider_refused"),
        ("anthropic", "refusal", "provider_refused"),
        ("openai", "length", "answer_cut"),
        ("anthropic", "max_tokens", "answer_cut"),
    ],
)
async def test_answer_that_the_provider_stops_is_kept_and_said_to_be_cut(
    open_talk, provider, text_of, provider_name, reason, error_type
):
    provider.say("Once upon a", reason=reason)
    provider.say("Again.")
    async with open_talk(model={"provider": provider_name}) as talk:
        events = await talk.post("tell")
        session = await talk.ask("GET", "/api/sessions/s1")
        after = await talk.post("go on")
    assert [event["error"]["type"] for event in events if "error" in event] == [error_type]
    used = events[-1]["usage"]
    assert used["input_tokens"] > 0  # what the provider counts is counted here, and stored with the chat
    assert session["usage"]["inputTokens"] == used["input_tokens"]
    assert "Once upon a" in provider.sent
    assert text_of(after) == "Again."


@pytest.mark.spec("C5")
@pytest.mark.parametrize("provider_name", ["openai", "anthropic"])
async def test_provider_that_falls_silent_is_given_up(open_talk, provider, text_of, provider_name):
    provider.say("Slowly.", gate=asyncio.Event())
    provider.say("Here again.")
    async with open_talk(model={"provider": provider_name, "timeout_s": 0.5}) as talk:
        events = await talk.post("one")
    provider.replies = provider.replies[-1:]
    async with open_talk(model={"provider": provider_name}) as talk:
        after = await talk.post("two")
    assert [event["error"]["type"] for event in events if "error" in event] == ["provider_timeout"]
    assert text_of(after) == "Here again."


async def _closes_at_once(reader, writer):
    writer.close()


async def _speaks_no_tls(reader, writer):
    await reader.read(1)
    writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    writer.close()


@pytest.mark.spec("C5")
@pytest.mark.parametrize(
    ("scheme", "serve", "reason", "sentence"),
    [
        ("http", None, "refused", "Nothing answers at {address}. Is it running? Look at its address."),
        ("http", _closes_at_once, "closed", "{address} closed the connection without an answer."),
        ("https", _speaks_no_tls, "not_secure", "No secure connection to {address} came about."),
    ],
)
async def test_provider_that_cannot_be_reached_is_told_in_plain_words_to_who_asks_for_its_models_and_in_the_chat(
    open_talk, monkeypatch, scheme, serve, reason, sentence
):
    server = await asyncio.start_server(serve or _closes_at_once, "127.0.0.1", 0)
    address = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    if serve is None:
        server.close()
        await server.wait_closed()
    monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
    async with open_talk(model={"base_url": f"{address}/v1", "max_retries": 0}) as talk:
        events = await talk.post()
        listing = await talk.ask("POST", "/api/chat/providers/openai/models", status=400)
    server.close()
    for error in (events[0]["error"], listing["error"]):
        assert error["type"] == "provider_unreachable"
        assert error["message"].startswith(sentence.format(address=address))
        assert (error["context"]["reason"], error["context"]["address"]) == (reason, address)
        assert error["context"]["detail"]


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        (socket.gaierror(-2, "Name or service not known"), "unknown_host"),
        (ssl.SSLCertVerificationError(1, "self-signed certificate"), "certificate"),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "no_network"),
        (ExceptionGroup("all attempts", [ConnectionRefusedError(111, "refused"), OSError()]), "refused"),
        (ValueError("odd"), "other"),
    ],
)
def test_reason_is_found_behind_what_the_sdk_raised(cause, reason):
    raised = RuntimeError("Connection error.")
    raised.__cause__ = cause
    told = no_connection(raised, "https://user:pass@models.example:8443/v1?key=1")
    assert (told.context["reason"], told.context["address"]) == (reason, "https://models.example:8443")


@pytest.mark.spec("C5")
@pytest.mark.parametrize("provider_name", ["openai", "anthropic"])
async def test_redirect_gets_neither_the_key_nor_the_chat(open_talk, provider, provider_name):
    got: list[dict[str, str]] = []

    async def take(request: web.Request) -> web.Response:
        got.append(dict(request.headers))
        return web.json_response({})

    other = web.Application()
    other.router.add_route("*", "/{path:.*}", take)
    async with TestServer(other, host="127.0.0.1") as elsewhere:
        target = f"http://127.0.0.1:{elsewhere.port}"
        provider.say(status=307, error={}, headers={"Location": f"{target}/v1/taken?key=1"})
        async with open_talk(model={"provider": provider_name}) as talk:
            events = await talk.post("one")
    (error,) = [event["error"] for event in events if "error" in event]
    assert (error["type"], error["context"]["reason"]) == ("provider_unreachable", "redirected")
    assert f"redirects to {target}, which got nothing" in error["message"]
    assert got == []


def test_proxy_that_does_not_answer_is_told_in_the_place_of_the_provider(monkeypatch):
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    told = no_connection(ConnectionRefusedError(111, "refused"), "https://models.example/v1")
    assert told.context["reason"] == "proxy"
    assert "proxy" in told.message

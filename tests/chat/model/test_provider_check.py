"""A key and an address are tested before they are stored: asked of small servers that behave as providers do."""

import asyncio
import json

import pytest
from aiohttp import web
from pydantic import SecretStr

from agentcore.chat.model.provider_check import address_candidates, check_provider
from agentcore.errors import ToolError

pytestmark = pytest.mark.spec("C5")
SECRET = "sk-tested-before-it-is-stored"
TEST = "/api/chat/providers/openai/test"


@pytest.fixture
def start(aiohttp_server):
    """Starts a server that answers at one path, and with a web page elsewhere; gives its address and what was asked."""

    async def begin(path, *names, key=None, status=200):
        asked = []

        async def answer(request):
            asked.append((request.path, request.headers.get("Authorization") or request.headers.get("x-api-key")))
            if request.path != path:
                return web.Response(text="<!doctype html><title>Hello</title>", content_type="text/html")
            if key is not None and asked[-1][1] not in (key, f"Bearer {key}"):
                return web.json_response({"error": {"message": f"bad key {asked[-1][1]}"}}, status=401)
            return web.json_response({"data": [{"id": name} for name in names]}, status=status)

        app = web.Application()
        app.router.add_get("/{path:.*}", answer)
        server = await aiohttp_server(app)
        return f"http://127.0.0.1:{server.port}", asked

    return begin


@pytest.mark.parametrize(
    ("path", "entered", "base_url"),
    [
        ("/v1/models", "", "/v1"),
        ("/v1/models", "/", "/v1"),
        ("/v1/models", "/v1/", "/v1"),
        ("/v1/models", "/v1/chat/completions", "/v1"),
        ("/v1/models", "/v1/models", "/v1"),
        ("/v1/models", "/api", "/v1"),
        ("/models", "/v1", ""),
        ("/models", "", ""),
        ("/api/v4/models", "/api/v4", "/api/v4"),
        ("/engines/v1/models", "/engines", "/engines/v1"),
    ],
)
async def test_address_is_corrected_to_the_form_that_answers(start, path, entered, base_url):
    root, _ = await start(path, "small", key="k")
    tested = await check_provider("openai", f"{root}{entered}", SecretStr("k"))
    assert (tested.base_url, tested.models, tested.suggested) == (f"{root}{base_url}", ["small"], "small")


@pytest.mark.parametrize("entered", ["", "/v1", "/v1/messages", "/"])
async def test_address_of_the_other_protocol_is_corrected_too(start, entered):
    root, asked = await start("/v1/models", "claude-x", key="k")
    tested = await check_provider("anthropic", f"{root}{entered}", SecretStr("k"))
    assert tested.base_url == root
    assert asked == [("/v1/models", "k")]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_own_address_that_is_entered_is_the_own_address(provider):
    own = {"openai": "https://api.openai.com/v1/chat/completions", "anthropic": "https://api.anthropic.com/v1/messages"}
    (found,) = address_candidates(provider, own[provider])
    assert found in (None, "https://api.anthropic.com")


async def test_only_a_sure_choice_is_made_without_asking(start):
    root, _ = await start("/v1/models", "text-embedding-3", "small", "large")
    several = await check_provider("openai", root, SecretStr("k"))
    assert (several.models, several.suggested) == (["small", "large", "text-embedding-3"], "small")
    root, _ = await start("/v1/models", "small")
    one = await check_provider("openai", root, SecretStr("k"))
    assert (several.is_only_choice, one.is_only_choice) == (False, True)


async def test_provider_that_is_slow_is_given_up(aiohttp_server):
    is_over = asyncio.Event()

    async def say_nothing(request):
        await is_over.wait()
        return web.Response()

    app = web.Application()
    app.router.add_get("/v1/models", say_nothing)
    server = await aiohttp_server(app)
    with pytest.raises(ToolError) as refused:
        await check_provider("openai", str(server.make_url("/v1")), SecretStr("k"), limit_s=0.2)
    is_over.set()
    assert refused.value.type == "provider_timeout"


async def test_test_stores_nothing_and_gives_nothing_back(open_talk, start):
    root, asked = await start("/v1/models", "small", key=SECRET)
    async with open_talk(models={}) as talk:
        tested = await talk.ask("POST", TEST, {"key": SECRET, "baseUrl": root})
        shown = await talk.ask("GET", "/api/chat")
        assert not talk.host.policy_changes.waiting
        assert not (talk.host.state.path / "providers.json").exists()
    assert tested == {"baseUrl": f"{root}/v1", "models": ["small"], "suggested": "small", "isOnlyChoice": True}
    assert shown["isSetUp"] is False
    assert asked[-1] == ("/v1/models", f"Bearer {SECRET}")


@pytest.mark.parametrize(
    ("path", "names", "options", "error_type", "reason"),
    [
        ("/v1/models", ["small"], {"key": "another"}, "provider_unauthorized", None),
        ("/v1/models", ["small"], {"status": 403}, "provider_unauthorized", None),
        ("/v1/models", ["small"], {"status": 429}, "provider_rate_limited", None),
        ("/v1/models", ["small"], {"status": 500}, "provider_failed", None),
        ("/v1/models", [], {}, "models_empty", None),
        ("/nowhere", [], {}, "models_not_listed", "web_page"),
    ],
)
async def test_refusal_says_what_it_is_without_the_key(open_talk, start, path, names, options, error_type, reason):
    root, _ = await start(path, *names, **options)
    async with open_talk(models={}) as talk:
        refused = await talk.ask("POST", TEST, {"key": SECRET, "baseUrl": f"{root}/v1"}, status=400)
    assert refused["error"]["type"] == error_type
    assert refused["error"].get("reason", refused["error"].get("context", {}).get("reason")) == reason
    assert SECRET not in json.dumps(refused)


async def test_server_that_is_not_there_is_said(open_talk):
    async with open_talk(models={}) as talk:
        refused = await talk.ask("POST", TEST, {"baseUrl": "http://127.0.0.1:9/v1"}, status=400)
    assert refused["error"]["type"] == "provider_unreachable"


async def test_stored_key_is_never_sent_to_an_address_that_is_tested(open_talk, start):
    root, asked = await start("/v1/models", "small")
    async with open_talk(models={}) as talk:
        await talk.ask("PUT", "/api/chat/providers/openai", {"key": SECRET}, status=403)
        (change,) = talk.host.policy_changes.waiting
        await talk.host.policy_changes.decide_change(change.change_id, approved=True, by="test")
        await talk.ask("POST", TEST, {"baseUrl": root})
    assert [key for _, key in asked] == [None] * len(asked)


async def test_key_alone_is_tested_at_the_address_that_is_stored(open_talk, start):
    root, asked = await start("/v1/models", "small")
    async with open_talk(models={}) as talk:
        await talk.ask("PUT", "/api/chat/providers/openai", {"baseUrl": f"{root}/v1"}, status=403)
        (change,) = talk.host.policy_changes.waiting
        await talk.host.policy_changes.decide_change(change.change_id, approved=True, by="test")
        tested = await talk.ask("POST", TEST, {"key": SECRET})
    assert tested["baseUrl"] == f"{root}/v1"
    assert asked == [("/v1/models", f"Bearer {SECRET}")]


async def test_provider_that_the_environment_sets_is_not_tested(open_talk, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    async with open_talk(models={}) as talk:
        refused = await talk.ask("POST", TEST, {"key": SECRET}, status=400)
        shown = await talk.ask("GET", "/api/chat")
    assert refused["error"]["type"] == "provider_set_by_environment"
    assert [provider["isFixed"] for provider in shown["providers"]] == [True, False]


async def test_address_is_removed_by_an_empty_one(open_talk, start):
    path = "/api/chat/providers/openai"
    async with open_talk(models={}) as talk:
        for body in ({"key": "k", "baseUrl": "http://127.0.0.1:9/v1"}, {"key": "k", "baseUrl": ""}):
            await talk.ask("PUT", path, body, status=403)
            (change,) = talk.host.policy_changes.waiting
            await talk.host.policy_changes.decide_change(change.change_id, approved=True, by="test")
        (shown, _) = (await talk.ask("GET", "/api/chat"))["providers"]
    assert (shown["baseUrl"], shown["hasKey"]) == (None, True)

"""What the chat has to work with, over HTTP: keys that are never given back, models that count at once."""

import asyncio
import json
import os
import stat

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from pydantic import SecretStr

from agentcore.chat.model.local_servers import KnownServer, find_local_servers
from agentcore.chat.model.provider_models import ask_for_models, suggest_model
from agentcore.errors import ToolError

pytestmark = pytest.mark.spec("C5")
SECRET = "sk-entered-by-a-person"


async def confirm(talk):
    (change,) = talk.host.policy_changes.waiting
    await talk.host.policy_changes.decide_change(change.change_id, approved=True, by="test")
    return change


async def test_without_anything_it_says_what_is_missing_and_where_to_begin(open_talk):
    async with open_talk(models={}, agents={"pirate": {"instructions": "Ahoy.", "mode": "deny"}}) as talk:
        shown = await talk.ask("GET", "/api/chat")
    assert (shown["isSetUp"], shown["defaultModel"], shown["models"]) == (False, None, [])
    assert "OPENAI_API_KEY" in shown["hint"]
    assert [(agent["id"], agent["mode"]) for agent in shown["agents"]] == [("default", "ask"), ("pirate", "deny")]
    openai = shown["providers"][0]
    assert openai.pop("addresses")["OpenRouter"] == "https://openrouter.ai/api/v1"
    assert openai == {
        "provider": "openai",
        "service": "openai",
        "isSetUp": False,
        "isNamed": False,
        "label": {"en": "OpenAI-compatible", "zh": "OpenAI 兼容"},
        "ownBaseUrl": "https://api.openai.com/v1",
        "baseUrl": None,
        "hasKey": False,
        "keyOrigin": None,
        "isFixed": False,
        "keyPrefix": "",
    }
    assert shown["localServers"][0] == {"kind": "ollama", "label": "Ollama", "baseUrl": "http://127.0.0.1:11434/v1"}
    assert shown["modes"] == ["ask", "accept_edits", "ask_writes", "plan", "allow", "deny"]


async def test_key_counts_once_a_person_has_confirmed_it_and_is_never_given_back(open_talk, provider, capfd):
    provider.say("Hi.")
    async with open_talk(models={}) as talk:
        path, body = "/api/chat/providers/openai", {"key": SECRET, "baseUrl": f"{provider.url}/v1"}
        asked = await talk.ask("PUT", path, body, status=403)
        before = await talk.ask("GET", "/api/chat")
        change = await confirm(talk)
        shown = await talk.ask("GET", "/api/chat")
        session_id = await talk.begin(model="openai:m")
        events = await talk.say(session_id, "hello")
        record = await talk.ask("GET", "/api/calls")
        file = talk.host.state.path / "providers.json"
        mode = stat.S_IMODE(file.stat().st_mode)
        told = [event.encode().decode() for event in talk.host.events.events_since(talk.host.events.last_id[:9] + "0")]
    assert asked["error"]["type"] == "confirmation_required"
    assert before["isSetUp"] is False
    assert shown["providers"][0]["keyOrigin"] == "stored"
    assert provider.headers[0]["Authorization"] == f"Bearer {SECRET}"
    assert mode == 0o600
    said = json.dumps([asked, shown, events, record, told]) + repr(change) + "".join(capfd.readouterr())
    assert SECRET not in said
    assert SECRET not in os.environ.values()


async def test_key_is_there_after_a_restart_until_it_is_forgotten(open_talk):
    async with open_talk(models={}) as talk:
        await talk.ask("PUT", "/api/chat/providers/anthropic", {"key": SECRET}, status=403)
        await confirm(talk)
    async with open_talk(models={}) as talk:
        kept = await talk.ask("GET", "/api/chat")
        await talk.ask("DELETE", "/api/chat/providers/anthropic", status=403)
        await confirm(talk)
        gone = await talk.ask("GET", "/api/chat")
    assert (kept["providers"][1]["hasKey"], gone["providers"][1]["hasKey"]) == (True, False)


async def test_environment_wins_as_a_whole_so_that_a_key_goes_to_no_other_address(open_talk, provider, monkeypatch):
    provider.say("Hi.")
    async with open_talk(models={}) as talk:
        await talk.ask("PUT", "/api/chat/providers/openai", {"key": SECRET}, status=403)
        await confirm(talk)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
    async with open_talk(models={}) as talk:
        shown = await talk.ask("GET", "/api/chat")
        await talk.say(await talk.begin(model="openai:m"), "hello")
    assert shown["providers"][0]["keyOrigin"] is None
    assert provider.requests
    assert SECRET not in str(provider.headers)


async def test_address_that_comes_without_a_key_does_not_get_the_old_one(open_talk, provider):
    provider.say("Hi.")
    async with open_talk(models={}) as talk:
        await talk.ask("PUT", "/api/chat/providers/openai", {"key": SECRET}, status=403)
        await confirm(talk)
        await talk.ask("PUT", "/api/chat/providers/openai", {"baseUrl": f"{provider.url}/v1"}, status=403)
        await confirm(talk)
        await talk.say(await talk.begin(model="openai:m"), "hello")
    assert provider.requests
    assert SECRET not in str(provider.headers)


async def test_key_is_shown_with_the_address_that_it_goes_to_and_goes_to_no_other(open_talk, provider):
    """Of two wishes that wait, each is for what was kept when it was shown."""
    path, address = "/api/chat/providers/openai", f"{provider.url}/v1"
    async with open_talk(models={}) as talk:
        await talk.ask("PUT", path, {"key": SECRET}, status=403)
        await talk.ask("PUT", path, {"baseUrl": address}, status=403)
        key, elsewhere = talk.host.policy_changes.waiting
        await talk.host.policy_changes.decide_change(elsewhere.change_id, approved=True, by="test")
        with pytest.raises(ToolError) as caught:
            await talk.host.policy_changes.decide_change(key.change_id, approved=True, by="test")
        kept = await talk.ask("GET", "/api/chat")
        await talk.ask("PUT", path, {"key": SECRET}, status=403)
        shown = await confirm(talk)
        await talk.ask("DELETE", path, status=403)
        forgotten = await confirm(talk)
    assert caught.value.type == "config_changed"
    assert (kept["providers"][0]["hasKey"], kept["providers"][0]["baseUrl"]) == (False, address)
    assert [change.proposal.diff[0][1] for change in (key, elsewhere, shown, forgotten)] == [
        "+key: …\n",
        f"+baseUrl: {address}\n",
        f"+key: …\n baseUrl: {address}\n",
        f"-key: …\n-baseUrl: {address}\n",
    ]


async def test_stored_keys_that_cannot_be_read_are_left_out(open_talk):
    async with open_talk(models={}) as talk:
        file = talk.host.state.path / "providers.json"
    file.write_text("{broken")
    async with open_talk(models={}) as talk:
        shown = await talk.ask("GET", "/api/chat")
    assert shown["isSetUp"] is False


async def test_model_that_is_added_counts_at_once_and_stands_in_app_json(open_talk, provider):
    provider.say("Hi.")
    async with open_talk(models={}) as talk:
        body = {"model": "qwen3:8b", "baseUrl": f"{provider.url}/v1", "contextTokens": 32768, "images": False}
        await talk.ask("PUT", "/api/chat/models/local", body, status=403)
        change = await confirm(talk)
        shown = await talk.ask("GET", "/api/chat")
        document = json.loads(talk.host.config.file.read_text())
        await talk.say(await talk.begin(), "hello")
    (model,) = shown["models"]
    assert (model["name"], model["isUsable"], shown["defaultModel"]) == ("local", True, "local")
    assert document["models"]["local"]["base_url"] == body["baseUrl"]
    assert "qwen3:8b" in change.proposal.diff[0][1]
    assert provider.requests[0]["model"] == "qwen3:8b"


async def test_model_without_a_key_says_so(open_talk):
    async with open_talk(models={"far": {"provider": "anthropic", "model": "claude-x"}}) as talk:
        (model,) = (await talk.ask("GET", "/api/chat"))["models"]
    assert model["isUsable"] is False
    assert "no key of anthropic" in model["hint"]


@pytest.mark.parametrize(
    ("path", "body", "status", "error_type"),
    [
        ("providers/nobody", {"key": "k"}, 404, "provider_not_found"),
        ("providers/openai", {}, 400, "invalid_body"),
        ("providers/openai", {"baseUrl": "file:///etc/passwd"}, 400, "invalid_body"),
        ("models/x", {"model": "m", "baseUrl": "http://user:pw@host/v1"}, 400, "invalid_body"),
    ],
)
async def test_what_is_no_provider_and_no_address_is_refused(open_talk, path, body, status, error_type):
    async with open_talk(models={}) as talk:
        refused = await talk.ask("PUT", f"/api/chat/{path}", body, status=status)
    assert refused["error"]["type"] == error_type


async def test_model_servers_are_found_at_their_places_and_nothing_else_is_taken_for_one():
    async def models(request):
        return web.json_response({"data": [{"id": "qwen3:8b"}, {"id": 7}]})

    async def other(request):
        return web.Response(text="<html>")

    async def moved(request):
        return web.Response(status=302, headers={"Location": "/ollama/models"})

    app = web.Application()
    app.router.add_get("/ollama/models", models)
    app.router.add_get("/other/models", other)
    app.router.add_get("/moved/models", moved)
    async with TestServer(app) as server:
        base = f"http://127.0.0.1:{server.port}"
        places = [KnownServer(name, f"{base}/{name}") for name in ("ollama", "other", "moved", "nothing")]
        found = await find_local_servers([*places, KnownServer("closed", "http://127.0.0.1:9/v1")])
    assert found == [("ollama", f"{base}/ollama", ["qwen3:8b"], False, None)]


async def test_servers_are_looked_for_when_a_person_asks(open_talk):
    async with open_talk() as talk:
        talk.client.server.app.dispatcher.parts.chat.setup.places = (KnownServer("vllm", "http://127.0.0.1:9/v1"),)
        said = await talk.ask("POST", "/api/chat/local-servers")
    assert said == {"found": [], "looked": ["http://127.0.0.1:9/v1"]}


async def test_server_that_needs_a_key_lists_its_models_once_its_key_was_entered(open_talk, provider):
    provider.key, provider.listed = SECRET, {"data": [{"id": "qwen3"}, {"id": "nomic-embed-text"}]}
    place = {"kind": "lm_studio", "baseUrl": f"{provider.url}/v1"}
    async with open_talk(models={}) as talk:
        talk.client.server.app.dispatcher.parts.chat.setup.places = (KnownServer("lm_studio", place["baseUrl"]),)
        (locked,) = (await talk.ask("POST", "/api/chat/local-servers"))["found"]
        entered = {"key": SECRET, "baseUrl": place["baseUrl"]}
        await talk.ask("PUT", "/api/chat/providers/openai", entered, status=403)
        await confirm(talk)
        (found,) = (await talk.ask("POST", "/api/chat/local-servers"))["found"]
    assert locked == {**place, "models": [], "needsKey": True, "provider": None}
    assert found == {**place, "models": ["qwen3"], "needsKey": False, "provider": "openai"}


def keep(monkeypatch, provider, provider_name):
    """Set a provider's key and address in the environment."""
    base = provider.url if provider_name == "anthropic" else f"{provider.url}/v1"
    monkeypatch.setenv(f"{provider_name.upper()}_API_KEY", SECRET)
    monkeypatch.setenv(f"{provider_name.upper()}_BASE_URL", base)


@pytest.mark.parametrize(("name", "header"), [("openai", f"Bearer {SECRET}"), ("anthropic", SECRET)])
async def test_provider_says_which_models_it_has(open_talk, provider, monkeypatch, name, header):
    keep(monkeypatch, provider, name)
    provider.listed = {"data": [{"id": "large"}, {"id": 7}, {"id": "small"}], "has_more": False}
    async with open_talk(models={}) as talk:
        said = await talk.ask("POST", f"/api/chat/providers/{name}/models")
    assert said == {"models": ["large", "small"], "suggested": "large"}
    sent = provider.headers[0]
    assert sent["Authorization" if name == "openai" else "x-api-key"] == header


async def test_list_that_comes_in_many_pieces_is_read_to_its_end(open_talk, provider, monkeypatch):
    keep(monkeypatch, provider, "openai")
    provider.listed = {"data": [{"id": f"maker/{number}", "description": "x" * 2000} for number in range(900)]}
    async with open_talk(models={}) as talk:
        said = await talk.ask("POST", "/api/chat/providers/openai/models")
    assert said["models"] == [entry["id"] for entry in provider.listed["data"]]
    (found,) = await find_local_servers([KnownServer("vllm", f"{provider.url}/v1")])
    assert found.models == said["models"]


@pytest.mark.parametrize(
    ("status", "listed", "error_type"),
    [
        (401, {"error": {"message": f"no such key {SECRET}"}}, "provider_unauthorized"),
        (404, {}, "models_not_listed"),
        (429, {}, "provider_rate_limited"),
        (500, {}, "provider_failed"),
        (200, {"models": []}, "models_not_listed"),
        (200, {"data": [{"id": "m", "description": "x" * 9_000_000}]}, "models_not_listed"),
        (302, {}, "models_not_listed"),
    ],
)
async def test_refusal_of_the_list_is_what_it_is_without_the_key(
    open_talk, provider, monkeypatch, status, listed, error_type
):
    keep(monkeypatch, provider, "openai")
    provider.list_status, provider.listed = status, listed
    async with open_talk(models={}) as talk:
        said = await talk.ask("POST", "/api/chat/providers/openai/models", status=400)
    assert said["error"]["type"] == error_type
    assert SECRET not in json.dumps(said)


@pytest.mark.parametrize(
    ("provider_name", "names", "first"),
    [
        ("openai", ["text-embedding-3-small", "gpt-4o-audio-preview", "gpt-5"], "gpt-5"),
        (
            "anthropic",
            ["claude-3", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20260101"],
            "claude-sonnet-4-5-20260101",
        ),
        ("openai", ["nomic-embed-text", "qwen3:8b"], "qwen3:8b"),
        ("openai", ["whisper-1"], None),
    ],
)
def test_model_that_is_suggested_can_talk(provider_name, names, first):
    assert suggest_model(provider_name, names) == first


@pytest.mark.spec("C5")
async def test_model_that_a_person_chose_is_asked_where_none_is_named_also_after_a_restart(
    open_talk, provider, monkeypatch
):
    """It needs no confirmation: its provider was confirmed. Another key or address makes it unknown again."""
    provider.say("Hi.")
    async with open_talk(models={}) as talk:
        refused = await talk.ask("PUT", "/api/chat/model", {"model": "openai:small"}, status=400)
        await talk.ask("PUT", "/api/chat/providers/openai", {"baseUrl": f"{provider.url}/v1"}, status=403)
        await confirm(talk)
        none = await talk.ask("GET", "/api/chat")
        await talk.ask("PUT", "/api/chat/model", {"model": "openai:small"})
    async with open_talk(models={}) as talk:
        shown = await talk.ask("GET", "/api/chat")
        await talk.say(await talk.begin(), "hello")
        await talk.ask("PUT", "/api/chat/providers/openai", {"key": SECRET}, status=403)
        await confirm(talk)
        gone = await talk.ask("GET", "/api/chat")
    assert refused["error"]["type"] == "model_not_configured"
    assert (none["defaultModel"], shown["defaultModel"], gone["defaultModel"]) == (None, "openai:small", None)
    assert provider.requests[0]["model"] == "small"


async def test_provider_that_is_not_there_or_has_no_key_is_said(open_talk, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    async with open_talk(models={}) as talk:
        gone = await talk.ask("POST", "/api/chat/providers/openai/models", status=400)
        none = await talk.ask("POST", "/api/chat/providers/anthropic/models", status=400)
    assert (gone["error"]["type"], none["error"]["type"]) == ("provider_unreachable", "model_not_configured")


async def test_provider_that_does_not_answer_is_given_up():
    is_over = asyncio.Event()

    async def say_nothing(request):
        await is_over.wait()
        return web.Response()

    app = web.Application()
    app.router.add_get("/models", say_nothing)
    async with TestServer(app) as server:
        with pytest.raises(ToolError) as refused:
            await ask_for_models("openai", str(server.make_url("")), SecretStr(""), limit_s=0.5)
        is_over.set()
    assert refused.value.type == "provider_timeout"


async def test_provider_that_nobody_knows_has_no_list(open_talk):
    async with open_talk(models={}) as talk:
        refused = await talk.ask("POST", "/api/chat/providers/nobody/models", status=404)
    assert refused["error"]["type"] == "provider_not_found"


async def test_name_with_a_slash_is_a_model_s_name(open_talk, provider, monkeypatch):
    keep(monkeypatch, provider, "openai")
    provider.say("Hi.")
    async with open_talk(models={}) as talk:
        await talk.ask("PUT", "/api/chat/models/openai:maker%2Flarge", {"model": "maker/large"}, status=403)
        await confirm(talk)
        await talk.say(await talk.begin(), "hello")
    assert provider.requests[0]["model"] == "maker/large"

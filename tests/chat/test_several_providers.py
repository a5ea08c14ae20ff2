"""Several providers at once, also of the same kind: each with its own name, address, key and models."""

import json

import pytest

from agentcore.api import ToolError
from agentcore.chat.model.connections import ProviderConfig, StoredProvider, find_connections
from agentcore.chat.model.local_servers import KnownServer
from agentcore.chat.model.services import SERVICES
from agentcore.chat.settings import AgentConfig, ChatSettings
from tests.support.provider import serve_provider

pytestmark = pytest.mark.spec("C5")
PATH = "/api/chat/providers"


@pytest.fixture
async def other():
    """A second provider."""
    async with serve_provider() as played:
        yield played


async def enter(talk, name, body):
    """Enter a key or an address, and confirm it."""
    await talk.ask("PUT", f"{PATH}/{name}", body, status=403)
    (change,) = talk.host.policy_changes.waiting
    await talk.host.policy_changes.decide_change(change.change_id, approved=True, by="test")
    return change


def providers_of(shown):
    return {one["provider"]: one for one in shown["providers"]}


async def test_each_model_is_asked_at_its_provider_with_its_key(open_talk, provider, other):
    """Two services with OpenAI's protocol were entered, and app.json names a server that needs no key."""
    local = {"service": "llama_cpp", "base_url": f"{provider.url}/v1"}
    provider.say("One.")
    provider.say("Three.")
    other.say("Two.")
    async with open_talk(models={}, providers={"attic": local}) as talk:
        await enter(talk, "deepseek", {"key": "sk-deep", "baseUrl": f"{provider.url}/v1"})
        change = await enter(talk, "work", {"key": "sk-work", "baseUrl": f"{other.url}/v1", "service": "openrouter"})
        for model in ("deepseek:chat", "work:maker/model", "attic:qwen3:8b"):
            await talk.say(await talk.begin(model=model), "hello")
        shown = await talk.ask("GET", "/api/chat")
    assert [request["model"] for request in provider.requests] == ["chat", "qwen3:8b"]
    sent = [headers["Authorization"] for headers in provider.headers if "Authorization" in headers]
    assert sent[0] == "Bearer sk-deep"
    assert "sk-work" not in str(provider.headers)
    assert provider.headers[-1]["Authorization"] == "Bearer none"
    assert other.requests[0]["model"] == "maker/model"
    assert other.headers[-1]["Authorization"] == "Bearer sk-work"
    named = providers_of(shown)
    assert list(named) == ["openai", "anthropic", "deepseek", "work", "attic"]
    assert (named["work"]["service"], named["work"]["label"]["en"]) == ("openrouter", "work")
    assert (named["deepseek"]["keyOrigin"], named["attic"]["isNamed"]) == ("stored", True)
    assert change.proposal.diff[0][1] == f"+service: openrouter\n+key: …\n+baseUrl: {other.url}/v1\n"
    assert "sk-deep" not in json.dumps(shown)


async def test_they_are_still_there_after_a_restart_and_one_is_removed_alone(open_talk, provider, other):
    async with open_talk(models={}) as talk:
        await enter(talk, "work", {"key": "k", "baseUrl": f"{provider.url}/v1", "service": "openai"})
        await enter(talk, "home", {"baseUrl": f"{other.url}/v1", "service": "vllm"})
    provider.listed = {"data": [{"id": "a"}]}
    other.listed = {"data": [{"id": "b"}]}
    async with open_talk(models={}) as talk:
        found = [(await talk.ask("POST", f"{PATH}/{name}/models"))["models"] for name in ("work", "home")]
        await talk.ask("DELETE", f"{PATH}/work", status=403)
        (change,) = talk.host.policy_changes.waiting
        await talk.host.policy_changes.decide_change(change.change_id, approved=True, by="test")
        shown = await talk.ask("GET", "/api/chat")
        await talk.ask("POST", f"{PATH}/work/models", status=404)
    assert found == [["a"], ["b"]]
    assert list(providers_of(shown)) == ["openai", "anthropic", "home"]


async def test_key_of_a_service_is_tested_at_its_own_address_unless_another_is_entered(open_talk, provider):
    provider.key, provider.listed = "right", {"data": [{"id": "m"}]}
    body = {"key": "wrong", "baseUrl": provider.url, "service": "groq"}
    async with open_talk(models={}) as talk:
        refused = await talk.ask("POST", f"{PATH}/fast/test", body, status=400)
        tested = await talk.ask("POST", f"{PATH}/fast/test", {**body, "key": "right"})
        unknown = await talk.ask("POST", f"{PATH}/azure/test", {"key": "right"}, status=400)
    assert refused["error"]["type"] == "provider_unauthorized"
    assert (tested["baseUrl"], tested["suggested"]) == (f"{provider.url}/v1", "m")
    assert "an address for each account" in unknown["error"]["message"]


@pytest.mark.parametrize(
    ("name", "body", "error_type"),
    [
        ("nobody", {"key": "k"}, "provider_not_found"),
        ("mine", {"key": "k", "service": "nothing"}, "provider_not_found"),
        ("Mine", {"key": "k", "service": "openai"}, "provider_not_found"),
    ],
)
async def test_provider_needs_a_name_and_a_service_that_there_is(open_talk, name, body, error_type):
    async with open_talk(models={}) as talk:
        refused = await talk.ask("PUT", f"{PATH}/{name}", body, status=404)
    assert refused["error"]["type"] == error_type


async def test_models_for_something_other_than_conversations_are_not_offered(open_talk, provider):
    names = (
        "text-embedding-3",
        "gpt-x",
        "whisper-1",
        "tts-1",
        "gpt-image-1",
        "bge-m3",
        "nomic-embed-text",
        "qwen3-reranker",
    )
    provider.listed = {"data": [{"id": name} for name in names]}
    async with open_talk(models={}) as talk:
        await enter(talk, "openai", {"baseUrl": f"{provider.url}/v1"})
        said = await talk.ask("POST", f"{PATH}/openai/models")
    assert said == {"models": ["gpt-x"], "suggested": "gpt-x"}


async def test_key_of_a_local_server_opens_it_in_the_search(open_talk, provider):
    provider.key, provider.listed = "k", {"data": [{"id": "qwen3"}]}
    place = f"{provider.url}/v1"
    async with open_talk(models={}) as talk:
        talk.client.server.app.dispatcher.parts.chat.setup.places = (KnownServer("lm_studio", place),)
        await enter(talk, "lm_studio", {"key": "k", "baseUrl": place})
        (found,) = (await talk.ask("POST", "/api/chat/local-servers"))["found"]
    assert (found["needsKey"], found["provider"], found["models"]) == (False, "lm_studio", ["qwen3"])


async def test_what_earlier_versions_stored_is_used_unchanged(open_talk, provider):
    provider.say("Hi.")
    async with open_talk(models={}) as talk:
        file = talk.host.state.path / "providers.json"
    file.write_text(json.dumps({"openai": {"key": "sk-old", "base_url": f"{provider.url}/v1"}}))
    async with open_talk(models={}) as talk:
        await talk.say(await talk.begin(model="openai:m"), "hello")
    assert provider.headers[-1]["Authorization"] == "Bearer sk-old"


async def test_model_of_a_provider_that_is_not_set_up_says_so_and_leaves_the_others_usable(open_talk):
    models = {"a": {"provider": "attic"}, "b": {"base_url": "http://127.0.0.1:9/v1"}, "c": {"provider": "groq"}}
    async with open_talk(models=models) as talk:
        shown = (await talk.ask("GET", "/api/chat"))["models"]
    assert [model["isUsable"] for model in shown] == [False, True, False]
    assert "'attic', which is not set up" in shown[0]["hint"]
    assert "no key of groq" in shown[2]["hint"]


@pytest.mark.parametrize(
    ("protocol", "path"), [("openai", ["reasoning_effort"]), ("anthropic", ["output_config", "effort"])]
)
async def test_effort_is_sent_where_the_settings_say_one(open_talk, provider, protocol, path):
    model = "claude-opus-4-6" if protocol == "anthropic" else "m"
    provider.say("Hi.")
    async with open_talk(model={"provider": protocol, "model": model, "effort": "low"}) as talk:
        await talk.say(await talk.begin(), "hello")
    sent = provider.requests[0]
    for key in path:
        sent = sent[key]
    assert sent == "low"


def choose(name, *, environ=None, providers=None, stored=None, models=None):
    settings = ChatSettings.from_config(models, None, environ or {}, providers=providers, stored=stored)
    return settings.choose_model(name, AgentConfig())


def test_variable_of_a_service_is_enough():
    choice = choose("groq:llama", environ={"GROQ_API_KEY": "k"})
    assert (choice.base_url, choice.api_key.get_secret_value()) == ("https://api.groq.com/openai/v1", "k")
    assert choice.full_name == "groq:llama"


def test_further_keys_in_the_environment_do_not_change_the_model_that_is_used_without_a_name():
    assert choose(None, environ={"OPENAI_API_KEY": "k", "GROQ_API_KEY": "k"}).model == "gpt-5"


def test_name_of_a_local_model_may_begin_like_a_service():
    models = {"mistral:7b": {"base_url": "http://127.0.0.1:11434/v1"}}
    choice = choose("mistral:7b", environ={"MISTRAL_API_KEY": "k"}, models=models)
    assert (choice.provider, choice.model) == ("openai", "mistral:7b")
    bare = choose("mistral:7b", environ={"OPENAI_BASE_URL": "http://127.0.0.1:11434/v1"})
    assert (bare.provider, bare.model) == ("openai", "mistral:7b")


def test_key_that_was_entered_goes_only_to_the_address_that_it_was_entered_for():
    stored = {"work": StoredProvider(service="openai", key="k", base_url="http://one.test/v1")}
    same = {"work": {"base_url": "http://one.test/v1"}}
    moved = {"work": {"base_url": "http://two.test/v1"}}
    assert choose("work:m", providers=same, stored=stored).api_key.get_secret_value() == "k"
    assert choose("work:m", providers=moved, stored=stored).api_key.get_secret_value() == ""


def test_key_of_the_environment_goes_to_another_address_only_if_app_json_names_its_variable():
    environ = {"GROQ_API_KEY": "k", "WORK_KEY": "w"}
    plain = {"groq": {"base_url": "http://two.test/v1"}}
    named = {"groq": {"base_url": "http://two.test/v1", "api_key_env": "WORK_KEY"}}
    assert choose("groq:m", environ=environ, providers=plain).api_key.get_secret_value() == ""
    assert choose("groq:m", environ=environ, providers=named).api_key.get_secret_value() == "w"
    assert choose("groq:m", environ=environ, providers={"groq": {}}).api_key.get_secret_value() == "k"


def test_environment_overrides_what_was_entered():
    stored = {"groq": StoredProvider(key="entered", base_url="http://two.test/v1")}
    found = find_connections({"GROQ_API_KEY": "k"}, {}, stored)["groq"]
    assert (found.is_fixed, found.key.get_secret_value(), found.base_url) == (True, "k", SERVICES["groq"].base_url)


@pytest.mark.parametrize("providers", [{"x": {"service": "nothing"}}, {"X": {}}, {"x": {"key": "sk-secret"}}])
def test_wrong_provider_names_its_place_and_no_value(providers):
    with pytest.raises(ToolError) as caught:
        choose("m", providers=providers)
    assert caught.value.type == "invalid_settings"
    assert "sk-secret" not in str(caught.value.context) + caught.value.message


def test_service_without_an_address_needs_one():
    assert find_connections({"AZURE_OPENAI_API_KEY": "k"}, {}, {}) == {}
    named = {
        "azure": ProviderConfig(base_url="https://me.openai.azure.com/openai/v1", api_key_env="AZURE_OPENAI_API_KEY")
    }
    found = find_connections({"AZURE_OPENAI_API_KEY": "k"}, named, {})["azure"]
    assert (found.is_usable, found.key.get_secret_value()) == (True, "k")

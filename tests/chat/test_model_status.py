"""Whether a chat can begin, in plain sentences: asked of small servers of models."""

import pytest
from aiohttp import web

from agentcore.chat.model.local_servers import KnownServer
from agentcore.chat.model.provider_keys import ProviderKeys, StoredProvider
from agentcore.chat.model_status import find_model_status
from agentcore.chat.settings import ChatSettings

NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture
def start(aiohttp_server):
    """Starts a server that lists these models, or answers with this status."""

    async def begin(*names, status=200):
        async def list_models(_request):
            return web.json_response({"data": [{"id": name} for name in names]}, status=status)

        app = web.Application()
        app.router.add_get("/v1/models", list_models)
        server = await aiohttp_server(app)
        return f"http://127.0.0.1:{server.port}/v1"

    return begin


@pytest.fixture
def find(tmp_path):
    """Finds the status for settings, an environment and addresses that are looked at."""

    async def find(*places, environ=None, models=None, keys=None):
        keys = keys or ProviderKeys(tmp_path, environ or {})
        settings = ChatSettings.from_config(models, None, keys.environ, stored=keys.stored)
        return await find_model_status(settings, [KnownServer("ollama", place) for place in places])

    return find


async def test_without_anything_a_key_is_needed(find):
    status = await find(NOWHERE)
    assert not status.is_ready
    assert status.summary.startswith("A key is needed")
    assert "Enter a key on the page" in status.next_step


async def test_server_on_this_machine_is_named_with_its_models(find, start):
    status = await find(NOWHERE, await start("a", "b", "c", "d"))
    assert not status.is_ready
    assert status.summary == "Ollama runs on this machine with 4 models (a, b, c, …); none is chosen yet."


async def test_server_without_models_says_so(find, start):
    status = await find(await start())
    assert status.summary == "Ollama runs on this machine, but it has no model."
    assert "Load a model" in status.next_step


async def test_key_in_the_environment_is_enough(find):
    status = await find(NOWHERE, environ={"OPENAI_API_KEY": "sk-1"})
    assert (status.is_ready, status.next_step) == (True, "")
    assert status.summary == "gpt-5 (OpenAI-compatible, with the key in OPENAI_API_KEY)"


async def test_key_that_was_entered_is_enough(find, tmp_path):
    keys = ProviderKeys(tmp_path, {})
    await keys.replace_stored_provider("anthropic", StoredProvider(), StoredProvider(key="sk-2"))
    status = await find(NOWHERE, keys=keys)
    assert status.summary == "claude-sonnet-4-5 (Anthropic, with the key that you entered)"


async def test_two_keys_need_a_choice(find):
    status = await find(NOWHERE, environ={"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-2"})
    assert not status.is_ready
    assert status.next_step == "Choose one on the page."


async def test_model_of_app_json_without_its_key_needs_it(find):
    status = await find(models={"fast": {"provider": "openai", "model": "gpt-x"}})
    assert status.summary == "gpt-x needs a key."
    assert "OPENAI_API_KEY" in status.next_step


async def test_model_of_a_server_that_does_not_answer_is_not_ready(find):
    status = await find(models={"small": {"provider": "openai", "base_url": NOWHERE}})
    assert not status.is_ready
    assert f"its server at {NOWHERE} does not answer" in status.summary


@pytest.mark.parametrize("status", [200, 401, 404])
async def test_model_of_a_server_that_answers_is_ready(find, start, status):
    base_url = await start("small", status=status)
    found = await find(models={"small": {"provider": "openai", "base_url": base_url}})
    assert (found.is_ready, found.summary) == (True, f"small ({base_url})")


async def test_server_that_needs_a_key_says_so_until_it_has_one(find, aiohttp_server, tmp_path):
    async def refuse(_request):
        error = {"code": "invalid_api_key", "message": "An LM Studio API token is required"}
        return web.json_response({"error": error}, status=401)

    app = web.Application()
    app.router.add_get("/v1/models", refuse)
    place = f"http://127.0.0.1:{(await aiohttp_server(app)).port}/v1"
    status = await find(place)
    assert status.summary == f"LM Studio runs on this machine at {place}, and needs a key."
    assert status.next_step == "Enter its key on the page."
    keys = ProviderKeys(tmp_path, {})
    await keys.replace_stored_provider("openai", StoredProvider(), StoredProvider(key="k", base_url=place))
    assert (await find(place, keys=keys)).next_step == "Choose one on the page."

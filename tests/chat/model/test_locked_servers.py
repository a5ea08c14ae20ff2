"""Model servers that need a key: found at their ports without one, and never confused with something else."""

import pytest
from aiohttp import web
from pydantic import SecretStr

from agentcore.chat.model.local_servers import KnownServer, find_local_servers
from agentcore.chat.model.provider_check import check_provider
from agentcore.errors import ToolError

pytestmark = pytest.mark.spec("C5")
KEY = "sk-of-this-server"
MODELS = {"data": [{"id": "qwen3"}, {"id": "nomic-embed-text"}]}
LLAMA_REFUSAL = {"error": {"message": "Invalid API Key", "type": "authentication_error", "code": 401}}
LM_STUDIO_REFUSAL = {
    "error": {
        "message": "An LM Studio API token is required to make requests to this server, but none was provided",
        "type": "invalid_request_error",
        "code": "invalid_api_key",
    }
}
NO_TOKEN = "Missing authorization header"


@pytest.fixture
def serve(aiohttp_server):
    """Starts a server that answers so at its paths: a status, a JSON document or a text, and whether a key opens it."""

    async def start(answers, *, server="", open_paths=()):
        async def answer(request):
            status, said = answers.get(request.path, (404, {}))
            if request.path not in open_paths and request.headers.get("Authorization") == f"Bearer {KEY}":
                status, said = 200, MODELS
            headers = {"Server": server} if server else {}
            if isinstance(said, str):
                return web.Response(text=said, status=status, headers=headers)
            return web.json_response(said, status=status, headers=headers)

        app = web.Application()
        app.router.add_get("/{path:.*}", answer)
        started = await aiohttp_server(app)
        return f"http://127.0.0.1:{started.port}/v1"

    return start


NEW_LLAMA = {"/v1/models": (200, MODELS), "/props": (401, LLAMA_REFUSAL)}


@pytest.mark.parametrize(
    ("kind", "answers", "server", "models"),
    [
        ("llama_cpp", NEW_LLAMA, "llama.cpp", ["qwen3"]),
        ("llama_cpp", {"/v1/models": (401, LLAMA_REFUSAL)}, "llama.cpp", []),
        ("lm_studio", {"/v1/models": (401, LM_STUDIO_REFUSAL)}, "", []),
        (
            "vllm",
            {"/v1/models": (401, {"error": "Unauthorized"}), "/version": (200, {"version": "0.11.0"})},
            "uvicorn",
            [],
        ),
        (
            "jan",
            {"/v1/models": (401, NO_TOKEN), "/openapi.json": (200, {"info": {"title": "Jan API Server Endpoints"}})},
            "",
            [],
        ),
        (
            "koboldcpp",
            {
                "/v1/models": (200, MODELS),
                "/api/extra/version": (200, {"result": "KoboldCpp", "version": "1.100", "protected": True}),
            },
            "ConcedoLlamaForKoboldServer",
            ["qwen3"],
        ),
    ],
    ids=["llama.cpp", "old llama.cpp", "LM Studio", "vLLM", "Jan", "KoboldCpp"],
)
async def test_server_that_needs_a_key_is_found_without_one(serve, kind, answers, server, models):
    base_url = await serve(answers, server=server)
    (found,) = await find_local_servers([KnownServer(kind, base_url)])
    assert found == (kind, base_url, models, True, None)


async def test_kind_is_the_one_that_answers_whatever_is_usual_at_the_port(serve):
    base_url = await serve({"/v1/models": (401, LM_STUDIO_REFUSAL)})
    (found,) = await find_local_servers([KnownServer("llama_cpp", base_url)])
    assert (found.kind, found.label) == ("lm_studio", "LM Studio")


@pytest.mark.parametrize(
    ("answers", "server"),
    [
        ({"/v1/models": (401, {})}, ""),
        ({"/v1/models": (403, "<html>Forbidden</html>")}, "nginx"),
        ({"/v1/models": (401, {"error": "Unauthorized"})}, "uvicorn"),
        ({"/v1/models": (401, {"error": "Unauthorized"}), "/version": (200, {"version": "1", "name": "shop"})}, ""),
        ({"/v1/models": (401, {"error": "Unauthorized"}), "/version": (401, {"version": "1"})}, ""),
        ({"/v1/models": (401, LLAMA_REFUSAL)}, "nginx"),
        ({"/v1/models": (401, {"error": {"code": "invalid_api_key", "message": "no key"}})}, ""),
        ({"/v1/models": (401, {"error": ["Unauthorized"]})}, "llama.cpp"),
        ({"/v1/models": (401, NO_TOKEN)}, ""),
        ({"/v1/models": (401, NO_TOKEN), "/openapi.json": (200, {"info": {"title": "Shop API"}})}, ""),
        ({"/v1/models": (401, NO_TOKEN), "/openapi.json": (200, {"info": "Jan API"})}, ""),
        ({"/v1/models": (401, "[" * 100_000)}, ""),
    ],
)
async def test_something_else_that_refuses_is_not_offered(serve, answers, server):
    base_url = await serve(answers, server=server)
    assert await find_local_servers([KnownServer("vllm", base_url)]) == []


@pytest.mark.parametrize(
    ("answers", "server"),
    [
        ({"/v1/models": (200, MODELS), "/props": (200, {"chat_template": "x"})}, "llama.cpp"),
        ({"/v1/models": (200, MODELS), "/props": (401, {})}, "other"),
        (
            {
                "/v1/models": (200, MODELS),
                "/api/extra/version": (200, {"result": "KoboldCpp", "protected": False}),
            },
            "ConcedoLlamaForKoboldServer",
        ),
    ],
)
async def test_server_that_needs_none_is_used_without_one(serve, answers, server):
    (found,) = await find_local_servers([KnownServer("llama_cpp", await serve(answers, server=server))])
    assert (found.models, found.needs_key) == (["qwen3"], False)


async def test_key_of_a_server_that_lists_its_models_to_anyone_is_tested_as_well(serve):
    base_url = await serve(NEW_LLAMA, server="llama.cpp")
    with pytest.raises(ToolError) as refused:
        await check_provider("openai", base_url, SecretStr("wrong"))
    assert refused.value.type == "provider_unauthorized"
    assert (await check_provider("openai", base_url, SecretStr(KEY))).suggested == "qwen3"

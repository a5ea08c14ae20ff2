"""The bundled tools, and schemas as anybody may write them, in the converters of those who have to take them."""

import asyncio
import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from agentcore.tool_formats.check import check_tool
from agentcore.tool_formats.dialect_schema import lower_schema
from agentcore.tool_formats.dialects import DIALECTS
from agentcore.tool_formats.formats import FORMS, LoweredSchema
from tests.tool_formats.test_lowering import SCHEMAS, object_of
from tests.tool_formats.tiny_gguf import write_model

pytestmark = pytest.mark.more

BUNDLED = [
    "agent_tools",
    "browser",
    "chrome",
    "fs_tools",
    "shell_tools",
    "system_tools",
    "ui_page",
    "user_tabs",
    "web_tools",
]
LLAMA = Path(__file__).parents[2] / "node_modules/@fugood/node-llama-linux-x64"
LIMIT_S = 60
needs_llama = pytest.mark.skipif(
    not LLAMA.exists() or shutil.which("node") is None, reason="llama.cpp's converter is missing: npm install"
)


@pytest.fixture
async def definitions(agentcore_host) -> list[Any]:
    """The definitions of all bundled tools."""
    running = await agentcore_host(BUNDLED)
    return [tool.definition for tool in running.host.registry.tools.values()]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model for llama.cpp."""
    write_model(tmp_path / "tiny.gguf")
    return tmp_path / "tiny.gguf"


async def grammars(tools: list[dict[str, Any]], model: Path) -> dict[str, Any]:
    """What llama.cpp says of tools: how many it took, and the one that it refused."""
    script = Path(__file__).with_name("llama_grammar.mjs")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec("node", script, model, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        async with asyncio.timeout(LIMIT_S):
            said, noise = await process.communicate(json.dumps(tools).encode())
    finally:
        if process.returncode is None:
            process.kill()
    last = said.splitlines()[-1:]  # llama.cpp writes there as well
    assert last and b"taken" in last[0], noise.decode()[-2000:]  # noqa: PT018 - the second says what is missing
    return json.loads(last[0])


def as_openai(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "it", "description": "It.", "parameters": schema}}


def schemas(count: int) -> list[dict[str, Any]]:
    """As many schemas of arguments."""
    made = []

    @settings(max_examples=count, database=None)
    @given(found=SCHEMAS)
    def collect(found: Any) -> None:
        made.append(object_of({"it": found[0], "other": found[0]}, "it", **{"$defs": {"Any": True}}))

    collect()
    return made


def take_as_gemini(schema: dict[str, Any]) -> None:
    """Read a schema as Gemini's SDK does, in each of its ways."""
    types = pytest.importorskip("google.genai.types", reason="Gemini's SDK is missing: pip install google-genai")
    from google.genai._transformers import process_schema

    types.FunctionDeclaration(name="it", description="It.", parameters=types.Schema.model_validate(schema))
    types.FunctionDeclaration(name="it", description="It.", parameters_json_schema=schema)
    processed = copy.deepcopy(schema)
    process_schema(processed, None)
    types.Schema.model_validate(processed)
    types.Schema.from_json_schema(
        json_schema=types.JSONSchema.model_validate(schema), raise_error_on_unsupported_field=True
    )


@needs_llama
@pytest.mark.spec("K9")
async def test_llama_makes_grammars_of_all_bundled_tools_one_by_one_and_together(definitions, model):
    form = FORMS["openai_compatible"]
    tools = [form.write(each, lower_schema(each.input_schema, form.dialect)) for each in definitions]
    assert len(tools) > 60
    assert await grammars(tools, model) == {"taken": len(tools)}


@needs_llama
@pytest.mark.spec("K9")
@pytest.mark.parametrize("keyword", [{"maxLength": 4096}, {"pattern": r"^\S+$"}, {"pattern": "[.]png$"}])
async def test_llama_refuses_what_is_left_out_for_it(model, keyword):
    tool = as_openai(object_of({"it": {"type": "string", **keyword}}))
    assert (await grammars([tool], model))["refused"] == "it"


@needs_llama
@pytest.mark.spec("K9")
async def test_llama_makes_grammars_of_any_lowered_schema(model):
    patterns = ("^[a-z][a-z0-9_]{0,63}$", r"^\d{4}-\d\d?$", r"^(?:ab|c\.)+$", r"^v[\w.-]+(a{2,}|[+*?-]){1,3}$")
    with_patterns = [object_of({"it": {"type": "string", "pattern": pattern}}) for pattern in patterns]
    lowered = [lower_schema(schema, DIALECTS["portable"]).schema for schema in (*schemas(60), *with_patterns)]
    assert all("pattern" in schema["properties"]["it"] for schema in lowered[-len(patterns) :])
    assert await grammars([as_openai(schema) for schema in lowered], model) == {"taken": len(lowered)}


@pytest.mark.spec("K9")
async def test_sdk_of_gemini_takes_all_bundled_tools(definitions):
    for definition in definitions:
        take_as_gemini(lower_schema(definition.input_schema, DIALECTS["gemini"]).schema)


@pytest.mark.spec("K9")
@given(found=SCHEMAS)
def test_sdk_of_gemini_takes_any_lowered_schema(found):
    take_as_gemini(
        lower_schema(object_of({"it": found[0]}, "it", **{"$defs": {"Any": True}}), DIALECTS["gemini"]).schema
    )


@pytest.mark.spec("K9")
async def test_no_provider_misses_anything_of_a_bundled_tool(definitions):
    for definition in definitions:
        assert check_tool(definition.name, definition.description, LoweredSchema(definition.input_schema)) == []

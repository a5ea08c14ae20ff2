"""What is odd in a server's tools and results affects that tool or that part, and nothing else."""

import pytest
from agentcore_mcp_servers.block import ServerBlock

from agentcore.api import Image, Text


def own_tools(host):
    return {name: tool for name, tool in host.host.registry.tools.items() if name.startswith("example_")}


@pytest.fixture
async def parts(mount, odd):
    return await mount(odd("parts"))


async def test_tool_with_an_odd_schema_is_offered_as_far_as_it_can_be_read(mount, odd):
    host = await mount(odd("schemas"))
    schemas = {name.removeprefix("example_"): tool.definition.input_schema for name, tool in own_tools(host).items()}
    assert {name for name, schema in schemas.items() if schema == {"type": "object"}} == {
        *("good", "empty", "listed", "nothing", "without", "true", "text", "rows", "odd_output", "described"),
    }
    assert schemas["either"] == {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert schemas["untyped"]["required"] == ["a"]
    for name in ("good", "empty", "listed", "nothing", "true", "text", "rows", "odd_output"):
        assert (await host.call(f"example_{name}")).content == (Text(f"called {name}"),)


async def test_pattern_that_cannot_be_checked_is_passed_on(mount, odd):
    host = await mount(odd("schemas"))
    shown = own_tools(host)["example_patterns"].definition.input_schema["properties"]
    assert all("pattern" in shown[name] for name in ("email", "duration", "twice", "broken"))
    assert (await host.outcome("example_patterns", {"email": "a@example.org", "twice": "no", "broken": "x"})).ok
    assert (await host.outcome("example_patterns", {"email": 7})).error.type == "invalid_arguments"


async def test_tools_in_any_script_have_names_of_their_own_and_are_called(mount, odd):
    host = await mount(odd("scripts"))
    said = {name: (await host.call(name)).content[0].text for name in own_tools(host)}
    assert len(said) == 7
    assert sorted(said.values()) == sorted(
        f"called {name}" for name in ("查询", "删除", "поиск", "files.read", "files_read", "naïve", "find 🔍")
    )
    assert said["example_files_read"] == "called files_read"
    described = {name: tool.definition.description for name, tool in own_tools(host).items()}
    assert all(said[name].removeprefix("called ") in described[name] for name in said)


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("structured_error", ("E42", "no such row")),
        ("error_without_content", ("E43",)),
        ("error_in_resource", ("disk is full",)),
    ],
)
async def test_what_a_failed_call_says_anywhere_reaches_the_model(parts, tool, said):
    error = (await parts.outcome(f"example_{tool}")).error
    assert error.type == "tool_failed"
    assert all(word in error.message for word in said)


@pytest.mark.more
@pytest.mark.parametrize("tool", ["data_url", "url_safe", "unpadded", "wrapped", "image_without_type"])
async def test_picture_in_any_spelling_of_base64_is_kept_beside_the_text(parts, tool):
    text, picture = (await parts.call(f"example_{tool}")).content
    assert (text, type(picture)) == (Text("good text"), Image)


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("no_base64", "left out"),
        ("unknown_part", "hologram"),
        ("part_without_type", "bare"),
        ("no_part", "just words"),
        ("image_without_data", "cannot be read"),
        ("number_as_text", "7"),
        ("link_without_name", "notes://x"),
    ],
)
async def test_part_that_cannot_be_read_is_described_beside_the_others(parts, tool, said):
    text, other, *_ = (await parts.call(f"example_{tool}")).content
    assert text == Text("good text")
    assert said in other.text


@pytest.mark.parametrize("tool", ["surrogate", "content_is_text", "structured_list"])
async def test_result_of_another_form_is_read(parts, tool):
    result = await parts.call(f"example_{tool}")
    assert result.content[0].text.startswith("good text")
    if tool == "structured_list":
        assert result.data == {"result": ["a", "b"]}


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"url": "https://a.example/mcp", "type": "streamableHttp"}, "streamable-http"),
        ({"url": "https://a.example/mcp", "type": "Streamable HTTP"}, "streamable-http"),
        ({"url": "https://a.example/mcp", "transportType": "streamable_http"}, "streamable-http"),
        ({"serverUrl": "https://a.example/mcp", "transport": "SSE"}, "sse"),
        ({"command": "server", "type": "STDIO"}, "stdio"),
        ({"command": ["server", "--now"], "type": "local", "environment": {"A": "b"}}, "local"),
    ],
)
def test_block_is_read_in_the_spelling_of_other_clients(given, read):
    assert ServerBlock.model_validate(given).type == read


async def test_server_of_a_block_in_the_form_of_another_client_is_mounted(mount, odd):
    block = odd("refusing")
    block = {"type": "local", "command": [block["command"], *block["args"]], "agentcore": block["agentcore"]}
    assert "example_go" in own_tools(await mount(block))

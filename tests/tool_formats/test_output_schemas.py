"""Output schemas of bundled tools, in MCP's form: what a call really gives is as they say."""

import json
from pathlib import Path

import jsonschema_rs
import pytest

MODULES = json.loads((Path(__file__).parents[2] / "app.json").read_text("utf-8"))["modules"]
WITHOUT_DATA: dict[str, str] = {}
"""Bundled tools whose results are for readers alone, with the reason: none so far."""

CALLS = [
    ("write_file", {"path": "notes/a.txt", "content": "one\ntwo\n", "create_dirs": True}),
    ("edit", {"path": "notes/a.txt", "edits": [{"old": "two", "new": "three"}]}),
    ("read_file", {"path": "notes/a.txt"}),
    ("glob", {"pattern": "**/*.txt"}),
    ("list_dir", {"path": "."}),
    ("file_stat", {"path": "notes/a.txt"}),
    ("file_copy", {"source": "notes", "destination": "copy"}),
    ("file_move", {"source": "copy", "destination": "moved"}),
    ("file_delete", {"path": "moved", "recursive": True}),
    ("memory", {"action": "save", "key": "k", "content": "text"}),
    ("memory", {"action": "list"}),
]


@pytest.mark.processes
@pytest.mark.spec("M5")
async def test_each_bundled_tool_with_data_has_an_output_schema(agentcore_host):
    host = await agentcore_host(MODULES)
    tools = host.host.registry.tools
    assert {tool.module.name for tool in tools.values()} == set(MODULES)
    schemas = {name: tool.definition.output_schema for name, tool in tools.items()}
    assert {name for name, schema in schemas.items() if schema is None} == set(WITHOUT_DATA)
    for name, schema in schemas.items():
        assert name in WITHOUT_DATA or schema["type"] == "object", name  # as MCP wants it


@pytest.mark.processes
@pytest.mark.spec("M5")
async def test_data_of_results_are_as_the_output_schema_says(agentcore_client):
    server = await agentcore_client(["fs_tools", "agent_tools"])
    response = await server.get("/api/tools?format=mcp")
    schemas = {tool["name"]: tool["outputSchema"] for tool in (await response.json())["tools"]}
    assert {name for name, _ in CALLS} <= set(schemas)
    for name, arguments in CALLS:
        response = await server.post(f"/api/tools/{name}/call", json={"arguments": arguments})
        envelope = await response.json()
        assert envelope["ok"], envelope
        assert schemas[name]["type"] == "object"
        jsonschema_rs.validate(schemas[name], envelope["data"])

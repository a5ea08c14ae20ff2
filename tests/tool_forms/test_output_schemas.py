"""Output schemas of bundled tools, in MCP's form: what a call really gives is as they say."""

import jsonschema_rs
import pytest

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

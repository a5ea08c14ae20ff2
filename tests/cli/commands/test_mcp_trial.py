"""`agentcore mcp test`: a server started alone, beside whatever runs."""

import json
import sys

import pytest

SERVER = """
import json, os, sys

NUMBER = {"type": "integer"}
ADD = {"name": "add.two", "description": "Add two numbers.", "inputSchema": {
    "type": "object", "properties": {"a": NUMBER, "b": NUMBER}, "required": ["a", "b"]}}
TODAY = {"uri": "notes://today", "name": "today", "description": "The notes of today."}
ANSWERS = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}},
                   "serverInfo": {"name": "counter", "version": "1.4"}},
    "tools/list": {"tools": [ADD]},
    "resources/list": {"resources": [TODAY]},
    "resources/templates/list": {"resourceTemplates": []},
}
print("key of", len(os.environ["KEY"]), "characters", file=sys.stderr, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        answer = ANSWERS.get(asked["method"])
        error = {"error": {"code": -32601, "message": "no such method"}}
        said = {"result": answer} if answer is not None else error
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"]} | said), flush=True)
"""


@pytest.fixture
def counter(place):
    """A server in app.json that needs a secret, and is not on."""
    pytest.importorskip("agentcore_mcp_servers")
    block = {
        "command": sys.executable,
        "args": ["-c", SERVER],
        "env": {"KEY": "${secret:COUNTER}"},
        "agentcore": {"effects": {"add*": ["read"]}},
    }
    path = place.folder / "app.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"mcpServers": {"counter": block}}))
    return place


def test_a_server_is_started_alone_and_told_of(counter):
    counter.run("secrets", "set", "COUNTER", stdin="one two three")
    before = sorted(counter.state.rglob("*"))
    done = counter.run("mcp", "test", "counter", "--json")
    assert done.code == 0, done.err
    told = done.json
    assert (told["name"], told["ready"], told["problems"]) == ("counter", True, [])
    assert told["facts"]["server"] == "counter 1.4"
    assert told["facts"]["resources"] == "1"
    assert told["facts"]["protocol"] >= "2025-06-18"
    assert told["tools"][0]["name"] == "counter_add_two"
    assert told["tools"][0]["originalName"] == "add.two"
    assert told["tools"][0]["effects"] == ["read"]
    assert "key of 13 characters" in told["log"]
    assert sorted(counter.state.rglob("*")) == before
    assert json.loads((counter.folder / "app.json").read_text())["modules"] == ["clock"]


def test_people_get_a_table_and_the_end_of_what_it_wrote(counter):
    counter.run("secrets", "set", "COUNTER", stdin="one two three")
    done = counter.run("mcp", "test", "counter")
    assert "counter_add_two" in done.out
    assert "Add two numbers." in done.out
    assert "key of 13 characters" in done.err


def test_it_is_started_beside_a_server_that_runs(counter, start_server):
    counter.run("secrets", "set", "COUNTER", stdin="one two three")
    start_server()
    done = counter.run("mcp", "test", "counter", "--json")
    assert done.code == 0, done.err
    assert done.json["ready"]


def test_why_it_does_not_start_is_said_plainly(counter):
    done = counter.run("mcp", "test", "counter")
    assert done.code == 1
    assert "there is no secret 'COUNTER'" in done.err
    document = json.loads((counter.folder / "app.json").read_text())
    document["mcpServers"]["counter"] = {
        "command": sys.executable,
        "args": ["-c", "import sys; sys.exit('no more ink')"],
    }
    (counter.folder / "app.json").write_text(json.dumps(document))
    done = counter.run("mcp", "test", "counter", "--json")
    assert done.code == 1
    assert "ended with exit code 1; it wrote: no more ink" in done.json["reason"]
    assert "NoneType" not in done.json["reason"]


def test_a_name_that_is_none_is_said_to_be(counter):
    done = counter.run("mcp", "test", "countr")
    assert done.code == 2
    assert "did you mean 'counter'" in done.err

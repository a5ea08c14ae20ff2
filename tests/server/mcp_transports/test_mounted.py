"""Resources and prompts of mounted servers, as MCP clients of agentcore get them."""

import asyncio
import base64
import os
import sys

import mcp_types as types
import pytest

from agentcore.api import Module, ReadableResource, ToolContext, ToolDefinition
from agentcore.testing import ModuleNotReadyError
from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import running_server
from tests.server.approving import approver
from tests.server.mcp_transports.conftest import Mcp
from tests.server.mcp_transports.test_served import result

pytestmark = pytest.mark.processes

SHELF = """
import base64, json, sys

TITLES = ["emma"]
PROMPTS = ["praise"]
ABOUT = {
    "capabilities": {"tools": {}, "resources": {"listChanged": True}, "prompts": {"listChanged": True}},
    "serverInfo": {"name": "shelf", "version": "1"},
}


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def read(uri):
    if uri == "shelf://cover":
        return {"uri": uri, "mimeType": "application/pdf", "blob": base64.b64encode(b"%PDF-1").decode()}
    return {"uri": uri, "mimeType": "text/plain", "text": f"This is {uri}."}


def answer(method, given):
    match method:
        case "initialize":
            return {"protocolVersion": "2025-06-18", **ABOUT}
        case "tools/list":
            return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("add", "hint")]}
        case "resources/list":
            named = [{"uri": f"shelf://books/{title}", "name": title, "size": 9} for title in TITLES]
            odd = [{"uri": uri, "name": "odd"} for uri in ("no uri", "agentcore://artifacts/1", "ui://shelf/view")]
            return {"resources": [*named, {"uri": "shelf://cover", "name": "Cover", "title": "The cover"}, *odd]}
        case "resources/templates/list":
            return {"resourceTemplates": [{"uriTemplate": "shelf://{+path}/page{?number}", "name": "page"}]}
        case "resources/read":
            return {"contents": [read(given["uri"])]}
        case "prompts/list":
            return {"prompts": [{"name": name, "description": f"Say {name}."} for name in PROMPTS]}
        case "prompts/get":
            return {"messages": [{"role": "user", "content": {"type": "text", "text": f"{given['name']} it."}}]}
        case "tools/call" if given["name"] == "add":
            TITLES.append("ulysses")
            send(method="notifications/resources/list_changed")
        case "tools/call":
            PROMPTS.append("blame")
            send(method="notifications/prompts/list_changed")
    return {"content": [{"type": "text", "text": "done"}]}


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        send(id=asked["id"], result=answer(asked["method"], asked.get("params") or {}))
"""


@pytest.fixture
async def shelf(start_mcp):
    """A server that mounts a shelf of books."""
    pytest.importorskip("agentcore_mcp_servers")
    block = {"command": sys.executable, "args": ["-c", SHELF], "agentcore": {"sandbox": "off"}}
    clients = {"narrow": {"tools": ["shop_*"]}}
    return await start_mcp(["mcp_shelf"], mcpServers={"shelf": block}, approvals={"mode": "allow"}, clients=clients)


async def uris(client):
    return [each["uri"] for each in (await result(client, "resources/list"))["resources"]]


async def test_resources_of_a_mounted_server_are_listed_with_their_own_addresses(shelf, by_hand):
    client = await by_hand(shelf)
    listed = (await result(client, "resources/list"))["resources"]
    assert listed == [
        {"uri": "shelf://books/emma", "name": "emma", "size": 9},
        {"uri": "shelf://cover", "name": "The cover"},
    ]
    templates = (await result(client, "resources/templates/list"))["resourceTemplates"]
    assert templates == [{"uriTemplate": "shelf://{+path}/page{?number}", "name": "page"}]


async def test_resource_of_a_mounted_server_is_read_by_a_call_under_its_rules(shelf, by_hand):
    client = await by_hand(shelf)
    for uri in ("shelf://books/emma", "shelf://books/emma/page?number=7"):
        read = (await result(client, "resources/read", {"uri": uri}))["contents"]
        assert read == [{"uri": uri, "mimeType": "text/plain", "text": f"This is {uri}."}]
    (cover,) = (await result(client, "resources/read", {"uri": "shelf://cover"}))["contents"]
    assert (cover["uri"], base64.b64decode(cover["blob"])) == ("shelf://cover", b"%PDF-1")
    for uri in ("shelf://books/other", "ui://shelf/view"):
        _, none = await result(client, "resources/read", {"uri": uri})
        assert none["data"]["type"] == "artifact_not_found"


async def test_client_that_may_not_call_the_server_gets_none_of_its_resources(shelf, by_hand):
    narrow = await by_hand(shelf, "narrow")
    assert await uris(narrow) == []
    assert (await result(narrow, "resources/templates/list"))["resourceTemplates"] == []
    _, hidden = await result(narrow, "resources/read", {"uri": "shelf://books/emma"})
    assert hidden["data"]["type"] == "artifact_not_found"


async def test_reading_waits_for_the_user_as_a_call_does(start_mcp, by_hand):
    pytest.importorskip("agentcore_mcp_servers")
    block = {"command": sys.executable, "args": ["-c", SHELF], "agentcore": {"sandbox": "off"}}
    mcp = await start_mcp(["mcp_shelf"], mcpServers={"shelf": block})
    client = await by_hand(mcp)
    _, asked = await result(client, "resources/read", {"uri": "shelf://books/emma"})
    assert asked["data"]["type"] == "approval_required"
    (waiting,) = mcp.host.approvals.waiting
    assert (waiting.definition.name, waiting.arguments) == ("shelf_resources", {"uri": "shelf://books/emma"})


@pytest.mark.parametrize(
    ("tool", "kind", "added"),
    [
        ("shelf_add", types.ResourceListChangedNotification, "shelf://books/ulysses"),
        ("shelf_hint", types.PromptListChangedNotification, "shelf_blame"),
    ],
)
async def test_changed_lists_of_a_mounted_server_are_announced(shelf, tool, kind, added):
    changed = asyncio.Event()

    async def on_message(message):
        if isinstance(message, kind):
            changed.set()

    async with shelf.client(await shelf.key(), message_handler=on_message) as client:
        assert not (await client.call_tool(tool, {})).is_error
        if kind is types.PromptListChangedNotification:
            await accept_definitions(shelf)
        async with asyncio.timeout(30):
            await changed.wait()
        resources = [str(each.uri) for each in (await client.list_resources()).resources]
        prompts = [each.name for each in (await client.list_prompts()).prompts]
        assert added in [*resources, *prompts]


async def accept_definitions(mcp):
    """Accept what a mounted server offers, once it waits for that."""
    async with asyncio.timeout(30):
        while not (waiting := mcp.host.policy_changes.waiting):
            await asyncio.sleep(0.01)
    person = await approver(mcp.server)
    for change in waiting:
        await person.ask("POST", f"/api/policy-changes/{change.change_id}/decision", {"approved": True})


async def test_resource_whose_changes_are_not_known_cannot_be_watched(shelf, by_hand):
    client = await by_hand(shelf)
    _, refused = await result(client, "resources/subscribe", {"uri": "shelf://books/emma"})
    assert refused["data"]["type"] == "not_watchable"


# -- what modules declare ------------------------------------------------------------------------------------------


def reader(name, *reads):
    """A module with one tool that reads resources."""

    class Reader(Module):
        """Reads."""

        def get_tool_definitions(self):
            schema = {"type": "object", "properties": {"uri": {"type": "string"}}}
            effects = frozenset(("session",))
            return [ToolDefinition(f"{name}_read", "Read.", schema, effects=effects, reads=reads)]

        async def execute_tool_call(self, ctx: ToolContext, tool_name: str, args):
            return f"{name} reads {args['uri']}"

    Reader.__name__ = name.title()
    return Reader()


async def read_text(client, uri):
    return (await result(client, "resources/read", {"uri": uri}))["contents"][0]["text"]


async def test_first_module_reads_an_address_that_two_list_and_a_listed_one_comes_before_templates(start_mcp, by_hand):
    every = ReadableResource("a://{+all}", "All", is_template=True)
    one = reader("one", every, ReadableResource("a://same", "First"))
    two = reader("two", ReadableResource("a://same", "Second"), ReadableResource("a://two", "Two"))
    client = await by_hand(await start_mcp([one, two]))
    listed = (await result(client, "resources/list"))["resources"]
    assert [each["name"] for each in listed] == ["First", "Two"]
    assert await read_text(client, "a://same") == "one reads a://same"
    assert await read_text(client, "a://two") == "two reads a://two"
    assert await read_text(client, "a://three") == "one reads a://three"


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("no uri", "must be a URI that matches"),
        ("{+all}", "must be a URI that matches"),
        ("agentcore://artifacts/1", "begins with none of"),
        ("a://" + "x" * 4_000, "at most 4,000 characters"),
    ],
)
async def test_address_that_no_tool_can_read_leaves_it_out(start_mcp, uri, said):
    with pytest.raises(ModuleNotReadyError, match=said):
        await start_mcp([reader("odd", ReadableResource(uri, "Odd"))])


class Cellar(Module):
    """Bottles, from a process of its own."""

    def get_tool_definitions(self):
        schema = {"type": "object", "properties": {"uri": {"type": "string"}}}
        reads = (ReadableResource("cellar://red", "Red", "A bottle.", "text/plain", 7),)
        return [ToolDefinition("cellar_read", "Read.", schema, effects=frozenset(("session",)), reads=reads)]

    async def execute_tool_call(self, ctx: ToolContext, tool_name: str, args):
        return f"{args['uri']} from {'another process' if os.getpid() != int(os.environ['TEST_SERVER']) else 'here'}"


async def test_module_in_a_process_of_its_own_lists_what_it_reads(tmp_path, by_hand, monkeypatch):
    monkeypatch.setenv("TEST_SERVER", str(os.getpid()))
    async with running_server(HostPlan([Cellar()], isolation="process"), tmp_path) as server:
        client = await by_hand(Mcp(server, None))
        (listed,) = (await result(client, "resources/list"))["resources"]
        text = await read_text(client, "cellar://red")
    assert listed == {
        "name": "Red",
        "uri": "cellar://red",
        "description": "A bottle.",
        "mimeType": "text/plain",
        "size": 7,
    }
    assert text == "cellar://red from another process"

"""Clients of others on both doors: that of the TypeScript SDK, which most are made from, and MCP's own inspector."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from agentcore.cli.backend.server_client import ServerClient
from tests.cli.conftest import LIMIT_S
from tests.cli.relay.conftest import server_of, wait_until

ROOT = Path(__file__).parents[3]
SDK = ROOT / "node_modules" / "@modelcontextprotocol" / "sdk"
PROGRAM = Path(__file__).parent / "ts_client.mjs"
INSPECTOR = ROOT / "node_modules" / ".bin" / "mcp-inspector"
CALL = {"name": "shop_look", "arguments": {"shelf": "rice"}}

pytestmark = [
    pytest.mark.more,
    pytest.mark.skipif(shutil.which("node") is None or not SDK.exists(), reason="no packages of npm here"),
]


def said_by_typescript(place, **told):
    """What the SDK's client got."""
    command = ["node", str(PROGRAM), json.dumps({**told, "call": CALL})]
    options = {key: value for key, value in place.options().items() if key != "python"}
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LIMIT_S, **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def on_a_pipe(place, name):
    """How a client starts `agentcore mcp`."""
    arguments = ["-m", "agentcore", "mcp", "--client", name, "--config", str(place.folder / "app.json")]
    return {"command": place.python, "args": arguments, "cwd": str(place.folder)}


def over_http(place, name):
    """The address of the server that runs, and the header with a key that a person made."""
    address = json.loads((place.state / "server.json").read_text())["addresses"]["page"]
    person = ServerClient(address, (place.state / "token").read_text().strip())
    key = person.post("/api/mcp/clients", {"name": name})["key"]
    return {"url": f"{address}/mcp", "headers": {"Authorization": f"Bearer {key}"}}


def test_typescript_s_client_calls_tools_on_a_pipe(shop):
    said = said_by_typescript(shop, **on_a_pipe(shop, "typescript"))
    assert said == {"tools": ["shop_look", "shop_wait", "shop_open"], "text": "rice: 3"}


def test_typescript_s_client_calls_tools_over_http(start, shop):
    start().connect()
    wait_until(lambda: server_of(shop) is not None)
    said = said_by_typescript(shop, **over_http(shop, "typescript"))
    assert said == {"tools": ["shop_look", "shop_wait", "shop_open"], "text": "rice: 3"}


def inspected(place, *arguments):
    """What the inspector got: it checks the tools' schemas as well, and fails where a client could not use one."""
    options = {key: value for key, value in place.options().items() if key != "python"}
    done = subprocess.run(
        [str(INSPECTOR), "--cli", *arguments], check=False, capture_output=True, text=True, timeout=LIMIT_S, **options
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def inspect_both(place, *door):
    """What it lists and what a tool says, by one door."""
    listed = inspected(place, "--method", "tools/list", "--strict", *door)
    said = inspected(place, "--method", "tools/call", "--tool-name", "shop_look", "--tool-arg", "shelf=rice", *door)
    return [tool["name"] for tool in listed["tools"]], said["content"][0]["text"]


def test_the_inspector_lists_and_calls_tools_on_a_pipe(shop):
    program = on_a_pipe(shop, "inspector")
    found = inspect_both(shop, "--cwd", program["cwd"], "--", program["command"], *program["args"])
    assert found == (["shop_look", "shop_wait", "shop_open"], "rice: 3")


def test_the_inspector_lists_and_calls_tools_over_http(start, shop):
    start().connect()
    wait_until(lambda: server_of(shop) is not None)
    door = over_http(shop, "inspector")
    header = f"Authorization: {door['headers']['Authorization']}"
    found = inspect_both(shop, "--transport", "http", "--server-url", door["url"], "--header", header)
    assert found == (["shop_look", "shop_wait", "shop_open"], "rice: 3")

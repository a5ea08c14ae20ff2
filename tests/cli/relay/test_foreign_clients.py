"""Clients of others on both doors: that of the TypeScript SDK, which most are made from, and MCP's own inspector."""

import asyncio
import json
import re
import shutil
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agentcore.cli.backend.server_client import ServerClient
from tests.cli.conftest import LIMIT_S
from tests.cli.relay.conftest import server_of
from tests.support.waiting import wait_until_sync
from tests.webui.approval.pressing import press

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
    command = ["node", str(PROGRAM), json.dumps({**told, "calls": [CALL]})]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LIMIT_S, **options_of(place))
    assert done.returncode == 0, done.stderr
    listed, called = map(json.loads, done.stdout.splitlines())
    return listed | called


def options_of(place):
    """Where a program that is no Python runs."""
    return {key: value for key, value in place.options().items() if key != "python"}


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
    wait_until_sync(lambda: server_of(shop) is not None)
    said = said_by_typescript(shop, **over_http(shop, "typescript"))
    assert said == {"tools": ["shop_look", "shop_wait", "shop_open"], "text": "rice: 3"}


def inspected(place, *arguments):
    """What the inspector got: it checks the tools' schemas as well, and fails where a client could not use one."""
    command = [str(INSPECTOR), "--cli", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LIMIT_S, **options_of(place))
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
    wait_until_sync(lambda: server_of(shop) is not None)
    door = over_http(shop, "inspector")
    header = f"Authorization: {door['headers']['Authorization']}"
    found = inspect_both(shop, "--transport", "http", "--server-url", door["url"], "--header", header)
    assert found == (["shop_look", "shop_wait", "shop_open"], "rice: 3")


NOTES = "milk\ntea\n"
READ = {"name": "read_file", "arguments": {"path": "notes.txt"}}
EDIT = {"name": "edit", "arguments": {"path": "notes.txt", "edits": [{"old": "tea", "new": "coffee"}]}}


@asynccontextmanager
async def lines_of_typescript(place, **told):
    """What the SDK's client gets, line by line."""
    pipe = asyncio.subprocess.PIPE
    command = ["node", str(PROGRAM), json.dumps(told)]
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, **options_of(place))

    async def said():
        return json.loads(await process.stdout.readline())

    try:
        yield said
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()


@pytest.mark.asyncio(loop_scope="session")
async def test_with_the_block_of_connect_a_client_is_sent_to_the_approval_view_and_gets_its_diff(
    empty_place, start_server, browser, tmp_path
):
    """The client reads a file, and wants to edit it; a person goes where it was told, and approves."""
    empty_place.write_app(modules=["fs_tools"], approvals={"mode": "ask_writes"})
    notes = empty_place.folder / "workspace" / "notes.txt"
    notes.parent.mkdir()
    notes.write_text(NOTES)
    block = empty_place.run("connect", "--print", "claude-code").json["mcpServers"]["agentcore"]
    start_server("--approver-code-file", str(tmp_path / "code"))
    async with (
        asyncio.timeout(LIMIT_S),
        await browser.new_context() as person,
        lines_of_typescript(empty_place, command=block["command"], args=block["args"], calls=[READ, EDIT]) as said,
    ):
        assert {"read_file", "edit"} < set((await said())["tools"])
        assert (await said())["text"].endswith("1\tmilk\n     2\ttea")
        told = re.fullmatch(r"waiting for a person to decide at (http://\S+)", (await said())["progress"])
        page = await person.new_page()
        await page.goto(f"{told[1]}/#code={(tmp_path / 'code').read_text().strip()}")
        assert notes.read_text() == NOTES
        await press(page.get_by_role("button", name="Approve: edit"))
        changed = (await said())["text"]
    assert "\n-tea\n+coffee\n" in changed
    assert notes.read_text() == "milk\ncoffee\n"

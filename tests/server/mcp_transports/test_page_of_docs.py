"""What `docs/mcp.md` says, done as it says it."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

from tests.server.mcp_transports.conftest import ByHand, request
from tests.server.mcp_transports.test_calls import said

PAGE = Path(__file__).parents[3] / "docs" / "mcp.md"


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


async def test_key_and_block_of_the_page_connect_a_client(start_mcp):
    clients = json.loads(blocks("json")[1])["clients"]
    mcp = await start_mcp(clients=clients)
    asked = re.search(r"-d '(.*?)' http://127.0.0.1:8765(\S+)", blocks("console")[3])
    async with mcp.server.post(asked[2], data=asked[1], headers={"Content-Type": "application/json"}) as answer:
        made = await answer.json()
    assert made["name"] in clients
    server = json.loads(blocks("json")[0])["mcpServers"]["agentcore"]
    assert server["url"] == "http://127.0.0.1:8765/mcp"
    shown = server["headers"]["Authorization"].replace("acap_…", made["key"])
    hand = ByHand(mcp.url, shown.removeprefix("Bearer "))
    assert (await hand.connect())["serverInfo"]["name"] == "agentcore"
    assert "unknown_tool" in said(await hand.call("shop_look", {"shelf": "rice"}))  # none of its patterns means it


async def test_server_without_the_sdk_says_how_to_install_it(start_mcp, monkeypatch):
    mcp = await start_mcp()
    key = await mcp.key()
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        "agentcore.server.mcp_transports.lazy_endpoint.find_spec",
        lambda name: None if name == "mcp" else find_spec(name),
    )
    status, answer, _ = await ByHand(mcp.url, key).post(request("initialize"))
    assert (status, answer["error"]["type"]) == (501, "mcp_not_installed")
    assert "agentcore-runtime[mcp]" in answer["error"]["message"]


@pytest.mark.parametrize("asked", ["wait=soon", "wait=nan", "wait_silently=yes"])
async def test_wait_that_is_no_time_is_told(start_mcp, asked):
    mcp = await start_mcp()
    status, answer, _ = await ByHand(f"{mcp.url}?{asked}", await mcp.key()).post(
        request(
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
        )
    )
    assert (status, answer["error"]["type"]) == (400, "invalid_query")

"""Annotations of a mounted server's tools are used only if the user trusts the server."""

import sys
from pathlib import Path

import pytest

from agentcore.api import Principal

PROGRAM = Path(__file__).with_name("hinting_server.py").read_text(encoding="utf-8")
NAMES = ("look", "search", "mild", "harsh", "silent")


def block_with(**ours):
    """The block of the server with hints."""
    return {"command": sys.executable, "args": ["-c", PROGRAM], "agentcore": ours}


@pytest.fixture
def hinted(mount):
    """Mount the server with hints; returns its host, and the tools' definitions by their own names."""

    async def mounted(**ours):
        host = await mount(block_with(**ours))
        return host, {name: host.host.registry.tools[f"example_{name}"].definition for name in NAMES}

    return mounted


def hints_for_clients(host):
    """The annotations in the list of tools for MCP clients."""
    tools = host.host.registry.tools
    return {name: tools[f"example_{name}"].definition.to_mcp().get("annotations", {}) for name in NAMES}


async def test_hints_lower_no_approval_by_default_and_none_reaches_our_clients(hinted):
    host, tools = await hinted()
    assert {tool.effects for tool in tools.values()} == {frozenset({"execute"})}
    assert hints_for_clients(host) == {
        "look": {},
        "search": {"destructiveHint": True, "idempotentHint": False},
        "mild": {"readOnlyHint": False},
        "harsh": {
            "readOnlyHint": False,
            "destructiveHint": True,
            "idempotentHint": False,
            "openWorldHint": True,
        },
        "silent": {},
    }


async def test_hints_of_a_server_that_the_user_trusts_count(hinted):
    host, tools = await hinted(trust_annotations=True)
    assert {name: set(tool.effects) for name, tool in tools.items()} == {
        "look": {"read"},
        "search": {"read", "egress"},
        "mild": {"write"},
        "harsh": {"write", "egress"},
        "silent": {"execute"},
    }
    hints = hints_for_clients(host)
    assert hints["look"] == {"readOnlyHint": True, "openWorldHint": False}
    assert hints["search"] == {"readOnlyHint": True}
    assert hints["mild"] == {
        "readOnlyHint": False,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }


async def test_effects_in_the_block_count_before_hints(hinted):
    host, tools = await hinted(trust_annotations=True, effects={"look": ["write"], "harsh": ["read"]})
    assert (tools["look"].effects, tools["harsh"].effects) == ({"write"}, {"read"})
    hints = hints_for_clients(host)
    assert hints["look"] == {"openWorldHint": False}
    assert hints["harsh"] == {"readOnlyHint": True, "openWorldHint": True}


@pytest.mark.parametrize(
    ("is_trusted", "asked"),
    [(True, ["search", "mild", "harsh", "silent"]), (False, ["look", "search", "mild", "harsh", "silent"])],
)
async def test_only_tools_that_read_of_a_server_that_the_user_trusts_run_without_approval(
    agentcore_host, is_trusted, asked
):
    block = block_with(trust_annotations=is_trusted)
    config = {"mcpServers": {"Example": block}, "approvals": {"mode": "ask_writes"}}
    host = await agentcore_host(["mcp_example"], config=config)
    host.answer_approvals(approve=True)
    for name in NAMES:
        assert (await host.outcome(f"example_{name}", principal=Principal("chat"))).ok
    assert [request.definition.name for request in host.asked] == [f"example_{name}" for name in asked]


@pytest.mark.more
async def test_a_mounted_server_runs_in_no_process_host(agentcore_host):
    config = {"mcpServers": {"Example": block_with(trust_annotations=True)}}
    host = await agentcore_host(["mcp_example"], config=config, isolation="process", is_failure_expected=True)
    record = host.host.modules.get_record("mcp_example")
    assert (record.state, record.tools) == ("failed", ())
    assert record.reason == "module 'mcp_example' is made of a block of app.json, and runs in the server"

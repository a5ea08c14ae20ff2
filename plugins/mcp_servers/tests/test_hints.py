"""Annotations of a mounted server's tools are used only if the user trusts the server."""

import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("hinting_server.py").read_text(encoding="utf-8")
NAMES = ("look", "search", "mild", "harsh", "silent")


@pytest.fixture
def hinted(mount):
    """Mount the server with hints; returns its host, and the tools' definitions by their own names."""

    async def mounted(**ours):
        block = {"command": sys.executable, "args": ["-c", PROGRAM], "agentcore": ours}
        host = await mount(block)
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

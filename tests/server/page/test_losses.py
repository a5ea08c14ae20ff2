"""Only calls that lose something are said to be destructive, as the list of what waits says it."""

from typing import Any

import pytest

from agentcore.api import CallPreview, Module, ToolContext, tool
from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest

pytestmark = pytest.mark.spec("S2")
MODEL = Principal("chat", "s1")
HEAD = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n"


class Desk(Module):
    """Tools that may destroy something."""

    name = "desk"

    def _look(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        return CallPreview(frozenset((arguments["effect"],)), diff=arguments["diff"] or None)

    @tool(effects=["write"], destructive=True, preview=_look)
    async def put(self, diff: str = "", effect: str = "write") -> str:
        """Write a file."""
        return ""

    @tool(effects=["execute"], destructive=True)
    async def shell(self, command: str) -> str:
        """Run a command."""
        return ""

    @tool(effects=["write"])
    async def add(self) -> str:
        """Add something."""
        return ""


@pytest.mark.parametrize(
    ("tool_name", "arguments", "is_destructive"),
    [
        ("put", {"diff": f"{HEAD}+new\n"}, False),
        ("put", {"diff": f"{HEAD}-old\n+new\n"}, False),
        ("put", {"diff": f"{HEAD}-old\n-older\n+new\n"}, True),
        ("put", {}, True),
        ("put", {"effect": "read"}, False),
        ("shell", {"command": "ls -la"}, False),
        ("shell", {"command": "pytest -q && git status"}, False),
        ("shell", {"command": "rm -r build"}, True),
        ("shell", {"command": "cd x; git -C sub reset --hard HEAD~1"}, True),
        ("shell", {"command": "bash -c 'find . -name a -delete'"}, True),
        ("add", {}, False),
    ],
)
async def test_call_is_destructive_where_something_is_lost(make_server, tool_name, arguments, is_destructive):
    server = await make_server(Desk())
    outcome = await server.host.run_call(CallRequest(tool_name, arguments, MODEL, session_id="s1"))
    assert outcome.error.type == "approval_required"
    _, document = await server.get("/api/approvals")
    (call,) = document["calls"]
    assert call["isDestructive"] is is_destructive

"""Whose quota the artifacts of a call take: of whoever made it, or of what carried it out."""

from typing import Any

import pytest

from agentcore.api import Module, Principal, ToolContext, tool
from agentcore.core.calls.call import CallRequest

pytestmark = pytest.mark.spec("S7")


class Camera(Module):
    """The user's own module."""

    name = "camera"

    @tool(effects=["session"])
    async def camera_shoot(self, ctx: ToolContext) -> str:
        """Store a picture."""
        return (await ctx.artifacts.save(b"x" * 100, mime="image/png", name="a.png")).artifact_id

    @tool(effects=["session"])
    async def camera_ask(self, ctx: ToolContext, tool: str) -> str:
        """Have another tool store one."""
        return str((await ctx.call(tool, {})).blocks()[0].text)


class Mounted(Module):
    """A module whose definitions the user reviews, as those of a mounted server are."""

    name = "mounted"
    definitions_need_review = True

    @tool(effects=["execute"])
    async def mounted_shoot(self, ctx: ToolContext) -> str:
        """Store a picture."""
        return (await ctx.artifacts.save(b"x" * 100, mime="image/png", name="a.png")).artifact_id


@pytest.fixture
async def host(agentcore_host: Any) -> Any:
    running = await agentcore_host([Camera(), Mounted()], config={"approvals": {"mode": "allow"}})
    return running.host


async def account_after(host: Any, tool: str, principal: Principal, **more: Any) -> str:
    """The account of the artifact that a call stores."""
    arguments = more.pop("arguments", {})
    outcome = await host.run_call(CallRequest(tool, arguments, principal, **more))
    return str((await host.store.artifacts.get_artifact(outcome.unwrap().blocks()[0].text)).account)


@pytest.mark.parametrize("kind", ["page", "token", "cli"])
async def test_the_users_own_calls_take_the_users_quota(host: Any, kind: Any) -> None:
    assert await account_after(host, "camera_shoot", Principal(kind)) == ""


async def test_chats_take_the_quota_of_who_made_them(
    host: Any,
) -> None:
    chat = Principal("chat", "s1")
    assert await account_after(host, "camera_shoot", chat, session_id="s1", session_owner="page") == ""
    owned = await account_after(host, "camera_shoot", chat, session_id="s1", session_owner="client:panel")
    assert owned == "client:panel"


async def test_calls_of_an_mcp_client_take_its_quota_also_through_other_tools(host: Any) -> None:
    robot = Principal("mcp", "robot")
    assert await account_after(host, "camera_shoot", robot) == "mcp:robot"
    assert await account_after(host, "camera_ask", robot, arguments={"tool": "camera_shoot"}) == "mcp:robot"


async def test_a_mounted_server_has_a_quota_of_its_own_whoever_calls_it(host: Any) -> None:
    for caller in (Principal("cli"), Principal("chat", "s1")):
        more = {} if caller.kind == "cli" else {"session_id": "s1"}
        assert await account_after(host, "mounted_shoot", caller, **more) == "module:mounted"
    assert await account_after(host, "mounted_shoot", Principal("mcp", "robot")) == "mcp:robot"

"""What a module stores is found again under its name: over restarts, in the server and in a process of its own."""

import stat

import pytest

from agentcore.api import Module, ToolContext, ToolError, tool
from agentcore.testing.hosting import HostPlan, running_host

NAMES = ("plain", "../../up", "", "a" * 20_000, "日志/€\n")
BOUND = 16 * 1024 * 1024


class Remembering(Module):
    """Stores what it is given."""

    @tool()
    async def remember(self, ctx: ToolContext, name: str, text: str) -> str:
        """Store a text."""
        await self.runtime.storage.put(name, text.encode())
        return "stored"

    @tool(read_only=True)
    async def recall(self, ctx: ToolContext, name: str) -> str:
        """Give what was stored."""
        found = await self.runtime.storage.get(name)
        return "nothing" if found is None else f"={found.decode()}"

    @tool()
    async def drop(self, ctx: ToolContext, name: str) -> str:
        """Store it no more."""
        await self.runtime.storage.delete(name)
        return "dropped"

    @tool()
    async def fill(self, ctx: ToolContext, size: int) -> str:
        """Store so many bytes, and give how many there are."""
        if size:
            await self.runtime.storage.put("big", bytes(size))
        return str(len(await self.runtime.storage.get("big") or b""))


async def say(host, name, /, **arguments):
    return (await host.call(name, **arguments)).blocks()[0].text


@pytest.mark.parametrize("isolation", ["server", "process"])
async def test_what_is_stored_is_there_after_a_restart_until_it_is_deleted(tmp_path, isolation):
    plan = HostPlan([Remembering()], isolation=isolation)
    async with running_host(plan, tmp_path) as host:
        assert await say(host, "recall", name="plain") == "nothing"
        for name in NAMES:
            await say(host, "remember", name=name, text="first")
            await say(host, "remember", name=name, text=f"of {name[:9]}")
    async with running_host(plan, tmp_path) as host:
        assert [await say(host, "recall", name=name) for name in NAMES] == [f"=of {name[:9]}" for name in NAMES]
        for _ in range(2):
            assert await say(host, "drop", name="plain") == "dropped"
        assert await say(host, "recall", name="plain") == "nothing"
        files = list((host.host.state.data_dir("remembering") / ".storage").iterdir())
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        assert len(files) == len(NAMES) - 1


async def test_more_than_the_bound_is_refused_and_what_was_there_stays(agentcore_host):
    host = await agentcore_host([Remembering()])
    assert await say(host, "fill", size=BOUND) == str(BOUND)
    with pytest.raises(ToolError) as caught:
        await host.call("fill", size=BOUND + 1)
    assert caught.value.type == "storage_too_large"
    assert await say(host, "fill", size=0) == str(BOUND)


async def test_folder_that_cannot_be_used_is_said(agentcore_host):
    host = await agentcore_host([Remembering()])
    (host.host.state.data_dir("remembering") / ".storage").write_text("in the way")
    for name, arguments in (("remember", {"text": "x"}), ("recall", {}), ("drop", {})):
        with pytest.raises(ToolError) as caught:
            await host.call(name, name="a", **arguments)
        assert (caught.value.type, caught.value.retryable) == ("storage_failed", True), name

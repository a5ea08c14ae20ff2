"""Calls that arrive while the module of their tool is starting."""

import asyncio

import pytest

from agentcore.api import Module, tool
from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest
from agentcore.core.core import Core
from agentcore.core.discovery.families import load_config
from agentcore.store.state.state_dir import StateDir

pytestmark = pytest.mark.spec("M4")


class Late(Module):
    """Takes its time to start."""

    name = "late"

    def __init__(self) -> None:
        self.must_wait = False
        self.fails = False
        self.entered = asyncio.Event()
        self.release = asyncio.Event()

    async def init(self, runtime) -> None:
        self.entered.set()
        if self.must_wait:
            await self.release.wait()
        if self.fails:
            raise ValueError("broken")

    @tool(read_only=True)
    async def late_hello(self) -> str:
        """Say hello."""
        return "hello"


class Other(Module):
    """Is there."""

    name = "other"

    @tool(read_only=True)
    async def other_hello(self) -> str:
        """Say hello."""
        return "other"


def request(name, timeout_ms=None):
    return CallRequest(name, {}, Principal("cli"), timeout_ms=timeout_ms)


@pytest.fixture
async def starting(make_host):
    """A core whose module `late` is starting for the first time in the core's life, as far as its tools are known."""
    late = Late()
    host = await make_host(late, Other())
    await host.modules.disable("late")
    host.registry._former.clear()
    late.must_wait = True
    late.entered.clear()
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(host.modules.enable("late"))
        await late.entered.wait()
        yield host, late, group
        late.release.set()


async def test_call_waits_for_the_module_that_is_starting(starting):
    host, late, group = starting
    call = group.create_task(host.run_call(request("late_hello")))
    assert (await host.run_call(request("other_hello"))).ok
    assert not call.done()
    late.release.set()
    assert (await call).ok


async def test_call_ends_at_its_limit_as_starting_and_can_be_sent_again(starting):
    host, late, _ = starting
    error = (await host.run_call(request("late_hello", timeout_ms=50))).error
    assert (error.type, error.retryable) == ("module_starting", True)
    assert error.context["modules"] == ["late"]
    late.release.set()
    assert (await host.run_call(request("late_hello"))).ok


async def test_call_of_a_module_that_starts_again_waits_as_well(make_host):
    late = Late()
    host = await make_host(late)
    await host.modules.disable("late")
    late.must_wait = True
    late.entered.clear()
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(host.modules.enable("late"))
        await late.entered.wait()
        call = group.create_task(host.run_call(request("late_hello")))
        error = (await host.run_call(request("late_hello", timeout_ms=50))).error
        assert error.type == "module_starting"
        late.release.set()
        assert (await call).ok


async def test_call_of_a_module_that_fails_to_start_ends_with_the_reason(starting):
    host, late, group = starting
    late.fails = True
    call = group.create_task(host.run_call(request("late_hello")))
    await asyncio.sleep(0)
    late.release.set()
    assert (await call).error.type in ("unknown_tool", "module_failed")


async def test_call_of_an_unknown_tool_is_answered_at_once_when_nothing_starts(make_host):
    host = await make_host(Other())
    assert (await host.run_call(request("late_hello"))).error.type == "unknown_tool"


async def test_call_that_comes_before_the_modules_begin_to_start_waits_as_well(tmp_path):
    (tmp_path / "app.json").write_text("{}")
    config = load_config(tmp_path / "app.json", {"AGENTCORE_STATE_DIR": str(tmp_path / "state")})
    with StateDir.open(config.file, environ={"AGENTCORE_STATE_DIR": str(tmp_path / "state")}) as state:
        async with Core.open(config, state, [Late()], start=False) as core, asyncio.timeout(60):
            early = await core.run_call(request("late_hello", timeout_ms=50))
            assert early.error.type == "module_starting"
            call = asyncio.create_task(core.run_call(request("late_hello")))
            await core.start()
            assert (await call).ok

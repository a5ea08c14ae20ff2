"""Approvals outlive the process: what waited waits again, what was approved and had not begun runs once."""

import asyncio
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agentcore.api import CallPreview, Module, ToolContext, tool
from agentcore.api.tool_context import Principal
from agentcore.config.workspace_roots import prepare_roots
from agentcore.core.approvals.request import Verdict
from agentcore.core.calls.call import CallRequest
from agentcore.core.core import Core
from agentcore.hosts.hosts import Hosts
from agentcore.store.state.state_dir import StateDir
from agentcore.testing.hosting import HostPlan, running_host
from tests.support.waiting import wait_until

pytestmark = pytest.mark.spec("K2", "S2")
MODEL = Principal("chat", "s1")


def _look(self: Any, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
    return CallPreview(paths=(f"/there/{arguments['path']}",), diff="+ a line")


class Writer(Module):
    """Writes."""

    name = "writer"

    def __init__(self) -> None:
        self.ran: list[str] = []

    @tool(effects=["write"], preview=_look)
    async def write(self, path: str) -> str:
        """Write a file."""
        self.ran.append(path)
        return path


class Other(Writer):
    """Writes to other places."""

    @tool(effects=["write"], preview=_look)
    async def write(self, path: str) -> str:
        """Write a file somewhere else."""
        return await super().write(path)


def request(call_id: str | None = None, path: str = "a") -> CallRequest:
    return CallRequest("write", {"path": path}, MODEL, session_id="s1", call_id=call_id)


@pytest.fixture
def restarted(tmp_path):
    """Start a host over the same state, each time with a module."""

    def start(module: Module):
        return running_host(HostPlan(modules=[module]), tmp_path)

    return start


@asynccontextmanager
async def not_started(plan: HostPlan, folder):
    """A core over a folder whose modules have not started."""
    config, environ = plan.write_config(folder)
    with StateDir.open(config.file, prepare_roots(config), environ=environ) as state:
        modules = plan.create_local_modules()
        async with Core.open(config, state, modules, start=False, places=Hosts(config)) as core:
            yield core


async def ask(running) -> str:
    outcome = await running.host.run_call(request())
    assert outcome.error.type == "approval_required"
    return outcome.call_id


@pytest.mark.slow
async def test_call_that_waits_is_in_the_queue_at_once_after_a_restart(restarted):
    async with restarted(Writer()) as running:
        call_id = await ask(running)
        before = running.host.approvals.find_pending(call_id).request
    async with restarted(Writer()) as running:
        (waiting,) = running.host.approvals.waiting
        assert (waiting.arguments, waiting.preview, waiting.reason, waiting.rule, waiting.offers) == (
            before.arguments,
            before.preview,
            before.reason,
            before.rule,
            before.offers,
        )
        await running.host.approvals.decide_call(call_id, Verdict(approved=True, by="test"))
        assert (await running.host.run_call(request(call_id))).ok


class Aside(Module):
    """Has another tool."""

    name = "aside"

    @tool(read_only=True)
    async def look(self) -> str:
        """Look."""
        return ""


class Slow(Module):
    """Takes long to start."""

    name = "slow"

    def __init__(self) -> None:
        self.is_starting, self.may_start = asyncio.Event(), asyncio.Event()

    async def init(self, runtime: Any) -> None:
        super().init(runtime)
        self.is_starting.set()
        await self.may_start.wait()

    @tool(effects=["write"], preview=_look)
    async def write_slowly(self, path: str) -> str:
        """Write a file."""
        return path


async def test_call_is_listed_and_decided_while_another_module_is_still_starting(tmp_path):
    slow = Slow()
    slow.may_start.set()
    async with running_host(HostPlan(modules=[Writer(), slow]), tmp_path) as running:
        first = await running.host.run_call(CallRequest("write_slowly", {"path": "s"}, MODEL, session_id="s1"))
        call_id = await ask(running)
    slow, writer = Slow(), Writer()
    async with not_started(HostPlan(modules=[writer, slow]), tmp_path) as core, asyncio.TaskGroup() as group:
        starting = group.create_task(core.start())
        await slow.is_starting.wait()
        await wait_until(lambda: [call.call_id for call in core.approvals.waiting] == [call_id])
        await core.approvals.decide_call(call_id, Verdict(approved=True, by="test"))
        assert (await core.run_call(request(call_id))).ok
        assert not core.has_started
        slow.may_start.set()
        await starting
        assert [call.call_id for call in core.approvals.waiting] == [first.call_id]
    assert writer.ran == ["a"]


async def test_call_whose_module_is_gone_is_dropped_once_all_modules_have_started(tmp_path):
    async with running_host(HostPlan(modules=[Writer(), Aside()]), tmp_path) as running:
        call_id = await ask(running)
    for _ in range(2):
        async with running_host(HostPlan(modules=[Aside()]), tmp_path) as running:
            assert running.host.approvals.waiting == []
            assert not running.host.approvals.is_away(call_id)
            assert await running.host.store.approvals.load_calls(0) == []


async def test_call_that_was_approved_and_had_not_begun_runs_once_after_a_restart(restarted):
    writer = Writer()
    async with restarted(Writer()) as running:
        call_id = await ask(running)
        edited = await running.host.call_review.edit_call(call_id, {"path": "b"})
        said = Verdict(approved=True, by="test", digest=edited.digest)
        await running.host.approvals.decide_call(call_id, said)
    async with restarted(writer) as running:
        assert (await running.host.run_call(request(call_id))).ok
        assert (await running.host.run_call(request(call_id))).error.type == "approval_not_found"
    async with restarted(writer) as running:
        assert running.host.approvals.unused_verdicts == []
        assert (await running.host.run_call(request(call_id))).error.type == "approval_not_found"
    assert writer.ran == ["b"]


async def test_rejection_counts_after_a_restart(restarted):
    writer = Writer()
    async with restarted(Writer()) as running:
        call_id = await ask(running)
        await running.host.approvals.decide_call(call_id, Verdict(approved=False, by="test"))
    async with restarted(writer) as running:
        assert (await running.host.run_call(request(call_id))).error.type == "approval_denied"
    async with restarted(writer) as running:
        assert (await running.host.run_call(request(call_id))).error.type == "approval_not_found"
    assert writer.ran == []


async def test_approval_does_not_hold_for_a_tool_that_is_another_one_after_the_restart(restarted):
    other = Other()
    async with restarted(Writer()) as running:
        call_id = await ask(running)
        await running.host.approvals.decide_call(call_id, Verdict(approved=True, by="test"))
    async with restarted(other) as running:
        assert (await running.host.run_call(request(call_id))).error.type == "approval_not_found"
    assert other.ran == []


async def test_grants_and_untrusted_sources_survive_a_restart(restarted):
    async with restarted(Writer()) as running:
        call_id = await ask(running)
        await running.host.policy.record_untrusted_source("s1", "example.com")
        offer = next(each for each in running.host.approvals.waiting[0].offers if each.scope == "always")
        await running.host.approvals.decide_call(call_id, Verdict(approved=True, by="test", grant=offer))
    writer = Writer()
    async with restarted(writer) as running:
        assert (await running.host.run_call(request())).ok
        assert running.host.policy.sources.name_open_ones("s1") == "example.com"
    assert writer.ran == ["a"]


async def test_call_that_is_sent_twice_at_once_after_its_approval_runs_once(restarted):

    writer = Writer()
    async with restarted(writer) as running:
        call_id = await ask(running)
        await running.host.approvals.decide_call(call_id, Verdict(approved=True, by="test"))
        outcomes = await asyncio.gather(*(running.host.run_call(request(call_id)) for _ in range(8)))
    assert sum(outcome.ok for outcome in outcomes) == 1
    assert writer.ran == ["a"]


async def test_decision_is_in_the_record(restarted):
    async with restarted(Writer()) as running:
        call_id = await ask(running)
        await running.host.approvals.decide_call(call_id, Verdict(approved=True, by="approver:phone"))
        await running.host.store.record.flush()
        rows = [entry.row for entry in await running.host.store.record.read_page()]
    decision = next(row for row in rows if row.kind == "decision")
    assert (decision.call_id, decision.decision, decision.decided_by) == (call_id, "approve", "approver:phone")

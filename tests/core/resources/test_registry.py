"""Resources: whose they are, and whose turn it is."""

import asyncio
from dataclasses import replace

import pytest

from agentcore.api import Module, Resource, ResourceUse, ToolContext, ToolError, tool
from agentcore.api.resource import ResourceUpdate
from agentcore.api.tool_context import Principal
from agentcore.core.approvals.approval_queue import Verdict
from agentcore.core.calls.call import CallRequest
from agentcore.core.events import EventBus
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.limits import RESOURCE_QUEUE, RESOURCES_PER_SESSION
from agentcore.testing.hosting import HostPlan, running_host
from tests.support.waiting import wait_until

PAGE = ResourceUse("page", create=True)


class Pages(Module):
    """Pages that are acted on."""

    name = "pages"

    def __init__(self) -> None:
        self.log: list[str] = []
        self.released: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}

    @tool(resource=PAGE)
    async def act(self, ctx: ToolContext, step: str, resourceId: str | None = None) -> str:  # noqa: N803
        """Act on a page; a step that has a gate waits for it."""
        assert ctx.resource is not None
        self.log.append(f"begin {step}")
        if step in self.gates:
            await self.gates[step].wait()
        self.log.append(f"end {step}")
        return ctx.resource.resource_id

    @tool
    async def open_page(self, ctx: ToolContext, tab: str) -> str:
        """Open a page that bears a key."""
        resource = self.runtime.resources.create(
            "page", ctx.session_id, keys={"tabId": tab}, on_release=self._on_release
        )
        self.runtime.resources.update(resource.resource_id, status="ready", last_url="about:blank")
        return resource.resource_id

    @tool(resource=ResourceUse("page", argument="tabId", key="tabId"))
    async def act_by_tab(self, ctx: ToolContext, tabId: str) -> str:  # noqa: N803
        """Act on the page of a tab."""
        assert ctx.resource is not None
        return ctx.resource.resource_id

    @tool(resource=PAGE)
    async def break_down(self, ctx: ToolContext) -> None:
        """Fail before there is anything."""
        raise ToolError("broken", "it broke")

    @tool(resource=ResourceUse("page", skip_queue=True))
    async def kill(self, ctx: ToolContext, resourceId: str) -> None:  # noqa: N803
        """Close a page without waiting for its turn."""
        assert ctx.resource is not None
        await self.runtime.resources.release(ctx.resource.resource_id, "the page was killed; open another")

    @tool(resource=PAGE)
    async def twice(self, ctx: ToolContext) -> str:
        """Act on the same page from inside a call that holds it."""
        result = await ctx.call("act", {"step": "nested"})
        return str(result.blocks()[0])

    async def _on_release(self, resource: Resource) -> None:
        self.released.append(resource.resource_id)


@pytest.fixture
def pages() -> Pages:
    return Pages()


HOST = {"modules": ["pages"]}


async def call(host, name, /, session="s1", principal=Principal("cli"), resource_id=None, timeout_ms=None, **arguments):
    return await host.run_call(
        CallRequest(name, arguments, principal, session_id=session, resource_id=resource_id, timeout_ms=timeout_ms)
    )


@pytest.mark.spec("R2", "K7")
async def test_session_gets_its_own_default_resource_and_the_result_names_it(host):
    first = await call(host, "act", step="a")
    second = await call(host, "act", step="b")
    other = await call(host, "act", step="c", session="s2")
    assert first.resource_id == second.resource_id == "page_s1_0"
    assert other.resource_id == "page_s2_0"


@pytest.mark.spec("R3")
async def test_calls_on_one_resource_run_one_after_another_in_order(host, pages):
    pages.gates["1"] = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(call(host, "act", step="1"))
        await wait_until(lambda: pages.log == ["begin 1"])
        group.create_task(call(host, "act", step="2"))
        group.create_task(call(host, "act", step="3"))
        await wait_until(lambda: len(host.calls.in_flight) == 3)
        pages.gates["1"].set()
    assert pages.log == ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]


@pytest.mark.spec("R3")
async def test_different_resources_run_in_parallel(host, pages):
    pages.gates = {"1": asyncio.Event(), "2": asyncio.Event()}
    async with asyncio.TaskGroup() as group:
        group.create_task(call(host, "act", step="1", session="s1"))
        group.create_task(call(host, "act", step="2", session="s2"))
        await wait_until(lambda: {"begin 1", "begin 2"} <= set(pages.log))
        for gate in pages.gates.values():
            gate.set()


@pytest.mark.spec("R4")
async def test_hanging_call_is_cut_at_its_limit_and_the_next_one_runs(host, pages):
    pages.gates["1"] = asyncio.Event()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        hanging = group.create_task(call(host, "act", step="1", timeout_ms=50))
        await wait_until(lambda: host.calls.in_flight)
        following = group.create_task(call(host, "act", step="2"))
    assert hanging.result().error.type == "timeout"
    assert following.result().ok


@pytest.mark.spec("R4")
async def test_call_can_be_cancelled_while_it_waits_and_the_queue_goes_on(host, pages):
    pages.gates["1"] = asyncio.Event()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(call(host, "act", step="1"))
        await wait_until(lambda: pages.log == ["begin 1"])
        waiting = group.create_task(call(host, "act", step="2"))
        last = group.create_task(call(host, "act", step="3"))
        await wait_until(lambda: len(host.calls.in_flight) == 3)
        await wait_until(lambda: all(one.work is not None for one in host.calls.in_flight.values()))
        waiting_id = list(host.calls.in_flight)[1]
        await host.calls.cancel_call(waiting_id, Principal("cli"))
        await wait_until(waiting.done)
        pages.gates["1"].set()
    assert waiting.result().error.type == "cancelled"
    assert last.result().ok
    assert "begin 2" not in pages.log


@pytest.mark.spec("S7", "R4")
async def test_queue_of_one_resource_is_bounded(host, pages):
    pages.gates["1"] = asyncio.Event()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(call(host, "act", step="1"))
        await wait_until(lambda: pages.log == ["begin 1"])
        for _ in range(RESOURCE_QUEUE):
            group.create_task(call(host, "act", step="more"))
        await wait_until(lambda: len(host.calls.in_flight) == RESOURCE_QUEUE + 1)
        for _ in range(10):
            await asyncio.sleep(0)
        surplus = await call(host, "act", step="surplus")
        pages.gates["1"].set()
    assert surplus.error.type == "resource_busy"
    assert surplus.error.retryable


@pytest.mark.spec("R2")
async def test_model_cannot_use_the_resource_of_another_session(host):
    await call(host, "act", step="a", session="s1")
    host.approvals.ask_at_terminal(_approve)
    outcome = await call(host, "act", step="b", session="s2", principal=Principal("chat", "s2"), resourceId="page_s1_0")
    assert outcome.error.type == "resource_not_found"


@pytest.mark.spec("K7")
async def test_person_reaches_the_resources_of_all_sessions(host):
    await call(host, "act", step="a", session="s1")
    assert (await call(host, "act", step="b", session="s2", resourceId="page_s1_0")).ok


@pytest.mark.spec("K7")
async def test_two_different_names_for_the_resource_are_refused(host):
    await call(host, "act", step="a")
    outcome = await call(host, "act", step="b", resourceId="page_s1_0", resource_id="page_s1_1")
    assert outcome.error.type == "invalid_arguments"


@pytest.mark.spec("M6")
async def test_unknown_resource_is_not_found(host):
    assert (await call(host, "act", step="b", resourceId="page_s1_7")).error.type == "resource_not_found"


@pytest.mark.spec("K7")
async def test_key_maps_to_the_resource(host):
    opened = await call(host, "open_page", tab="t1")
    assert (await call(host, "act_by_tab", tabId="t1")).resource_id == opened.unwrap().blocks()[0].text
    assert (await call(host, "act_by_tab", tabId="t2")).error.type == "resource_not_found"


@pytest.mark.spec("K7")
async def test_kill_skips_the_queue_and_ends_what_waits(host, pages):
    await call(host, "open_page", tab="t1")
    pages.gates["1"] = asyncio.Event()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(call(host, "act", step="1"))
        await wait_until(lambda: pages.log == ["begin 1"])
        waiting = group.create_task(call(host, "act", step="2"))
        await wait_until(lambda: len(host.calls.in_flight) == 2)
        for _ in range(10):
            await asyncio.sleep(0)
        assert (await call(host, "kill", resourceId="page_s1_0")).ok
        pages.gates["1"].set()
    ended = [waiting.result(), await call(host, "act", step="3", resourceId="page_s1_0")]
    ended.append(await call(host, "act_by_tab", tabId="t1"))
    for outcome in ended:
        assert (outcome.error.type, outcome.error.message) == (
            "resource_not_found",
            "the page was killed; open another",
        )
    assert pages.released == ["page_s1_0"]


async def test_nested_call_on_the_same_resource_does_not_wait_for_itself(host):
    async with asyncio.timeout(30):
        assert (await call(host, "twice")).ok


@pytest.mark.spec("R2")
async def test_index_counts_up_and_ids_are_not_used_again(host):
    await call(host, "open_page", tab="t1")
    await host.resources.release("page_s1_0")
    assert (await call(host, "open_page", tab="t2")).unwrap().blocks()[0].text == "page_s1_1"


@pytest.mark.spec("R2")
async def test_resource_that_outlived_a_restart_gets_its_former_id_if_that_is_one_and_is_free(host):
    def create(former_id):
        return host.resources.create("pages", "page", "s1", former_id=former_id).resource_id

    await call(host, "open_page", tab="t1")
    await host.resources.release("page_s1_0")
    assert create("page_s1_0") == "page_s1_0"
    assert create("page_s1_0") == "page_s1_1"  # it is taken
    for number, wrong in enumerate(["page_s1_9", "page_s2_0", "page_s1_00", "page_s1_", "", f"page_s1_{'9' * 5000}"]):
        assert create(wrong) == f"page_s1_{number + 2}"


@pytest.mark.spec("S7")
async def test_resources_of_a_session_are_bounded(host):
    for number in range(RESOURCES_PER_SESSION):
        await call(host, "open_page", tab=f"t{number}")
    assert (await call(host, "open_page", tab="more")).error.type == "too_many_resources"


@pytest.mark.spec("M4")
async def test_resources_go_with_their_module(host, pages):
    await call(host, "open_page", tab="t1")
    await host.modules.disable("pages")
    assert host.resources.list() == []
    assert pages.released == ["page_s1_0"]


@pytest.mark.spec("R4")
async def test_changes_are_published(host):
    seen = []
    host.events.subscribe("resource.*", lambda event: seen.append((event.type, event.data["status"])))
    await call(host, "open_page", tab="t1")
    await host.resources.release("page_s1_0")
    assert [status for _, status in seen] == ["starting", "ready", "closed"]


async def test_module_cannot_touch_the_resource_of_another(host):
    foreign = host.resources.create("other", "page", "s1")
    with pytest.raises(ToolError) as raised:
        host.modules.records["pages"].plugin.runtime.resources.update(foreign.resource_id, status="ready")
    assert raised.value.type == "resource_not_found"


@pytest.mark.spec("K2", "R2")
async def test_resource_of_a_rejected_call_was_never_there(host):
    seen = []
    host.events.subscribe("resource.*", lambda event: seen.append(event.data["status"]))
    host.approvals.ask_at_terminal(_reject)
    outcome = await call(host, "act", step="a", principal=Principal("chat", "s1"))
    assert outcome.error.type == "approval_denied"
    assert outcome.resource_id == "page_s1_0"
    assert host.resources.list() == []
    assert seen == []


@pytest.mark.spec("K2", "R2")
async def test_calls_that_wait_share_the_resource_that_the_first_of_them_to_run_makes(host, pages):
    asked, first, second = [], asyncio.Event(), asyncio.Event()

    async def decide(waiting):
        asked.append(waiting.resource_id)
        is_first = len(asked) == 1
        await (first if is_first else second).wait()
        return Verdict(approved=not is_first, by="test")

    host.approvals.ask_at_terminal(decide)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        model = Principal("chat", "s1")
        group.create_task(call(host, "act", step="1", principal=model))
        await wait_until(lambda: len(asked) == 1)
        running = group.create_task(call(host, "act", step="2", principal=model))
        await wait_until(lambda: len(asked) == 2)
        assert host.resources.list() == []
        second.set()
        await wait_until(running.done)
        first.set()
    assert asked == ["page_s1_0", "page_s1_0"]
    assert running.result().ok
    assert [resource.resource_id for resource in host.resources.list()] == ["page_s1_0"]


@pytest.mark.spec("K2", "R2")
async def test_call_that_is_sent_again_with_its_approval_gets_the_resource_that_was_shown(host):
    model = Principal("mcp", "s1")
    request = CallRequest("act", {"step": "a"}, model, session_id="s1")
    waiting = await host.run_call(request)
    assert waiting.error.type == "approval_required"
    assert host.resources.list() == []
    await host.approvals.decide_call(waiting.call_id, Verdict(approved=True, by="test"))
    ran = await host.run_call(replace(request, call_id=waiting.call_id))
    assert ran.ok
    assert ran.resource_id == waiting.resource_id == "page_s1_0"


@pytest.mark.spec("K2", "R2")
async def test_id_that_was_shown_for_a_waiting_call_is_given_to_nothing_else_after_a_restart(tmp_path):
    model = Principal("mcp", "s1")
    request = CallRequest("act", {"step": "a"}, model, session_id="s1")
    async with running_host(HostPlan([Pages()]), tmp_path) as first:
        waiting = await first.host.run_call(request)
        assert waiting.resource_id == "page_s1_0"
    async with running_host(HostPlan([Pages()]), tmp_path) as second:
        opened = await call(second.host, "open_page", tab="t1")
        assert opened.unwrap().blocks()[0].text == "page_s1_1"
        await second.host.resources.release("page_s1_1")
        await second.host.approvals.decide_call(waiting.call_id, Verdict(approved=True, by="test"))
        ran = await second.host.run_call(replace(request, call_id=waiting.call_id))
        assert (ran.ok, ran.resource_id) == (True, "page_s1_0")


@pytest.mark.spec("R2")
async def test_resource_of_a_call_that_failed_before_anything_stood_behind_it_goes(host):
    failed = await call(host, "break_down")
    assert failed.error.type == "broken"
    assert host.resources.list() == []
    assert (await call(host, "act", step="a", resourceId=failed.resource_id)).ok
    assert [resource.resource_id for resource in host.resources.list()] == [failed.resource_id]
    assert (await call(host, "break_down")).resource_id == failed.resource_id
    assert [resource.resource_id for resource in host.resources.list()] == [failed.resource_id]


@pytest.mark.spec("K7")
async def test_resource_that_a_call_will_make_is_not_another_sessions_to_name(host):
    host.approvals.ask_at_terminal(_reject)
    await call(host, "act", step="a", principal=Principal("chat", "s1"))
    host.approvals.ask_at_terminal(_approve)
    other = await call(host, "act", step="b", session="s2", principal=Principal("chat", "s2"), resourceId="page_s1_0")
    assert other.error.type == "resource_not_found"


async def _approve(waiting):
    return Verdict(approved=True, by="test")


async def _reject(waiting):
    return Verdict(approved=False, by="test")


def test_one_that_is_lost_with_its_host_has_its_place_taken_in_its_pool_alone():
    """The first that a call makes there has its address and knows why; elsewhere, and later, there is nothing of it."""
    heard = []
    events = EventBus(kept=0)
    events.subscribe("resource.stateChanged", lambda event: heard.append(event.data))
    registry = ResourceRegistry(events)
    lost = registry.create("farm.one/pages", "page", "s")
    registry.update(lost.resource_id, ResourceUpdate(last_url="http://a/", reopening=("act", {})))
    shell = registry.create("farm.one/pages", "shell", "s")
    registry.record_lost("farm.one/pages", "its host 'farm.one' was lost")
    for owner in ("pages", "laptop/pages", "barn.one/pages"):
        made = registry.plan_resource(owner, "page", "s")
        assert (made.last_url, made.lost_by) == (None, ""), owner
    made = registry.plan_resource("farm.two/pages", "page", "s")
    assert (made.last_url, made.lost_by) == ("http://a/", "its host 'farm.one' was lost")
    assert registry.plan_resource("farm.two/pages", "shell", "s").lost_by == ""
    assert registry.plan_resource("farm.three/pages", "page", "s").lost_by == ""
    asyncio.run(registry.release_owned("farm.one/pages", lost_by="it ended"))
    ends = {each["resourceId"]: each.get("lostBy") for each in heard if each["status"] == "closed"}
    assert ends == {lost.resource_id: "its host 'farm.one' was lost", shell.resource_id: None}

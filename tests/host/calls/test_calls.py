"""The one path of a call, seen through `host.call`."""

import asyncio
import threading
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from agentcore.api import ArtifactLink, Field, Image, Module, Text, ToolContext, ToolError, ToolResult, tool
from agentcore.api.context import Principal
from agentcore.host import CallRequest
from agentcore.limits import CALL_NESTING, CALLS_IN_FLIGHT, IMAGE_BYTES, RESULT_BYTES


class Sum(BaseModel):
    total: int


@dataclass
class Point:
    x: int


class Lab(Module):
    """Tools that behave in every way."""

    name = "lab"

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.release = asyncio.Event()
        self.thread_started, self.thread_stopped = threading.Event(), threading.Event()
        self.ran = 0

    @tool(read_only=True)
    async def add(self, numbers: list[int], offset: Annotated[int, Field(alias="startAt", ge=0)] = 0) -> Sum:
        """Add numbers."""
        return Sum(total=sum(numbers) + offset)

    @tool
    async def give(self, kind: str) -> Any:
        """Give a value of some kind."""
        values: dict[str, Any] = {
            "text": "plain",
            "none": None,
            "dict": {"a": [1, float("nan")]},
            "dataclass": Point(3),
            "image": Image(b"\x89PNG"),
            "surrogate": {"name": "caf\udce9", "list": ["\udcff"]},
            "surrogate text": "caf\udce9",
            "object": {"a": object()},
            "big data": {"a": "x" * (RESULT_BYTES + 1)},
            "big text": "0123456789\n" * 300_000,
            "big image": Image(b"x" * (IMAGE_BYTES + 1)),
        }
        return values[kind]

    @tool
    async def fail(self, how: str) -> None:
        """Fail in some way."""
        self.ran += 1
        if how == "foreseen":
            raise ToolError("city_not_found", "no city named 'x'", retryable=True, city="x")
        if how == "exit":
            raise SystemExit(3)
        if how == "interrupt":
            raise KeyboardInterrupt
        if how == "cancelled":
            raise asyncio.CancelledError
        raise RuntimeError("secret inner state")

    @tool
    async def wait(self, ctx: ToolContext) -> str:
        """Wait until released."""
        self.entered.set()
        await self.release.wait()
        return ctx.call_id

    @tool(timeout_s=0.05)
    async def stubborn(self) -> None:
        """Refuse to be cancelled."""
        while not self.release.is_set():
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                continue

    @tool(timeout_s=0.05)
    def sync_hang(self, ctx: ToolContext) -> None:
        """Work in a thread until told to stop."""
        self.thread_started.set()
        while not ctx.is_cancelled:
            threading.Event().wait(0.005)
        self.thread_stopped.set()

    @tool
    def sync_wait(self, ctx: ToolContext) -> None:
        """Work in a thread, for as long as nobody stops it."""
        self.thread_started.set()
        while not ctx.is_cancelled:
            threading.Event().wait(0.005)
        self.thread_stopped.set()

    @tool
    def which_thread(self) -> str:
        """Name the thread."""
        return threading.current_thread().name

    @tool
    async def relay(self, ctx: ToolContext, tool_name: str, arguments: dict[str, Any]) -> Any:
        """Call another tool."""
        return await ctx.call(tool_name, arguments)

    @tool
    async def dig(self, ctx: ToolContext, depth: int = 0) -> ToolResult:
        """Call itself, deeper and deeper."""
        return await ctx.call("dig", {"depth": depth + 1})

    @tool
    async def steps(self, ctx: ToolContext) -> None:
        """Tell progress, from the loop and from a thread."""
        ctx.progress(0.5, "half")
        await asyncio.to_thread(ctx.progress, 1.0, "done")

    @tool(limit_bytes=100)
    async def capped(self) -> str:
        """Give more than its own bound."""
        return "line\n" * 100

    @tool
    async def lonely(self, ctx: ToolContext, wish: str) -> Any:
        """Want what only a chat has."""
        if wish == "ask":
            return await ctx.ask("Really?")
        if wish == "agent":
            return await ctx.run_agent("Do it.")
        return ctx.session


@pytest.fixture
async def lab() -> Lab:
    return Lab()


@pytest.fixture
async def host(make_host, lab):
    return await make_host(lab)


async def call(host, name, /, principal=Principal("cli"), **arguments):
    return await host.call(CallRequest(name, arguments, principal))


def error_of(outcome):
    assert outcome.error is not None, outcome.result
    return outcome.error


@pytest.mark.spec("M6")
async def test_model_result_becomes_data_and_its_text(host):
    outcome = await call(host, "add", numbers=[1, 2], startAt=4)
    assert outcome.unwrap().data == {"total": 7}
    assert outcome.unwrap().blocks() == [Text('{"total":7}')]


@pytest.mark.spec("M6")
@pytest.mark.parametrize(
    ("kind", "data", "blocks"),
    [
        ("text", None, [Text("plain")]),
        ("none", None, []),
        ("dataclass", {"x": 3}, [Text('{"x":3}')]),
        ("image", None, [Image(b"\x89PNG")]),
        ("surrogate", {"name": "caf\\udce9", "list": ["\\udcff"]}, None),
    ],
)
async def test_whatever_a_tool_gives_becomes_one_shape(host, kind, data, blocks):
    outcome = await call(host, "give", kind=kind)
    assert outcome.unwrap().data == data
    assert blocks is None or outcome.unwrap().blocks() == blocks
    assert outcome.encoded().decode()


@pytest.mark.spec("M6")
async def test_text_that_is_no_unicode_still_leaves_as_json(host):
    outcome = await call(host, "give", kind="surrogate text")
    assert b"\\udce9" in outcome.encoded()


@pytest.mark.spec("M6")
async def test_result_that_is_no_json_is_an_internal_error(host):
    assert error_of(await call(host, "give", kind="object")).type == "internal_error"


@pytest.mark.spec("M6")
async def test_structured_data_over_its_bound_is_result_too_large(host):
    assert error_of(await call(host, "give", kind="big data")).type == "result_too_large"


@pytest.mark.spec("M6")
async def test_text_over_its_bound_becomes_an_artifact_with_its_head(host):
    result = (await call(host, "give", kind="big text")).unwrap()
    head, link = result.blocks()
    assert isinstance(head, Text)
    assert head.text.startswith("0123456789\n")
    assert isinstance(link, ArtifactLink)
    assert result.truncated
    assert len(await host.store.artifacts.load(link.artifact_id)) == 3_300_000


@pytest.mark.spec("M6")
async def test_tool_has_a_bound_of_its_own(host):
    head, link = (await call(host, "capped")).unwrap().blocks()
    assert head.text.startswith("line\nline\n")
    assert len(head.text) < 250
    assert link.size_bytes == 500


@pytest.mark.spec("M6")
async def test_image_over_its_bound_becomes_an_artifact(host):
    (link,) = (await call(host, "give", kind="big image")).unwrap().blocks()
    assert isinstance(link, ArtifactLink)


@pytest.mark.spec("M6")
async def test_unknown_tool_names_the_near_ones(host):
    error = error_of(await call(host, "ad"))
    assert error.type == "unknown_tool"
    assert "add" in error.context["near"]


@pytest.mark.spec("M6")
async def test_invalid_arguments_have_an_entry_for_each_wrong_field(host):
    error = error_of(await call(host, "add", numbers=[1, "x"], startAt=-1, number=3))
    assert error.type == "invalid_arguments"
    entries = {entry["path"]: entry["message"] for entry in error.context["errors"]}
    assert set(entries) == {"numbers[1]", "startAt", "number"}
    assert "did you mean 'numbers'" in entries["number"]


@pytest.mark.spec("M6")
async def test_missing_argument_is_named(host):
    error = error_of(await call(host, "add"))
    assert error.context["errors"] == [{"path": "numbers", "message": "is required"}]


@pytest.mark.spec("M6")
async def test_foreseen_failure_keeps_type_context_and_retryable(host):
    error = error_of(await call(host, "fail", how="foreseen"))
    assert error.to_json() == {
        "type": "city_not_found",
        "message": "no city named 'x'",
        "context": {"city": "x"},
        "retryable": True,
    }


@pytest.mark.spec("M6", "S4")
@pytest.mark.parametrize("how", ["defect", "exit", "interrupt", "cancelled"])
async def test_defect_is_an_internal_error_without_inner_state_and_the_host_goes_on(host, how):
    error = error_of(await call(host, "fail", how=how))
    assert error.type == "internal_error"
    assert "secret inner state" not in error.message
    assert error.context["call_id"] in error.message
    assert (await call(host, "add", numbers=[1])).ok


@pytest.mark.spec("M5")
async def test_call_over_its_limit_is_a_timeout(host):
    outcome = await host.call(CallRequest("wait", {}, Principal("cli"), timeout_ms=20))
    assert error_of(outcome).type == "timeout"
    assert error_of(outcome).retryable


@pytest.mark.spec("M5", "S4")
async def test_tool_that_refuses_to_be_cancelled_does_not_hold_its_caller(host, lab):
    assert error_of(await call(host, "stubborn")).type == "timeout"
    assert (await call(host, "add", numbers=[1])).ok
    lab.release.set()


@pytest.mark.spec("M5")
async def test_sync_tool_runs_in_a_thread_and_is_told_to_stop(host, lab):
    assert (await call(host, "which_thread")).unwrap().blocks()[0].text.startswith("agentcore-worker")
    while not lab.thread_started.is_set():  # again, if the machine was too busy to begin in time
        assert error_of(await call(host, "sync_hang")).type == "timeout"
    assert await asyncio.to_thread(lab.thread_stopped.wait, 30)


@pytest.mark.spec("M5")
async def test_thread_of_a_nested_call_is_told_to_stop_with_its_parent(host, lab):
    request = CallRequest("relay", {"tool_name": "sync_wait", "arguments": {}}, Principal("cli"))
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        running = group.create_task(host.call(request))
        await asyncio.to_thread(lab.thread_started.wait, 30)
        host.calls.cancel(next(iter(host.calls.in_flight)), Principal("cli"))
    assert error_of(running.result()).type == "cancelled"
    assert await asyncio.to_thread(lab.thread_stopped.wait, 30)


@pytest.mark.spec("M5")
async def test_running_call_can_be_cancelled_once(host, lab):
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        running = group.create_task(call(host, "wait"))
        await lab.entered.wait()
        (call_id,) = host.calls.in_flight
        host.calls.cancel(call_id, Principal("cli"))
    assert error_of(running.result()).type == "cancelled"
    with pytest.raises(ToolError) as raised:
        host.calls.cancel(call_id, Principal("cli"))
    assert raised.value.type == "call_not_found"


async def test_model_cannot_cancel_the_call_of_somebody_else(host, lab):
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(call(host, "wait"))
        await lab.entered.wait()
        (call_id,) = host.calls.in_flight
        with pytest.raises(ToolError) as raised:
            host.calls.cancel(call_id, Principal("chat", "s1"))
        assert raised.value.type == "call_not_found"
        lab.release.set()


@pytest.mark.spec("K2")
async def test_tool_calls_another_through_the_same_gate(host):
    outcome = await call(host, "relay", tool_name="add", arguments={"numbers": [2, 3]})
    assert outcome.unwrap().data == {"total": 5}
    refused = await call(host, "relay", tool_name="add", arguments={"numbers": "x"})
    assert error_of(refused).type == "invalid_arguments"


@pytest.mark.spec("K2")
async def test_nested_call_ends_with_the_deadline_of_its_parent(host):
    request = CallRequest("relay", {"tool_name": "wait", "arguments": {}}, Principal("cli"), timeout_ms=50)
    assert error_of(await host.call(request)).type == "timeout"
    assert not host.calls.in_flight


@pytest.mark.spec("S7")
async def test_nesting_is_bounded(host):
    error = error_of(await call(host, "dig"))
    assert error.type == "nesting_too_deep"
    assert error.context["limit"] == CALL_NESTING


@pytest.mark.spec("S7")
async def test_calls_in_flight_are_bounded(host, lab):
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for _ in range(CALLS_IN_FLIGHT):
            group.create_task(call(host, "wait"))
        while len(host.calls.in_flight) < CALLS_IN_FLIGHT:
            await asyncio.sleep(0)
        error = error_of(await call(host, "add", numbers=[1]))
        lab.release.set()
    assert error.type == "too_many_calls"
    assert error.retryable


@pytest.mark.spec("M5", "K8")
async def test_progress_is_told_to_the_caller_and_published(host):
    told, published = [], []
    host.events.subscribe("call.progress", lambda event: published.append(event.to_json()["message"]))
    await host.call(
        CallRequest("steps", {}, Principal("cli")), lambda kind, data: told.append((kind, data.get("message")))
    )
    async with asyncio.timeout(30):
        while len(published) < 2:
            await asyncio.sleep(0.01)
    assert told[2:] == [("progress", "half"), ("progress", "done")]


async def test_call_that_waits_for_its_tool_can_be_cancelled_by_the_id_its_caller_was_told(host, lab):
    told = []
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        request = CallRequest("wait", {}, Principal("cli"))
        running = group.create_task(host.call(request, lambda kind, data: told.append((kind, dict(data)))))
        await lab.entered.wait()
        host.calls.cancel(told[0][1]["callId"], Principal("cli"))
    call_id = running.result().call_id
    assert told == [("accepted", {"callId": call_id}), ("decided", {"callId": call_id, "asks": False})]
    assert error_of(running.result()).type == "cancelled"


async def test_only_the_outermost_call_is_announced_to_its_caller(host):
    told = []
    request = CallRequest("relay", {"tool_name": "add", "arguments": {"numbers": [1]}}, Principal("cli"))
    outcome = await host.call(request, lambda kind, data: told.append((kind, data["callId"])))
    assert told == [("accepted", outcome.call_id), ("decided", outcome.call_id)]


@pytest.mark.spec("K8")
async def test_each_call_publishes_start_and_end(host):
    seen = []
    host.events.subscribe("call.*", lambda event: seen.append((event.type, event.to_json().get("outcome"))))
    await call(host, "add", numbers=[1])
    await call(host, "fail", how="foreseen")
    assert seen == [
        ("call.started", None),
        ("call.finished", "ok"),
        ("call.started", None),
        ("call.finished", "city_not_found"),
    ]


@pytest.mark.spec("M8", "S7")
async def test_record_has_every_call_with_secrets_masked(host):
    await call(host, "relay", tool_name="add", arguments={"numbers": [1], "password": "hunter2"})
    await host.store.record.flush()
    rows = [entry.row for entry in await host.store.record.page()]
    assert {row.tool for row in rows} == {"relay", "add"}
    assert not any("hunter2" in row.arguments for row in rows)
    assert (await host.store.record.verify()).is_intact


@pytest.mark.spec("K1")
@pytest.mark.parametrize(("wish", "type_"), [("ask", "no_person"), ("agent", "no_session"), ("session", "no_session")])
async def test_what_needs_a_chat_says_so_without_one(host, wish, type_):
    assert error_of(await call(host, "lonely", wish=wish)).type == type_


@pytest.mark.spec("K7")
async def test_session_id_that_is_no_id_is_refused(host):
    outcome = await host.call(CallRequest("add", {"numbers": []}, Principal("cli"), session_id="../x"))
    assert error_of(outcome).type == "invalid_arguments"


async def test_time_limit_must_be_positive(host):
    outcome = await host.call(CallRequest("add", {"numbers": []}, Principal("cli"), timeout_ms=0))
    assert error_of(outcome).type == "invalid_arguments"


@pytest.mark.spec("S7")
async def test_emergency_stop_ends_calls_and_only_a_person_resumes(host, lab):
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        running = group.create_task(call(host, "wait"))
        await lab.entered.wait()
        ended = await host.emergency_stop(Principal("token"))
    assert ended["calls"] == 1
    assert error_of(running.result()).type == "cancelled"
    assert error_of(await call(host, "add", numbers=[1])).type == "stopped"
    with pytest.raises(ToolError) as raised:
        host.resume(Principal("token"))
    assert raised.value.type == "forbidden"
    host.resume(Principal("cli"))
    assert (await call(host, "add", numbers=[1])).ok


@pytest.mark.spec("K3")
async def test_model_may_not_stop_everything(host):
    with pytest.raises(ToolError) as raised:
        await host.emergency_stop(Principal("chat"))
    assert raised.value.type == "forbidden"

"""The one path of a call, seen through `host.call`: cancelling, nesting, telling, the emergency stop."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from agentcore.api import ToolError
from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest
from agentcore.limits import OUTPUT_EVENT_CHARS, OUTPUT_KEPT_CHARS
from tests.core.calls.lab import call, error_of

HOST = {"modules": ["lab"]}


@pytest.mark.spec("M5")
async def test_running_call_can_be_cancelled_once(host, lab):
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        running = group.create_task(call(host, "wait"))
        await lab.entered.wait()
        (call_id,) = host.calls.in_flight
        await host.calls.cancel_call(call_id, Principal("cli"))
    assert error_of(running.result()).type == "cancelled"
    with pytest.raises(ToolError) as raised:
        await host.calls.cancel_call(call_id, Principal("cli"))
    assert raised.value.type == "call_not_found"


async def test_model_cannot_cancel_the_call_of_somebody_else(host, lab):
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(call(host, "wait"))
        await lab.entered.wait()
        (call_id,) = host.calls.in_flight
        with pytest.raises(ToolError) as raised:
            await host.calls.cancel_call(call_id, Principal("chat", "s1"))
        assert raised.value.type == "call_not_found"
        lab.release.set()


@pytest.mark.spec("K2")
async def test_tool_calls_another_through_the_same_gate(host):
    outcome = await call(host, "relay", tool_name="add", arguments={"numbers": [2, 3]})
    assert outcome.unwrap().data == {"total": 5}
    refused = await call(host, "relay", tool_name="add", arguments={"numbers": "x"})
    assert error_of(refused).type == "invalid_arguments"


@pytest.mark.spec("M5", "K8")
async def test_progress_is_told_to_the_caller_and_published(host):
    told, published = [], []
    host.events.subscribe("call.progress", lambda event: published.append(event.to_json()["message"]))
    await host.run_call(
        CallRequest("steps", {}, Principal("cli")), lambda kind, data: told.append((kind, data.get("message")))
    )
    async with asyncio.timeout(30):
        while len(published) < 2:
            await asyncio.sleep(0.01)
    assert told[2:] == [("progress", "half"), ("progress", "done")]


@pytest.mark.spec("K8")
async def test_what_a_call_writes_is_told_in_bounded_pieces_and_its_end_kept_until_it_ends(host, lab):
    published: list[dict[str, Any]] = []
    host.events.subscribe("call.output", lambda event: published.append(event.to_json()))
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        running = group.create_task(call(host, "write"))
        await lab.entered.wait()
        (on_its_way,) = host.calls.in_flight.values()
        while on_its_way.output is None or on_its_way.output.to_json()["end"] < 100_000:
            await asyncio.sleep(0)
        kept = on_its_way.output.to_json()
        lab.release.set()
    running.result().unwrap()
    assert kept["end"] == 100_012
    assert len(kept["text"]) == OUTPUT_KEPT_CHARS
    assert kept["text"].endswith("\nlast\n")
    async with asyncio.timeout(30):
        while not published or published[-1]["end"] < 100_012:
            await asyncio.sleep(0.01)
    assert published[0]["text"] == "first\n"
    assert all(len(told["text"]) <= OUTPUT_EVENT_CHARS for told in published)


async def test_call_that_waits_for_its_tool_can_be_cancelled_by_the_id_its_caller_was_told(host, lab):
    told = []
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        request = CallRequest("wait", {}, Principal("cli"))
        running = group.create_task(host.run_call(request, lambda kind, data: told.append((kind, dict(data)))))
        await lab.entered.wait()
        await host.calls.cancel_call(told[0][1]["callId"], Principal("cli"))
    call_id = running.result().call_id
    assert told == [("accepted", {"callId": call_id}), ("decided", {"callId": call_id, "asks": False})]
    assert error_of(running.result()).type == "cancelled"


async def test_only_the_outermost_call_is_announced_to_its_caller(host):
    told = []
    request = CallRequest("relay", {"tool_name": "add", "arguments": {"numbers": [1]}}, Principal("cli"))
    outcome = await host.run_call(request, lambda kind, data: told.append((kind, data["callId"])))
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
    rows = [entry.row for entry in await host.store.record.read_page()]
    assert {row.tool for row in rows} == {"relay", "add"}
    assert not any("hunter2" in row.arguments for row in rows)
    assert (await host.store.record.verify()).is_intact


@pytest.mark.spec("K1")
@pytest.mark.parametrize(("wish", "type_"), [("ask", "no_person"), ("agent", "no_session"), ("session", "no_session")])
async def test_what_needs_a_chat_says_so_without_one(host, wish, type_):
    assert error_of(await call(host, "lonely", wish=wish)).type == type_


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
        host.resume_after_stop(Principal("token"))
    assert raised.value.type == "forbidden"
    host.resume_after_stop(Principal("cli"))
    assert (await call(host, "add", numbers=[1])).ok


@pytest.mark.spec("K3")
async def test_model_may_not_stop_everything(host):
    with pytest.raises(ToolError) as raised:
        await host.emergency_stop(Principal("chat"))
    assert raised.value.type == "forbidden"


@pytest.mark.spec("K2")
@pytest.mark.source_tree
async def test_call_takes_the_steps_in_the_order_that_the_architecture_shows(host):
    """Held by the files that a call enters: those of the table, each for the first time after the one before."""
    page = (Path(__file__).parents[3] / "docs" / "architecture.md").read_text()
    table = page.split("| step |")[1].split("\n\n")[0]
    shown = list(dict.fromkeys(re.findall(r"\| `([\w/]+\.py)`", table)))
    entered: dict[str, None] = {}

    def note(frame, event, _):
        if event == "call":
            entered.setdefault(frame.f_code.co_filename.rpartition("/agentcore/")[2])

    request = CallRequest("add", {"numbers": [1]}, Principal("cli"))
    sys.setprofile(note)
    try:
        await host.run_call(request)
    finally:
        sys.setprofile(None)
    assert len(shown) == 5
    assert [path for path in entered if path in shown] == shown

"""How a tool runs, fails, and is ended."""

import asyncio

import pytest

from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest
from tests.core.calls.lab import call, error_of

HOST = {"modules": ["lab"]}


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
    outcome = await host.run_call(CallRequest("wait", {}, Principal("cli"), timeout_ms=20))
    assert error_of(outcome).type == "timeout"
    assert error_of(outcome).retryable


@pytest.mark.slow
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
        running = group.create_task(host.run_call(request))
        await asyncio.to_thread(lab.thread_started.wait, 30)
        await host.calls.cancel_call(next(iter(host.calls.in_flight)), Principal("cli"))
    assert error_of(running.result()).type == "cancelled"
    assert await asyncio.to_thread(lab.thread_stopped.wait, 30)


@pytest.mark.spec("K2")
async def test_nested_call_in_a_task_of_its_own_ends_with_its_parent(host, lab):
    request = CallRequest("relay_apart", {"tool_name": "wait", "arguments": {}}, Principal("cli"))
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        running = group.create_task(host.run_call(request))
        while len(host.calls.in_flight) < 2:
            await asyncio.sleep(0.01)
        await host.calls.cancel_call(next(iter(host.calls.in_flight)), Principal("cli"))
        await asyncio.wait((lab.apart,))
    assert error_of(running.result()).type == "cancelled"
    assert lab.apart.exception().type == "cancelled"
    assert not host.calls.in_flight


@pytest.mark.spec("K2")
async def test_nested_call_ends_with_the_deadline_of_its_parent(host):
    request = CallRequest("relay", {"tool_name": "wait", "arguments": {}}, Principal("cli"), timeout_ms=50)
    assert error_of(await host.run_call(request)).type == "timeout"
    assert not host.calls.in_flight

"""Which calls are taken at all."""

import asyncio

import pytest

from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest
from agentcore.limits import CALL_NESTING, CALLS_IN_FLIGHT
from tests.core.calls.lab import call, error_of

HOST = {"modules": ["lab"]}


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


@pytest.mark.spec("K7")
async def test_session_id_that_is_no_id_is_refused(host):
    outcome = await host.run_call(CallRequest("add", {"numbers": []}, Principal("cli"), session_id="../x"))
    assert error_of(outcome).type == "invalid_arguments"


async def test_time_limit_must_be_positive(host):
    outcome = await host.run_call(CallRequest("add", {"numbers": []}, Principal("cli"), timeout_ms=0))
    assert error_of(outcome).type == "invalid_arguments"

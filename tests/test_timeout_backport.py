"""Time limits in the clean-up of cancelled tasks, which Python before 3.11.3 does not keep by itself."""

import asyncio

import pytest

import agentcore.api


@pytest.mark.processes  # so that it also runs on the bare machine, whose Python may be that old
async def test_limit_in_the_clean_up_of_a_cancelled_task_is_a_timeout():
    assert agentcore.api.ToolError  # it makes the limits work
    seen = []

    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            try:
                async with asyncio.timeout(0.01):
                    await asyncio.Event().wait()
            except BaseException as exc:
                seen.append(type(exc))

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert seen == [TimeoutError]
    assert task.cancelled()

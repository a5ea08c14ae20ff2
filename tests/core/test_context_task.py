"""A context that one task enters and leaves, while others come and go."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from agentcore.core.context_task import ContextTask


@asynccontextmanager
async def context(log, fails_at=""):
    log.append(("enter", asyncio.current_task()))
    if fails_at == "enter":
        raise LookupError("no entry")
    async with asyncio.TaskGroup(), asyncio.timeout(60):
        yield "value"
    log.append(("leave", asyncio.current_task()))
    if fails_at == "leave":
        raise LookupError("no exit")


async def test_context_is_entered_and_left_by_one_task():
    log = []
    held = await asyncio.create_task(ContextTask.open(context(log)))
    assert held.value == "value"
    await asyncio.create_task(held.close())
    assert [step for step, _ in log] == ["enter", "leave"]
    assert log[0][1] is log[1][1]


async def test_closing_twice_leaves_once():
    log = []
    held = await ContextTask.open(context(log))
    await held.close()
    await held.close()
    assert len(log) == 2


async def test_failure_to_enter_is_raised():
    with pytest.raises(LookupError, match="no entry"):
        await ContextTask.open(context([], "enter"))


async def test_failure_to_leave_is_raised():
    held = await ContextTask.open(context([], "leave"))
    with pytest.raises(LookupError, match="no exit"):
        await held.close()


async def test_interrupted_opening_leaves_no_task_behind():
    entering = asyncio.Event()

    @asynccontextmanager
    async def slow():
        entering.set()
        await asyncio.Event().wait()
        yield

    opening = asyncio.create_task(ContextTask.open(slow(), "slow"))
    await entering.wait()
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert [task for task in asyncio.all_tasks() if task.get_name() == "slow"] == []

"""The lock of a session: passed on in order, and declined by those that do not wait for a turn."""

import asyncio

from agentcore.chat.session.turn_lock import TurnLock


async def start(work):
    """Start a task, and let it run until it waits."""
    task = asyncio.ensure_future(work)
    await asyncio.sleep(0)
    return task


async def test_brief_work_is_waited_for_and_the_lock_is_passed_on_in_order():
    lock = TurnLock()
    await lock.acquire()
    first = await start(lock.acquire_unless_turn())
    second = await start(lock.acquire())
    assert not first.done()
    lock.release()
    assert await first
    assert lock.is_held
    assert not second.done()
    lock.release()
    await second
    lock.release()
    assert not lock.is_held


async def test_turn_that_starts_is_not_waited_for_by_those_who_decline_to():
    lock = TurnLock()
    await lock.acquire()
    declining = await start(lock.acquire_unless_turn())
    waiting = await start(lock.acquire())
    lock.mark_turn()
    assert await declining is False
    assert await lock.acquire_unless_turn() is False
    assert not waiting.done()
    lock.release()
    await waiting
    assert (lock.is_held, lock.has_turn) == (True, False)


async def test_lock_that_was_passed_to_a_cancelled_task_goes_to_the_next():
    lock = TurnLock()
    await lock.acquire()
    tasks = [await start(lock.acquire()) for _ in range(3)]
    tasks[1].cancel()
    lock.release()
    tasks[0].cancel()  # it has the lock, and has not run since
    await asyncio.wait(tasks)
    assert [task.cancelled() for task in tasks] == [True, True, False]
    assert lock.is_held
    lock.release()
    assert not lock.is_held

"""Failures that nobody waits for any more: of tasks, and of what is being ended."""

import asyncio
from typing import Any

import structlog

log = structlog.get_logger(__name__)


def ignore_failure(task: "asyncio.Future[Any]") -> None:
    """Take note of a task's failure, which nobody waits for any more; else the event loop reports it as lost."""
    if not task.cancelled():
        task.exception()


async def end_within(work: Any, limit_s: float) -> None:
    """Let something of the driver's end, within a limit, whatever comes of it."""
    try:
        async with asyncio.timeout(limit_s):
            await work
    except Exception as exc:  # noqa: BLE001 - what is being ended may be gone already
        log.debug("browser_work_failed", reason=str(exc))

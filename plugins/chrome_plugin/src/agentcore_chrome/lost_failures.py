"""Failures that no caller waits for any more: those of tasks, and of objects that are being closed."""

import asyncio
from typing import Any

import structlog

log = structlog.get_logger(__name__)


def ignore_failure(task: "asyncio.Future[Any]") -> None:
    """Retrieve the exception of a task that no caller waits for, or the event loop would log it as lost."""
    if not task.cancelled():
        task.exception()


async def end_within(work: Any, limit_s: float) -> None:
    """Wait until the driver has closed something, within a limit, and ignore failures."""
    try:
        async with asyncio.timeout(limit_s):
            await work
    except Exception as exc:  # noqa: BLE001 - what is being ended may be gone already
        log.debug("browser_work_failed", reason=str(exc))

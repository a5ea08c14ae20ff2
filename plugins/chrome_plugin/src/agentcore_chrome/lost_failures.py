"""Failures of tasks that nobody waits for any more."""

import asyncio
from typing import Any


def ignore_failure(task: "asyncio.Future[Any]") -> None:
    """Take note of a task's failure, which nobody waits for any more; else the event loop reports it as lost."""
    if not task.cancelled():
        task.exception()

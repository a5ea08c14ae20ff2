"""The operating system's processes of a browser, and their memory, with what they share counted once."""

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

_LOOK_SECONDS = 3.0


async def list_processes(session: "CDPSession") -> list[dict[str, Any]]:
    """The processes of a browser, by type and id; empty if it does not tell.

    Args:
        session: The browser's own.
    """
    try:
        async with asyncio.timeout(_LOOK_SECONDS):
            reply = await session.send("SystemInfo.getProcessInfo")
    except Exception:  # noqa: BLE001 - some shells do not tell, and a dead one cannot
        return []
    found: list[dict[str, Any]] = reply.get("processInfo", [])
    return found


def measure_memory(pids: Iterable[int]) -> int:
    """Bytes in memory of all these processes: proportional shares where the system tells them, else resident sizes."""
    return sum(_read_process_memory(pid) for pid in pids)


def _read_process_memory(pid: int) -> int:
    try:
        process = psutil.Process(pid)
        full = process.memory_full_info()
        return int(getattr(full, "pss", 0) or full.rss)
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return 0
    except psutil.AccessDenied:
        return 0

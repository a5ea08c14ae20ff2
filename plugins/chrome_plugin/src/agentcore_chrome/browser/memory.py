"""Memory of processes, with what they share counted once."""

from collections.abc import Iterable

import psutil


def memory_of(pids: Iterable[int]) -> int:
    """Bytes in memory of all these processes: proportional shares where the system tells them, else resident sizes."""
    return sum(_memory(pid) for pid in pids)


def _memory(pid: int) -> int:
    try:
        process = psutil.Process(pid)
        full = process.memory_full_info()
        return int(getattr(full, "pss", 0) or full.rss)
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return 0
    except psutil.AccessDenied:
        return 0

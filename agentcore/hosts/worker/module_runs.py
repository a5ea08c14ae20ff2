"""When modules ran in a host, and what they left there when they ended."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from agentcore.core.module_code.module_error import log_failure
from agentcore.hosts.worker.hosted_module import HostedModule
from agentcore.late_dataclasses import dataclass

if TYPE_CHECKING:
    from agentcore.core.modules.leftovers import Surroundings

log = structlog.get_logger(__name__)


@dataclass
class _ModuleRun:
    """One start of a module; `after`: what was there when it had ended, None while it runs."""

    name: str
    source_dirs: tuple[str, ...]
    before: "Surroundings"
    after: "Surroundings | None" = None


class ModuleRuns:
    """Finds what modules leave in this process, as a server does in its own."""

    def __init__(self) -> None:
        self._stays: dict[int, _ModuleRun] = {}

    async def start_run(self, hosted: HostedModule) -> None:
        """A module starts."""
        before = await asyncio.to_thread(_capture_surroundings)
        former = [number for number, stay in self._stays.items() if stay.name == hosted.name and stay.after is not None]
        for number in former:
            del self._stays[number]
        self._stays[hosted.number] = _ModuleRun(hosted.name, hosted.source_dirs, before)

    async def end_run(self, hosted: HostedModule, state: Path) -> list[str] | None:
        """Return what an ended module has left; None: running modules share its code."""
        from agentcore.core.modules.leftovers import RunPeriod, clear_up  # noqa: PLC0415 - needed when a module ends

        own = self._stays.get(hosted.number)
        if own is None:
            return []
        kin = [stay for stay in self._stays.values() if stay is not own and _share_code(stay, own)]
        if any(stay.after is None for stay in kin):
            own.after = _capture_surroundings()
            return None
        owners = {hosted.name, *(stay.name for stay in kin)}
        others = [RunPeriod(stay.before, stay.after) for stay in self._stays.values() if stay.name not in owners]
        try:
            left = await clear_up(owners, own.source_dirs, own.before, others, state)
        except Exception as exc:  # noqa: BLE001 - inspected objects belong to a module, and may raise
            log_failure(log, "module_leftovers_unknown", exc, module=hosted.name)
            left = []
        own.after = _capture_surroundings()
        return left


def _share_code(one: _ModuleRun, other: _ModuleRun) -> bool:
    return one.name == other.name or one.source_dirs == other.source_dirs != ()


def _capture_surroundings() -> "Surroundings":
    from agentcore.core.modules.leftovers import Surroundings  # noqa: PLC0415 - 2 ms that the first greeting does without

    return Surroundings()

"""Replaces running code by new code; if the new code fails, the running code is not affected.

The new code is imported, created and checked, and its settings are read, beside the running code. A process has only
one `sys.modules`: while both versions exist it contains the new one, so an import by old code in that time gets the new
code; and side effects of importing the new code cannot be undone.
"""

import asyncio
from collections.abc import Sequence

import structlog

from agentcore.core.discovery.code import UnloadedCode
from agentcore.core.discovery.source_search import ModuleNotChosen, unload_modules
from agentcore.core.module_code.module_error import failure_details, failure_text
from agentcore.core.modules.lifecycle import Lifecycle
from agentcore.core.modules.module_record import ModuleRecord

log = structlog.get_logger(__name__)


class Reload:
    """One reload of the modules of one distribution, which are reloaded together.

    Args:
        lifecycle: Of all modules; no other change happens meanwhile.
        names: The modules to reload.
        takes_code: True to read their code from disk again; else they are created again from the loaded code.
    """

    def __init__(self, lifecycle: Lifecycle, names: Sequence[str], *, takes_code: bool = True) -> None:
        self._lifecycle = lifecycle
        self._names = tuple(names)
        self._takes_code = takes_code
        self._old = dict(lifecycle.records)
        self._ready = frozenset(name for name, record in self._old.items() if record.state == "ready")
        self._taken: tuple[UnloadedCode, ...] = ()

    async def run(self) -> None:
        """Reload; or leave what runs as it is, with the reason in `reload_error`."""
        if self._takes_code:
            found = [each for name in self._names if (each := self._old[name].found) is not None]
            self._taken = await asyncio.to_thread(unload_modules, found)
        new = [ModuleRecord(name) for name in self._names]
        try:
            for record in new:
                await self._prepare_module(record)
        except BaseException:
            await self._put_back()
            raise
        failures = [(record.name, failure) for record in new if (failure := record.preparation_failure) is not None]
        if failures and any(map(self._was_running, self._names)):
            await self._continue_old_code(new, *failures[0])
        else:
            await self._replace_modules(new)

    async def _prepare_module(self, record: ModuleRecord) -> None:
        try:
            await self._lifecycle.preparation.prepare_module(record)
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            record.fail_preparation(exc)
            if isinstance(exc, ModuleNotChosen):
                record.find_rivals(exc.candidates)

    async def _continue_old_code(self, new: Sequence[ModuleRecord], failed: str, failure: BaseException) -> None:
        """Go on with what runs: nothing of it was stopped."""
        await self._put_back()
        for record in new:
            own_failure = record.preparation_failure
            whose = "" if own_failure is not None else f" of module {failed!r}"
            reason = failure_text(failure if own_failure is None else own_failure)
            old = self._old[record.name]
            old.find_rivals(record.rivals)
            output, traceback = ("", "") if own_failure is None else failure_details(own_failure)
            said = f"the code on the disk{whose} was not loaded: {reason}; the code from before goes on"
            _reject_reload(old, said, traceback, output)
        for record in new:
            record.undo_registrations()

    async def _replace_modules(self, new: Sequence[ModuleRecord]) -> None:
        names = [
            name
            for name in self._lifecycle.with_dependents(self._names)
            if name in self._names or self._was_running(name)
        ]
        await self._lifecycle.stop(names)
        dependents = [self._old[name].copy_source() for name in names if name not in self._names]
        await self._lifecycle.start([*new, *dependents])
        failed = [record for record in new if record.state != "ready" and self._was_running(record.name)]
        if failed:
            await self._bring_back(names, failed)

    async def _bring_back(self, names: Sequence[str], failed: Sequence[ModuleRecord]) -> None:
        """Start the code from before again, of all that ran: the new code of one of them did not start."""
        reasons = "; ".join(f"module {record.name!r}: {record.reason}" for record in failed)
        await self._lifecycle.stop(names)
        await self._put_back()
        again = [self._old[name].copy_source(with_settings=True) for name in names if self._was_running(name)]
        await self._lifecycle.start(again)
        for record in again:
            if record.name not in self._names:
                continue
            cause = next((each for each in failed if each.name == record.name), None)
            if record.state == "ready":
                _reject_reload(
                    record,
                    f"the new code did not start ({reasons}); the code from before was started again",
                    "" if cause is None else cause.traceback,
                    "" if cause is None else cause.output,
                )
            else:
                _reject_reload(
                    record,
                    f"the new code did not start ({reasons}), and the code from before did not either",
                    record.traceback,
                    record.output,
                )

    async def _put_back(self) -> None:
        """Have imports find the code from before."""
        for each in reversed(self._taken):
            await asyncio.to_thread(each.put_back)

    def _was_running(self, name: str) -> bool:
        """True if a module was running before; others are neither stopped nor restored by a reload."""
        return name in self._ready


def _reject_reload(record: ModuleRecord, reason: str, traceback: str, output: str) -> None:
    log.error("module_not_reloaded", module=record.name, reason=reason)
    record.reject_reload(reason, traceback, output)

"""A host in a separate process on this machine: started at first use, watched, restarted, stopped with its last
module."""

import asyncio
import contextlib
import importlib.metadata
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from functools import cached_property
from pathlib import Path
from typing import Any

import structlog

from agentcore.config.host_config import ProcessHostConfig
from agentcore.core.calls.continued_calls import CarriedOnCalls
from agentcore.core.discovery.families import FamilyMember
from agentcore.core.discovery.installed import InstalledModule, packages_of
from agentcore.core.discovery.local import LocalModule, local_file
from agentcore.core.discovery.source_search import Found, ModuleNotChosen, ModuleNotInstalled
from agentcore.core.modules.host_protocols import HostReport
from agentcore.errors import ToolError
from agentcore.hosts.server_side.child_process import Child, EndingChild, OutlivingChild
from agentcore.hosts.server_side.host_messages import read_answer
from agentcore.hosts.server_side.host_status import HostStatus
from agentcore.hosts.server_side.linked_module import LinkedModule
from agentcore.hosts.server_side.module_proxy import RemoteModule, remote_module
from agentcore.hosts.server_side.process_host_services import ProcessHostServices
from agentcore.hosts.server_side.replies import FoundModule, FoundModules, Loaded, RunningModule
from agentcore.hosts.server_side.running_host import RunningHost, memory_kib
from agentcore.hosts.wire.frames import LinkError
from agentcore.hosts.wire.peer import Message
from agentcore.late_dataclasses import dataclass
from agentcore.supervision.supervisor import Supervisor

log = structlog.get_logger(__name__)

ENDS_IN_A_MINUTE = 3
"""A host that ends this often within a minute is not restarted."""

_PAUSES = (0.0, 1.0, 3.0)
_END_SECONDS = 12.0
_KIB = 1024

OnLost = Callable[[Sequence[str], str], Awaitable[None]]
OnAgain = Callable[[Sequence[str]], Awaitable[None]]


class ProcessHost:
    """Implements `ModuleHost` by a process.

    Args:
        name: Its name in app.json.
        config: Its entry in app.json.
        services: The services of the server that it uses.
        on_lost: Called with the modules that have lost their process, and the reason.
        on_again: Called with those of them that are to be started again.
    """

    def __init__(
        self, name: str, config: ProcessHostConfig, services: ProcessHostServices, on_lost: OnLost, on_again: OnAgain
    ) -> None:
        self.name = name
        self._config = config
        self._services = services
        self._on_lost = on_lost
        self._on_again = on_again
        self._supervisor = Supervisor()
        self._standing = HostStatus(name, services.events)
        self._starting = asyncio.Lock()
        self._running: RunningHost | None = None
        self._next = 0
        self._codes: dict[tuple[str, str], int] = {}
        self._fingerprints: dict[str, str] = {}
        self._ends: deque[float] = deque(maxlen=ENDS_IN_A_MINUTE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    # -- modules -----------------------------------------------------------------------------------------------

    async def find_module(self, name: str) -> Found | None:
        if self._config.python is None:
            return None
        running = await self._ensure_running()
        answer = await running.link.request_object({"type": "module.find", "name": name})
        told = read_answer(FoundModules, answer, f"what host {self.name!r} has found")
        candidates = [OtherInterpreterModule.from_found(name, each) for each in told.found]
        if len({each.source for each in candidates}) > 1:
            raise ModuleNotChosen(name, candidates)
        if candidates:
            return candidates[0]
        local = local_file(name, self._services.config.modules_folder)
        if local is None:
            raise ModuleNotInstalled(name, ())
        return LocalModule(name, local)

    async def load_module(self, name: str, found: Found, fingerprint: str, locale: str) -> RemoteModule:
        if isinstance(found, FamilyMember):
            raise ToolError("module_stays", f"module {name!r} is made of a block of app.json, and runs in the server")
        running = await self._ensure_running()
        if (held := running.members.pop(name, None)) is not None:
            self._fingerprints[found.source] = held.fingerprint
            return self._found_module(running, name, held)
        self._next += 1
        linked = LinkedModule(name, self._next)
        running.link.add_module(linked)
        try:
            message = {"type": "module.state", "state": "loaded", "module": linked.number, "name": name}
            answer = await running.link.request_object(message | self._code_of(found, fingerprint) | {"locale": locale})
            told = read_answer(Loaded, answer, f"what the host says of module {name!r}")
            _refuse_page_scripts(name, told)
            return remote_module(
                running.link, linked, told, self._services.files_of(self.name, name), fingerprint=fingerprint
            )
        except BaseException:
            running.link.remove_module(linked)
            self._forget_code(found, fingerprint)
            raise

    def _found_module(self, running: RunningHost, name: str, held: RunningModule) -> RemoteModule:
        """A module that has gone on without a server."""
        linked = LinkedModule(name, held.module)
        running.link.add_module(linked)
        try:
            _refuse_page_scripts(name, held)
            folder = self._services.files_of(self.name, name)
            return remote_module(running.link, linked, held, folder, fingerprint=held.fingerprint)
        except BaseException:
            running.link.remove_module(linked)
            running.members[name] = held
            raise

    def _code_of(self, found: Found, fingerprint: str) -> Message:
        """Return what the host has to import, and whether it was imported there before and has changed since."""
        key = (f"{found.source}/{found.name}", fingerprint)
        self._next += 1
        code = self._codes.setdefault(key, self._next)
        has_changed = self._fingerprints.get(found.source, fingerprint) != fingerprint
        self._fingerprints[found.source] = fingerprint
        # another interpreter has packages of its own, and those of this one are none of its
        told = {"path": sys.path if self._config.python is None else [], "fingerprint": fingerprint}
        if isinstance(found, InstalledModule):
            fresh = sorted(packages_of(found)) if has_changed else []
            return {"code": code, "entry": found.value, "file": "", "fresh": fresh, **told}
        assert not isinstance(found, FamilyMember)  # noqa: S101 - the caller has looked
        return {"code": code, "entry": "", "file": str(found.file), "fresh": [], **told}

    def _forget_code(self, found: Found, fingerprint: str) -> None:
        """Import code again whose import failed; the previous code stays available."""
        self._codes.pop((f"{found.source}/{found.name}", fingerprint), None)

    # -- the process -------------------------------------------------------------------------------------------

    def describe_host(self) -> HostReport:
        running = self._running
        bound = self._config.memory_mb
        latency_s = None if running is None else running.latency_s
        return self._standing.build_report(
            kind=self._config.kind,
            modules=self._config.modules,
            pid=None if running is None else running.pid,
            python=self._python,
            version="" if running is None else running.version,
            memory_bytes=None if running is None else memory_kib(running.pid) * _KIB or None,
            memory_max_bytes=None if bound is None else bound * _KIB * _KIB,
            latency_ms=None if latency_s is None else round(latency_s * 1000, 1),
        )

    @property
    def _python(self) -> str:
        return self._config.find_interpreter(self._services.config.folder)

    async def _ensure_running(self) -> RunningHost:
        """The process, which is started if it does not run.

        Raises:
            ToolError: `host_unavailable`.
        """
        async with self._starting:
            if self._running is None or self._running.link.peer.ended is not None:
                if self._is_closed:
                    raise ToolError("host_unavailable", f"host {self.name!r} is stopping", host=self.name)
                self._codes.clear()
                self._fingerprints.clear()
                if self._has_ended_too_often():
                    self._ends.clear()  # it is not restarted automatically: this is an explicit new attempt
                self._standing.enter_state("starting")
                # in a separate context, so that its tasks are attributed to no module
                loop = asyncio.get_running_loop()
                self._running = await loop.create_task(
                    self._start_process(), name=f"host:{self.name}", context=Context()
                )
            return self._running

    async def _start_process(self) -> RunningHost:
        running = await self._try_start()
        if not running.serves_the_same():
            # its environment differs from the required one: it is ended, with everything in it
            log.warning("host_replaced", host=self.name, pid=running.pid, reason="workspace or language changed")
            await running.close(_END_SECONDS)
            running = await self._try_start()
        log.info("host_found" if running.is_found else "host_started", host=self.name, pid=running.pid)
        self._next = running.highest
        self._standing.enter_state("running")
        return running

    async def _try_start(self) -> RunningHost:
        running = RunningHost(self.name, self._services, self._make_child(), self._handle_process_end)
        try:
            await running.start(self._config)
        except asyncio.CancelledError:
            self._standing.mark_failed("its start was interrupted")
            if running.has_started:
                await running.close(0)
            else:  # it may be there: it is for the next server to find
                running.detach()
            raise
        except (OSError, LinkError, TimeoutError) as exc:
            told = str(exc) or f"it did not greet within {running.hello_s:g} s"
            if running.is_found:
                # it hangs, or has another version: it is ended with everything in it, and replaced by a new one
                running.kill()
                log.warning("host_replaced", host=self.name, pid=running.pid, reason=await running.close(0, told))
                return await self._try_start()
            reason = await running.close(0, told)
            self._standing.mark_failed(running.cause or reason, running.last_output)
            raise ToolError("host_unavailable", f"host {self.name!r} did not start: {reason}", host=self.name) from exc
        return running

    def _make_child(self) -> Child:
        if not self._config.survives_restart:
            return EndingChild(self.name, self._python, self._supervisor)
        folder = self._services.folder_of(self.name)
        return OutlivingChild(self.name, self._python, folder, self._config.keep_minutes * 60)

    @property
    def survives_server(self) -> bool:
        """True if it survives the server."""
        return self._config.survives_restart

    # -- over restarts of the server -----------------------------------------------------------------------------

    def detach(self) -> None:
        """Leave the process to the next server, if it survives this one."""
        if not self._config.survives_restart:
            return
        self._is_closed = True
        if self._running is not None:
            running = self._running
            self._running = None
            running.detach()

    def resume_calls(self, carried_on: CarriedOnCalls) -> None:
        """Go on with the calls that the process has gone on with."""
        if self._running is None:
            return
        link = self._running.link
        for call_id, (number, left_s) in self._running.calls.items():
            end = link.calls.carrying_on(call_id, number)
            if not carried_on.resume_call(call_id, link.module_names, left_s, end):
                link.calls.abandon_call(call_id, number)
        self._running.calls.clear()

    async def stop_unclaimed_modules(self) -> None:
        """All modules have started: end those that the process has gone on with, and that are none of them."""
        running = self._running
        if running is None:
            return
        for held in list(running.members.values()):
            log.warning("module_unclaimed", host=self.name, module=held.name)
            message = {"type": "module.state", "state": "stopped", "module": held.module}
            with contextlib.suppress(ToolError, TimeoutError):
                async with asyncio.timeout(_END_SECONDS):
                    await running.link.request_object(message)
        running.members.clear()
        await self.stop_if_idle()

    async def stop_surviving_process(self, reason: str) -> None:
        """End a process that would survive the server; its modules start again in a new one."""
        if self._config.survives_restart and self._running is not None:
            self._running.end_because(reason)

    def _handle_process_end(self, running: RunningHost, reason: str) -> None:
        if self._running is running:
            self._running = None
        names = running.modules
        if not self._is_closed and names:
            # in no TaskGroup: a link that ends starts it; `close` ends it
            task = asyncio.get_running_loop().create_task(
                self._recover_modules(running, names, reason), name=f"host:{self.name}"
            )
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _recover_modules(self, running: RunningHost, names: Sequence[str], reason: str) -> None:
        """Take back what the modules had, and start them again, unless that was tried too often."""
        self._ends.append(time.monotonic())
        is_over = self._has_ended_too_often()
        self._standing.record_unexpected_end(running.cause or reason, running.last_output, starts_again=not is_over)
        message = f"its process ended: {reason}"
        log.error("host_ended", host=self.name, reason=reason, modules=list(names), starts_again=not is_over)
        if is_over:
            message = (
                f"{message}; it ended {ENDS_IN_A_MINUTE} times within a minute, so it is not started again by itself"
            )
        await self._on_lost(names, message)
        if not is_over:
            await asyncio.sleep(_PAUSES[min(len(self._ends), len(_PAUSES)) - 1])
            await self._on_again(names)

    def _has_ended_too_often(self) -> bool:
        return len(self._ends) == ENDS_IN_A_MINUTE and time.monotonic() - self._ends[0] < 60  # noqa: PLR2004 - a minute

    def send_origins(self) -> None:
        """Send the host the current addresses of the server."""
        if self._running is not None:
            self._running.send_hello_reply()

    async def stop_if_idle(self) -> None:
        """End the process if no module runs in it any more."""
        async with self._starting:
            running = self._running
            if running is not None and not running.link.has_modules and not running.members:
                await self._stop_process(running)

    async def stop(self) -> None:
        self._ends.clear()
        async with self._starting:
            if self._running is not None:
                await self._stop_process(self._running)
            self._standing.enter_state("stopped")

    async def _stop_process(self, running: RunningHost) -> None:
        self._running = None
        await running.close(_END_SECONDS)
        self._standing.enter_state("stopped")

    async def close(self) -> None:
        """End it."""
        self._is_closed = True
        for task in tuple(self._tasks):
            task.cancel()
        async with self._starting:
            if self._running is not None:
                running = self._running
                self._running = None
                if self.survives_server:
                    running.detach()
                else:
                    await running.close(_END_SECONDS)
        await self._supervisor.close()
        await asyncio.to_thread(self._services.forget_files, self.name)


def _refuse_page_scripts(name: str, told: Loaded) -> None:
    if told.attributes.get("runs_scripts_in_page"):
        raise ToolError("module_stays", f"module {name!r} runs scripts in the page, and runs in the server only")


@dataclass(frozen=True)
class OtherInterpreterModule(InstalledModule):
    """A module that a distribution registers for another interpreter.

    Args:
        known_file: The file of its package there.
        known_package: The outermost package that is its own.
    """

    known_file: Path | None = None
    known_package: str = ""

    @classmethod
    def from_found(cls, name: str, told: FoundModule) -> "OtherInterpreterModule":
        """Create it from what another interpreter has found."""
        metadata = importlib.metadata.Distribution.at(told.metadata)
        return cls(name, told.value, metadata, Path(told.file) if told.file else None, told.package)

    @cached_property
    def file(self) -> Path | None:
        return self.known_file

    @cached_property
    def package(self) -> str:
        return self.known_package

    def load(self) -> Any:
        """It is never loaded here.

        Raises:
            ImportError: Always.
        """
        raise ImportError(f"module {self.name!r} is installed for another interpreter")

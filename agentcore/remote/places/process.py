"""A host in a process of its own on this machine: started at first use, watched, started again, ended with the last."""

import asyncio
import contextlib
import os
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from pathlib import Path
from typing import Any

import structlog

from agentcore.config.hosts import ProcessHostConfig
from agentcore.errors import ToolError
from agentcore.host.calls.carried_on import CarriedOnCalls
from agentcore.host.discovery.families import FamilyMember
from agentcore.host.discovery.finding import Found, ModuleNotChosen, ModuleNotInstalled
from agentcore.host.discovery.installed import InstalledModule, packages_of
from agentcore.host.discovery.local import LocalModule, local_file
from agentcore.host.modules.places import PlaceReport
from agentcore.remote.places.child import HELLO_SECONDS, Child, EndingChild, OutlivingChild
from agentcore.remote.places.foreign import ForeignModule
from agentcore.remote.places.link import HostLink, LinkedModule
from agentcore.remote.places.messages import FoundModules, HeldModule, HeldResource, Hello, Loaded, read_answer
from agentcore.remote.places.module import RemoteModule, remote_module
from agentcore.remote.places.services import PlaceServices
from agentcore.remote.places.standing import Standing
from agentcore.remote.wire.frames import LinkError
from agentcore.remote.wire.peer import Message, Peer
from agentcore.remote.wire.stream import StreamLink
from agentcore.supervision.supervisor import Supervisor

log = structlog.get_logger(__name__)

ENDS_IN_A_MINUTE = 3
"""A host that ends so often within a minute is not started again."""

_PAUSES = (0.0, 1.0, 3.0)
_LOOK_SECONDS = 0.2
_MEMORY_SECONDS = 0.05
"""A process can take some hundred megabytes in this time."""
_PING_SECONDS = 1.0
_REASON_SECONDS = 0.5
_END_SECONDS = 12.0
_KILL_SECONDS = 5.0
_KIB = 1024

OnLost = Callable[[Sequence[str], str], Awaitable[None]]
OnAgain = Callable[[Sequence[str]], Awaitable[None]]


class ProcessHost:
    """Implements `Place` by a process.

    Args:
        name: What it is called in app.json.
        config: What app.json says of it.
        services: What it needs of the server.
        on_lost: Told which modules have lost their process, and why.
        on_again: Told which of them are to start again.
    """

    def __init__(
        self, name: str, config: ProcessHostConfig, services: PlaceServices, on_lost: OnLost, on_again: OnAgain
    ) -> None:
        self.name, self._config, self._services = name, config, services
        self._on_lost, self._on_again = on_lost, on_again
        self._supervisor, self._standing = Supervisor(), Standing(name, services.events)
        self._starting = asyncio.Lock()
        self._running: _Running | None = None
        self._next = 0
        self._codes: dict[tuple[str, str], int] = {}
        self._fingerprints: dict[str, str] = {}
        self._ends: deque[float] = deque(maxlen=ENDS_IN_A_MINUTE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    # -- modules -----------------------------------------------------------------------------------------------

    async def find(self, name: str) -> Found | None:
        """See `Place.find`."""
        if self._config.python is None:
            return None
        running = await self._start()
        answer = await running.link.request({"type": "module.find", "name": name})
        told = read_answer(FoundModules, answer, f"what host {self.name!r} has found")
        candidates = [ForeignModule.of(name, each) for each in told.found]
        if len({each.source for each in candidates}) > 1:
            raise ModuleNotChosen(name, candidates)
        if candidates:
            return candidates[0]
        local = local_file(name, self._services.config.modules_folder)
        if local is None:
            raise ModuleNotInstalled(name, ())
        return LocalModule(name, local)

    async def load(self, name: str, found: Found, fingerprint: str, locale: str) -> RemoteModule:
        """See `Place.load`."""
        if isinstance(found, FamilyMember):
            raise ToolError("module_stays", f"module {name!r} is made of a block of app.json, and runs in the server")
        running = await self._start()
        if (held := running.members.pop(name, None)) is not None:
            return self._found_module(running, name, held)
        self._next += 1
        linked = LinkedModule(name, self._next)
        running.link.add(linked)
        try:
            message = {"type": "module.state", "state": "loaded", "module": linked.number, "name": name}
            answer = await running.link.request(message | self._code_of(found, fingerprint) | {"locale": locale})
            told = read_answer(Loaded, answer, f"what the host says of module {name!r}")
            _refuse_page_scripts(name, told)
            return remote_module(
                running.link, linked, told, self._services.files_of(self.name, name), fingerprint=fingerprint
            )
        except BaseException:
            running.link.remove(linked)
            self._forget_code(found)
            raise

    def _found_module(self, running: "_Running", name: str, held: HeldModule) -> RemoteModule:
        """A module that has gone on without a server."""
        linked = LinkedModule(name, held.module)
        running.link.add(linked)
        running.link.take_resources(linked, running.resources)
        folder = self._services.files_of(self.name, name)
        return remote_module(running.link, linked, held, folder, fingerprint=held.fingerprint)

    def _code_of(self, found: Found, fingerprint: str) -> Message:
        """What the host has to import, and whether it has been imported there before and is another since."""
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

    def _forget_code(self, found: Found) -> None:
        self._codes = {key: code for key, code in self._codes.items() if key[0] != f"{found.source}/{found.name}"}

    # -- the process -------------------------------------------------------------------------------------------

    def report(self) -> PlaceReport:
        """See `Place.report`."""
        running, bound = self._running, self._config.memory_mb
        latency_s = None if running is None else running.latency_s
        return self._standing.report(
            kind=self._config.kind,
            modules=self._config.claimed,
            pid=None if running is None else running.pid,
            python=self._python,
            version="" if running is None else running.version,
            memory_bytes=None if running is None else _memory_kib(running.pid) * _KIB or None,
            memory_max_bytes=None if bound is None else bound * _KIB * _KIB,
            latency_ms=None if latency_s is None else round(latency_s * 1000, 1),
        )

    @property
    def _python(self) -> str:
        return self._config.interpreter(self._services.config.folder)

    async def _start(self) -> "_Running":
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
                    self._ends.clear()  # it is not started again by itself: somebody wants it to be tried anew
                self._standing.turn("starting")
                # in a context of its own: what it begins is no module's, though it may be for one
                loop = asyncio.get_running_loop()
                self._running = await loop.create_task(self._run(), name=f"host:{self.name}", context=Context())
            return self._running

    async def _run(self) -> "_Running":
        running = await self._try()
        if not running.serves_the_same():
            # it has other folders around it than it should: it goes, with what it holds
            log.warning("host_replaced", host=self.name, pid=running.pid, reason="workspace or language changed")
            await running.close(_END_SECONDS)
            running = await self._try()
        log.info("host_found" if running.is_found else "host_started", host=self.name, pid=running.pid)
        self._next = running.highest
        running.link.number_from(running.highest)
        running.link.expect(number for number, _ in running.calls.values())
        self._standing.turn("running")
        return running

    async def _try(self) -> "_Running":
        running = _Running(self.name, self._services, self._child(), self._ended)
        try:
            await running.start(self._config)
        except asyncio.CancelledError:
            self._standing.fail("its start was interrupted")
            await running.close(0)
            raise
        except (OSError, LinkError, TimeoutError) as exc:
            told = str(exc) or f"it did not greet within {HELLO_SECONDS:g} s"
            reason = await running.close(0, told)
            self._standing.fail(running.cause or reason, running.last_words)
            raise ToolError("host_unavailable", f"host {self.name!r} did not start: {reason}", host=self.name) from exc
        return running

    def _child(self) -> Child:
        if not self._config.survives_restart:
            return EndingChild(self.name, self._python, self._supervisor)
        folder = self._services.folder_of(self.name)
        return OutlivingChild(self.name, self._python, folder, self._config.keep_minutes * 60)

    @property
    def outlives(self) -> bool:
        """Whether it goes on when the server ends."""
        return self._config.survives_restart

    # -- over restarts of the server -----------------------------------------------------------------------------

    def let_go(self) -> None:
        """The server ends: leave the process to the next one, if it outlives this one."""
        if self._config.survives_restart and self._running is not None:
            self._is_closed = True
            running, self._running = self._running, None
            running.let_go()

    def take_up_calls(self, carried_on: CarriedOnCalls) -> None:
        """Go on with the calls that the process has gone on with."""
        if self._running is None:
            return
        link = self._running.link
        for call_id, (number, left_s) in self._running.calls.items():
            end = link.carrying_on(call_id, number)
            if not carried_on.take_up(call_id, link.module_names, left_s, end):
                link.disown(call_id, number)
        self._running.calls.clear()

    async def end_outliving(self, reason: str) -> None:
        """End a process that would outlive the server; its modules start again in a new one."""
        if self._config.survives_restart and self._running is not None:
            self._running.end_because(reason)

    def _ended(self, running: "_Running", reason: str) -> None:
        if self._running is running:
            self._running = None
        names = running.modules
        if not self._is_closed and names:
            # in no TaskGroup: a link that ends starts it; `close` ends it
            task = asyncio.get_running_loop().create_task(self._go_on(running, names, reason), name=f"host:{self.name}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _go_on(self, running: "_Running", names: Sequence[str], reason: str) -> None:
        """Take back what the modules had, and start them again, unless that was tried too often."""
        self._ends.append(time.monotonic())
        is_over = self._has_ended_too_often()
        self._standing.note_end(running.cause or reason, running.last_words, starts_again=not is_over)
        said = f"its process ended: {reason}"
        log.error("host_ended", host=self.name, reason=reason, modules=list(names), starts_again=not is_over)
        if is_over:
            said = f"{said}; it ended {ENDS_IN_A_MINUTE} times within a minute, so it is not started again by itself"
        await self._on_lost(names, said)
        if not is_over:
            await asyncio.sleep(_PAUSES[min(len(self._ends), len(_PAUSES)) - 1])
            await self._on_again(names)

    def _has_ended_too_often(self) -> bool:
        return len(self._ends) == ENDS_IN_A_MINUTE and time.monotonic() - self._ends[0] < 60  # noqa: PLR2004 - a minute

    def tell_origins(self) -> None:
        """Tell the host where the server can be reached now."""
        if self._running is not None:
            self._running.greet()

    async def rest(self) -> None:
        """End the process if no module runs in it any more."""
        async with self._starting:
            running = self._running
            if running is not None and not running.link.has_modules:
                await self._stop(running)

    async def end(self) -> None:
        """See `Place.end`."""
        self._ends.clear()
        async with self._starting:
            if self._running is not None:
                await self._stop(self._running)
            self._standing.turn("stopped")

    async def _stop(self, running: "_Running") -> None:
        self._running = None
        await running.close(_END_SECONDS)
        self._standing.turn("stopped")

    async def close(self) -> None:
        """End it."""
        self._is_closed = True
        for task in tuple(self._tasks):
            task.cancel()
        async with self._starting:
            if self._running is not None:
                await self._running.close(_END_SECONDS)
                self._running = None
        await self._supervisor.close()
        await asyncio.to_thread(self._services.forget_files, self.name)


class _Running:
    """One process of a host, with its link.

    Attributes:
        modules: What ran in it when it ended.
        cause: Why it ended, without what it wrote.
        members: Modules that it ran before this server did, as it said them, by name.
        calls: Calls that it has gone on with meanwhile: their ids, numbers and what time they have left.
    """

    link: HostLink
    _stream: StreamLink

    def __init__(
        self, name: str, services: PlaceServices, child: Child, on_ended: Callable[["_Running", str], None]
    ) -> None:
        self._name, self._services, self._child, self._on_ended = name, services, child, on_ended
        self._loop = asyncio.get_running_loop()
        self._hello: asyncio.Future[Hello] = self._loop.create_future()
        self._over = asyncio.Event()
        self._watch: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._reason = ""
        self._is_closing = False
        self.pid: int | None = None
        self.highest = 0
        self.latency_s: float | None = None
        self.version, self.cause = "", ""
        self.modules: tuple[str, ...] = ()
        self.members: dict[str, HeldModule] = {}
        self.calls: dict[str, tuple[int, float]] = {}
        self.resources: list[HeldResource] = []

    @property
    def last_words(self) -> str:
        """The end of what it wrote."""
        return self._child.last_words

    @property
    def is_found(self) -> bool:
        """Whether it ran before this server did."""
        return self._child.is_found

    async def start(self, config: ProcessHostConfig) -> None:
        """Start the process, or find it, and wait for its greeting.

        Raises:
            ChildError, OSError: It could not be had.
            LinkError, TimeoutError: It did not greet, or not as it should.
        """
        made = await self._child.connect()
        self._child.watch(self._over.set)
        await self._loop.create_unix_connection(lambda: StreamLink(self._make), sock=made)
        async with asyncio.timeout(HELLO_SECONDS):
            said = await self._hello
        self._take_held(said)
        self.greet()
        self._watch = self._loop.create_task(self._look_after(config), name=f"host:{self._name}:watch")

    def greet(self) -> None:
        """Tell the host what it has around it."""
        self.link.peer.tell({"type": "hello.ok", **self._services.greeting()})

    def serves_the_same(self) -> bool:
        """Whether it has around it what a host of this server would have; one that is new has."""
        return not self.is_found or self._greeting == self._services.lasting_greeting()

    def let_go(self) -> None:
        """Leave it to the next server."""
        self._is_closing = True
        self._stop_watching()
        self.link.let_go()
        self._child.close()

    async def close(self, grace_s: float, reason: str = "") -> str:
        """End the process in order; gives why it had ended before, if it had, else the reason."""
        self._is_closing = True
        self._stop_watching()
        if hasattr(self, "link"):
            self.link.peer.end()
        if isinstance(self._child, OutlivingChild):
            await self._child.end()
        if not self._child.is_over:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    await self._over.wait()
        if not self._child.is_over:
            self._child.kill()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_KILL_SECONDS):
                    await self._over.wait()
        why = self._reason or (await self._why(reason) if reason else "")
        self._child.close()
        return why

    def _stop_watching(self) -> None:
        if self._watch is not None:
            self._watch.cancel()

    def _make(self, stream: StreamLink) -> Peer:
        self._stream = stream
        self.link = HostLink(
            self._name,
            stream,
            self._services.resources,
            outlives=isinstance(self._child, OutlivingChild),
            on_hello=self._greeted,
            on_blocked=self._services.on_blocked,
            on_end=self._link_ended,
        )
        return self.link.peer

    def _greeted(self, told: Hello) -> None:
        self.pid, self.highest, self.version = told.pid, told.highest, told.version
        if not self._hello.done():
            self._hello.set_result(told)

    def _take_held(self, told: Hello) -> None:
        """Note what a host that was found holds."""
        self._greeting = told.greeting
        self.members = {each.name: each for each in told.members}
        self.resources = told.resources
        self.calls = {each.call: (each.n, each.left_ms / 1000) for each in told.calls}

    def _link_ended(self, reason: str) -> None:
        if not self._hello.done():
            self._hello.set_exception(LinkError(reason or "it ended before it greeted"))
        if self._ending is None and not self._is_closing:
            # in no TaskGroup: the end of a connection starts it, and it ends by itself
            self._ending = self._loop.create_task(self._end(reason), name=f"host:{self._name}:end")

    async def _end(self, reason: str) -> None:
        if not self.link.peer.is_lost:
            self._child.kill()  # it was cut off
        self._reason = await self._why(self._reason or reason)
        self.modules = self.link.module_names
        self.link.lose(self._reason)
        self._stop_watching()
        if not self._child.is_over:
            self._child.kill()
        self._child.close()
        self._on_ended(self, self._reason)

    async def _why(self, reason: str) -> str:
        """Why the process ended, in words, with the end of what it wrote."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REASON_SECONDS):
                await self._over.wait()
                await self._child.wait_for_words()
        # a process that was cut off ends after that: how it did, and what it wrote, says nothing then
        if reason and not self._reason and hasattr(self, "link") and not self.link.peer.is_lost:
            self.cause = reason
            return reason
        reason = self._reason or self._child.ended_as or reason
        self.cause, last = reason, self._child.last_words
        return f"{reason}; it wrote: {last}" if last else reason

    # -- watching ----------------------------------------------------------------------------------------------

    async def _look_after(self, config: ProcessHostConfig) -> None:
        """Ask for a sign of life again and again, and hold the process to its memory."""
        asked_at, waits = self._loop.time(), self._loop.create_task(self.link.ping())
        limit_s = self._services.blocked_s
        try:
            while True:
                await asyncio.sleep(_LOOK_SECONDS if config.memory_mb is None else _MEMORY_SECONDS)
                if config.memory_mb is not None and (used := _memory_kib(self.pid)) > config.memory_mb * _KIB:
                    self._kill(f"it used {used // _KIB} MiB of memory, and may use {config.memory_mb}")
                now = self._loop.time()
                if waits.done():
                    self.latency_s = waits.result()
                    if now - asked_at >= _PING_SECONDS:
                        asked_at, waits = now, self._loop.create_task(self.link.ping())
                elif now - asked_at > limit_s:
                    self._kill(f"its event loop did not answer for {limit_s:g} s")
        except asyncio.CancelledError:
            waits.cancel()
            raise

    def end_because(self, reason: str) -> None:
        """End it at once; its modules start again in a new one."""
        self._kill(reason)

    def _kill(self, reason: str) -> None:
        self._reason = self._reason or reason
        self._child.kill()
        self._stream.abort()


def _refuse_page_scripts(name: str, told: Loaded) -> None:
    if told.attributes.get("runs_scripts_in_page"):
        raise ToolError("module_stays", f"module {name!r} runs scripts in the page, and runs in the server only")


def _memory_kib(pid: int | None) -> int:
    """What a process holds in memory, without what it shares with others; 0: it is not known."""
    try:
        fields: list[Any] = Path(f"/proc/{pid}/statm").read_text().split()
        return (int(fields[1]) - int(fields[2])) * (os.sysconf("SC_PAGE_SIZE") // _KIB)
    except (OSError, ValueError, IndexError):
        return 0

"""A host in a process of its own on this machine: started at first use, watched, started again, ended with the last."""

import asyncio
import contextlib
import os
import signal
import socket
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
from agentcore.files.folder import Folder
from agentcore.host.containment.reading import read_mapping
from agentcore.host.discovery.families import FamilyMember
from agentcore.host.discovery.finding import Found
from agentcore.host.discovery.installed import InstalledModule, packages_of
from agentcore.remote.places.link import HostLink, LinkedModule, gone
from agentcore.remote.places.module import RemoteModule, remote_module
from agentcore.remote.places.output import HostOutput
from agentcore.remote.places.services import PlaceServices
from agentcore.remote.wire.frames import LinkError
from agentcore.remote.wire.peer import Message, Peer
from agentcore.remote.wire.stream import StreamLink
from agentcore.secrets import is_secret_variable
from agentcore.supervision.supervisor import SupervisedProcess, Supervisor, SupervisorError

log = structlog.get_logger(__name__)

HELLO_SECONDS = 30.0
"""How long a host may take to greet."""

ENDS_IN_A_MINUTE = 3
"""A host that ends so often within a minute is not started again."""

_PAUSES = (0.0, 1.0, 3.0)
_LOOK_SECONDS = 0.2
_PING_SECONDS = 1.0
_REASON_SECONDS = 0.5
_END_SECONDS = 12.0
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
        self._supervisor = Supervisor()
        self._starting = asyncio.Lock()
        self._running: _Running | None = None
        self._next = 0
        self._codes: dict[tuple[str, str], int] = {}
        self._fingerprints: dict[str, str] = {}
        self._ends: deque[float] = deque(maxlen=ENDS_IN_A_MINUTE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    # -- modules -----------------------------------------------------------------------------------------------

    async def load(self, name: str, found: Found, fingerprint: str, locale: str) -> RemoteModule:
        """See `Place.load`."""
        if isinstance(found, FamilyMember):
            raise ToolError("module_stays", f"module {name!r} is made of a block of app.json, and runs in the server")
        running = await self._start()
        self._next += 1
        linked = LinkedModule(name, self._next)
        running.link.add(linked)
        try:
            message = {"type": "module.state", "state": "loaded", "module": linked.number, "name": name}
            told = await running.link.request(message | self._code_of(found, fingerprint) | {"locale": locale})
            _refuse_page_scripts(name, told)
            return remote_module(running.link, linked, told, self._services.files_of(self.name, name))
        except BaseException:
            running.link.remove(linked)
            self._forget_code(found)
            raise

    def _code_of(self, found: Found, fingerprint: str) -> Message:
        """What the host has to import, and whether it has been imported there before and is another since."""
        key = (f"{found.source}/{found.name}", fingerprint)
        self._next += 1
        code = self._codes.setdefault(key, self._next)
        has_changed = self._fingerprints.get(found.source, fingerprint) != fingerprint
        self._fingerprints[found.source] = fingerprint
        if isinstance(found, InstalledModule):
            fresh = sorted(packages_of(found)) if has_changed else []
            return {"code": code, "entry": found.value, "file": "", "fresh": fresh, "path": sys.path}
        assert not isinstance(found, FamilyMember)  # noqa: S101 - the caller has looked
        return {"code": code, "entry": "", "file": str(found.file), "fresh": [], "path": sys.path}

    def _forget_code(self, found: Found) -> None:
        self._codes = {key: code for key, code in self._codes.items() if key[0] != f"{found.source}/{found.name}"}

    # -- the process -------------------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """How it stands: `stopped`, `running`, or `failed`."""
        if self._running is not None:
            return "running"
        return "failed" if len(self._ends) == ENDS_IN_A_MINUTE and self._has_ended_too_often() else "stopped"

    @property
    def pid(self) -> int | None:
        """The id of its process."""
        return None if self._running is None else self._running.pid

    @property
    def latency_s(self) -> float | None:
        """How long its last answer took."""
        return None if self._running is None else self._running.latency_s

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
                # in a context of its own: what it begins is no module's, though it may be for one
                loop = asyncio.get_running_loop()
                self._running = await loop.create_task(self._run(), name=f"host:{self.name}", context=Context())
            return self._running

    async def _run(self) -> "_Running":
        running = _Running(self.name, self._services, self._ended)
        try:
            await running.start(self._supervisor, self._config, self._environment())
        except (SupervisorError, OSError, LinkError, TimeoutError) as exc:
            reason = await running.close(0) or str(exc) or type(exc).__name__
            raise ToolError("host_unavailable", f"host {self.name!r} did not start: {reason}", host=self.name) from exc
        log.info("host_started", host=self.name, pid=running.pid)
        return running

    def _environment(self) -> dict[str, str]:
        """The server's environment, without what opens the server or a provider's account."""
        given = {name: value for name, value in os.environ.items() if not is_secret_variable(name, value)}
        return {name: value for name, value in given.items() if not name.startswith("AGENTCORE_")}

    def _ended(self, running: "_Running", reason: str) -> None:
        if self._running is running:
            self._running = None
        names = running.modules
        if not self._is_closed and names:
            # in no TaskGroup: a link that ends starts it; `close` ends it
            task = asyncio.get_running_loop().create_task(self._go_on(names, reason), name=f"host:{self.name}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _go_on(self, names: Sequence[str], reason: str) -> None:
        """Take back what the modules had, and start them again, unless that was tried too often."""
        self._ends.append(time.monotonic())
        is_over = self._has_ended_too_often()
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
                self._running = None
                await running.close(_END_SECONDS)

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


class _Running:
    """One process of a host, with its link."""

    link: HostLink
    _stream: StreamLink

    def __init__(self, name: str, services: PlaceServices, on_ended: Callable[["_Running", str], None]) -> None:
        self._name, self._services, self._on_ended = name, services, on_ended
        self._loop = asyncio.get_running_loop()
        self._process: SupervisedProcess | None = None
        self._output = HostOutput(name)
        self._hello: asyncio.Future[None] = self._loop.create_future()
        self._over = asyncio.Event()
        self._watch: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._reason = ""
        self._is_closing = False
        self.pid: int | None = None
        self.latency_s: float | None = None
        self.modules: tuple[str, ...] = ()

    async def start(self, supervisor: Supervisor, config: ProcessHostConfig, environment: dict[str, str]) -> None:
        """Start the process, and wait for its greeting.

        Raises:
            SupervisorError, OSError: It could not be started.
            LinkError, TimeoutError: It did not greet, or not as it should.
        """
        python = config.python or sys.executable
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs, self._output.opened() as written:
            folder = Folder(os.open("/", os.O_RDONLY | os.O_DIRECTORY) if not Path.cwd().is_dir() else _here())
            with folder:
                self._process = await supervisor.start(
                    [python, "-P", "-m", "agentcore.remote.worker", self._name],
                    folder=folder,
                    environment=environment,
                    stdin=theirs.fileno(),
                    stdout=written,
                    stderr=written,
                )
        self._process.on_over(self._over.set)
        await self._loop.create_unix_connection(lambda: StreamLink(self._make), sock=ours)
        async with asyncio.timeout(HELLO_SECONDS):
            await self._hello
        self.greet()
        self._watch = self._loop.create_task(self._look_after(config), name=f"host:{self._name}:watch")

    def greet(self) -> None:
        """Tell the host what it has around it."""
        self.link.peer.tell({"type": "hello.ok", **self._services.greeting()})

    async def close(self, grace_s: float) -> str:
        """End the process in order; gives why it had ended before, if it had."""
        self._is_closing = True
        if self._watch is not None:
            self._watch.cancel()
        if hasattr(self, "link"):
            self.link.peer.end()
        if self._process is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    await self._over.wait()
            if not self._process.is_over:
                self._process.end(0.0)
                await self._process.wait()
        reason = await self._why("") if self._process is not None and not grace_s else self._reason
        self._output.close()
        return reason

    def _make(self, stream: StreamLink) -> Peer:
        self._stream = stream
        self.link = HostLink(
            self._name, stream, self._services.resources, on_hello=self._greeted, on_end=self._link_ended
        )
        return self.link.peer

    def _greeted(self, message: Message) -> None:
        if type(message["pid"]) is not int:
            raise LinkError("a greeting without a pid")
        self.pid = message["pid"]
        if not self._hello.done():
            self._hello.set_result(None)

    def _link_ended(self, reason: str) -> None:
        if not self._hello.done():
            self._hello.set_exception(LinkError(reason or "it ended before it greeted"))
        if self._ending is None:
            # in no TaskGroup: the end of a connection starts it, and it ends by itself
            self._ending = self._loop.create_task(self._end(reason), name=f"host:{self._name}:end")

    async def _end(self, reason: str) -> None:
        self._reason = await self._why(reason)
        self.modules = self.link.module_names
        self.link.lose(lambda module: gone(module, self._reason))
        if self._watch is not None and self._watch is not asyncio.current_task():
            self._watch.cancel()
        if self._process is not None and not self._process.is_over:
            self._process.end(0.0)
        if not self._is_closing:
            self._output.close()
            self._on_ended(self, self._reason)

    async def _why(self, reason: str) -> str:
        """Why the process ended, in words, with the end of what it wrote."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REASON_SECONDS):
                await self._over.wait()
        process = self._process
        if not self._reason and process is not None and process.exit_code is not None:
            reason = _ended_as(process.exit_code)
        reason = self._reason or reason
        last = self._output.last_words
        return f"{reason}; it wrote: {last}" if last and not self._is_closing else reason

    # -- watching ----------------------------------------------------------------------------------------------

    async def _look_after(self, config: ProcessHostConfig) -> None:
        """Ask for a sign of life again and again, and hold the process to its memory."""
        asked_at, waits = self._loop.time(), self._loop.create_task(self.link.ping())
        limit_s = self._services.blocked_s
        try:
            while True:
                await asyncio.sleep(_LOOK_SECONDS)
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

    def _kill(self, reason: str) -> None:
        self._reason = self._reason or reason
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.end(0.0)
        self._stream.abort()


def _refuse_page_scripts(name: str, told: Message) -> None:
    if read_mapping(told["attributes"], f"attributes of module {name!r}").get("runs_scripts_in_page"):
        raise ToolError("module_stays", f"module {name!r} runs scripts in the page, and runs in the server only")


def _here() -> int:
    return os.open(".", os.O_RDONLY | os.O_DIRECTORY)


def _ended_as(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"it was ended by {signal.Signals(-code).name}"
    return f"it ended with exit code {code}"


def _memory_kib(pid: int | None) -> int:
    """What a process holds in memory, without what it shares with others; 0: it is not known."""
    try:
        fields: list[Any] = Path(f"/proc/{pid}/statm").read_text().split()
        return (int(fields[1]) - int(fields[2])) * (os.sysconf("SC_PAGE_SIZE") // _KIB)
    except (OSError, ValueError, IndexError):
        return 0

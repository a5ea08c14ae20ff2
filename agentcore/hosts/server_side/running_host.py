"""One process of a host, with its link: greeted, watched, ended."""

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentcore.config.host_config import ProcessHostConfig
from agentcore.hosts.server_side.child_process import FOUND_HELLO_SECONDS, HELLO_SECONDS, Child, OutlivingChild
from agentcore.hosts.server_side.host_link import HostLink
from agentcore.hosts.server_side.process_host_services import ProcessHostServices
from agentcore.hosts.server_side.replies import Hello, RunningModule
from agentcore.hosts.wire.byte_stream_link import StreamLink
from agentcore.hosts.wire.frames import LinkError
from agentcore.hosts.wire.peer import Peer

_LOOK_SECONDS = 0.2
_MEMORY_SECONDS = 0.05
"""A process can allocate some hundred megabytes in this time."""
_PING_SECONDS = 1.0
_REASON_SECONDS = 0.5
_KILL_SECONDS = 5.0
_KIB = 1024


class RunningHost:
    """One process of a host, with its link.

    Attributes:
        modules: The modules that ran in it when it ended.
        cause: Why it ended, without its output.
        members: Modules that it ran before this server started, as it reports them, by name.
        calls: Calls that it kept running meanwhile: their ids, numbers and remaining time.
    """

    link: HostLink
    _stream: StreamLink

    def __init__(
        self, name: str, services: ProcessHostServices, child: Child, on_ended: Callable[["RunningHost", str], None]
    ) -> None:
        self._name = name
        self._services = services
        self._child = child
        self._on_ended = on_ended
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
        self.version = ""
        self.cause = ""
        self.modules: tuple[str, ...] = ()
        self.members: dict[str, RunningModule] = {}
        self.calls: dict[str, tuple[int, float]] = {}

    @property
    def last_output(self) -> str:
        """The end of what it wrote."""
        return self._child.last_output

    @property
    def is_found(self) -> bool:
        """True if it ran before this server did."""
        return self._child.is_found

    @property
    def has_started(self) -> bool:
        """True if this server has started it."""
        return self._child.has_started

    @property
    def hello_s(self) -> float:
        """How long it may take to greet."""
        return FOUND_HELLO_SECONDS if self.is_found else HELLO_SECONDS

    async def start(self, config: ProcessHostConfig) -> None:
        """Start the process, or find it, and wait for its greeting.

        Raises:
            ChildError, OSError: It could not be had.
            LinkError, TimeoutError: It did not greet, or not as it should.
        """
        made = await self._child.connect()
        self._child.set_exit_callback(self._over.set)
        await self._loop.create_unix_connection(lambda: StreamLink(self._make_peer), sock=made)
        async with asyncio.timeout(self.hello_s):
            said = await self._hello
        self._store_hello_state(said)
        self.send_hello_reply()
        self._watch = self._loop.create_task(self._monitor_process(config), name=f"host:{self._name}:watch")

    def send_hello_reply(self) -> None:
        """Send the host its environment."""
        self.link.peer.send_message({"type": "hello.ok", **self._services.build_hello_reply()})

    def serves_the_same(self) -> bool:
        """True if its environment is that of a host of this server; always true of a new one."""
        return not self.is_found or self._greeting == self._services.build_stable_hello_reply()

    def detach(self) -> None:
        """Leave it to the next server."""
        self._is_closing = True
        self._stop_watching()
        if hasattr(self, "link"):
            self.link.detach()
        self._child.close()

    async def close(self, grace_s: float, reason: str = "") -> str:
        """Stop the process; return why it had ended before, if it had, else the reason."""
        self._is_closing = True
        self._stop_watching()
        if hasattr(self, "link"):
            self.link.peer.close()
        if isinstance(self._child, OutlivingChild):
            await self._child.stop()
        if not self._child.is_over:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    await self._over.wait()
        if not self._child.is_over:
            self._child.kill()
        if not self._child.is_over:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_KILL_SECONDS):
                    await self._over.wait()
        why = self._reason or (await self._describe_end(reason) if reason else "")
        self._child.close()
        return why

    def _stop_watching(self) -> None:
        if self._watch is not None:
            self._watch.cancel()

    def _make_peer(self, stream: StreamLink) -> Peer:
        self._stream = stream
        self.link = HostLink(
            self._name,
            stream,
            self._services.resources,
            outlives=isinstance(self._child, OutlivingChild),
            on_hello=self._handle_hello,
            on_blocked=self._services.on_blocked,
            on_control_files=self._services.on_control_files,
            on_end=self._link_ended,
        )
        return self.link.peer

    def _handle_hello(self, told: Hello) -> None:
        self.pid = told.pid
        self.highest = told.highest
        self.version = told.version
        if not self._hello.done():
            self._hello.set_result(told)

    def _store_hello_state(self, told: Hello) -> None:
        """Store what a found host reports in its greeting."""
        self._greeting = told.greeting
        self.members = {each.name: each for each in told.members}
        self.calls = {each.call: (each.n, each.left_ms / 1000) for each in told.calls}

    def _link_ended(self, reason: str) -> None:
        if not self._hello.done() and not self._is_closing:
            self._hello.set_exception(LinkError(reason or "it ended before it greeted"))
        if self._ending is None and not self._is_closing:
            # in no TaskGroup: the end of a connection starts it, and it ends by itself
            self._ending = self._loop.create_task(self._handle_unexpected_end(reason), name=f"host:{self._name}:end")

    async def _handle_unexpected_end(self, reason: str) -> None:
        if not self.link.peer.is_lost:
            self._child.kill()  # it was cut off
        self._reason = await self._describe_end(self._reason or reason)
        self.modules = self.link.module_names
        self.link.fail_all_calls(self._reason)
        self._stop_watching()
        if not self._child.is_over:
            self._child.kill()
        self._child.close()
        self._on_ended(self, self._reason)

    async def _describe_end(self, reason: str) -> str:
        """Describe why the process ended, with the end of its output."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REASON_SECONDS):
                await self._over.wait()
                await self._child.wait_for_output()
        # a process that was disconnected ends after that: its exit and output are not the cause
        if reason and not self._reason and hasattr(self, "link") and not self.link.peer.is_lost:
            self.cause = reason
            return reason
        reason = self._reason or self._child.ended_as or reason
        self.cause = reason
        last = self._child.last_output
        return f"{reason}; it wrote: {last}" if last else reason

    # -- watching ----------------------------------------------------------------------------------------------

    async def _monitor_process(self, config: ProcessHostConfig) -> None:
        """Ping the process regularly, and enforce its memory limit."""
        asked_at = self._loop.time()
        waits = self._loop.create_task(self.link.ping())
        limit_s = self._services.blocked_s
        try:
            while True:
                await asyncio.sleep(_LOOK_SECONDS if config.memory_mb is None else _MEMORY_SECONDS)
                if config.memory_mb is not None and (used := memory_kib(self.pid)) > config.memory_mb * _KIB:
                    self._kill_with_reason(f"it used {used // _KIB} MiB of memory, and may use {config.memory_mb}")
                now = self._loop.time()
                if waits.done():
                    self.latency_s = waits.result()
                    if now - asked_at >= _PING_SECONDS:
                        asked_at = now
                        waits = self._loop.create_task(self.link.ping())
                elif now - asked_at > limit_s:
                    self._kill_with_reason(f"its event loop did not answer for {limit_s:g} s")
        except asyncio.CancelledError:
            waits.cancel()
            raise

    def end_because(self, reason: str) -> None:
        """End it at once; its modules start again in a new one."""
        self._kill_with_reason(reason)

    def kill(self) -> None:
        """End its process at once."""
        self._child.kill()

    def _kill_with_reason(self, reason: str) -> None:
        self._reason = self._reason or reason
        self._child.kill()
        self._stream.abort()


def memory_kib(pid: int | None) -> int:
    """Return the memory of a process without shared memory; 0: unknown."""
    try:
        fields: list[Any] = Path(f"/proc/{pid}/statm").read_text().split()
        return (int(fields[1]) - int(fields[2])) * (os.sysconf("SC_PAGE_SIZE") // _KIB)
    except (OSError, ValueError, IndexError):
        return 0

"""Starts a process that watches this one, and ends it if its event loop is blocked for too long.

The program of that process is `agentcore/supervision/loop_guard.py`.
"""

import asyncio
import ctypes
import faulthandler
import json
import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from agentcore.store.state.log_file import log_files
from agentcore.store.state.state_dir import StateDir
from agentcore.supervision.blocking_module import Holder
from agentcore.supervision.loop_guard import BEATS, EXIT_SIGNAL
from agentcore.supervision.memory import shared_memory
from agentcore.supervision.server_threads import SHOW_STACK

if TYPE_CHECKING:
    from agentcore.core.modules.module_record import ModuleRecord

log = structlog.get_logger(__name__)

# nothing of the site: neither its start-up time nor what a .pth file would run
_PROGRAM = "import sys; sys.path.append(sys.argv[6]); from agentcore.supervision.loop_guard import main; main()"
_END_SECONDS = 5.0


class LoopGuard:
    """The process that watches this one. It ends with this process, and checks it twice a second.

    Args:
        limit_s: How long the event loop may be blocked.
        grace_s: The same once a signal has requested the end of the server.
        state: The state folder, with the log, and a file that names the blocking code for clients that get no response.
    """

    def __init__(self, *, limit_s: float, grace_s: float, state: StateDir) -> None:
        self._orders = {
            "pid": os.getpid(),
            "limit_s": limit_s,
            "grace_s": grace_s,
            "report": str(state.loop_report_path),
            "log": str(log_files(state.path)[-1]),
            "is_terminal": sys.stderr.isatty(),
        }
        self._on_holder: Callable[[Holder], None] = lambda _: None
        self._beats = memoryview(bytearray(BEATS * 8)).cast("Q")
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._signalled = self._stacks = -1
        self._former_wakeup = -1
        self._received = b""
        self._sending = threading.Lock()

    async def start(self, stop_s: float, on_holder: Callable[[Holder], None]) -> None:
        """Start the process, and let it see signals and have stacks written. Before, all other methods have no effect.

        Args:
            stop_s: How long the server may take to end after a signal.
            on_holder: Called in the event loop with the code that blocked it, if only the process could see that.
        Raises:
            OSError: It could not be started.
        """
        loop = asyncio.get_running_loop()
        self._on_holder = on_holder
        self._control, theirs = socket.socketpair()
        read_signals, self._signalled = os.pipe()
        read_stacks, self._stacks = os.pipe()
        memory = shared_memory(BEATS * 8, "agentcore-beats")
        self._beats = memoryview(mmap.mmap(memory, BEATS * 8)).cast("Q")
        for fd in (self._signalled, self._stacks):
            os.set_blocking(fd, False)
        faulthandler.register(SHOW_STACK, file=self._stacks, all_threads=False)
        _exit_at(EXIT_SIGNAL)
        with theirs:
            fds = (theirs.fileno(), memory, read_signals, read_stacks)
            try:
                self._process = await asyncio.to_thread(_spawn_guard, self._orders | {"stop_s": stop_s}, fds)
            finally:
                for fd in fds[1:]:
                    os.close(fd)
        self._control.setblocking(False)
        loop.add_reader(self._control, self._on_readable)
        with suppress(ValueError):  # in a thread that is not the main one, which signals do not reach either
            self._former_wakeup = signal.set_wakeup_fd(self._signalled, warn_on_full_buffer=False)

    def record_beat(self) -> None:
        """The loop turns."""
        self._beats[0] += 1

    def record_watchdog_beat(self) -> None:
        """Record that a thread of this process can run."""
        self._beats[1] += 1

    def send_modules(self, modules: Iterable["ModuleRecord"]) -> None:
        """Say how to recognise the code of modules."""
        if self._control is not None:
            recognised = {
                record.name: {
                    "folders": record.source_dirs,
                    "tools": [registered.definition.name for registered in record.tools],
                }
                for record in modules
            }
            self._send({"modules": recognised})

    def report_holder(self, holder: Holder) -> None:
        """Report the code that blocks the loop; callable from any thread."""
        self._send({"holder": holder._asdict()})

    async def close(self) -> None:
        """End the process; may be called twice."""
        control = self._control
        self._control = None
        if control is None:
            return
        with suppress(ValueError):
            signal.set_wakeup_fd(self._former_wakeup)
        faulthandler.unregister(SHOW_STACK)
        asyncio.get_running_loop().remove_reader(control)
        control.close()
        for fd in (self._signalled, self._stacks):
            os.close(fd)
        if self._process is not None:
            await asyncio.to_thread(_wait_for, self._process)

    def _send(self, message: dict[str, Any]) -> None:
        with suppress(OSError), self._sending:  # it has ended, or is far behind: it finds out by itself
            if self._control is not None:
                self._control.sendall(json.dumps(message).encode() + b"\n")

    def _on_readable(self) -> None:
        control = self._control
        assert control is not None  # noqa: S101 - else there is no reader
        received = b""
        with suppress(OSError):
            received = control.recv(65536)
        if not received:
            log.warning("loop_guard_lost")
            asyncio.get_running_loop().remove_reader(control)
            return
        *lines, self._received = (self._received + received).split(b"\n")
        for line in lines:
            seen = json.loads(line)["holder"]
            self._on_holder(Holder(**(seen | {"frames": tuple(seen["frames"])})))


def _spawn_guard(orders: dict[str, Any], fds: tuple[int, ...]) -> "subprocess.Popen[bytes]":
    folder = str(Path(__file__).parents[3])
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _PROGRAM, *map(str, fds), json.dumps(orders), folder],
        pass_fds=fds,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if name.endswith("LIBRARY_PATH")},
        cwd="/",
        start_new_session=True,
    )


def _exit_at(number: int) -> None:
    """Have a signal end this process by `_exit`, whose argument, the exit code, is then the signal's number.

    A handler of Python would have to wait for the interpreter's lock, which is what must not be waited for.
    """
    library = ctypes.CDLL(None)
    library.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
    library.signal.restype = ctypes.c_void_p
    library.signal(int(number), ctypes.cast(library["_exit"], ctypes.c_void_p))


def _wait_for(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

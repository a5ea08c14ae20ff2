"""The process of a host, as a server starts, finds and ends it: one that ends with it, or one that survives it."""

import asyncio
import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from agentcore.encoding import to_json
from agentcore.files.folder import Folder
from agentcore.hosts.server_side.worker_output import FileOutput, PipedOutput
from agentcore.hosts.wire.frames import TEXT, encode_frame
from agentcore.hosts.wire.socket_file import short_name
from agentcore.secrets import is_secret_variable
from agentcore.store.state.private_file import make_private_folder, read_private_file, write_private_file
from agentcore.supervision.descendants import kill_all_below
from agentcore.supervision.supervisor import SupervisedProcess, Supervisor, SupervisorError

HELLO_SECONDS = 25.0
"""How long a host may take to greet."""

FOUND_HELLO_SECONDS = 10.0
"""The same of one that runs already; after that there is time to start another one."""

_KEY_BYTES = 256
_LOOK_SECONDS = 0.02
_END_SECONDS = 15.0
_REAP_SECONDS = 0.5
_WORKER = "agentcore.hosts.worker"


class ChildError(OSError):
    """The process of a host could not be started or found; the message says why."""


class Child(Protocol):
    """The process of a host.

    Attributes:
        pid: Its id, once it is known.
        is_found: True if it ran before this server did.
    """

    pid: int | None
    is_found: bool

    @property
    def has_started(self) -> bool:
        """True if this server has started it; neither this nor `is_found` holds while it is looked for."""
        ...

    async def connect(self) -> socket.socket:
        """Start or find it, and return a socket to it.

        Raises:
            ChildError: That failed.
        """
        ...

    def set_exit_callback(self, on_over: Callable[[], None]) -> None:
        """Have a function called when it has ended."""
        ...

    @property
    def is_over(self) -> bool:
        """True if it has ended."""
        ...

    @property
    def ended_as(self) -> str:
        """Describe how it has ended; empty: unknown."""
        ...

    async def wait_for_output(self) -> None:
        """Wait until what it wrote has been read, of one that has ended."""
        ...

    @property
    def last_output(self) -> str:
        """The end of what it wrote that is no line of its log."""
        ...

    def kill(self) -> None:
        """End it at once, and all that it has started."""
        ...

    def close(self) -> None:
        """Release it; it keeps running, or ends by itself."""
        ...


class _Outliving(subprocess.Popen[bytes]):
    """A process that keeps running when this object is deleted, without a warning."""

    def __del__(self) -> None:
        pass


class EndingChild:
    """A process that ends with its server, in whatever way that ends."""

    is_found = False

    def __init__(self, name: str, python: str | None, supervisor: Supervisor) -> None:
        self._name = name
        self._python = python or sys.executable
        self._supervisor = supervisor
        self._output = PipedOutput(name)
        self._process: SupervisedProcess | None = None
        self.pid: int | None = None

    async def connect(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        try:
            with (
                theirs,
                self._output.open_for_writing() as written,
                Folder(os.open(".", os.O_RDONLY | os.O_DIRECTORY)) as folder,
            ):
                self._process = await self._supervisor.start(
                    [self._python, "-P", "-m", _WORKER, self._name],
                    folder=folder,
                    environment=build_environment(),
                    stdin=theirs.fileno(),
                    stdout=written,
                    stderr=written,
                )
        except (SupervisorError, OSError) as exc:
            ours.close()
            raise ChildError(f"{self._python} could not be started: {exc}") from exc
        return ours

    @property
    def has_started(self) -> bool:
        return self._process is not None

    def set_exit_callback(self, on_over: Callable[[], None]) -> None:
        if self._process is not None:
            self._process.on_over(on_over)

    @property
    def is_over(self) -> bool:
        return self._process is None or self._process.is_over

    @property
    def ended_as(self) -> str:
        code = None if self._process is None else self._process.exit_code
        return "" if code is None else _describe_exit(code)

    async def wait_for_output(self) -> None:
        await self._output.ended.wait()

    @property
    def last_output(self) -> str:
        return self._output.last_output

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.end(0.0)

    def close(self) -> None:
        self._output.close()


class OutlivingChild:
    """A process that survives its server: the next one finds it by its socket, and shows it its key.

    Args:
        folder: For socket, key and output; only its owner can enter it.
        keep_s: How long it waits for the next server.
    """

    def __init__(self, name: str, python: str | None, folder: Path, keep_s: float) -> None:
        self._name = name
        self._python = python or sys.executable
        self._folder = folder
        self._keep_s = keep_s
        self._socket = folder / "socket"
        self._output = FileOutput(name, folder / "output")
        self._process: _Outliving | None = None
        self._loop = asyncio.get_running_loop()
        self._pidfd = -1
        self._on_over: Callable[[], None] = lambda: None
        self._is_over = self._is_closed = False
        self.pid: int | None = None
        self.is_found = False

    async def connect(self) -> socket.socket:
        if not hasattr(os, "pidfd_open"):
            raise ChildError("survives_restart needs Linux; leave it out here")
        make_private_folder(self._folder)
        if (found := await _connect_with_key(self._folder, "attach")) is not None:
            self.is_found = True
            return self._adopt_process(found)
        await asyncio.to_thread(self._spawn_process)
        began = time.monotonic()
        while (found := await _connect_with_key(self._folder, "attach")) is None:
            # the started process ends with 0 once the detached one listens
            if self._process is not None and self._process.poll():
                self._output.read_new_output()
                raise ChildError(_describe_exit(self._process.returncode))
            if time.monotonic() - began > HELLO_SECONDS:
                raise ChildError(f"it was not there within {HELLO_SECONDS:g} s")
            await asyncio.sleep(_LOOK_SECONDS)
        if self._process is not None:
            self._loop.call_later(_REAP_SECONDS, self._process.poll)
        return self._adopt_process(found)

    async def stop(self) -> bool:
        """Stop it, whichever server it belongs to; True if it ran."""
        return await stop_surviving_process(self._folder)

    @property
    def has_started(self) -> bool:
        return self._process is not None

    def set_exit_callback(self, on_over: Callable[[], None]) -> None:
        self._on_over = on_over

    @property
    def is_over(self) -> bool:
        if self.pid is None:
            return self._process is None or self._process.poll() is not None
        return self._is_over

    @property
    def ended_as(self) -> str:
        code = None if self._process is None else self._process.poll()
        return _describe_exit(code) if code else ""

    async def wait_for_output(self) -> None:
        """See `Child.wait_for_output`: the output is in a file."""

    @property
    def last_output(self) -> str:
        self._output.read_new_output()
        return self._output.last_output

    def kill(self) -> None:
        if self.pid is not None and not self._is_over:
            # stopped, it starts nothing more
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGSTOP)
                kill_all_below(self.pid)
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        elif self._kill_unreached():
            assert self._process is not None  # noqa: S101 - it was killed
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_REAP_SECONDS)

    def close(self) -> None:
        self._is_closed = True
        self._kill_unreached()
        self._output.close()
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1

    def _kill_unreached(self) -> bool:
        """Kill a process at once that no connection has reached yet; True if there is one."""
        if self.pid is not None or self._process is None:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # it, and the detached one
        return True

    def _spawn_process(self) -> None:
        """Start the process. Call it in a thread, which continues if the waiting task is cancelled."""
        key = secrets.token_urlsafe(32).encode()
        write_private_file(self._folder / "key", key)
        self._socket.unlink(missing_ok=True)
        keeper, given = os.pipe()
        command = [self._python, "-P", "-m", _WORKER, self._name, str(self._socket), f"{self._keep_s:g}"]
        try:
            with self._output.open_for_writing() as written:
                self._process = _Outliving(
                    command,
                    stdin=keeper,
                    stdout=written,
                    stderr=written,
                    env=build_environment(),
                    start_new_session=True,
                    close_fds=True,
                )
            os.write(given, key)
            if self._is_closed:
                self._kill_unreached()
        except OSError as exc:
            raise ChildError(f"{self._python} could not be started: {exc}") from exc
        finally:
            os.close(keeper)
            os.close(given)

    def _adopt_process(self, found: socket.socket) -> socket.socket:
        """Identify the process at the other end by the kernel's information, and watch for its end."""
        self.pid = _peer_of(found)
        self._pidfd = os.pidfd_open(self.pid)
        self._loop.add_reader(self._pidfd, self._handle_exit)
        self._output.follow()
        return found

    def _handle_exit(self) -> None:
        self._loop.remove_reader(self._pidfd)
        self._is_over = True
        if self._process is not None:
            self._process.poll()
        self._on_over()


async def _connect_with_key(folder: Path, wish: str) -> socket.socket | None:
    """Connect to the process of a folder and show its key; None: there is none."""
    key = await asyncio.to_thread(read_private_file, folder / "key", _KEY_BYTES)
    if key is None:
        return None
    loop = asyncio.get_running_loop()
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.setblocking(False)
    try:
        with short_name(folder / "socket") as name:
            await loop.sock_connect(made, name)
        await loop.sock_sendall(made, encode_frame(TEXT, to_json({"type": wish, "key": key.decode()})))
    except OSError:
        made.close()
        return None
    return made


async def stop_surviving_process(folder: Path) -> bool:
    """Stop the surviving process whose socket is in this folder; True if it ran."""
    knocked = await _connect_with_key(folder, "end")
    if knocked is None:
        return False
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    try:
        watched = os.pidfd_open(_peer_of(knocked))
    except ProcessLookupError:  # it is over
        knocked.close()
        return True
    loop.add_reader(watched, over.set)
    try:
        async with asyncio.timeout(_END_SECONDS):
            await over.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(watched, signal.SIGKILL)
    finally:
        loop.remove_reader(watched)
        os.close(watched)
        knocked.close()
    return True


def _peer_of(connection: socket.socket) -> int:
    """The id of the process at the other end, by the kernel's word."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int.from_bytes(credentials[:4], sys.byteorder)


def build_environment() -> dict[str, str]:
    """Return the server's environment for a host, without credentials for the server or for accounts."""
    given = {name: value for name, value in os.environ.items() if not is_secret_variable(name, value)}
    return {name: value for name, value in given.items() if not name.startswith("AGENTCORE_")}


def _describe_exit(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"it was ended by {signal.Signals(-code).name}"
    return f"it ended with exit code {code}"

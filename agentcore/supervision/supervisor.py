"""`Supervisor`: runs commands so that none of their processes survives its owner or the server."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from agentcore.errors import AgentcoreError
from agentcore.files.folder import Folder
from agentcore.supervision.descendants import read_rest
from agentcore.supervision.input_waits import waits_for_terminal
from agentcore.supervision.listening_ports import Listener, find_listeners
from agentcore.supervision.protocol import HEADER
from agentcore.supervision.recorded_output import Recording

# Started without `site`: it costs start-up time, and a .pth file could run code.
_PROGRAM = "import sys; sys.path += sys.argv[2:]; from agentcore.supervision.spawner import main; main()"
_SEND_SECONDS = 10.0
_START_SECONDS = 30.0
_CLOSE_SECONDS = 5.0
_KEEPER_SECONDS = 2.0
"""How long after its deadline a command may still run before its keeper, which the command may have stopped with a
signal, is continued; after the same time again, the keeper is killed."""
_LOST = -9
_MESSAGE_BYTES = 65536

# fmt: off
ENVIRONMENT = frozenset((
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM", "COLORTERM",
    "PAGER", "EDITOR", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME",
    "XDG_DATA_HOME", "XDG_CACHE_HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX",
    "JAVA_HOME", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE",
))
# fmt: on
"""Variables that a command inherits from the server's environment, besides those that begin with `LC_`. None of them
contains secrets: proxy addresses are left out because they may include a password."""


class SupervisorError(AgentcoreError):
    """Raised when a command could not be started; `errno` is the system's reason, or 0 if there is none."""

    def __init__(self, message: str, errno: int = 0) -> None:
        super().__init__(message)
        self.errno = errno


class SupervisedProcess:
    """One command under a supervisor, with all of its descendants.

    Attributes:
        exit_code: None while the command runs; then its exit code, or the negative number of the signal that ended it.
        left_behind: Process id and command line of each process that the command left running and that was terminated
            after it, limited to the first ones; complete once nothing is left.
    """

    def __init__(self, control: socket.socket, recording: Recording | None, wake_spawner: Callable[[], None]) -> None:
        self._loop = loop = asyncio.get_running_loop()
        self._control = control
        self._recording = recording
        self._wake_spawner = wake_spawner
        self._started: asyncio.Future[None] = loop.create_future()
        self._over: asyncio.Future[None] = loop.create_future()
        self._recorded: asyncio.Future[None] = loop.create_future()
        self._on_output: Callable[[], None] | None = None
        self._received = b""
        self._keeper = 0
        self._insisting: asyncio.TimerHandle | None = None
        self.exit_code: int | None = None
        self.left_behind: tuple[tuple[int, str], ...] = ()
        loop.add_reader(control, self._on_readable)

    @property
    def is_over(self) -> bool:
        """True when the command and all its descendants have ended."""
        return self._over.done()

    @property
    def is_recorded(self) -> bool:
        """True when nothing more can be added to the recording."""
        return self._recorded.done()

    async def wait(self) -> int:
        """Wait until no process is left, and return the exit code (negative: the signal that ended the command)."""
        await asyncio.shield(self._over)
        return _LOST if self.exit_code is None else self.exit_code

    def on_over(self, callback: Callable[[], None]) -> None:
        """Register a function that is called in the event loop when no process is left."""
        self._over.add_done_callback(lambda _: callback())

    def on_recorded(self, callback: Callable[[], None]) -> None:
        """Register a function that is called in the event loop when nothing more can be added to the recording."""
        self._recorded.add_done_callback(lambda _: callback())

    def read_rest(self) -> frozenset[tuple[int, str, str]] | None:
        """Return a token that stays equal while no process of the command runs; None if one runs.

        See `descendants.read_rest`; it blocks, because it reads /proc.
        """
        return read_rest(self._keeper) if self._keeper else None

    def list_listeners(self) -> list[Listener]:
        """Return the TCP ports that its processes listen on; it blocks, because it reads /proc."""
        return find_listeners(self._keeper) if self._keeper and not self.is_over else []

    def waits_for_terminal(self, device: int) -> bool:
        """Return True if one of its processes waits for input from a terminal; it blocks, because it reads /proc.

        Args:
            device: The terminal, as `st_rdev`.
        """
        return bool(self._keeper) and not self.is_over and waits_for_terminal(self._keeper, device)

    async def wait_for_recording(self) -> None:
        """Wait until the recorded streams have ended; they do not while another process has them open."""
        await asyncio.shield(self._recorded)

    def on_output(self, beyond: int, callback: Callable[[], None]) -> None:
        """Register a function that is called once in the event loop on new output; replaces an earlier registration.

        Args:
            beyond: The number of recorded bytes (`Recording.written`) that must be exceeded; the end of the recording
                also counts.
            callback: Called soon if the condition is already met.
        """
        self._on_output = callback
        if self.is_recorded:
            self._loop.call_soon(self._notify_output)
        else:
            self._send_order({"tell_beyond": beyond})

    def send_signal(self, number: int) -> None:
        """Signal the command's process group, if it has not ended."""
        self._send_order({"signal": int(number)})

    def end(self, grace_s: float) -> None:
        """Terminate all processes: SIGTERM to the process group now, SIGKILL to those left after the grace period.

        Args:
            grace_s: Grace period in seconds; 0 sends SIGKILL at once.
        """
        self._send_order({"end": grace_s})
        if self._insisting is None:
            self._insisting = self._loop.call_later(grace_s + _KEEPER_SECONDS, self._force_end)
            self._over.add_done_callback(lambda _: self._cancel_force_end())

    def _force_end(self) -> None:
        """Continue the keeper and terminate again after the deadline: a command can have sent its keeper SIGSTOP."""
        if self.is_over:
            return
        self._signal_keeper(signal.SIGCONT)
        self._send_order({"end": 0})
        self._insisting = self._loop.call_later(_KEEPER_SECONDS, self._signal_keeper, signal.SIGKILL)

    def _signal_keeper(self, number: signal.Signals) -> None:
        self._wake_spawner()  # it terminates what a keeper leaves behind
        # As long as the keeper's end of the socket is open, its pid cannot belong to another process.
        if self._keeper and self._control.fileno() >= 0:
            with suppress(ProcessLookupError):
                os.kill(self._keeper, number)

    def _cancel_force_end(self) -> None:
        if self._insisting is not None:
            self._insisting.cancel()

    async def wait_for_start(self) -> None:
        """Wait until the command runs.

        Raises:
            SupervisorError: If it could not be run, or did not start within 30 s.
        """
        try:
            async with asyncio.timeout(_START_SECONDS):
                await asyncio.shield(self._started)
        except TimeoutError as exc:
            self.abandon()
            raise SupervisorError(f"the command did not start within {_START_SECONDS:g} s") from exc
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Close the connection to the keeper, which then kills all processes of the command at once."""
        if self._control.fileno() >= 0:
            self._release()
            self._wake_spawner()  # continues the keeper too: a stopped one would not notice the closed socket

    def _release(self) -> None:
        self._loop.remove_reader(self._control)
        self._control.close()
        if not self._started.done():
            self._started.cancel()
        if self._recording is not None:
            self._recording.close()
        for future in (self._over, self._recorded):
            if not future.done():
                future.set_result(None)
        self._notify_output()

    def _notify_output(self) -> None:
        callback = self._on_output
        self._on_output = None
        if callback is not None:
            callback()

    def _send_order(self, order: Mapping[str, object]) -> None:
        with suppress(OSError):  # it has already ended
            self._control.send(json.dumps(order).encode() + b"\n")

    def _on_readable(self) -> None:
        try:
            received = self._control.recv(_MESSAGE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        *lines, self._received = (self._received + received).split(b"\n")
        for line in lines:
            self._handle_message(json.loads(line))
        if not received:
            self._fail_start("its supervisor was killed")
            self._release()

    def _handle_message(self, message: Mapping[str, Any]) -> None:
        if "started" in message and not self._started.done():
            self._keeper = message["started"]
            self._started.set_result(None)
        elif "failed" in message:
            self._fail_start(os.strerror(message["failed"]), message["failed"])
        elif "exited" in message:
            self.exit_code = message["exited"]
            self._notify_output()  # callers that wait for output have to see that the command has exited
        elif "left" in message:
            self.left_behind = tuple((pid, command) for pid, command in message["left"])
        elif "wrote" in message:
            self._notify_output()
        elif "ended" in message and self._recording is not None and not self._over.done():
            self._over.set_result(None)

    def _fail_start(self, message: str, errno: int = 0) -> None:
        if not self._started.done():
            self._started.set_exception(SupervisorError(message, errno))


class Supervisor:
    """Starts commands below a process that terminates all their descendants, including detached ones.

    They are terminated when the command ends, on request, when the supervisor closes, and when the server dies for any
    reason. On macOS, which cannot adopt orphans, a process that detaches itself twice can escape.

    The first command starts the supervising process. It costs one small process, two smaller ones that wait for the
    next command, and one for each running command.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spawner: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._processes: set[SupervisedProcess] = set()
        self._is_closed = False

    @staticmethod
    def environment(also: Iterable[str] = (), environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """Return the part of the server's environment that commands may see.

        Args:
            also: Names in addition to the allow-list (`ENVIRONMENT`).
            environ: The server's environment.
        """
        names = {*ENVIRONMENT, *also}
        return {name: value for name, value in environ.items() if name in names or name.startswith("LC_")}

    @property
    def processes(self) -> Sequence[SupervisedProcess]:
        """The commands that still have running processes."""
        return tuple(process for process in self._processes if not process.is_over)

    async def start(
        self,
        argv: Sequence[str],
        *,
        folder: Folder,
        environment: Mapping[str, str],
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        has_terminal: bool = False,
        own_keyring: bool = False,
        ends_with_command: bool = True,
        recording: Recording | None = None,
    ) -> SupervisedProcess:
        """Run a command in a session and process group of its own.

        Args:
            argv: The absolute path of a program, and its arguments.
            folder: The working folder; entered by descriptor, so that no path is resolved again.
            environment: Its complete environment; see `environment`.
            stdin: A descriptor that the caller still owns; None for /dev/null. So for `stdout` and `stderr`.
            stdout: Descriptor for its output.
            stderr: Descriptor for its errors.
            has_terminal: True if `stdin` is a terminal that becomes the controlling one.
            own_keyring: True to hide the kernel keys that the server can use (keyrings(7)) from it.
            ends_with_command: True to terminate the processes that it leaves running. Otherwise they continue, unless
                the command ended by a signal, and the process is over when none is left.
            recording: Records the streams that it writes to.
        Raises:
            SupervisorError: If the command cannot be run, or the supervisor is closed.
        """
        request: dict[str, Any] = {"argv": list(argv), "env": dict(environment), "terminal": has_terminal}
        request |= {"own_keyring": own_keyring, "ends_with_command": ends_with_command}
        if recording is not None:
            request |= recording.request()
        message = json.dumps(request).encode()
        try:
            ours, theirs = socket.socketpair()
        except OSError as exc:
            raise SupervisorError(exc.strerror or str(exc), exc.errno or 0) from exc
        ours.setblocking(False)
        process = SupervisedProcess(ours, recording, self._wake_spawner)
        self._processes.add(process)
        process.on_recorded(lambda: self._processes.discard(process))
        fds = _Descriptors(theirs)
        try:
            fds.duplicate(folder, (stdin, stdout, stderr))
            if recording is not None:
                fds.add(recording.open())
            await asyncio.to_thread(self._send_request, HEADER.pack(len(message)) + message, fds)
        except OSError as exc:
            process.abandon()
            raise SupervisorError(exc.strerror or str(exc), exc.errno or 0) from exc
        except BaseException:
            process.abandon()
            raise
        finally:
            fds.close_unless_claimed()  # a cancelled call's thread may never have started
        await process.wait_for_start()
        return process

    async def close(self, grace_s: float = 0.0) -> None:
        """Terminate all commands, and wait until none of their processes is left; safe to call twice.

        Args:
            grace_s: Seconds between SIGTERM and SIGKILL; 0 kills at once.
        """
        self._is_closed = True
        living = self.processes
        for process in living:
            process.end(grace_s)
        with suppress(TimeoutError):  # a process that the kernel does not let die is abandoned below
            async with asyncio.timeout(grace_s + _CLOSE_SECONDS):
                for process in living:
                    await process.wait()
        for process in tuple(self._processes):
            process.abandon()
        await asyncio.to_thread(self._stop_spawner)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _send_request(self, message: bytes, fds: "_Descriptors") -> None:
        if not fds.claim():
            return
        try:
            with self._lock:
                requests = self._running_spawner()
                try:
                    sent = socket.send_fds(requests, [message], fds.numbers)
                    requests.sendall(message[sent:])
                except OSError:
                    self._drop_spawner()  # it has half a request, and would misread the next one
                    raise
        finally:
            fds.close()

    def _drop_spawner(self) -> None:
        if self._requests is not None:
            self._requests.close()
            self._requests = None
        if self._spawner is not None:
            self._spawner.kill()
            self._spawner.wait()
            self._spawner = None

    def _running_spawner(self) -> socket.socket:
        if self._is_closed:
            raise SupervisorError("the supervisor is closed")
        if self._requests is not None and self._spawner is not None and self._spawner.poll() is None:
            self._wake_spawner()
            return self._requests
        if self._requests is not None:
            self._requests.close()
        self._requests, theirs = socket.socketpair()
        self._requests.settimeout(_SEND_SECONDS)
        with theirs:
            number = theirs.fileno()
            self._spawner = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROGRAM, str(number), *_list_import_folders()],
                pass_fds=(number,),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={name: value for name, value in self.environment().items() if name.endswith("LIBRARY_PATH")},
                cwd="/",
                start_new_session=True,
            )
        return self._requests

    def _wake_spawner(self) -> None:
        """Continue the spawner and its keepers, in case a command has stopped them."""
        spawner = self._spawner
        if spawner is not None and spawner.returncode is None:
            os.kill(spawner.pid, signal.SIGCONT)  # the pid cannot be reused until it is waited for

    def _stop_spawner(self) -> None:
        with self._lock:
            self._wake_spawner()
            if self._requests is not None:
                self._requests.close()
                self._requests = None
            if self._spawner is None:
                return
            try:
                self._spawner.wait(_CLOSE_SECONDS)
            except subprocess.TimeoutExpired:
                self._spawner.kill()
                self._spawner.wait()
            self._spawner = None


class _Descriptors:
    """The descriptors of a request: closed by the thread that claims and sends them, or if no thread does."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._claims = threading.Semaphore(1)
        self.numbers = [control.fileno()]

    def duplicate(self, folder: Folder, stdio: Iterable[int | None]) -> None:
        """Duplicate the descriptors of the working folder and the three streams."""
        self.numbers.append(os.open(folder.path_for_child(), os.O_RDONLY | os.O_DIRECTORY))
        for fd in stdio:
            self.numbers.append(os.open(os.devnull, os.O_RDWR) if fd is None else os.dup(fd))

    def add(self, fds: Iterable[int]) -> None:
        """Add further descriptors, which are owned from now on."""
        self.numbers += fds

    def claim(self) -> bool:
        """Claim the right to send and close them; False if they are already claimed."""
        return self._claims.acquire(blocking=False)

    def close_unless_claimed(self) -> None:
        """Close them unless a thread has claimed them."""
        if self.claim():
            self.close()

    def close(self) -> None:
        """Close all of them, including the spawner's end of the control socket."""
        self._control.close()
        for fd in self.numbers[1:]:
            os.close(fd)
        self.numbers.clear()


def _list_import_folders() -> list[str]:
    """List the import path of the spawner: its own code and the one library that it needs."""
    library = find_spec("stringzilla")
    folders = [Path(__file__).parents[2], *([Path(library.origin).parent] if library and library.origin else [])]
    return [str(folder) for folder in folders]

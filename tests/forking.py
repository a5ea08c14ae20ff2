"""`python -m agentcore` as a process of its own, without the half second in which an interpreter imports it.

One process has imported all of agentcore and does nothing else. Each command is a copy of it (`fork`), with standard
streams, folder, environment and session of its own, that runs on as `python -m agentcore` does; it is a child of the
process that asked for it, as any other. Where that cannot be done, and where installed wheels are tested
(`AGENTCORE_TEST_INTERPRETERS=fresh`), each command is an interpreter that starts.
"""

import asyncio
import atexit
import contextlib
import ctypes
import fcntl
import gc
import json
import os
import pkgutil
import platform
import runpy
import signal
import socket
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parent.parent
_LIMIT_BYTES = 1 << 20
_CLONE_PARENT = 0x8000
_SYS_CLONE = {"x86_64": 56, "aarch64": 220}.get(platform.machine()) if sys.platform == "linux" else None
# a provider's library costs more than all the rest, and few commands speak to that provider
_NOT_IMPORTED = ("agentcore.testing", "agentcore.chat.model.anthropic_model")
_CAN_COPY = _SYS_CLONE is not None and os.environ.get("AGENTCORE_TEST_INTERPRETERS") != "fresh"


def can_copy(python: str, environ: Mapping[str, str]) -> bool:
    """Whether a command can be a copy: an interpreter that starts in this environment would be as ours is."""
    is_ours = all(value == os.environ.get(name) for name, value in environ.items() if name.startswith("PYTHON"))
    return _CAN_COPY and python == sys.executable and is_ours


class Command(subprocess.Popen):
    """A command of agentcore; of the options of `Popen` it knows `cwd`, `env`, `text` and the standard streams.

    Args:
        arguments: Without `python -m agentcore`.
        python: Another interpreter than the tests', which starts in any case.
        owns_terminal: Whether it gets a session of its own, whose terminal is its standard input.
    """

    def __init__(self, *arguments: str, python: str = sys.executable, owns_terminal: bool = False, **options: Any):
        self._words, self._owns_terminal = arguments, owns_terminal
        self._is_copy = can_copy(python, options.get("env") or {})
        at_start = _take_terminal if owns_terminal else None
        command = [python, "-m", "agentcore", *arguments]
        super().__init__(command, start_new_session=owns_terminal, preexec_fn=at_start, **options)

    def _execute_child(self, *given: Any) -> None:
        if not self._is_copy:
            super()._execute_child(*given)
            return
        cwd, environ, pipes = given[5], given[6], given[10:16]
        streams = [number if end == -1 else end for number, end in enumerate((pipes[0], pipes[3], pipes[5]))]
        request = {
            "words": self._words,
            "cwd": str(cwd or Path.cwd()),
            "environ": dict(os.environ if environ is None else environ),
            "owns_terminal": self._owns_terminal,
        }
        self.pid = _original().copy(request, streams)
        self._child_created = True
        self._close_pipe_fds(*pipes)


def run(*arguments: str, typed: str = "", limit_s: float, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, and give its output as text; the options are those of `Command`."""
    pipe = subprocess.PIPE
    with Command(*arguments, stdin=pipe, stdout=pipe, stderr=pipe, text=True, **options) as command:
        try:
            out, err = command.communicate(typed, limit_s)
        except BaseException:
            command.kill()
            raise
    return subprocess.CompletedProcess(command.args, command.returncode, out, err)


class AsyncCommand:
    """A command whose output is read, and whose end is awaited, in an event loop.

    Attributes:
        pid: Its process id.
        stdout: Its standard output, where that is a pipe.
        stderr: Its standard error, where that is a pipe.
    """

    def __init__(self, command: Command, loop: asyncio.AbstractEventLoop) -> None:
        self._command = command
        self._ended = asyncio.Event()
        self.pid = command.pid
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        # a thread of its own: commands may outnumber the threads of the loop's executor
        threading.Thread(target=self._report_end, args=(loop,), daemon=True).start()

    @property
    def returncode(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._command.returncode

    async def read_pipes(self, limit_bytes: int) -> None:
        """Read its output from now on."""
        self.stdout = await self._reader(self._command.stdout, limit_bytes)
        self.stderr = await self._reader(self._command.stderr, limit_bytes)

    async def wait(self) -> int:
        """Wait for its end; gives the exit code."""
        await self._ended.wait()
        return self._command.wait()

    async def read_to_end(self) -> str:
        """Wait for its end; gives what it printed."""
        assert self.stdout is not None
        printed = await self.stdout.read()
        await self.wait()
        return printed.decode()

    def send_signal(self, number: int) -> None:
        """Send it a signal.

        Raises:
            ProcessLookupError: It has ended.
        """
        if self._command.poll() is not None:
            raise ProcessLookupError
        self._command.send_signal(number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    async def _reader(self, pipe: Any, limit_bytes: int) -> asyncio.StreamReader | None:
        if pipe is None:
            return None
        reader = asyncio.StreamReader(limit_bytes)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        return reader

    def _report_end(self, loop: asyncio.AbstractEventLoop) -> None:
        self._command.wait()
        with contextlib.suppress(RuntimeError):  # the test is over
            loop.call_soon_threadsafe(self._ended.set)


async def start_command(*arguments: str, limit_bytes: int = 1 << 24, **options: Any) -> AsyncCommand:
    """Start a command in an event loop; the options are those of `Command`.

    Args:
        arguments: Without `python -m agentcore`.
        limit_bytes: How long a line of its output may be.
    """
    loop = asyncio.get_running_loop()
    command = AsyncCommand(await asyncio.to_thread(lambda: Command(*arguments, **options)), loop)
    await command.read_pipes(limit_bytes)
    return command


class _Original:
    """The process that is copied, which lives as long as this one."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forking", str(theirs.fileno())],
                cwd=_ROOT,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        atexit.register(self.close)

    def copy(self, request: dict[str, Any], streams: list[int]) -> int:
        """Start a copy with these standard streams; its process id."""
        with self._lock:
            socket.send_fds(self._socket, [json.dumps(request).encode()], streams)
            answer = self._socket.recv(_LIMIT_BYTES)
        if not answer:
            raise RuntimeError("the process that commands are copied from has ended")
        return int(answer)

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._process.wait()


@cache
def _original() -> _Original:
    return _Original()


def _take_terminal() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # tests that run in the background ignore it
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _fork_sibling() -> int:
    """`os.fork`, but that the new process is a child of this one's parent: see CLONE_PARENT in clone(2)."""
    python = ctypes.PyDLL(None, use_errno=True)  # which keeps the interpreter's lock
    python.PyOS_BeforeFork()
    pid = int(python.syscall(_SYS_CLONE, _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0))
    if pid == 0:
        python.PyOS_AfterFork_Child()
        return 0
    python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(ctypes.get_errno(), "clone")
    return pid


def _serve_copies(channel: socket.socket) -> None:
    """Make the copies that are asked for; returns in each copy, and never in the original."""
    while True:
        message, streams, _, _ = socket.recv_fds(channel, _LIMIT_BYTES, 3)
        if not message:
            os._exit(0)
        if not (pid := _fork_sibling()):
            break
        for stream in streams:
            os.close(stream)
        channel.send(str(pid).encode())
    channel.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    request = json.loads(message)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environ"])
    if request["owns_terminal"]:
        os.setsid()
        _take_terminal()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests that run in the background ignore it
    sys.path[0] = request["cwd"]
    sys.argv[1:] = request["words"]


def _build_what_a_first_chat_builds() -> None:
    """Have copies find the schemas of messages and the list of prices: half a second for each of them."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    from agentcore.chat.model import openai_model
    from agentcore.chat.settings import ModelChoice

    ModelMessagesTypeAdapter.dump_json([])
    openai_model.create_model(ModelChoice(provider="openai", model="m"))


if __name__ == "__main__":
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"  # as the command line does, before it imports pydantic
    import agentcore

    for found in pkgutil.walk_packages(agentcore.__path__, "agentcore."):
        if not found.name.startswith(_NOT_IMPORTED) and not found.name.endswith("__main__"):
            import_module(found.name)
    _build_what_a_first_chat_builds()
    gc.freeze()
    _serve_copies(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module("agentcore", run_name="__main__", alter_sys=True)

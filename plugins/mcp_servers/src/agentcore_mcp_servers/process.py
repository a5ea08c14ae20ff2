"""`ServerProcess`: a local server that is run as a command under the supervisor."""

import asyncio
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from agentcore.api import (
    ConfinedRun,
    ControlFiles,
    Folder,
    Recording,
    Sandbox,
    SupervisedProcess,
    Supervisor,
    SupervisorError,
    ToolError,
    mask_secrets,
)
from agentcore_mcp_servers.dispatcher import LineDispatcher

_STDERR_LINES = 200
_STDERR_BYTES = 64 * 1024
_STDERR_SHOWN = 2_000
_GRACE_SECONDS = 2.0
_SHELL_SIGNALS = 128
_SIGNALS = {9: "was killed (SIGKILL)", 15: "was ended (SIGTERM)", 11: "crashed (SIGSEGV)", 6: "aborted (SIGABRT)"}


_OF_FAILURE = re.compile(
    r"error|exception|cannot|can't|could not|unable|fail|not found|no such|denied|missing|required|invalid|refused",
    re.IGNORECASE,
)
_OF_CAUSE = re.compile(r"does not satisfy|^npm (?:error|ERR!) (?!(?:code|errno|syscall|path|dest|command)\b)")
"""What uv says of an interpreter or package of the wrong version, and npm of a failure, before what follows from it."""
_FRAME = re.compile(r"at |File \"|\^|\||\d+ \|")
"""Beginnings of lines of a stack, or of the source that it quotes."""
_OF_GROUP = re.compile(r"^\s*\+-[+-]*-{9}", re.MULTILINE)
"""A line between the exceptions of a group, or after them."""
_MARGIN_OF_GROUP = re.compile(r"[\s|+-]+")
"""What Python writes before each line of the exceptions in a group, and between them."""
_KEY_LINE_CHARS = 500
_UNSEEN = "where the sandbox shows nothing, as in /tmp: install it elsewhere, or make its folder `cwd` in the block"


@dataclass(frozen=True, slots=True)
class Confined:
    """The confinement of a server.

    Args:
        sandbox: The sandbox, which may be off.
        roots: Folders that the server may write in the sandbox.
        control_files: Guards the control files in these folders, which decide what runs outside the sandbox.
        module: The module's name for reports of the guard.
    """

    sandbox: Sandbox
    roots: Sequence[Path]
    control_files: ControlFiles
    module: str


@dataclass(frozen=True, slots=True)
class Launch:
    """The parameters for starting a server.

    Args:
        argv: The program and its arguments from the block.
        environment: Its complete environment.
        open_folder: Opens its working folder.
        confined: Its confinement.
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    open_folder: Callable[[], Folder]
    confined: Confined

    @property
    def is_confined(self) -> bool:
        """True if it runs in a sandbox."""
        return self.confined.sandbox.is_on


class ServerProcess:
    """One run of a server; a context manager that returns the dispatcher for the SDK.

    Args:
        supervisor: Runs it, and terminates all of its descendants.
        launch: The parameters for starting it.
        on_odd: Called with a description of each invalid message that is dropped.
    """

    def __init__(self, supervisor: Supervisor, launch: Launch, on_odd: Callable[[str], None]) -> None:
        self._supervisor = supervisor
        self._launch = launch
        self._on_odd = on_odd
        self.host = ""
        self._recording = Recording((_STDERR_LINES, _STDERR_BYTES))
        self._process: SupervisedProcess | None = None
        self._input: asyncio.StreamWriter | None = None
        self._output: asyncio.BaseTransport | None = None

    async def __aenter__(self) -> LineDispatcher:
        """Start the server.

        Raises:
            ToolError: `server_not_started`.
        """
        dispatcher = LineDispatcher(self._write_line, self._on_odd)
        try:
            await self._start_process(dispatcher)
        except BaseException:
            await self.__aexit__()
            raise
        return dispatcher

    async def __aexit__(self, *_: object) -> None:
        """Stop the server: close its input, send SIGTERM after 2 s, and SIGKILL to all that is left after 2 s more."""
        if self._input is not None:
            self._input.close()
        process = self._process
        if process is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_GRACE_SECONDS):
                    await process.wait()
            process.end(_GRACE_SECONDS)
            await process.wait()
        if self._input is not None and self._input.transport.get_write_buffer_size():
            self._input.transport.abort()  # drop what it did not read; close() alone would wait for that
        if self._output is not None:
            self._output.close()

    async def wait(self) -> None:
        """Wait until the server and all its descendants have ended."""
        assert self._process is not None  # noqa: S101 - it is waited for once it has started
        await self._process.wait()

    @property
    def ending(self) -> str:
        """How the server ended, with the end of its stderr; a phrase that follows the server's name."""
        return self._describe_ending(self.output)

    @property
    def brief_ending(self) -> str:
        """How the server ended, with the one line of its stderr that says most; a phrase like `ending`."""
        return self._describe_ending(find_key_line(self.output))

    def _describe_ending(self, said: str) -> str:
        process = self._process
        code = None if process is None else process.exit_code
        if self._launch.is_confined and _is_unseen(self._launch.argv[0], self.output):
            return f"could not be started: {self._launch.argv[0]!r}, or what runs it, lies {_UNSEEN}"
        how = "closed its output" if code is None else self._describe_exit(code)
        return f"{how}; it wrote: {said}" if said else f"{how}, and wrote nothing of why"

    def _describe_exit(self, code: int) -> str:
        # Like a shell, bubblewrap exits with 128 + N if the program was ended by signal N.
        number = code - _SHELL_SIGNALS if self._launch.is_confined else -code
        if number in _SIGNALS or code < 0:
            return _SIGNALS.get(number, f"was ended by signal {-code}")
        return f"ended with exit code {code}"

    @property
    def output(self) -> str:
        """The end of the server's stderr, at most 2,000 characters."""
        if self._process is None:
            return ""
        # Mask before truncating: half a secret would not be recognised.
        text = self.log.strip()
        return text if len(text) <= _STDERR_SHOWN else f"…{text[-_STDERR_SHOWN:]}"

    @property
    def log(self) -> str:
        """The recorded part of the server's stderr, with secrets masked."""
        excerpt = self._recording.tracks[0].since()
        text = excerpt.data.decode("utf-8", "replace")
        # A line whose start was dropped may contain half a secret.
        return mask_secrets(_without_cut_line(text) if excerpt.start.offset else text)

    async def _start_process(self, dispatcher: LineDispatcher) -> None:
        command = self._launch.argv[0]
        program = _find_program(command, self._launch.environment.get("PATH"))
        if program is None:
            message = f"there is no program {command!r} on PATH; install it, or give its absolute path"
            raise ToolError("server_not_started", message, retryable=True, command=command, waits_for="program")
        with _Pipes() as pipes:
            (stdin, ours_in) = pipes.open_pipe()
            (ours_out, stdout) = pipes.open_pipe()
            (ours_err, stderr) = pipes.open_pipe()
            self._recording.record(ours_err, self._recording.tracks[0])
            try:
                self._process = await self._start_confined([program, *self._launch.argv[1:]], (stdin, stdout, stderr))
            except (SupervisorError, OSError) as exc:
                message = f"{command!r} could not be started: {exc}"
                raise ToolError("server_not_started", message, retryable=True, command=command) from exc
            self._input = await _connect_input(pipes.release(ours_in))
            self._output = await _connect_output(pipes.release(ours_out), dispatcher)

    async def _start_confined(self, argv: Sequence[str], stdio: tuple[int, int, int]) -> SupervisedProcess:
        """Start the server, and guard the workspace's control files until all its processes have ended.

        Raises:
            SupervisorError: If the server cannot be run.
            OSError: If its folder cannot be opened.
            ToolError: If the workspace cannot be guarded.
        """
        confined = self._launch.confined
        guard = confined.control_files
        stdin, stdout, stderr = stdio
        with self._launch.open_folder() as folder:
            run: ConfinedRun | None = None
            if confined.sandbox.is_on:
                run = await guard.begin(confined.sandbox.wanted, confined.module)
            try:
                hold = None if run is None else run.hold
                process = await self._supervisor.start(
                    confined.sandbox.wrap(argv, confined.roots, os.fsdecode(folder.real_path()), hold),
                    folder=folder,
                    environment=self._launch.environment,
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                    own_keyring=run is not None,
                    recording=self._recording,
                )
            except BaseException:
                if run is not None:
                    await guard.end(run)
                raise
        if run is not None:
            guard.watch(run, process)
        return process

    async def _write_line(self, line: bytes) -> None:
        assert self._input is not None  # noqa: S101 - it is written to once it has started
        # Drain before writing: if the wait is cancelled, nothing of the line has been sent.
        await self._input.drain()
        self._input.write(line)


class _Output(asyncio.Protocol):
    """Passes the server's output to the dispatcher."""

    def __init__(self, dispatcher: LineDispatcher) -> None:
        self._dispatcher = dispatcher

    def data_received(self, data: bytes) -> None:
        self._dispatcher.feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._dispatcher.mark_closed()


def find_key_line(output: str) -> str:
    """Return the line of a program's output that says most about its failure; empty if it wrote nothing.

    Programs end with the reason (Python), or write it before the frames of their stack (Node.js); uv and npm end
    with what follows from it.
    """
    written = [line.strip() for line in output.splitlines()]
    lines = [line for line in written if line and not line.startswith("npm notice")]
    if _OF_GROUP.search(output):
        lines = [_MARGIN_OF_GROUP.sub("", line, count=1) if line[0] in "|+" else line for line in lines]
    if cause := next((line for line in lines if _OF_CAUSE.search(line)), ""):
        return cause[:_KEY_LINE_CHARS]
    told = [line for line in lines if _OF_FAILURE.search(line) and not _FRAME.match(line)]
    return (told or lines or [""])[-1][:_KEY_LINE_CHARS]


def _without_cut_line(text: str) -> str:
    """Remove the first line of a text, or the first word if it has only one line."""
    parts = text.split("\n", 1) if "\n" in text.strip() else text.split(None, 1)
    return parts[-1] if len(parts) > 1 else ""


def _find_program(command: str, path: str | None) -> str | None:
    """Return the absolute path of a program; links are kept, as an interpreter finds its packages by its link."""
    found = shutil.which(command, path=path)
    return None if found is None else str(Path(found).absolute())


def _is_unseen(command: str, said: str) -> bool:
    """Return True if bubblewrap did not find a program because the sandbox hides it."""
    return said.startswith("bwrap: execvp ") and command in said and said.endswith("No such file or directory")


async def _connect_output(fd: int, dispatcher: LineDispatcher) -> asyncio.BaseTransport:
    pipe = os.fdopen(fd, "rb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: _Output(dispatcher), pipe)
    return transport


async def _connect_input(fd: int) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(fd, "wb", buffering=0)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
    return asyncio.StreamWriter(transport, protocol, None, loop)


class _Pipes:
    """Opens pipes, and closes all ends that were not released."""

    def __init__(self) -> None:
        self._fds: set[int] = set()

    def open_pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._fds.update(ends)
        return ends

    def release(self, fd: int) -> int:
        self._fds.discard(fd)
        return fd

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self._fds:
            os.close(fd)

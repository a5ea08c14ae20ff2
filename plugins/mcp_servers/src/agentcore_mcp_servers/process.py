"""`ServerProcess`: a server that is a command, under the supervisor."""

import asyncio
import os
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


_UNSEEN = "where the sandbox shows nothing, as in /tmp: install it elsewhere, or make its folder `cwd` in the block"


@dataclass(frozen=True, slots=True)
class Confined:
    """How a server is confined.

    Args:
        sandbox: What it runs in, where that is on.
        roots: Folders that it can write there.
        control_files: Guards what decides, in these folders, what runs outside of the sandbox.
        module: The module's name, for that.
    """

    sandbox: Sandbox
    roots: Sequence[Path]
    control_files: ControlFiles
    module: str


@dataclass(frozen=True, slots=True)
class Launch:
    """How a server is started.

    Args:
        argv: The program and its arguments, as the block says.
        environment: All that it gets.
        open_folder: Opens its working folder.
        confined: How it is confined.
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    open_folder: Callable[[], Folder]
    confined: Confined

    @property
    def is_confined(self) -> bool:
        """True when it runs in a sandbox."""
        return self.confined.sandbox.is_on


class ServerProcess:
    """One run of a server; a context manager that gives the SDK's dispatcher.

    Args:
        supervisor: Runs it, and ends all that came of it.
        launch: How.
        on_odd: Is told what is wrong with what it writes, and left out.
    """

    def __init__(self, supervisor: Supervisor, launch: Launch, on_odd: Callable[[str], None]) -> None:
        self._supervisor = supervisor
        self._launch = launch
        self._on_odd = on_odd
        self._recording = Recording((_STDERR_LINES, _STDERR_BYTES))
        self._process: SupervisedProcess | None = None
        self._input: asyncio.StreamWriter | None = None
        self._output: asyncio.BaseTransport | None = None

    async def __aenter__(self) -> LineDispatcher:
        """Start it.

        Raises:
            ToolError: `server_not_started`.
        """
        dispatcher = LineDispatcher(self._write_line, self._on_odd)
        await self._start_process(dispatcher)
        return dispatcher

    async def __aexit__(self, *_: object) -> None:
        """End it: its input ends, then SIGTERM after a while, then SIGKILL to all that is left."""
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
            self._input.transport.abort()  # what it did not read of a full pipe; one that is closed already has none
        if self._output is not None:
            self._output.close()

    async def wait(self) -> None:
        """Wait until nothing of it is left."""
        assert self._process is not None  # noqa: S101 - it is waited for once it has started
        await self._process.wait()

    @property
    def ending(self) -> str:
        """How it ended, with the last that it said of itself."""
        process = self._process
        code = None if process is None else process.exit_code
        if self._launch.is_confined and _is_unseen(self._launch.argv[0], self.stderr_tail):
            return f"could not be started: {self._launch.argv[0]!r}, or what runs it, lies {_UNSEEN}"
        how = "closed its output" if code is None else self._describe_exit(code)
        said = self.stderr_tail
        return f"{how}; it wrote: {said}" if said else f"{how}, and wrote nothing of why"

    def _describe_exit(self, code: int) -> str:
        # bubblewrap says of a signal what a shell does
        number = code - _SHELL_SIGNALS if self._launch.is_confined else -code
        if number in _SIGNALS or code < 0:
            return _SIGNALS.get(number, f"was ended by signal {-code}")
        return f"ended with exit code {code}"

    @property
    def stderr_tail(self) -> str:
        """The end of what it wrote to its errors."""
        if self._process is None:
            return ""
        # masked before it is cut: half a secret is not recognised
        text = self.log.strip()
        return text if len(text) <= _STDERR_SHOWN else f"…{text[-_STDERR_SHOWN:]}"

    @property
    def log(self) -> str:
        """What it wrote to its errors, as far as that is kept, with secrets masked."""
        excerpt = self._recording.tracks[0].since()
        text = excerpt.data.decode("utf-8", "replace")
        # of a line whose beginning is gone, half a secret may be left
        return mask_secrets(_without_cut_line(text) if excerpt.start.offset else text)

    async def _start_process(self, dispatcher: LineDispatcher) -> None:
        command = self._launch.argv[0]
        program = _find_program(command, self._launch.environment.get("PATH"))
        if program is None:
            message = f"there is no program {command!r} on PATH; install it, or give its absolute path"
            raise ToolError("server_not_started", message, command=command)
        with _Pipes() as pipes:
            (stdin, ours_in) = pipes.open_pipe()
            (ours_out, stdout) = pipes.open_pipe()
            (ours_err, stderr) = pipes.open_pipe()
            self._recording.record(ours_err, self._recording.tracks[0])
            try:
                self._process = await self._start_confined([program, *self._launch.argv[1:]], (stdin, stdout, stderr))
            except (SupervisorError, OSError) as exc:
                message = f"{command!r} could not be started: {exc}"
                raise ToolError("server_not_started", message, command=command) from exc
            self._input = await _connect_input(pipes.release(ours_in))
            self._output = await _connect_output(pipes.release(ours_out), dispatcher)

    async def _start_confined(self, argv: Sequence[str], stdio: tuple[int, int, int]) -> SupervisedProcess:
        """Start it, and have what decides what runs outside of the sandbox guarded until nothing of it is left.

        Raises:
            SupervisorError: It cannot be run.
            OSError: Its folder cannot be opened.
            ToolError: The workspace cannot be guarded.
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
        # first, so that what is written is known to be on its way
        await self._input.drain()
        self._input.write(line)


class _Output(asyncio.Protocol):
    """What the server writes, for the dispatcher."""

    def __init__(self, dispatcher: LineDispatcher) -> None:
        self._dispatcher = dispatcher

    def data_received(self, data: bytes) -> None:
        self._dispatcher.feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._dispatcher.mark_closed()


def _without_cut_line(text: str) -> str:
    """A text without its first line; without its first word, where it is one line."""
    parts = text.split("\n", 1) if "\n" in text.strip() else text.split(None, 1)
    return parts[-1] if len(parts) > 1 else ""


def _find_program(command: str, path: str | None) -> str | None:
    """The absolute path of a program; not resolved, for an interpreter knows its packages by the link to it."""
    found = shutil.which(command, path=path)
    return None if found is None else str(Path(found).absolute())


def _is_unseen(command: str, said: str) -> bool:
    """Whether bubblewrap did not find a program that was there before it hid things."""
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
    """Pipes whose ends are closed unless they are kept."""

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

"""`Shell`: start commands in the foreground and in the background."""

import asyncio
import fcntl
import os
import shutil
import signal
import struct
import termios
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from agentcore.api import (
    ConfinedRun,
    ControlFiles,
    Quarantined,
    Sandbox,
    SupervisedProcess,
    Supervisor,
    SupervisorError,
    ToolError,
    Workspace,
)
from agentcore_shell_tools.limits import COMMAND_BYTES
from agentcore_shell_tools.output import ForegroundOutput, Output
from agentcore_shell_tools.sandbox import explain_denial

OutputT = TypeVar("OutputT", Output, ForegroundOutput)

COLUMNS = 120
ROWS = 30
_FATAL = frozenset(
    (signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGKILL, signal.SIGSEGV,
     signal.SIGTERM)
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """A request to run a command.

    Args:
        command: Text for bash.
        folder: Path of the working folder as given by the caller; None: the first root.
    """

    command: str
    folder: str | None = None

    def check_command(self) -> None:
        """Refuse a command that no shell can get as its argument.

        Raises:
            ToolError: `invalid_arguments`: it contains NUL; `command_too_long`.
        """
        if (at := self.command.find("\0")) >= 0:
            message = (
                f"The command contains a NUL character (U+0000) at position {at}, which no program accepts in an "
                "argument; write it as an escape for the program that reads it, such as printf '\\0'."
            )
            raise ToolError("invalid_arguments", message, position=at)
        if len(self.command.encode()) > COMMAND_BYTES:
            message = f"The command has more than {COMMAND_BYTES} bytes; write it to a file and run that."
            raise ToolError("command_too_long", message, limit=COMMAND_BYTES)


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """A process that a command left running and that was ended with it.

    Args:
        pid: Process id, as seen outside the sandbox.
        command: Command line of the process.
    """

    pid: int
    command: str


@dataclass(frozen=True, slots=True)
class Started(Generic[OutputT]):
    """A started command.

    Args:
        process: The process under the supervisor.
        output: Its recorded output.
        sandbox: The sandbox of the shell.
        looking: Returns the files quarantined because of the command, once it has ended; None: it is not sandboxed.
        terminal: Device number of the terminal of its input; 0: it has no input.
    """

    process: SupervisedProcess
    output: OutputT
    sandbox: Sandbox
    looking: "asyncio.Task[list[Quarantined]] | None"
    terminal: int = 0

    @property
    def status(self) -> int | None:
        """Return the exit code, or the negative number of the signal that ended it; None while it runs."""
        code = self.process.exit_code
        # like a shell, bubblewrap exits with 128 + the signal; only fatal signals are mapped, programs use other codes
        return 128 - code if self.looking is not None and code is not None and code - 128 in _FATAL else code

    @property
    def left_behind(self) -> list[LeftBehind]:
        """Return the processes that it left running and that were ended with it, the first of very many.

        Known once all its processes have ended.
        """
        return [LeftBehind(*each) for each in self.process.left_behind if not self.sandbox.is_own(each[1])]

    def explain_sandbox_failure(self, output: str) -> str:
        """Explain how the sandbox may have made it fail, and what to do about it; empty if nothing indicates that."""
        if self.looking is None:
            return ""
        return explain_denial(output, self.status, network=self.sandbox.wanted.network)

    async def wait_for_quarantined(self) -> list[Quarantined]:
        """Wait until it has ended, and return the files quarantined because of it."""
        return [] if self.looking is None else await asyncio.shield(self.looking)


class Shell:
    """Starts bash under the supervisor, confined according to the settings.

    Args:
        sandbox: The sandbox, which may be off.
        control_files: Checks the control files while commands run in the sandbox.
        module: Name of the module, for reports about control files.
        environment: Names of variables that commands get in addition to the usual ones.
    """

    def __init__(self, sandbox: Sandbox, control_files: ControlFiles, module: str, environment: Sequence[str]) -> None:
        self.sandbox = sandbox
        self._control_files = control_files
        self._module = module
        self.supervisor = Supervisor()
        self._also = environment
        self._program = shutil.which("bash")

    async def close(self) -> None:
        """End all commands and close the sandbox; safe to call twice."""
        await self.supervisor.close()
        await self._control_files.wait(self._module)
        await self.sandbox.close()

    async def start_foreground(self, request: CommandRequest, workspace: Workspace) -> Started[ForegroundOutput]:
        """Start a command whose stdout and stderr are one stream, in the order of writing; its input is empty.

        Raises:
            ToolError: `cannot_start`, `command_too_long`, and those of opening the folder.
        """
        output = ForegroundOutput()
        with _Descriptors() as ends:
            reading, writing = ends.open_pipe()
            output.record_stream(reading)
            return await self._start_command(request, workspace, (None, writing, writing), {"TERM": "dumb"}, output)

    async def start_background(
        self, request: CommandRequest, workspace: Workspace, *, has_terminal: bool
    ) -> tuple[Started[Output], int]:
        """Start a command whose input is a terminal; processes that it leaves running continue as part of it.

        Args:
            request: The command.
            workspace: The workspace to run in.
            has_terminal: True if its output goes to that terminal, too; otherwise stdout and stderr are separate.
        Returns:
            The command, and a descriptor of the terminal for typing, which the caller closes.
        Raises:
            ToolError: `cannot_start`, `command_too_long`, and those of opening the folder.
        """
        output = Output()
        with _Descriptors() as ends:
            master, slave = ends.open_terminal()
            out = err = slave
            if not has_terminal:
                (out_reading, out) = ends.open_pipe()
                (err_reading, err) = ends.open_pipe()
                output.record_stream(out_reading, output.stdout)
                output.record_stream(err_reading, output.stderr)
            output.record_stream(master, output.stdout if has_terminal else None)
            term = {"TERM": "xterm-256color", "COLORTERM": "truecolor"} if has_terminal else {"TERM": "dumb"}
            stdio = slave, out, err
            started = await self._start_command(request, workspace, stdio, term, output, in_background=True)
            output.attach_process(started.process)
            ends.release(master)
            terminal = os.fstat(slave).st_rdev
        return replace(started, terminal=terminal), master

    async def _start_command(
        self,
        request: CommandRequest,
        workspace: Workspace,
        stdio: tuple[int | None, int, int],
        term: dict[str, str],
        output: OutputT,
        *,
        in_background: bool = False,
    ) -> Started[OutputT]:
        request.check_command()
        if self._program is None:
            raise ToolError("cannot_start", "There is no `bash` on PATH; install it.", program="bash")
        argv = [self._program, "--noprofile", "--norc", "-c", request.command]
        stdin, stdout, stderr = stdio
        with workspace.working_folder(request.folder) as folder:
            path = os.fsdecode(folder.real_path())
            environment = self.supervisor.environment(self._also) | self.sandbox.environment()
            run = await self._begin_confined_run() if self.sandbox.is_on else None
            try:
                process = await self.supervisor.start(
                    argv if run is None else self.sandbox.wrap(argv, workspace.roots, path, run.hold),
                    folder=folder,
                    environment={**environment, **term, "PWD": path},
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                    has_terminal=in_background,
                    ends_with_command=not in_background,
                    own_keyring=run is not None,
                    recording=output.recording,
                )
            except BaseException as exc:
                if run is not None:
                    await self._control_files.end(run)
                if not isinstance(exc, SupervisorError):
                    raise
                message = f"bash could not be started: {exc}; try again, or end some processes first."
                raise ToolError("cannot_start", message, retryable=True, reason=str(exc)) from exc
        looking = None if run is None else self._control_files.watch(run, process)
        return Started(process, output, self.sandbox, looking)

    async def _begin_confined_run(self) -> ConfinedRun:
        return await self._control_files.begin(self.sandbox.wanted, self._module)


def set_size(terminal: int, columns: int, rows: int) -> None:
    """Set the size of a terminal, which notifies the programs on it."""
    with suppress(OSError):  # it has ended
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class _Descriptors:
    """Descriptors of pipes and terminals that are closed on exit unless they are released."""

    def __init__(self) -> None:
        self._fds: set[int] = set()

    def open_pipe(self) -> tuple[int, int]:
        return self._track(*self._open_or_raise(os.pipe))

    def open_terminal(self) -> tuple[int, int]:
        master, slave = self._track(*self._open_or_raise(os.openpty))
        set_size(slave, COLUMNS, ROWS)
        return master, slave

    def release(self, fd: int) -> None:
        self._fds.discard(fd)

    def _open_or_raise(self, function: Callable[[], tuple[int, int]]) -> tuple[int, int]:
        try:
            return function()
        except OSError as exc:
            raise _no_more(exc) from exc

    def _track(self, *fds: int) -> tuple[int, int]:
        self._fds.update(fds)
        return fds[0], fds[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self._fds:
            os.close(fd)


def _no_more(error: OSError) -> ToolError:
    message = f"The command could not be started: {error.strerror}; end some processes first."
    return ToolError("cannot_start", message, retryable=True, reason=error.strerror)

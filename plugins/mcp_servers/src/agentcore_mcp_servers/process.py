"""`ServerProcess`: a server that is a command, under the supervisor, as a transport of the SDK."""

import asyncio
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage

from agentcore.api import Background, Folder, Recording, SupervisedProcess, Supervisor, SupervisorError, ToolError
from agentcore_mcp_servers.listed import drop_unreadable
from agentcore_mcp_servers.messages import Junk, MessageLines

_READ_BYTES = 256 * 1024
_STDERR_LINES, _STDERR_BYTES = 200, 64 * 1024
_STDERR_SHOWN = 2_000
_FLUSH_SECONDS = 0.5
_GRACE_SECONDS = 2.0
_SHELL_SIGNALS = 128
_SIGNALS = {9: "was killed (SIGKILL)", 15: "was ended (SIGTERM)", 11: "crashed (SIGSEGV)", 6: "aborted (SIGABRT)"}


@dataclass(frozen=True, slots=True)
class Launch:
    """How a server is started.

    Args:
        argv: The program and its arguments, as the block says.
        environment: All that it gets.
        open_folder: Opens its working folder.
        wrap: Gives the command line that runs another one in a folder as the sandbox has it.
        is_confined: Whether that is a sandbox.
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    open_folder: Callable[[], Folder]
    wrap: Callable[[Sequence[str], str], Sequence[str]]
    is_confined: bool


class ServerProcess:
    """One run of a server; a context manager that gives the SDK's two streams.

    Args:
        supervisor: Runs it, and ends all that came of it.
        launch: How.
        on_odd: Is told what is wrong with what it writes, and left out.
    """

    def __init__(self, supervisor: Supervisor, launch: Launch, on_odd: Callable[[str], None]) -> None:
        self._supervisor, self._launch, self._on_odd = supervisor, launch, on_odd
        self._recording = Recording((_STDERR_LINES, _STDERR_BYTES))
        self._process: SupervisedProcess | None = None
        self._background = Background("mcp_servers:pipe")
        self._writer: asyncio.Task[None] | None = None

    async def __aenter__(self) -> TransportStreams:
        """Start it.

        Raises:
            ToolError: `server_not_started`.
        """
        reader, writer = await self._start()
        incoming, incoming_end = _stream()
        outgoing_end, outgoing = _stream()
        self._background.start(self._read(reader, incoming))
        self._writer = self._background.start(self._write(writer, outgoing, incoming))
        self._outgoing = outgoing_end
        return incoming_end, outgoing_end

    async def __aexit__(self, *_: object) -> None:
        """End it: its input ends, then SIGTERM after a while, then SIGKILL to all that is left."""
        self._outgoing.close()
        if self._writer is not None:
            await asyncio.wait((self._writer,), timeout=_FLUSH_SECONDS)
        process = self._process
        if process is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_GRACE_SECONDS):
                    await process.wait()
            process.end(_GRACE_SECONDS)
            await process.wait()
        await self._background.stop()

    async def wait(self) -> None:
        """Wait until nothing of it is left."""
        assert self._process is not None  # noqa: S101 - it is waited for once it has started
        await self._process.wait()

    @property
    def ending(self) -> str:
        """How it ended, with the last that it said of itself."""
        process = self._process
        code = None if process is None else process.exit_code
        how = "closed its output" if code is None else self._how(code)
        said = self.last_words
        return f"{how}; it wrote: {said}" if said else f"{how}, and wrote nothing of why"

    def _how(self, code: int) -> str:
        # bubblewrap says of a signal what a shell does
        number = code - _SHELL_SIGNALS if self._launch.is_confined else -code
        if number in _SIGNALS or code < 0:
            return _SIGNALS.get(number, f"was ended by signal {-code}")
        return f"ended with exit code {code}"

    @property
    def last_words(self) -> str:
        """The end of what it wrote to its errors."""
        if self._process is None:
            return ""
        text = self._recording.tracks[0].since().data.decode("utf-8", "replace").strip()
        return text if len(text) <= _STDERR_SHOWN else f"…{text[-_STDERR_SHOWN:]}"

    async def _start(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        command = self._launch.argv[0]
        program = _find(command, self._launch.environment.get("PATH"))
        if program is None:
            message = f"there is no program {command!r} on PATH; install it, or give its absolute path"
            raise ToolError("server_not_started", message, command=command)
        with _Pipes() as pipes:
            (stdin, ours_in), (ours_out, stdout), (ours_err, stderr) = pipes.open(), pipes.open(), pipes.open()
            self._recording.record(ours_err, self._recording.tracks[0])
            try:
                with self._launch.open_folder() as folder:
                    argv = [program, *self._launch.argv[1:]]
                    self._process = await self._supervisor.start(
                        self._launch.wrap(argv, os.fsdecode(folder.real_path())),
                        folder=folder,
                        environment=self._launch.environment,
                        stdin=stdin,
                        stdout=stdout,
                        stderr=stderr,
                        own_keyring=self._launch.is_confined,
                        recording=self._recording,
                    )
            except (SupervisorError, OSError) as exc:
                message = f"{command!r} could not be started: {exc}"
                raise ToolError("server_not_started", message, command=command) from exc
            return await _reader(pipes.keep(ours_out)), await _writer(pipes.keep(ours_in))

    async def _read(
        self, reader: asyncio.StreamReader, incoming: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        lines = MessageLines()
        async with incoming:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                while data := await reader.read(_READ_BYTES):
                    for message in lines.feed(data):
                        if isinstance(message, Junk):
                            self._on_odd(f"it wrote to its output what is no message: {message!r}")
                        else:
                            drop_unreadable(message, self._on_odd)
                            await incoming.send(message)

    async def _write(
        self,
        writer: asyncio.StreamWriter,
        outgoing: MemoryObjectReceiveStream[SessionMessage | Exception],
        incoming: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        try:
            async with outgoing:
                async for message in outgoing:
                    assert isinstance(message, SessionMessage)  # noqa: S101 - the SDK sends nothing else
                    line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    writer.write(line.encode() + b"\n")
                    await writer.drain()
        except OSError:
            incoming.close()  # whoever waits for an answer hears that none will come
        finally:
            writer.close()


def _find(command: str, path: str | None) -> str | None:
    """The absolute path of a program; not resolved, for an interpreter knows its packages by the link to it."""
    found = shutil.which(command, path=path)
    return None if found is None else str(Path(found).absolute())


def _stream() -> tuple[
    MemoryObjectSendStream[SessionMessage | Exception], MemoryObjectReceiveStream[SessionMessage | Exception]
]:
    return anyio.create_memory_object_stream[SessionMessage | Exception](0)


async def _reader(fd: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=_READ_BYTES)
    pipe = os.fdopen(fd, "rb", buffering=0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader


async def _writer(fd: int) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(fd, "wb", buffering=0)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
    return asyncio.StreamWriter(transport, protocol, None, loop)


class _Pipes:
    """Pipes whose ends are closed unless they are kept."""

    def __init__(self) -> None:
        self._fds: set[int] = set()

    def open(self) -> tuple[int, int]:
        ends = os.pipe()
        self._fds.update(ends)
        return ends

    def keep(self, fd: int) -> int:
        self._fds.discard(fd)
        return fd

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self._fds:
            os.close(fd)

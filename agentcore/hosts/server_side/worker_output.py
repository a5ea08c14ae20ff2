"""The output of a host's process: log lines are added to the server's log, other output is stored as its last words."""

import asyncio
import os
import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pydantic_core
import structlog

from agentcore.secrets import mask_known_secrets

log = structlog.get_logger(__name__)

_LINES_KEPT = 200
_LINES_PER_SECOND = 200
_LINE_CHARS = 4_000
_WORDS_CHARS = 2_000
_HELD_BYTES = 64 * 1024
_PAUSE_SECONDS = 0.1
_BYTES_PER_PAUSE = 1024 * 1024
_LEVELS = frozenset(("debug", "info", "warning", "error", "critical"))
_KEY = re.compile(r"(?!(?:self|event|in_host|exc_info|stack_info|positional_args)$)[a-z][a-z0-9_]{0,63}")
_FILE_BYTES = 4 * 1024 * 1024
_FOLLOW_SECONDS = 0.5


class _Output:
    """The output of one process, line by line."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop = asyncio.get_running_loop()
        self._held = b""
        self._words: deque[str] = deque(maxlen=_LINES_KEPT)
        self._second = 0
        self._lines = 0
        self._left_out = 0

    @property
    def last_output(self) -> str:
        """The end of what it wrote that is no line of its log."""
        text = "\n".join(self._words)
        return text if len(text) <= _WORDS_CHARS else f"…{text[-_WORDS_CHARS:]}"

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        *lines, self._held = (self._held + data).split(b"\n")
        self._held = self._held[-_HELD_BYTES:]
        self._left_out += max(len(lines) - _LINES_KEPT, 0)
        for line in lines[-_LINES_KEPT:]:
            self._handle_line(line)

    def flush(self) -> None:
        """Take a last line that has no end."""
        held = self._held
        self._held = b""
        if held:
            self._handle_line(held)

    def _handle_line(self, line: bytes) -> None:
        fields = _log_line(line)
        if fields is None:
            text = mask_known_secrets(line.decode("utf-8", "replace").rstrip())[:_LINE_CHARS]
            if not text:
                return
            self._words.append(text)
            fields = {"event": "host_wrote", "level": "info", "text": text}
        if self._may_log():
            event = fields["event"][:_LINE_CHARS]
            level = fields.pop("level", "info")
            write = getattr(log, level) if type(level) is str and level in _LEVELS else log.info
            # modules choose all other keys, also `host`, such as a host name on the web
            write(event, in_host=self._name, **{key: value for key, value in fields.items() if _KEY.fullmatch(key)})

    def _may_log(self) -> bool:
        second = int(self._loop.time())
        if second != self._second:
            if self._left_out:
                log.warning("host_wrote_too_much", host=self._name, left_out=self._left_out)
            self._second = second
            self._lines = 0
            self._left_out = 0
        self._lines += 1
        if self._lines > _LINES_PER_SECOND:
            self._left_out += 1
            return False
        return True


class PipedOutput(asyncio.Protocol):
    """The output of a process into a pipe of its server."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._output = _Output(name)
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.ReadTransport | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._since = 0.0
        self._bytes = 0
        self.ended = asyncio.Event()

    @contextmanager
    def open_for_writing(self) -> Iterator[int]:
        """Return a descriptor for the process to write to, which is closed here when the block ends."""
        ours, theirs = os.pipe()
        reading = os.fdopen(ours, "rb", buffering=0)
        # in no TaskGroup: it ends at once, or with `close`
        self._connecting = self._loop.create_task(self._connect_pipe(reading), name=f"host:{self._name}:output")
        try:
            yield theirs
        finally:
            os.close(theirs)

    @property
    def last_output(self) -> str:
        return self._output.last_output

    def close(self) -> None:
        """Read no more."""
        if self._connecting is not None:
            self._connecting.cancel()
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.ReadTransport)  # noqa: S101 - a pipe's
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._output.feed(data)
        now = self._loop.time()
        if now - self._since > _PAUSE_SECONDS:
            self._since = now
            self._bytes = 0
        self._bytes += len(data)
        if self._bytes > _BYTES_PER_PAUSE and self._transport is not None:
            # reading everything would leave no time for other work: the process waits until reading continues
            self._transport.pause_reading()
            self._loop.call_later(_PAUSE_SECONDS, self._read_on)

    def _read_on(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._output.flush()
        self.ended.set()

    async def _connect_pipe(self, reading: Any) -> None:
        await self._loop.connect_read_pipe(lambda: self, reading)


class FileOutput:
    """The output of a process that survives its server into a file, which is truncated while a server reads it."""

    def __init__(self, name: str, path: Path) -> None:
        self._output = _Output(name)
        self._path = path
        self._loop = asyncio.get_running_loop()
        self._read_to = 0
        self._timer: asyncio.TimerHandle | None = None

    @contextmanager
    def open_for_writing(self) -> Iterator[int]:
        """Return a descriptor for a new process to write to, which is closed here when the block ends."""
        self._read_to = 0
        fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        try:
            yield fd
        finally:
            os.close(fd)

    @property
    def last_output(self) -> str:
        return self._output.last_output

    def follow(self) -> None:
        """Read what comes, again and again."""
        self.read_new_output()
        self._timer = self._loop.call_later(_FOLLOW_SECONDS, self.follow)

    def read_new_output(self) -> None:
        """Read new output; a file that has become long is truncated."""
        try:
            with self._path.open("r+b") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(max(self._read_to, size - _HELD_BYTES))
                self._output.feed(file.read(_HELD_BYTES))
                self._read_to = size
                if size > _FILE_BYTES:
                    file.truncate(0)
                    self._read_to = 0
        except OSError:
            return

    def close(self) -> None:
        """Read no more."""
        if self._timer is not None:
            self._timer.cancel()


def _log_line(line: bytes) -> dict[str, Any] | None:
    """Parse a line of a host's log; None: it is something else."""
    if not line.startswith(b"{") or len(line) > _HELD_BYTES:
        return None
    try:
        fields = pydantic_core.from_json(line)
    except ValueError:
        return None
    return fields if isinstance(fields.get("event"), str) else None

"""Reserves standard output for a command that prints JSON: whatever modules and their children print goes to the log.

Modules share the process with the command when no server runs. Some print when they are imported, some start programs
that do, and each such line would break what a program reads.
"""

import io
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import click

OnLine = Callable[[str, str], None]
"""Receives a printed line: the module whose code printed it, empty if unknown, and its text."""

_STDOUT = 1
_PENDING_LINES = 1_000
_DRAIN_SECONDS = 0.5


class _Reserved:
    """The state of this process.

    Attributes:
        stream: The stream for the command's own output; None: it is `sys.stdout`.
        on_line: Receives what others print; None: nothing does yet.
        pending: The newest lines that nothing has received.
    """

    def __init__(self) -> None:
        self.stream: TextIO | None = None
        self.on_line: OnLine | None = None
        self.pending: deque[tuple[str, str]] = deque(maxlen=_PENDING_LINES)
        self.reader: threading.Thread | None = None

    def receive(self, module: str, line: str) -> None:
        if self.on_line is None:
            self.pending.append((module, line))
        else:
            self.on_line(module, line)


_reserved = _Reserved()


def own_stdout() -> TextIO:
    """Return the stream for the command's own output."""
    return _reserved.stream or sys.stdout


def reserve_stdout(context: click.Context) -> None:
    """Reserve standard output for `own_stdout` until the process ends.

    Where the command runs inside another program, which has replaced `sys.stdout`, only that object is reserved, and
    only until the command ends.
    """
    if _reserved.stream is not None:
        return
    former = sys.stdout
    former.flush()
    if _descriptor_of(former) == _STDOUT:
        _reserved.stream = open(  # noqa: PTH123, SIM115 - a descriptor, which stays open until the process ends
            os.dup(_STDOUT), "w", encoding=former.encoding, errors=former.errors
        )
        reading, writing = os.pipe()
        os.dup2(writing, _STDOUT)
        os.close(writing)
        _reserved.reader = threading.Thread(target=_read_lines, args=(reading,), name="module-output", daemon=True)
        _reserved.reader.start()
    else:
        _reserved.stream = former
        context.call_on_close(lambda: _give_back(former))
    sys.stdout = _ModuleOutput()


@contextmanager
def log_module_output() -> Iterator[None]:
    """Write what modules print to the log of this process."""
    import structlog

    log = structlog.get_logger(__name__)

    def log_line(module: str, text: str) -> None:
        log.info("module_output", text=text, **({"module": module} if module else {}))

    with _receiving(log_line):
        yield


@contextmanager
def store_module_output(state: Path) -> Iterator[None]:
    """Write what modules print to the log of a state folder, which this process has locked and writes nothing else."""
    if _reserved.stream is None:
        yield
        return
    from agentcore.encoding import to_json
    from agentcore.store.state.log_file import LogFile

    file = LogFile(state)

    def write_line(module: str, text: str) -> None:
        now = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"time": now, "level": "info", "event": "module_output", "text": text}
        file.write(to_json(line | ({"module": module} if module else {})) + b"\n")

    with _receiving(write_line):
        try:
            yield
        finally:
            _drain()
    file.close()


@contextmanager
def _receiving(on_line: OnLine) -> Iterator[None]:
    _reserved.on_line = on_line
    while _reserved.pending:
        on_line(*_reserved.pending.popleft())
    try:
        yield
    finally:
        _reserved.on_line = None


def _drain() -> None:
    """Wait for what was printed to the descriptor before; children that still run may print more."""
    if _reserved.reader is None:
        return
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), _STDOUT)
    _reserved.reader.join(_DRAIN_SECONDS)


def _give_back(former: TextIO) -> None:
    sys.stdout = former
    _reserved.stream = None
    _reserved.pending.clear()


def _read_lines(reading: int) -> None:
    with open(reading, encoding="utf-8", errors="replace") as lines, suppress(OSError, ValueError):
        for line in lines:
            _reserved.receive("", line.rstrip("\n"))


def _descriptor_of(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None


class _ModuleOutput(io.TextIOBase):
    """Replaces `sys.stdout`: each line goes to the log, with the module whose code runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun: dict[str, str] = {}
        self.buffer = _ModuleBytes(self)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return _STDOUT

    def write(self, text: str) -> int:
        from agentcore.core.module_code.ownership import current_owner

        owner = current_owner()
        with self._lock:
            *lines, rest = (self._begun.get(owner, "") + text).split("\n")
            self._begun[owner] = rest
        for line in lines:
            _reserved.receive(owner, line)
        return len(text)


class _ModuleBytes(io.RawIOBase):
    """The bytes of `_ModuleOutput`, for code that writes to `sys.stdout.buffer`."""

    def __init__(self, text: _ModuleOutput) -> None:
        self._text = text

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._text.write(bytes(data).decode(errors="replace"))
        return len(data)

"""JSON log lines, formatted directly: structlog's chain of processors would cost more than a small tool.

In the event loop's thread, lines up to level info wait up to 20 ms for others and are written together; warnings,
errors and lines of other threads are written at once.
"""

import asyncio
import atexit
import io
import json
import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping, MutableMapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TextIO

import structlog

from agentcore.core.module_code.module_error import traceback_of
from agentcore.core.module_code.ownership import CALL, current_owner
from agentcore.encoding import to_json
from agentcore.secrets import mask_line
from agentcore.store.state.log_file import LogFile

_WAIT_S = 0.02


class LineWriter:
    """Writes lines of bytes to one stream; a broken pipe does not fail a call.

    Attributes:
        file: Receives the same lines, once there is one.
    """

    def __init__(self, stream: TextIO) -> None:
        buffer = getattr(stream, "buffer", None)
        self._write: Callable[[bytes], object] = (
            buffer.write if buffer is not None else lambda data: stream.write(data.decode())
        )
        self._flush: Callable[[], object] = (buffer or stream).flush
        self._waiting: list[bytes] = []
        self.file: LogFile | None = None
        self._lock = threading.Lock()
        atexit.register(self.flush)

    def write(self, line: bytes, *, is_urgent: bool) -> None:
        """Write one line, which must end with a line end."""
        self._waiting.append(line)
        if is_urgent:
            self.flush()
        elif len(self._waiting) == 1:
            try:
                asyncio.get_running_loop().call_later(_WAIT_S, self.flush)
            except RuntimeError:  # no event loop in this thread: nothing would flush it later
                self.flush()

    def flush(self) -> None:
        """Write the buffered lines; may be called at any time, from any thread."""
        with self._lock:
            waiting = self._waiting
            self._waiting = []
            if not waiting:
                return
            lines = b"".join(waiting)
            if self.file is not None:
                self.file.write(lines)
            try:
                self._write(lines)
                self._flush()
            except (OSError, ValueError):
                pass  # the log is not read (any more); the record of calls is stored elsewhere


class FileOnlyWriter(LineWriter):
    """Writes lines only into the log file, and reports warnings and errors to the user's terminal.

    Args:
        on_urgent: Receives each warning and error as a mapping; called in the thread that logs it.
    """

    def __init__(self, on_urgent: Callable[[Mapping[str, Any]], None]) -> None:
        super().__init__(io.StringIO())
        self._write = lambda _data: None
        self._on_urgent = on_urgent

    def write(self, line: bytes, *, is_urgent: bool) -> None:
        """Write one line, which must end with a line end."""
        super().write(line, is_urgent=is_urgent)
        if is_urgent:
            self._on_urgent(json.loads(line))


def line_logger(level: int) -> type[structlog.BoundLoggerBase]:
    """Return a class of loggers that write JSON lines, from a level on.

    Args:
        level: A number of the standard library, such as `logging.INFO`.
    """
    names = {"debug": 10, "info": 20, "warning": 30, "warn": 30, "error": 40, "critical": 50, "fatal": 50}
    members: dict[str, Any] = {
        name: _make_log_method(name, number) if number >= level else _ignore for name, number in names.items()
    }
    members |= {"exception": _log_exception, "log": _log_at_level, "level": level}
    return type("LineLogger", (structlog.BoundLoggerBase,), members)


def _make_log_method(name: str, number: int) -> Callable[..., None]:
    level = {"warn": "warning", "fatal": "critical"}.get(name, name)
    is_urgent = number > logging.INFO

    def write(self: structlog.BoundLoggerBase, event: str = "", **fields: Any) -> None:
        self._logger.write(_format_line(self, level, event, fields), is_urgent=is_urgent)

    return write


def _ignore(_self: structlog.BoundLoggerBase, _event: str = "", **_fields: Any) -> None:
    """Discard a line whose level is disabled."""


def _log_exception(self: Any, event: str = "", **fields: Any) -> None:
    fields.setdefault("exc_info", True)
    self.error(event, **fields)


def _log_at_level(self: Any, level: int, event: str = "", **fields: Any) -> None:
    if level >= self.level:
        getattr(self, logging.getLevelName(min(level, logging.CRITICAL)).lower())(event, **fields)


def add_owner(line: MutableMapping[str, Any]) -> None:
    """Add the module whose code wrote a line and the id of its call, unless the line has them."""
    if "module" not in line and (module := current_owner()):
        line["module"] = module
    if "call_id" not in line and (call_id := CALL.get()):
        line["call_id"] = call_id


def _format_line(logger: structlog.BoundLoggerBase, level: str, event: str, fields: dict[str, Any]) -> bytes:
    line = {"time": _current_timestamp(), "level": level, "event": event}
    line |= structlog.contextvars.get_contextvars()
    line |= logger._context  # noqa: SLF001 - structlog's way to add methods is a subclass, and its context is protected
    line |= fields
    add_owner(line)
    if (exc_info := line.pop("exc_info", None)) and (exc := exception_in(exc_info)) is not None:
        line["exception"] = traceback_of(exc)
    mask_line(line)
    return to_json(line) + b"\n"


def line_of(event: Mapping[str, Any]) -> bytes:
    """Return an event of structlog's processors, which is complete and masked, as a line."""
    line = {"time": _current_timestamp(), "level": event.get("level", ""), **event}
    if (exc_info := line.pop("exc_info", None)) and (exc := exception_in(exc_info)) is not None:
        line["exception"] = traceback_of(exc)
    return to_json(line) + b"\n"


def exception_in(exc_info: Any) -> BaseException | None:
    """Return the exception of `exc_info`: itself, a triple as of `sys.exc_info()`, or True for the current one."""
    found = exc_info if isinstance(exc_info, BaseException | tuple) else sys.exc_info()
    return found[1] if isinstance(found, tuple) else found


@lru_cache(maxsize=1)
def _format_second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S.")


def _current_timestamp() -> str:
    now = time.time()
    second = int(now)
    return f"{_format_second(second)}{int((now - second) * 1000):03d}Z"

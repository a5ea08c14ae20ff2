"""Configures logging: a console format on a terminal, or only the log file; JSON elsewhere; secrets are masked.

structlog writes lines by itself, not through the standard library's logging, which carries the lines of other packages.
"""

import logging
import re
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import structlog

from agentcore.core.module_code.module_error import traceback_of
from agentcore.secrets import mask_line
from agentcore.server.logging.json_lines import (
    FileOnlyWriter,
    LineWriter,
    add_owner,
    exception_in,
    line_logger,
    line_of,
)
from agentcore.store.state.log_file import LogFile

EventDict = MutableMapping[str, Any]

LEVELS: Mapping[str, int] = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}
"""Names of the levels that a user may choose."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_QUIET = {
    "httpx": logging.WARNING,
    "httpx2": logging.WARNING,
    "aiohttp.access": logging.WARNING,
    "aiosqlite": logging.WARNING,
    "asyncio": logging.WARNING,
}


class _LogTargets:
    """Where lines go besides the stream: one server writes its log into one state folder."""

    def __init__(self) -> None:
        self.writer: LineWriter | None = None
        self.file: LogFile | None = None


_kept = _LogTargets()


@contextmanager
def log_to_state_folder(state: Path) -> Iterator[None]:
    """Also write the lines of this process into the log of a state folder, which the process has locked.

    Raises:
        StateDirError: The log cannot be stored there.
    """
    file = LogFile(state)
    _kept.file = file
    if _kept.writer is not None:
        _kept.writer.file = file
    try:
        yield
    finally:
        if _kept.writer is not None:
            _kept.writer.flush()
            _kept.writer.file = None
        _kept.file = None
        file.close()


def configure_logging(stream: TextIO | None = None, *, is_terminal: bool | None = None, level: str = "info") -> None:
    """Set up logging for the process; a later call replaces an earlier one.

    Args:
        stream: Stream for the lines; None: stderr.
        is_terminal: True if a user reads the stream; None: as the stream reports.
        level: One of `LEVELS`.
    """
    target = stream or sys.stderr
    if target.isatty() if is_terminal is None else is_terminal:
        structlog.configure(
            processors=[
                structlog.contextvars.merge_contextvars,
                _add_owner,
                mask_secret_keys,
                *_console_processors(target),
            ],
            wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
            logger_factory=structlog.WriteLoggerFactory(target),
            cache_logger_on_first_use=True,
        )
    else:
        _write_json_lines(LineWriter(target), LEVELS[level])
    _route_standard_logging(LEVELS[level])


def _write_json_lines(writer: LineWriter, level: int) -> None:
    _kept.writer = writer
    writer.file = _kept.file
    structlog.configure(
        processors=[],
        wrapper_class=line_logger(level),
        logger_factory=lambda *_: writer,
        cache_logger_on_first_use=True,
    )


def log_to_file_only(on_urgent: Callable[[Mapping[str, Any]], None]) -> None:
    """Set up logging for a server whose terminal shows no log lines: they only go to `log_to_state_folder`'s file.

    Args:
        on_urgent: Receives each warning and error, to show the user a sentence; called in any thread.
    """
    _write_json_lines(FileOnlyWriter(on_urgent), logging.INFO)
    _route_standard_logging(logging.INFO)


def mask_secret_keys(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Mask values whose key names a secret: a second safeguard, after `SecretStr`."""
    mask_line(event)
    return event


def _console_processors(stream: TextIO) -> list[Any]:
    # not the default traceback renderer: it imports rich if that is installed
    renderer = structlog.dev.ConsoleRenderer(
        colors=stream.isatty(), exception_formatter=_write_traceback, pad_event_to=24
    )
    stamp = structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False)
    return [structlog.stdlib.add_log_level, _write_to_file, _show_traceback, stamp, renderer]


def _add_owner(_logger: object, _method: str, event: EventDict) -> EventDict:
    add_owner(event)
    return event


def _write_to_file(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Write the line into the log of the state folder, in the form for programs."""
    if _kept.file is not None:
        _kept.file.write(line_of(event))
    return event


def _show_traceback(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Show a traceback below its line as it is, and not in the line with escaped line ends."""
    if "traceback" in event:
        event["exception"] = _CONTROLS.sub(lambda found: f"<U+{ord(found[0]):04X}>", str(event.pop("traceback")))
    return event


def _write_traceback(stream: TextIO, exc_info: Any) -> None:
    exc = exception_in(exc_info)
    if exc is not None:
        stream.write(f"\n{traceback_of(exc)}")


class _IntoStructlog(logging.Handler):
    """Forwards the lines of packages that use the standard library."""

    def emit(self, record: logging.LogRecord) -> None:
        level = min(max(record.levelno // 10 * 10, logging.DEBUG), logging.CRITICAL)
        try:
            structlog.get_logger(record.name).log(
                level, record.getMessage(), logger=record.name, exc_info=record.exc_info or None
            )
        except Exception:  # noqa: BLE001 - a log line must not end what it tells of
            self.handleError(record)


def _route_standard_logging(level: int) -> None:
    root = logging.getLogger()
    root.handlers = [handler for handler in root.handlers if not isinstance(handler, _IntoStructlog)]
    root.addHandler(_IntoStructlog())
    root.setLevel(max(level, logging.INFO))
    for name, quiet in _QUIET.items():
        logging.getLogger(name).setLevel(max(quiet, level))
    logging.captureWarnings(capture=True)

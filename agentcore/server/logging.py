"""Where log lines go: a console format on a terminal, JSON lines elsewhere, secrets masked in both.

structlog writes lines by itself: the standard library's logging, through which the lines of other packages come, is
not on that way.
"""

import logging
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, TextIO

import structlog

from agentcore.host.foreign_error import traceback_of
from agentcore.server.json_lines import LineWriter, exception_in, line_logger
from agentcore.server.secret_keys import MASK, is_secret_key

EventDict = MutableMapping[str, Any]

LEVELS: Mapping[str, int] = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}
"""Names of levels that a person may ask for."""

_QUIET = {
    "httpx": logging.WARNING,
    "httpx2": logging.WARNING,
    "aiohttp.access": logging.WARNING,
    "aiosqlite": logging.WARNING,
    "asyncio": logging.WARNING,
}


def configure_logging(stream: TextIO | None = None, *, is_terminal: bool | None = None, level: str = "info") -> None:
    """Set up logging for the process; a later call replaces what an earlier one set up.

    Args:
        stream: Where lines go; None: stderr.
        is_terminal: Whether a person reads along; None: as the stream says.
        level: One of `LEVELS`.
    """
    target = stream or sys.stderr
    if target.isatty() if is_terminal is None else is_terminal:
        structlog.configure(
            processors=[structlog.contextvars.merge_contextvars, mask_secret_keys, *_for_person(target)],
            wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
            logger_factory=structlog.WriteLoggerFactory(target),
            cache_logger_on_first_use=True,
        )
    else:
        writer = LineWriter(target)
        structlog.configure(
            processors=[],
            wrapper_class=line_logger(LEVELS[level]),
            logger_factory=lambda *_: writer,
            cache_logger_on_first_use=True,
        )
    _route_standard_logging(LEVELS[level])


def mask_secret_keys(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Mask what stands under a key that names a secret: the second net, below `SecretStr`."""
    for key in event:
        if is_secret_key(key):
            event[key] = MASK
    return event


def _for_person(stream: TextIO) -> list[Any]:
    # not the default traceback renderer: it imports rich when it is there
    renderer = structlog.dev.ConsoleRenderer(
        colors=stream.isatty(), exception_formatter=_write_traceback, pad_event_to=24
    )
    return [structlog.stdlib.add_log_level, structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False), renderer]


def _write_traceback(stream: TextIO, exc_info: Any) -> None:
    exc = exception_in(exc_info)
    if exc is not None:
        stream.write(f"\n{traceback_of(exc)}")


class _IntoStructlog(logging.Handler):
    """Passes the lines of packages that use the standard library on."""

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

"""What a host's process writes: log lines become the server's, anything else is kept as its last words."""

import asyncio
import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pydantic_core
import structlog

from agentcore.secrets import without_known

log = structlog.get_logger(__name__)

_LINES_KEPT = 200
_LINES_PER_SECOND = 200
_LINE_CHARS = 4_000
_WORDS_CHARS = 2_000
_HELD_BYTES = 64 * 1024


class HostOutput(asyncio.Protocol):
    """Reads what one process writes, line by line."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.BaseTransport | None = None
        self._held = b""
        self._words: deque[str] = deque(maxlen=_LINES_KEPT)
        self._second, self._lines, self._left_out = 0, 0, 0

    @contextmanager
    def opened(self) -> Iterator[int]:
        """A descriptor for the process to write to, ours until the block ends."""
        ours, theirs = os.pipe()
        reading = os.fdopen(ours, "rb", buffering=0)
        self._connecting = self._loop.create_task(self._connect(reading), name=f"host:{self._name}:output")
        try:
            yield theirs
        finally:
            os.close(theirs)

    @property
    def last_words(self) -> str:
        """The end of what it wrote that is no line of its log."""
        text = "\n".join(self._words)
        return text if len(text) <= _WORDS_CHARS else f"…{text[-_WORDS_CHARS:]}"

    def close(self) -> None:
        """Read no more."""
        self._connecting.cancel()
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        *lines, self._held = (self._held + data).split(b"\n")
        self._held = self._held[-_HELD_BYTES:]
        for line in lines:
            self._take(line)

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        if self._held:
            self._take(self._held)
            self._held = b""

    async def _connect(self, reading: Any) -> None:
        await self._loop.connect_read_pipe(lambda: self, reading)

    def _take(self, line: bytes) -> None:
        fields = _log_line(line)
        if fields is None:
            text = without_known(line.decode("utf-8", "replace").rstrip()[:_LINE_CHARS])
            if not text:
                return
            self._words.append(text)
            fields = {"event": "host_wrote", "level": "info", "text": text}
        if self._may_log():
            event, level = str(fields.pop("event")), fields.pop("level", "info")
            write = {"warning": log.warning, "error": log.error, "critical": log.critical}.get(level, log.info)
            write(event, host=self._name, **{key: value for key, value in fields.items() if key.isidentifier()})

    def _may_log(self) -> bool:
        second = int(self._loop.time())
        if second != self._second:
            if self._left_out:
                log.warning("host_wrote_too_much", host=self._name, left_out=self._left_out)
            self._second, self._lines, self._left_out = second, 0, 0
        self._lines += 1
        if self._lines > _LINES_PER_SECOND:
            self._left_out += 1
            return False
        return True


def _log_line(line: bytes) -> dict[str, Any] | None:
    """A line of a host's log; None: it is something else."""
    if not line.startswith(b"{") or len(line) > _HELD_BYTES:
        return None
    try:
        fields = pydantic_core.from_json(line)
    except ValueError:
        return None
    fields.pop("host", None)
    return fields if isinstance(fields.get("event"), str) else None

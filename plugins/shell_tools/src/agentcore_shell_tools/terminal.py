"""The WebSocket behind a terminal view: output in binary messages, everything else in JSON."""

import asyncio
import json
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from agentcore.api import Mark, Request, ToolError
from agentcore_shell_tools.process import Process

_PIECE_BYTES = 64 * 1024
_UNSEEN_BYTES = 512 * 1024
"""Bytes that a view may have received but not drawn; a slow view skips output instead of filling its memory."""


class _Message(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Typed(_Message):
    """What a person typed."""

    type: Literal["input"]
    text: Annotated[str, Field(max_length=64 * 1024)]


class Resized(_Message):
    """The view has another size, in characters."""

    type: Literal["resize"]
    columns: Annotated[int, Field(ge=2, le=1000)]
    rows: Annotated[int, Field(ge=1, le=1000)]


class Seen(_Message):
    """The view has drawn this many bytes in all."""

    type: Literal["seen"]
    bytes: Annotated[int, Field(ge=0)]


_MESSAGES: TypeAdapter[Typed | Resized | Seen] = TypeAdapter(
    Annotated[Typed | Resized | Seen, Field(discriminator="type")]
)


class TerminalView:
    """One view of one process, for the lifetime of its connection."""

    def __init__(self, process: Process, request: Request) -> None:
        if request.socket is None:
            raise TypeError("a terminal view needs a WebSocket")
        self._process = process
        self._socket = request.socket
        self._sent = self._seen = 0
        self._size: tuple[int, int] | None = None

    @classmethod
    async def serve(cls, process: Process, request: Request) -> None:
        """Send the output of a process to the connected view, and handle its input until it disconnects."""
        view = cls(process, request)
        try:
            async with asyncio.TaskGroup() as group:
                showing = group.create_task(view._send_output(), name=f"show:{process.process_id}")
                await view._receive_messages()
                showing.cancel()
        except* ConnectionError:
            pass  # the view was closed, which is normal

    async def _receive_messages(self) -> None:
        async for message in self._socket:
            try:
                received = _MESSAGES.validate_json(message)
                await self._handle_message(received)
            except ValidationError as exc:
                await self._send_message(
                    "error", error={"type": "invalid_message", "message": str(exc.errors()[0]["msg"])}
                )
            except ToolError as exc:
                await self._send_message("error", error=exc.to_json())

    async def _handle_message(self, received: Typed | Resized | Seen) -> None:
        if isinstance(received, Typed):
            await self._process.type_text(received.text)
        elif isinstance(received, Resized):
            self._process.resize(received.columns, received.rows)
        else:
            self._seen = received.bytes
            self._process.output.bell.notify_waiters()

    async def _send_output(self) -> None:
        await self._send_message("state", **self._process.to_json())
        mark = Mark()
        while True:
            change = self._process.output.bell.next_change()
            try:
                # after `next_change`: output written in between is sent in the next round
                await self._send_size()
                is_over = not self._process.is_running and self._process.output.is_complete
                mark, is_all_sent = await self._send_since(mark)
                if is_over and is_all_sent:
                    break
                if not is_all_sent and self._sent - self._seen < _UNSEEN_BYTES:
                    continue
                await change
            finally:
                change.cancel()
        await self._send_message("state", **self._process.to_json())

    async def _send_size(self) -> None:
        """Send the size of the terminal if it changed: of several views one sets it, and the others adopt it."""
        if self._size != self._process.size:
            self._size = self._process.size
            columns, rows = self._size
            await self._send_message("size", columns=columns, rows=rows)

    async def _send_since(self, mark: Mark) -> tuple[Mark, bool]:
        """Send the next chunk, and return its end and whether everything is sent for now."""
        screen = self._process.output.screen
        if mark.offset == screen.end.offset:
            return mark, True
        if self._sent - self._seen >= _UNSEEN_BYTES:
            return mark, False
        excerpt = screen.since(mark)
        if missed := excerpt.start.offset - mark.offset:
            await self._send_message("skipped", bytes=missed)
        data = excerpt.data[:_PIECE_BYTES]
        await self._socket.send(data)
        self._sent += len(data)
        end = Mark(excerpt.start.offset + len(data), excerpt.start.lines)
        return end, end.offset == screen.end.offset

    async def _send_message(self, kind: str, **values: object) -> None:
        await self._socket.send(json.dumps({"type": kind, **values}))

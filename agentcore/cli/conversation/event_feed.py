"""Reads a server's events in a thread and passes them to the event loop."""

import asyncio
import json
import threading
from collections import defaultdict
from contextlib import suppress
from typing import Any, Self

from agentcore.cli.backend.server_client import OpenStream, ServerClient
from agentcore.cli.terminal.exit_codes import CliError, ExitCode

_REQUEST_SECONDS = 5.0


class EventFeed:
    """A server's events since the stream was opened.

    Args:
        stream: The open event stream.
        address: The server's address, for error messages.
    """

    def __init__(self, stream: OpenStream, address: str) -> None:
        self._stream = stream
        self._address = address
        self._loop = asyncio.get_running_loop()
        self._taken: asyncio.Queue[dict[str, Any] | CliError] = asyncio.Queue()
        self._requested: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._reader = threading.Thread(target=self._read_stream, name="agentcore-events", daemon=True)
        self._reader.start()

    @classmethod
    async def open(cls, client: ServerClient, path: str) -> Self:
        """Open the event stream at a path.

        Raises:
            CliError: The server cannot be reached or rejects the request.
        """
        return cls(await asyncio.to_thread(client.open_stream, "GET", path), client.address)

    async def next_event(self) -> dict[str, Any]:
        """Return the next event.

        Raises:
            CliError: The stream has ended.
        """
        taken = await self._taken.get()
        if isinstance(taken, CliError):
            raise taken
        if taken["type"] == "approval.requested":
            self._requested[taken["callId"]].set()
        return taken

    async def wait_until_requested(self, call_id: str) -> None:
        """Wait up to 5 seconds until a call's approval request, and thus every event before it, was consumed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_REQUEST_SECONDS):
                await self._requested[call_id].wait()
        self._requested.pop(call_id, None)

    def discard_pending(self) -> None:
        """Discard events that have arrived but were not consumed."""
        while not self._taken.empty():
            if isinstance(taken := self._taken.get_nowait(), CliError):
                raise taken

    async def close(self) -> None:
        """Interrupt the stream and wait for the reader thread."""
        self._stream.interrupt()
        await asyncio.to_thread(self._reader.join)

    def _read_stream(self) -> None:
        end = CliError(f"the server at {self._address} has ended its stream of events", code=ExitCode.UNREACHABLE)
        try:
            for event in self._stream:
                self._loop.call_soon_threadsafe(self._taken.put_nowait, json.loads(event.data))
        except CliError as exc:
            end = exc
        except RuntimeError:
            return  # the event loop is closed, so nothing waits for events
        finally:
            self._stream.close()
        try:
            self._loop.call_soon_threadsafe(self._taken.put_nowait, end)
        except RuntimeError:
            return  # as above

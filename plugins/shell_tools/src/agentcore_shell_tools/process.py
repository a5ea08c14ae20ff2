"""`Process`: one command in the background."""

import asyncio
import os
import select
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from agentcore.api import Listener, Mark, Quarantined, Resource, ToolContext, ToolError
from agentcore_shell_tools.foreground import signal_name, wait_for_last_output
from agentcore_shell_tools.keys import ESCAPE, encode_key
from agentcore_shell_tools.limits import GRACE_S, INPUT_SECONDS, PUT_ASIDE_SHOWN
from agentcore_shell_tools.output import Output
from agentcore_shell_tools.screen import Screen, ScreenView
from agentcore_shell_tools.shell import COLUMNS, ROWS, Started, set_size

_ESCAPE_S = 0.1
_REST_S = 0.2
_REST_MOST_S = 1.0


class Process:
    """A command in the background, running or finished.

    Attributes:
        process_id: Its id in the process table and as a resource, not the process id of the system.
        short_id: Its name for models, unique in its session.
        session_id: The session that started it.
        command: The requested command.
        folder: Its working folder.
        size: Columns and rows of its terminal.
        has_terminal: True if its output goes to its terminal, not to separate streams.
        output: Its recorded output.
        looks: Where the last read of each session ended, in stdout and stderr.
        is_killed: True if it was ended on request.
        put_aside: Files quarantined because of it; complete when it has ended and settled.
    """

    def __init__(
        self,
        resource: Resource,
        command: str,
        folder: str,
        running: tuple[Started[Output], int],
        *,
        has_terminal: bool,
    ) -> None:
        started, self._typing = running
        self._started = started
        self._supervised = started.process
        self.output = started.output
        self.process_id = resource.resource_id
        self.short_id = resource.short_id
        self.session_id = resource.session_id
        self.command = command
        self.folder = folder
        self.has_terminal = has_terminal
        self.size = (COLUMNS, ROWS)
        self.looks: dict[str, tuple[Mark, Mark]] = {}
        self.is_killed = False
        self.put_aside: list[Quarantined] = []
        self.started_at_ms = time.time_ns() // 1_000_000
        self.ended_at_ms: int | None = None
        self._writing = asyncio.Lock()
        self._drawing = asyncio.Lock()
        self._screen: Screen | None = None
        if started.looking is not None:
            started.looking.add_done_callback(self._store_quarantined)

    def name_for(self, ctx: ToolContext) -> str:
        """Return the name of the process in text for the caller: the short id for a model, else the whole id."""
        return self.process_id if ctx.model_chars is None else self.short_id

    @property
    def is_running(self) -> bool:
        """True while the command or any process that it started runs."""
        return not self._supervised.is_over

    @property
    def is_command_running(self) -> bool:
        """True while the command itself runs; processes that it started may run longer."""
        return self.is_running and self._started.status is None

    @property
    def exit_code(self) -> int | None:
        """Return its exit code; None while it runs, and if a signal ended it."""
        status = self._started.status
        return status if status is not None and status >= 0 and not self.is_running else None

    @property
    def signal(self) -> str | None:
        """Return the signal that ended it, such as `SIGKILL`; None while it runs or if it exited by itself."""
        if self.is_running:
            return None
        status = self._started.status
        if status is None:
            return "SIGKILL"
        return signal_name(-status) if status < 0 else None

    @property
    def has_own_network(self) -> bool:
        """True if it runs in a sandbox without the machine's network."""
        return self._started.looking is not None and not self._started.sandbox.wanted.network

    def list_listeners(self) -> list[Listener]:
        """Return the TCP ports that its processes listen on; it blocks, because it reads /proc."""
        return self._supervised.list_listeners()

    def waits_for_input(self) -> bool:
        """Return True if one of its processes waits for typed input; it blocks, because it reads /proc."""
        return self._supervised.waits_for_terminal(self._started.terminal)

    def mark_finished(self) -> None:
        """Record that it has ended, and close its terminal."""
        if self.ended_at_ms is None:
            self.ended_at_ms = time.time_ns() // 1_000_000
            self.close_terminal()
            self.output.bell.notify_waiters()

    def close_terminal(self) -> None:
        """Close its terminal; safe to call twice."""
        typing = self._typing
        self._typing = -1
        if typing >= 0:
            os.close(typing)

    async def terminate(self, grace_s: float = GRACE_S) -> None:
        """End it with all processes that it started, and wait until they are gone."""
        if self.is_running:
            self.is_killed = True
            self._supervised.end(grace_s)
            await self._supervised.wait()
        await self.wait_until_settled()

    async def wait_until_settled(self) -> None:
        """Wait for the last output and the last check of control files after the process has ended."""
        await wait_for_last_output(self._supervised)
        await self._started.wait_for_quarantined()

    async def type_text(self, text: str) -> None:
        """Type text into its terminal.

        Raises:
            ToolError: `process_ended`; `input_full`: it does not read its input.
        """
        async with self._writing:
            if self._typing < 0:
                message = f"The process {self.process_id!r} has ended and takes no more input."
                raise ToolError("process_ended", message, process_id=self.process_id)
            # a duplicate: the process may end, which closes the original, while a thread writes
            typing = os.dup(self._typing)
            try:
                await asyncio.to_thread(_write_all, typing, text.encode())
            except TimeoutError as exc:
                message = f"The process {self.process_id!r} does not read its input; try again later."
                raise ToolError("input_full", message, retryable=True, process_id=self.process_id) from exc
            except OSError:
                pass  # it ended meanwhile
            finally:
                os.close(typing)

    async def press_keys(self, text: str, keys: Sequence[str]) -> None:
        """Type text into its terminal, and then press keys one after the other.

        Raises:
            ToolError: `unknown_key`: nothing was typed; and those of `type_text`.
        """
        is_application_mode = False
        if self.has_terminal and keys:
            await self.render_screen()
            is_application_mode = self._screen is not None and self._screen.has_application_keys
        sequences = [encode_key(key, is_application_mode=is_application_mode) for key in keys]
        pending = text
        for sequence in sequences:
            pending += sequence
            if sequence == ESCAPE:  # text that followed immediately would turn it into another key
                await self.type_text(pending)
                await asyncio.sleep(_ESCAPE_S)
                pending = ""
        if pending:
            await self.type_text(pending)

    async def render_screen(self) -> ScreenView:
        """Return what its terminal shows."""
        async with self._drawing:
            self._screen = self._screen or Screen(*self.size)
            # in a thread: up to 1 MB is drawn
            return await asyncio.to_thread(self._screen.update, self.output.screen, *self.size)

    def output_ends(self) -> tuple[Mark, Mark]:
        """Return where the recorded output ends now, in stdout and stderr."""
        return self.output.stdout.end, self.output.stderr.end

    async def wait_for_quiet(self, since: tuple[Mark, Mark]) -> None:
        """Wait until it has written something and then paused for `_REST_S`, at most `_REST_MOST_S`.

        Args:
            since: Where its output ended before. Without a terminal the echo of typed text is no output.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(_REST_MOST_S):
                ends = await self._next_output(since)
                while self.is_running:
                    try:
                        async with asyncio.timeout(_REST_S):
                            ends = await self._next_output(ends)
                    except TimeoutError:
                        return

    async def _next_output(self, since: tuple[Mark, Mark]) -> tuple[Mark, Mark]:
        while True:
            change = self.output.bell.next_change()
            try:
                if self.output_ends() != since or not self.is_running:
                    return self.output_ends()
                await change
            finally:
                change.cancel()

    def explain_sandbox_failure(self, output: str) -> str:
        """Explain how the sandbox may have made it fail, and what to do about it; empty if nothing indicates that."""
        return self._started.explain_sandbox_failure(output)

    def _store_quarantined(self, looking: "asyncio.Task[list[Quarantined]]") -> None:
        if not looking.cancelled() and looking.exception() is None:
            self.put_aside = looking.result()[:PUT_ASIDE_SHOWN]

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of its terminal, if it is still open."""
        if self._typing >= 0:
            set_size(self._typing, columns, rows)
            self.size = (columns, rows)
            self.output.bell.notify_waiters()

    def to_json(self) -> dict[str, Any]:
        """Return the process as JSON data for the page."""
        return {
            "processId": self.process_id,
            "sessionId": self.session_id,
            "command": self.command,
            "cwd": self.folder,
            "hasTerminal": self.has_terminal,
            "isRunning": self.is_running,
            "exitCode": self.exit_code,
            "signal": self.signal,
            "startedAt": self.started_at_ms,
            "endedAt": self.ended_at_ms,
            "putAside": [each.to_json() for each in self.put_aside],
        }


def _write_all(fd: int, data: bytes) -> None:
    until = time.monotonic() + INPUT_SECONDS
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            left_ms = (until - time.monotonic()) * 1000
            if left_ms <= 0 or not poll.poll(left_ms):
                raise TimeoutError from None

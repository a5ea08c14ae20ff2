"""Reads lines while a turn is running: the first key opens a line, and output waits until it is sent."""

import asyncio
import sys
import termios
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Protocol

from agentcore.cli.conversation.event_output import TerminalView
from agentcore.cli.terminal.terminal import until_readable

_LOCAL_FLAGS = 3
_INPUT_FLAGS = 0


class DraftLine(Protocol):
    """Reads a started line. A protocol for `PromptLine`, which need not be imported to send a single message."""

    @property
    def has_draft(self) -> bool:
        """True if a line was started and not finished."""
        ...

    def marking_pastes(self) -> AbstractContextManager[None]:
        """Enable bracketed paste before the line opens."""
        ...

    async def read_draft(self) -> str:
        """Read the line; the result is empty if the user deleted it."""
        ...


class Meanwhile:
    """Reads lines while a turn is running, but not while a question is asked.

    It is also a `ChatView`: it buffers output while the user is typing and shows it afterwards.

    Args:
        line: Reads a line.
        view: Shows the session.
        take: Handles a line.
    """

    def __init__(self, line: DraftLine, view: TerminalView, take: Callable[[str], Awaitable[None]]) -> None:
        self._line = line
        self._view = view
        self._take = take
        self._keyboard = sys.stdin.fileno()
        self._questions = 0
        self._may_read = asyncio.Event()
        self._may_read.set()
        self._reading: asyncio.Task[str] | None = None
        self._taking = asyncio.Lock()
        self._held: list[Callable[[], None]] | None = None
        self._awaited = ""

    async def run(self) -> None:
        """Read and handle lines until cancelled; an unfinished line is then put into the next prompt."""
        while True:
            while not self._may_read.is_set():
                await self._may_read.wait()
            async with asyncio.TaskGroup() as group:
                self._reading = group.create_task(self._read_line())
            if not self._reading.cancelled() and (text := self._reading.result()).strip():
                async with self._taking:
                    self._view.show_text(f"> {text}")
                    await self._take(text)
            if self._awaited:
                self._view.show_waiting(self._awaited)

    @asynccontextmanager
    async def pause_reading(self) -> AsyncIterator[None]:
        """Stop reading lines while a question is asked; an unfinished line is put into the next one."""
        self._questions += 1
        self._may_read.clear()
        try:
            if self._reading is not None and not self._reading.done():
                self._reading.cancel()
                await asyncio.wait((self._reading,))
            async with self._taking:  # wait until the previous line is handled
                pass
            yield
        finally:
            self._questions -= 1
            if not self._questions:
                self._may_read.set()

    def show_event(self, event: Mapping[str, Any]) -> None:
        """Show one event, after the line that is being typed."""
        self._awaited = ""
        self._show_or_queue(partial(self._view.show_event, event))

    def show_text(self, text: str) -> None:
        """Show a notice, after the line that is being typed."""
        self._awaited = ""
        self._show_or_queue(partial(self._view.show_text, text))

    def show_waiting(self, what: str) -> None:
        """Show what the turn is waiting for, now and after each line that is typed."""
        self._awaited = what
        self._show_or_queue(partial(self._view.show_waiting, what))

    def _show_or_queue(self, action: Callable[[], None]) -> None:
        if self._held is None:
            action()
        else:
            self._held.append(action)

    async def _read_line(self) -> str:
        with _silent_keys(self._keyboard), self._line.marking_pastes():
            if not self._line.has_draft:
                await until_readable(self._keyboard)
            with self._buffering_output():
                return await self._line.read_draft()

    @contextmanager
    def _buffering_output(self) -> Iterator[None]:
        """Buffer output while a line is edited, and show it afterwards."""
        self._view.break_line()
        self._held = []
        try:
            yield
        finally:
            held = self._held
            self._held = None
            for action in held:
                action()


@contextmanager
def _silent_keys(keyboard: int) -> Iterator[None]:
    """Deliver each key at once and without echo, since the opened line shows it; Ctrl-C still raises SIGINT."""
    before = termios.tcgetattr(keyboard)
    silent = [*before]
    silent[_LOCAL_FLAGS] &= ~(termios.ECHO | termios.ICANON)
    silent[_INPUT_FLAGS] &= ~termios.ICRNL  # Enter arrives as CR, as in a prompt
    termios.tcsetattr(keyboard, termios.TCSANOW, silent)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSANOW, before)

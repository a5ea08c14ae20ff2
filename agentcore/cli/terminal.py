"""The person at the terminal of this process: asked, and heard only after the question was shown."""

import asyncio
import os
import sys
import termios

TERMINAL = "terminal"
"""Who decides, where a person at a terminal does."""

_LINE_BYTES = 4096
_BACKGROUND_SECONDS = 1.0


def has_person() -> bool:
    """Whether somebody can be asked: both the keyboard and what is shown are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def forget_typed(keyboard: int) -> None:
    """Throw away what was typed and not read yet, so that no answer is given before its question."""
    termios.tcflush(keyboard, termios.TCIFLUSH)


async def ask_line(question: str, timeout_s: float) -> str | None:
    """Ask a question that a line answers.

    Returns:
        The line; None: nobody answered in time, or the terminal was closed.
    """
    keyboard = sys.stdin.fileno()
    forget_typed(keyboard)
    sys.stderr.write(f"{question} ")
    sys.stderr.flush()
    try:
        async with asyncio.timeout(timeout_s):
            return await read_line(keyboard)
    except TimeoutError:
        sys.stderr.write("\n")
        return None


async def read_line(keyboard: int) -> str | None:
    """The next line that is typed at a terminal; None when it is closed."""
    while True:
        await _readable(keyboard)
        try:
            line = os.read(keyboard, _LINE_BYTES)  # a terminal gives whole lines, so this does not wait
        except OSError:
            if not os.isatty(keyboard) or os.tcgetpgrp(keyboard) == os.getpgrp():
                return None  # it was hung up
            await asyncio.sleep(_BACKGROUND_SECONDS)  # another job has the foreground, and what is typed is for it
            continue
        return line.decode("utf-8", "replace") if line else None


async def _readable(keyboard: int) -> None:
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(keyboard, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(keyboard)

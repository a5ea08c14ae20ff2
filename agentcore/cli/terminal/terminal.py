"""Asks the user at the terminal of this process; input typed before a question was shown is discarded."""

import asyncio
import os
import sys
import termios

from agentcore.cli.terminal.typed_answer import Proof

TERMINAL = "terminal"
"""Name of the decider if a user decides at a terminal."""

EXPIRED = "three wrong numbers were typed at the terminal, so the question has expired"
"""Message for a question that has expired."""

_CONFIRM_SECONDS = 120.0
_LINE_BYTES = 4096
_BACKGROUND_SECONDS = 1.0


def is_interactive() -> bool:
    """True if a user can be asked: both stdin and stderr are terminals."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def discard_typed_input(keyboard: int) -> None:
    """Discard unread input, so that no answer is accepted before its question."""
    termios.tcflush(keyboard, termios.TCIFLUSH)


async def ask_line(question: str, timeout_s: float | None) -> str | None:
    """Ask a question and read one line as the answer.

    Returns:
        The line, or None if there was no answer in time or the terminal was closed.
    """
    keyboard = sys.stdin.fileno()
    discard_typed_input(keyboard)
    sys.stderr.write(f"{question} ")
    sys.stderr.flush()
    try:
        async with asyncio.timeout(timeout_s):
            return await read_line(keyboard)
    except TimeoutError:
        sys.stderr.write("\n")
        return None


async def ask_confirmation(question: str, timeout_s: float = _CONFIRM_SECONDS, *, is_new: bool = False) -> bool:
    """Ask the user to confirm what was typed, or return True at once if no other process can have typed it.

    Args:
        question: The question.
        timeout_s: Time limit for the answer in seconds.
        is_new: True to ask in any case, because nothing that was typed so far counts as a yes.
    """
    proof = Proof()
    if not proof.is_needed and not is_new:
        return True
    while not proof.is_spent:
        line = await ask_line(f"{question} Type {proof.expected_input('yes')}, or anything else for no:", timeout_s)
        if line is None or line.strip().partition(" ")[0].lower() != "yes":
            return False
        if proof.parse_line(line, {"yes"}) is not None:
            return True
        write_line(number_needed("yes"))
        proof.renew_number()
    write_line(EXPIRED)
    return False


def number_needed(word: str) -> str:
    """Return the message for a decision without the right number."""
    return f"Another process may have typed that: type {word} with the number that the question shows."


def write_line(text: str) -> None:
    """Write a line on stderr."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


async def read_line(keyboard: int) -> str | None:
    """Read the next line that is typed at a terminal; None if it was closed."""
    while True:
        await until_readable(keyboard)
        try:
            line = os.read(keyboard, _LINE_BYTES)  # a terminal returns whole lines, so this does not block
        except OSError:
            if not os.isatty(keyboard) or os.tcgetpgrp(keyboard) == os.getpgrp():
                return None  # the terminal was hung up
            await asyncio.sleep(_BACKGROUND_SECONDS)  # another job is in the foreground and receives the input
            continue
        return line.decode("utf-8", "replace") if line else None


async def until_readable(keyboard: int) -> None:
    """Wait until a terminal has input; only one task at a time may wait for the same terminal."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(keyboard, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(keyboard)

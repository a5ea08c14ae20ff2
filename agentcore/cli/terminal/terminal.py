"""The person at the terminal of this process: asked, and heard only after the question was shown."""

import asyncio
import os
import sys
import termios

from agentcore.cli.terminal.typed_answer import Proof

TERMINAL = "terminal"
"""Who decides, where a person at a terminal does."""

EXPIRED = "three wrong numbers were typed at the terminal, so the question has expired"
"""What is said when a question is over because of them."""

_CONFIRM_SECONDS = 120.0
_LINE_BYTES = 4096
_BACKGROUND_SECONDS = 1.0


def is_interactive() -> bool:
    """Whether somebody can be asked: both the keyboard and what is shown are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def discard_typed_input(keyboard: int) -> None:
    """Throw away what was typed and not read yet, so that no answer is given before its question."""
    termios.tcflush(keyboard, termios.TCIFLUSH)


async def ask_line(question: str, timeout_s: float | None) -> str | None:
    """Ask a question that a line answers.

    Returns:
        The line; None: nobody answered in time, or the terminal was closed.
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
    """Whether what was typed was meant: at once where nobody but the person can have typed it, else with a number.

    Args:
        question: What is asked.
        timeout_s: How long the answer may take, in seconds.
        is_new: Whether nothing was typed that could count as a yes: then it is asked in any case.
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
    """What to say to a decision without the right number."""
    return f"Another process may have typed that: type {word} with the number that the question shows."


def write_line(text: str) -> None:
    """Write a line for the person at the terminal."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


async def read_line(keyboard: int) -> str | None:
    """The next line that is typed at a terminal; None when it is closed."""
    while True:
        await until_readable(keyboard)
        try:
            line = os.read(keyboard, _LINE_BYTES)  # a terminal gives whole lines, so this does not wait
        except OSError:
            if not os.isatty(keyboard) or os.tcgetpgrp(keyboard) == os.getpgrp():
                return None  # it was hung up
            await asyncio.sleep(_BACKGROUND_SECONDS)  # another job has the foreground, and what is typed is for it
            continue
        return line.decode("utf-8", "replace") if line else None


async def until_readable(keyboard: int) -> None:
    """Wait until something can be read from a terminal; nobody else may wait for it at the same time."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(keyboard, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(keyboard)

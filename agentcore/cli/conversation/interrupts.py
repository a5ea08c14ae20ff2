"""Lets coroutines wait for Ctrl-C."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def capture_interrupts() -> Iterator["asyncio.Queue[None]"]:
    """Put every Ctrl-C into a queue; outside this context, it ends the command as before."""
    loop = asyncio.get_running_loop()
    pressed: asyncio.Queue[None] = asyncio.Queue()
    former = signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, pressed.put_nowait, None)
    try:
        yield pressed
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, former)

"""Importing aiohttp reads the system's certificates twice, for clients: 40 ms before a server can answer anything.

A server that first has to answer reads them after, before anything can want them; until then every check of a
certificate fails, which is the safe way round.
"""

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def certificates_later() -> Iterator[Callable[[], None]]:
    """Import aiohttp in here; call what this gives, in a thread, before the first TLS connection."""
    waiting: list[ssl.SSLContext] = []

    def wait(context: ssl.SSLContext) -> None:
        waiting.append(context)

    def load() -> None:
        while waiting:
            waiting.pop().set_default_verify_paths()

    # ssl's class inherits the method from the one that is written in C, so that taking ours away brings it back
    ssl.SSLContext.set_default_verify_paths = wait  # type: ignore[method-assign, assignment]
    try:
        yield load
    finally:
        del ssl.SSLContext.set_default_verify_paths

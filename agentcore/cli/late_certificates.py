"""Defers loading the system's certificates, which importing aiohttp does twice for clients, taking 40 ms.

A server loads them once it can answer requests, before anything needs them. Until then every certificate check fails,
which is the safe direction.
"""

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def certificates_later() -> Iterator[Callable[[], None]]:
    """Import aiohttp in this context; call the yielded function in a thread before the first TLS connection."""
    waiting: list[ssl.SSLContext] = []

    def wait(context: ssl.SSLContext) -> None:
        waiting.append(context)

    def load() -> None:
        while waiting:
            waiting.pop().set_default_verify_paths()

    # ssl.SSLContext inherits the method from its C base class, so deleting the replacement restores it.
    ssl.SSLContext.set_default_verify_paths = wait  # type: ignore[method-assign, assignment]
    try:
        yield load
    finally:
        del ssl.SSLContext.set_default_verify_paths

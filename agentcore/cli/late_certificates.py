"""Defers loading the system's certificates, which importing aiohttp does twice for clients, taking 40 ms and 2 MiB.

Each context loads them before its first connection. A server does so once its modules have started, in a thread.
"""

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_LOADING = threading.Lock()


class _LateContext(ssl.SSLContext):
    """A context without certificates yet. Until it has them every check of a certificate fails."""

    def wrap_bio(self, *args: Any, **options: Any) -> ssl.SSLObject:
        """Load the certificates, then begin a connection."""
        _load_certificates(self)
        return ssl.SSLContext.wrap_bio(self, *args, **options)

    def wrap_socket(self, *args: Any, **options: Any) -> ssl.SSLSocket:
        """Load the certificates, then begin a connection."""
        _load_certificates(self)
        return ssl.SSLContext.wrap_socket(self, *args, **options)


def _load_certificates(context: ssl.SSLContext) -> None:
    """Load the certificates of a late context, once, and make it an ordinary one."""
    with _LOADING:
        if isinstance(context, _LateContext):
            context.set_default_verify_paths()
            context.__class__ = ssl.SSLContext  # type: ignore[assignment]


@contextmanager
def certificates_later() -> Iterator[Callable[[], None]]:
    """Import aiohttp in this context; the yielded function loads the certificates without waiting for a connection."""
    late: list[ssl.SSLContext] = []

    def wait(context: ssl.SSLContext) -> None:
        context.__class__ = _LateContext
        late.append(context)

    def load() -> None:
        while late:
            _load_certificates(late.pop())

    # ssl.SSLContext inherits the method from its C base class, so deleting the replacement restores it.
    ssl.SSLContext.set_default_verify_paths = wait  # type: ignore[method-assign, assignment]
    try:
        yield load
    finally:
        del ssl.SSLContext.set_default_verify_paths

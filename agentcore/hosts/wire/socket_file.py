"""The file of a Unix socket, however long its path is."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def short_name(path: Path) -> Iterator[str]:
    """A short name to bind or connect to: the address of a Unix socket is limited to 107 bytes, unlike a state folder's
    path.

    Linux only.

    Raises:
        OSError: The folder does not exist.
    """
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)

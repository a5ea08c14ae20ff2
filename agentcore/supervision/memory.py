"""Memory that two processes share through a descriptor."""

import os
import sys
import tempfile


def shared_memory(size_bytes: int, name: str) -> int:
    """Return a descriptor of zeroed memory; pages are allocated when they are first written.

    Raises:
        OSError: If there is no room for it.
    """
    if sys.platform.startswith("linux"):
        memory = os.memfd_create(name)
    else:
        with tempfile.TemporaryFile() as file:
            memory = os.dup(file.fileno())
    os.ftruncate(memory, size_bytes)
    return memory

"""Code on disk and in `sys.modules`: has it changed, and how to get it imported afresh."""

import hashlib
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

READ_WHOLE_BYTES = 1024 * 1024
"""Files beyond this count with size and time of change instead of their content."""


def digest_of(paths: Iterable[Path], salt: str) -> str:
    """A digest of files, and of all files in folders but compiled ones; stays the same when nothing was changed."""
    digest = hashlib.sha256(salt.encode())
    for root in paths:
        for file in sorted(_files_in(root)):
            digest.update(b"\0" + str(file.relative_to(root)).encode(errors="surrogateescape") + b"\0")
            digest.update(_content_of(file))
    return digest.hexdigest()


def forget_code(package: str) -> None:
    """Take a package and all in it out of `sys.modules`, so that the next import reads it from disk.

    Compiled files go too: Python takes one for current when the source has the same size and the same second.
    """
    # a copy: other threads import meanwhile
    for name in [name for name in list(sys.modules) if name == package or name.startswith(f"{package}.")]:
        module = sys.modules.pop(name)
        compiled = getattr(getattr(module, "__spec__", None), "cached", None)
        if compiled:
            with suppress(OSError):  # not there, or not ours: then it was not written by this process either
                Path(compiled).unlink()
    parent, _, child = package.rpartition(".")
    if parent in sys.modules and hasattr(sys.modules[parent], child):
        delattr(sys.modules[parent], child)  # `from parent import child` would find it there


def _files_in(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    for path in root.rglob("*"):
        if "__pycache__" not in path.parts and path.is_file():
            yield path


def _content_of(file: Path) -> bytes:
    try:
        status = file.stat()
        if status.st_size > READ_WHOLE_BYTES:
            return f"{status.st_size} {status.st_mtime_ns}".encode()
        return hashlib.sha256(file.read_bytes()).digest()
    except OSError as exc:  # gone or locked away meanwhile, which is a change, too
        return type(exc).__name__.encode()

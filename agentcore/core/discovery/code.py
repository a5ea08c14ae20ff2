"""Code on disk and in `sys.modules`: has it changed, and how to get it imported afresh."""

import hashlib
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from types import ModuleType

READ_WHOLE_BYTES = 1024 * 1024
"""Files beyond this count with size and time of change instead of their content."""

_import_caches = threading.Lock()


def forget_import_caches() -> None:
    """Have the next imports see files that are new."""
    # Modules are imported in threads, and two that do this at one time can delete the same entry (KeyError).
    with _import_caches:
        importlib.invalidate_caches()


def digest_of(paths: Iterable[Path], salt: str) -> str:
    """Return a digest of files, and of all files in folders except compiled ones; it changes only if one of them
    does."""
    digest = hashlib.sha256(salt.encode())
    for root in paths:
        for file in sorted(_files_in(root)):
            digest.update(b"\0" + str(file.relative_to(root)).encode(errors="surrogateescape") + b"\0")
            digest.update(_content_of(file))
    return digest.hexdigest()


class UnloadedCode:
    """Code that was removed from `sys.modules`, so that the next import reads it from disk.

    Running code keeps its modules; later imports are fresh, until `put_back`.

    Args:
        owns: True for a name in `sys.modules` that belongs to that code.
    """

    def __init__(self, owns: Callable[[str], bool]) -> None:
        self._owns = owns
        self._modules = self._unload()

    def put_back(self) -> None:
        """Restore the code and remove whatever was imported under its names since."""
        self._unload()
        sys.modules.update(self._modules)
        for name, module in self._modules.items():
            parent, _, child = name.rpartition(".")
            if parent in sys.modules:
                setattr(sys.modules[parent], child, module)

    def _unload(self) -> dict[str, ModuleType]:
        # a copy: other threads import meanwhile
        taken = {name: sys.modules.pop(name) for name in list(sys.modules) if self._owns(name)}
        for name, module in taken.items():
            _forget_compiled(module)
            parent, _, child = name.rpartition(".")
            if getattr(sys.modules.get(parent), child, None) is module:
                delattr(sys.modules[parent], child)  # `from parent import child` would find it there
        return taken


def unload_code(packages: Iterable[str]) -> UnloadedCode:
    """Take packages, and all in them, out of `sys.modules`."""
    names = frozenset(packages)
    return UnloadedCode(lambda name: any(name == package or name.startswith(f"{package}.") for package in names))


def forget_compiled(paths: Iterable[Path]) -> None:
    """Remove the compiled files of Python files, and of all in folders, so that the next import reads the sources."""
    for root in paths:
        for file in _files_in(root):
            if file.suffix == ".py":
                _remove_compiled(cache_from_source(str(file)))


def _forget_compiled(module: ModuleType) -> None:
    compiled = getattr(getattr(module, "__spec__", None), "cached", None)
    if compiled:
        _remove_compiled(compiled)


def _remove_compiled(file: str) -> None:
    """Remove a compiled file: Python treats one as current if the source has the same size and the same second."""
    with suppress(OSError):  # not there, or of another owner: then it was not written by this process either
        Path(file).unlink()


def _files_in(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    # not `Path.rglob`, which takes three times as long: every start reads the code of all modules
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if name != "__pycache__"]
        for name in names:
            path = os.path.join(folder, name)  # noqa: PTH118
            if os.path.isfile(path):  # noqa: PTH113
                yield Path(path)


def _content_of(file: Path) -> bytes:
    try:
        status = file.stat()
        if status.st_size > READ_WHOLE_BYTES:
            return f"{status.st_size} {status.st_mtime_ns}".encode()
        return hashlib.sha256(file.read_bytes()).digest()
    except OSError as exc:  # gone or locked away meanwhile, which is a change, too
        return type(exc).__name__.encode()

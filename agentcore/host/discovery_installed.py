"""Modules of installed distributions, by the entry points of the group `agentcore.modules`."""

import importlib
import importlib.metadata
import importlib.util
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.message import Message
from email.parser import HeaderParser
from functools import cached_property, lru_cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import structlog

from agentcore.host.discovery_code import digest_of, forget_code

log = structlog.get_logger(__name__)

GROUP = "agentcore.modules"
"""The entry-point group."""

_CORE = "agentcore"
_scanning = threading.Lock()


@dataclass(frozen=True)
class InstalledModule:
    """A module that an installed distribution registers.

    Args:
        name: The entry point's name.
        value: What it points to, `package.module:object`.
        metadata: The distribution.
    """

    name: str
    value: str
    metadata: importlib.metadata.Distribution = field(repr=False, compare=False)

    @cached_property
    def distribution(self) -> str:
        """The distribution's name."""
        return str(self._headers.get("Name", ""))

    @cached_property
    def version(self) -> str:
        """The distribution's version."""
        return str(self._headers.get("Version", ""))

    @cached_property
    def file(self) -> Path | None:
        """The file of the module's package; None: the entry point names one that is not there."""
        spec = _spec_of(self.package)
        return None if spec is None or spec.origin is None else Path(spec.origin)

    @cached_property
    def package(self) -> str:
        """The outermost package of the module that is its own: namespace packages belong to others as well."""
        path = self.value.partition(":")[0].strip()
        parts = path.split(".")
        for size in range(1, len(parts)):
            spec = _spec_of(".".join(parts[:size]))
            if spec is None or spec.origin is not None:
                return ".".join(parts[:size])
        return path

    @property
    def source_paths(self) -> tuple[Path, ...]:
        """The folder of the package's code, or its one file."""
        if self.file is None:
            return ()
        return (self.file.parent if self.file.name == "__init__.py" else self.file,)

    def origin(self) -> dict[str, str]:
        """Where the module comes from, for people: distribution, version, file."""
        origin = {"distribution": self.distribution, "version": self.version, "file": str(self.file or "")}
        return {key: value for key, value in origin.items() if value}

    def fingerprint(self) -> str:
        """A digest of the distribution's name and version and of the package's files; another one: it changed."""
        return digest_of(self.source_paths, f"{self.distribution} {self.version}")

    def load(self) -> Any:
        """Import what the entry point names. Runs the module's code: in a thread, under a limit.

        Raises:
            ImportError: The value does not name an object, or not one that is there.
            BaseException: What the import raised.
        """
        entry = importlib.metadata.EntryPoint(self.name, self.value, GROUP)
        if not entry.pattern.match(self.value):
            raise ImportError(f"entry point {self.value!r} is not of the form 'package.module:object'")
        return entry.load()

    @cached_property
    def _headers(self) -> Message:
        # `metadata.metadata` fails where a broken installation left no METADATA
        text = self.metadata.read_text("METADATA") or self.metadata.read_text("PKG-INFO") or ""
        return HeaderParser().parsestr(text)


def installed_entries() -> Mapping[str, tuple[InstalledModule, ...]]:
    """All entry points of the group by name, those first whose distribution comes first on `sys.path`.

    One pass over the metadata of all distributions, kept until a folder of `sys.path` changes; nothing is imported.
    """
    with _scanning:  # modules start together, and one pass serves them all
        return _scan(tuple((entry, _changed_ns(entry)) for entry in sys.path))


def rescan() -> None:
    """Have the metadata read again at the next look-up."""
    importlib.invalidate_caches()
    with _scanning:
        _scan.cache_clear()


def forget_distribution(module: InstalledModule) -> None:
    """Take the code of a module's whole distribution out of `sys.modules`."""
    record = module.metadata.read_text("RECORD") or ""
    packages = {entry.package for entry in _entries_of(module.metadata)}
    packages.update(_regular_packages(line.partition(",")[0] for line in record.splitlines()))
    for package in packages:
        if package.partition(".")[0] != _CORE:  # what everybody else holds on to stays
            forget_code(package)


@lru_cache(maxsize=1)
def _scan(_sys_path: tuple[tuple[str, int], ...]) -> Mapping[str, tuple[InstalledModule, ...]]:
    found: dict[str, tuple[InstalledModule, ...]] = {}
    for metadata in importlib.metadata.distributions():
        for module in _entries_of(metadata):
            found[module.name] = (*found.get(module.name, ()), module)
    return found


def _entries_of(metadata: importlib.metadata.Distribution) -> Iterator[InstalledModule]:
    try:
        text = metadata.read_text("entry_points.txt") or ""
    except (OSError, UnicodeDecodeError) as exc:
        log.warning("entry_points_unreadable", path=str(metadata.locate_file("")), reason=str(exc))
        return
    if GROUP not in text:
        return
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[] ")
        elif section == GROUP and not line.startswith(("#", ";")) and "=" in line:
            name, _, value = line.partition("=")
            yield InstalledModule(name.strip(), value.strip(), metadata)


def _changed_ns(entry: str) -> int:
    try:
        return os.stat(entry or ".").st_mtime_ns  # noqa: PTH116 - entries of sys.path are texts, also empty ones
    except OSError:
        return 0


def _spec_of(name: str) -> ModuleSpec | None:
    """Where a module would come from. Imports its parents, so these have to be namespace packages."""
    try:
        return importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):  # not there, or something in sys.modules without a spec
        return None


def _regular_packages(files: Iterator[str]) -> Iterator[str]:
    for file in files:
        parts = file.split("/")
        if len(parts) == 2 and parts[1] == "__init__.py":  # noqa: PLR2004 - a package at the top
            yield parts[0]
        elif len(parts) == 1 and file.endswith(".py"):
            yield file.removesuffix(".py")

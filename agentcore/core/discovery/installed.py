"""Modules and families of modules that installed distributions bring, by their entry points."""

import importlib.metadata
import importlib.util
import json
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import field
from email.message import Message
from email.parser import HeaderParser
from functools import cached_property
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import structlog

from agentcore.api.module import MODULE_NAME
from agentcore.config.app_json import AppDocument
from agentcore.config.fields import keys_of
from agentcore.core.discovery.code import UnloadedCode, digest_of, forget_import_caches, unload_code
from agentcore.core.discovery.paths import add_new_paths, run_own_lines
from agentcore.late_dataclasses import dataclass

if TYPE_CHECKING:
    from packaging.version import Version

log = structlog.get_logger(__name__)

GROUP = "agentcore.modules"
"""The entry-point group of modules."""

FAMILIES = "agentcore.module_families"
"""The group of families of modules: the name of each is the prefix of its modules."""

FAMILY_KEYS = "agentcore.module_family_keys"
"""The group of the keys of their blocks in app.json; each has the same object as its family."""

_GROUPS = frozenset((GROUP, FAMILIES, FAMILY_KEYS))
_CORE = "agentcore"
_MODULE_NAME = re.compile(MODULE_NAME)
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_SAID_CHARS = 200
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


@dataclass(frozen=True)
class InstalledModule:
    """A module that an installed distribution registers.

    Args:
        value: The object it points to, `package.module:object`.
    """

    name: str
    value: str
    metadata: importlib.metadata.Distribution = field(repr=False, compare=False)

    @cached_property
    def distribution(self) -> str:
        """The distribution's name, as it writes it; without one, that of its folder."""
        return self._read_header("Name") or _folder_of(self.metadata).name_in_it

    @cached_property
    def source(self) -> str:
        """What the user trusts: the distribution's name in its normal form (PEP 503).

        If the folder of its metadata has another name than the metadata, no installer created it, and both are used.
        """
        name = normalise_name(self.distribution)
        folder = normalise_name(_folder_of(self.metadata).name_in_it)
        return name if folder == name else f"{name} (in {folder})"

    @cached_property
    def version(self) -> str:
        """The distribution's version."""
        return self._read_header("Version")

    def _read_header(self, header: str) -> str:
        """Return a field of the metadata on one line, because the user sees it among lines of the server's own."""
        return " ".join(str(self.headers.get(header, "")).split())[:_SAID_CHARS]

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

    def describe_origin(self) -> dict[str, str]:
        """Describe the origin of the module for users: distribution, version, file."""
        file = self.file or self._project_folder
        origin = {"distribution": self.distribution, "version": self.version, "file": str(file or "")}
        return {key: value for key, value in origin.items() if value}

    def compute_fingerprint(self) -> str:
        """A digest of the distribution's name and version and of the package's files; another one: it changed."""
        return digest_of(self.source_paths, f"{self.distribution} {self.version}")

    def make_importable(self) -> None:
        """Do for a package that was installed beside the running process what the interpreter does at its start.

        May run the distribution's own code: in a thread, under a limit, as `load`.
        """
        if self.file is None:
            run_own_lines(self.metadata)
            forget_import_caches()
            for name in ("file", "package"):
                self.__dict__.pop(name, None)

    def load(self) -> Any:
        """Import the object that the entry point names. Runs module code: call it in a thread, under a limit.

        Raises:
            ImportError: The value does not name an object, or the object does not exist.
            BaseException: Raised by the import.
        """
        entry = importlib.metadata.EntryPoint(self.name, self.value, GROUP)
        if not entry.pattern.match(self.value):
            raise ImportError(f"entry point {self.value!r} is not of the form 'package.module:object'")
        return entry.load()

    @cached_property
    def headers(self) -> Message:
        """The distribution's metadata; empty if a broken installation has none."""
        text = self.metadata.read_text("METADATA") or self.metadata.read_text("PKG-INFO") or ""
        return HeaderParser().parsestr(text)

    @cached_property
    def _project_folder(self) -> Path | None:
        """The project's folder, where it was installed from one and not copied (PEP 610)."""
        try:
            direct_url = json.loads(self.metadata.read_text("direct_url.json") or "{}")
            url = urlsplit(direct_url["url"])
        except (ValueError, KeyError, TypeError):
            return None
        return Path(unquote(url.path)) if url.scheme == "file" else None


@dataclass(frozen=True)
class Family:
    """A family of modules that an installed distribution registers.

    Args:
        entry: Creates its modules; named like the family.
        key: The key of its blocks in app.json.
    """

    entry: InstalledModule
    key: str

    @property
    def prefix(self) -> str:
        """The prefix of the names of its modules."""
        return f"{self.entry.name}_"


@dataclass(frozen=True)
class _Registered:
    modules: Mapping[str, tuple[InstalledModule, ...]]
    families: tuple[Family, ...]


def normalise_name(distribution: str) -> str:
    """A distribution's name in the form in which names are compared (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


class _Metadata:
    """The entry points of all distributions, read in one pass and cached until a folder of `sys.path` changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: tuple[tuple[str, int], ...] = ()
        self._found = _Registered({}, ())

    def load_registered(self) -> _Registered:
        with self._lock:  # modules start together, and one pass serves them all
            if _path_changes() != self._key:
                add_new_paths()
                self._key = _path_changes()
                forget_import_caches()
                self._found = _scan_distributions()
            return self._found

    def invalidate(self) -> None:
        with self._lock:
            self._key = ()


_metadata = _Metadata()


def installed_entries() -> Mapping[str, tuple[InstalledModule, ...]]:
    """All entry points of the group by name, those first whose distribution comes first on `sys.path`.

    Kept until a folder of `sys.path` changes; nothing is imported. Folders that `.pth` files name since then are on
    `sys.path` afterwards, as after a start of the interpreter.
    """
    return _metadata.load_registered().modules


def installed_families() -> tuple[Family, ...]:
    """All families, those first whose distribution comes first on `sys.path`. Kept and found as `installed_entries`."""
    return _metadata.load_registered().families


def invalidate_metadata() -> None:
    """Read the metadata again at the next look-up."""
    _metadata.invalidate()


def unload_distribution(module: InstalledModule) -> UnloadedCode:
    """Remove the code of a module's whole distribution from `sys.modules`; return the removed code."""
    return unload_code(packages_of(module))


def packages_of(module: InstalledModule) -> set[str]:
    """The packages of a module's whole distribution."""
    record = module.metadata.read_text("RECORD") or ""
    entries = _entries_of(module.metadata)
    packages = {module.package, *(entry.package for group in (GROUP, FAMILIES) for entry in entries.get(group, ()))}
    packages.update(_regular_packages(line.partition(",")[0] for line in record.splitlines()))
    # code that other modules use stays
    return {package for package in packages if package.partition(".")[0] != _CORE}


def _path_changes() -> tuple[tuple[str, int], ...]:
    return tuple((entry, _changed_ns(entry)) for entry in sys.path)


def _scan_distributions() -> _Registered:
    modules: dict[str, tuple[InstalledModule, ...]] = {}
    families: dict[tuple[str, str], Family] = {}
    for metadata in _iterate_distributions():
        entries = _entries_of(metadata)
        for module in entries.get(GROUP, ()):
            modules[module.name] = (*modules.get(module.name, ()), module)
        for family in _families_of(entries):
            # one distribution can occur twice on sys.path: that is the same family
            families.setdefault((family.entry.name, family.entry.source), family)
    return _Registered(modules, tuple(families.values()))


def _families_of(entries: Mapping[str, list[InstalledModule]]) -> Iterator[Family]:
    """Return the families of one distribution; one with an invalid prefix or key is left out and logged."""
    keys = {entry.value: entry.name for entry in entries.get(FAMILY_KEYS, ())}
    for entry in entries.get(FAMILIES, ()):
        family = Family(entry, keys.get(entry.value, ""))
        if problem := _family_problem(family):
            log.warning("family_left_out", family=entry.name, distribution=entry.distribution, reason=problem)
        else:
            yield family


def _family_problem(family: Family) -> str:
    if not _MODULE_NAME.fullmatch(family.entry.name):
        return "its name is to be lower case, with single underscores"
    if not family.key:
        return f"group {FAMILY_KEYS} of its distribution names no key of app.json with the value {family.entry.value!r}"
    if not _KEY.fullmatch(family.key) or family.key in keys_of(AppDocument):
        return f"{family.key!r} cannot be its key: it is one of agentcore's own, or not letters, digits and underscores"
    return ""


def _iterate_distributions() -> Iterator[importlib.metadata.Distribution]:
    """All distributions in the order of `sys.path`; one where an installer left several versions in one folder."""
    kept: dict[tuple[str, str], importlib.metadata.Distribution] = {}
    for metadata in importlib.metadata.distributions():
        folder = _folder_of(metadata)
        if not _NAME.fullmatch(folder.name_in_it):
            continue  # pip begins the name with a tilde while it replaces a distribution, and may leave it so
        key = folder.parent, normalise_name(folder.name_in_it)
        if key in kept and _rank_version(kept[key]) >= _rank_version(metadata):
            continue
        kept[key] = metadata
    yield from kept.values()


@dataclass(frozen=True, slots=True)
class _MetadataFolder:
    parent: str
    name: str

    @property
    def name_in_it(self) -> str:
        """The distribution's name, as the folder of its metadata has it: `acme_weather-1.0.dist-info`."""
        if self.name.endswith(".dist-info"):
            stem = self.name.removesuffix(".dist-info")
            return stem.rpartition("-")[0] or stem
        return self.name.removesuffix(".egg-info").partition("-")[0]


def _folder_of(metadata: importlib.metadata.Distribution) -> _MetadataFolder:
    # the standard library has no public name for it, and reading METADATA of everything that is installed costs more
    path = getattr(metadata, "_path", None)
    return _MetadataFolder("", "") if path is None else _MetadataFolder(str(path.parent), path.name)


def _rank_version(metadata: importlib.metadata.Distribution) -> tuple[bool, bool, "Version"]:
    """Which of several versions of one distribution counts: the whole ones before remains, then the newest."""
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - seldom needed, and not quick

    try:
        version = Version(_folder_of(metadata).name.removesuffix(".dist-info").rpartition("-")[2])
    except InvalidVersion:
        version = Version("0")
    return metadata.read_text("METADATA") is not None, metadata.read_text("RECORD") is not None, version


def _entries_of(metadata: importlib.metadata.Distribution) -> Mapping[str, list[InstalledModule]]:
    """Return a distribution's entry points in our groups, by group."""
    found: dict[str, list[InstalledModule]] = {}
    try:
        text = metadata.read_text("entry_points.txt") or ""
    except (OSError, UnicodeDecodeError) as exc:
        log.warning("entry_points_unreadable", path=str(metadata.locate_file("")), reason=str(exc))
        return found
    if "agentcore." not in text:
        return found
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[] ")
        elif section in _GROUPS and not line.startswith(("#", ";")) and "=" in line:
            name, _, value = line.partition("=")
            found.setdefault(section, []).append(InstalledModule(name.strip(), value.strip(), metadata))
    return found


def _changed_ns(entry: str) -> int:
    try:
        return os.stat(entry or ".").st_mtime_ns  # noqa: PTH116 - entries of sys.path are texts, also empty ones
    except OSError:
        return 0


def _spec_of(name: str) -> ModuleSpec | None:
    """Return the spec of a module. Imports its parents, so these have to be namespace packages."""
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

"""Families of modules: each block under their key of app.json is a module. Imports nothing of theirs."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentcore.api.module import MODULE_NAME
from agentcore.config import loading
from agentcore.config.app_json import AppDocument
from agentcore.config.config_errors import ConfigError, ConfigProblem
from agentcore.config.config_file import ConfigFile
from agentcore.config.environment import Variable
from agentcore.config.layers import DEFAULT, Layers
from agentcore.config.loading import AppConfig, merge_app
from agentcore.config.problems import kind_of
from agentcore.core.discovery.installed import Family, InstalledModule, installed_families
from agentcore.late_dataclasses import dataclass

_NAME = re.compile(MODULE_NAME)
_NAME_CHARS = 64
_OTHERS = re.compile(r"[^a-z0-9]+")


def load_config(path: Path, environ: Mapping[str, str]) -> AppConfig:
    """Read app.json and merge the environment over it; the keys of all installed families are known in it.

    Raises:
        ConfigError: app.json or a variable is invalid; each problem has its location.
    """
    keys = dict.fromkeys(family.key for family in installed_families())
    return loading.load_config(path, environ, tuple(keys))


@dataclass(frozen=True)
class FamilyMember:
    """A module of a family: one block of app.json.

    Args:
        keys: The keys of all blocks that result in its name: if there are several, none is loaded.
        layers: The content of the block, with the origins of its values.
    """

    name: str
    family: Family
    keys: tuple[str, ...]
    layers: Layers = field(repr=False, compare=False)

    @property
    def entry(self) -> InstalledModule:
        """The family, as its distribution registers it."""
        return self.family.entry

    @property
    def distribution(self) -> str:
        """The distribution's name."""
        return self.entry.distribution

    @property
    def source(self) -> str:
        """What the user trusts: the distribution's name in its normal form."""
        return self.entry.source

    @property
    def version(self) -> str:
        """The distribution's version."""
        return self.entry.version

    @property
    def file(self) -> Path | None:
        """The file of the family's package."""
        return self.entry.file

    @property
    def source_paths(self) -> tuple[Path, ...]:
        """The folder of the package's code, or its one file."""
        return self.entry.source_paths

    @property
    def path(self) -> tuple[str, str]:
        """The location of the block in app.json."""
        return (self.family.key, self.keys[0])

    @property
    def block(self) -> Any:
        """The unchanged content of the block; may contain secrets."""
        return self.layers.get_value(self.path)

    @property
    def description(self) -> str:
        """A description of the block."""
        return f"{' and '.join(map(repr, self.keys))} of {self.family.key}"

    def describe_origin(self) -> dict[str, str]:
        """Describe the origin of the module for users: distribution, version, file."""
        return self.entry.describe_origin()

    def compute_fingerprint(self) -> str:
        """Return a digest of the distribution's code and of the block, which configures that code."""
        text = json.dumps(self.block, sort_keys=True)
        return f"{self.entry.compute_fingerprint()}+{hashlib.sha256(text.encode()).hexdigest()}"

    def make_importable(self) -> None:
        """As for a module of a distribution."""
        self.entry.make_importable()

    def load(self) -> Any:
        """Import what makes the modules of the family. Runs its code: in a thread, under a limit."""
        return self.entry.load()

    def check_block(self) -> None:
        """Check that there is exactly one block, and that it is an object.

        Raises:
            ConfigError: Several blocks result in this name, or it is not an object.
        """
        if len(self.keys) > 1:
            self._raise_config_error(
                f"{self.description} would each be module {self.name!r}, so none of them is; rename all but one"
            )
        if not isinstance(self.block, dict):
            self._raise_config_error(f"expected an object, found {kind_of(self.block)}")

    def _raise_config_error(self, message: str) -> None:
        raise ConfigError([_block_problem(self.layers, self.path, message)])


def code_in(fingerprint: str) -> str:
    """The part of a fingerprint that is of code alone, and of no block."""
    return fingerprint.partition("+")[0]


def family_members(config: AppConfig) -> Iterator[FamilyMember]:
    """Return the modules of the blocks of app.json in its current state."""
    families = installed_families()
    layers = _current_layers(config) if families else Layers()
    for family in families:
        by_name: dict[str, tuple[str, ...]] = {}
        for key in _family_blocks(layers, family):
            name = name_of_block(family, key)
            by_name[name] = (*by_name.get(name, ()), key)
        for name, keys in by_name.items():
            if name:
                yield FamilyMember(name, family, keys, layers)


def members_named(name: str, config: AppConfig) -> list[FamilyMember]:
    """The modules of families that have a name; app.json is read only where it is one that they could have."""
    if not any(name.startswith(family.prefix) for family in installed_families()):
        return []
    return [member for member in family_members(config) if member.name == name]


def nameless_blocks(config: AppConfig) -> list[ConfigProblem]:
    """The blocks that are no modules, because their key makes no name."""
    families = installed_families()
    layers = _current_layers(config) if families else Layers()
    return [
        _block_problem(
            layers,
            (family.key, key),
            "its key makes no module's name: it has no letter a-z and no digit, or is too long; rename it",
        )
        for family in families
        for key in _family_blocks(layers, family)
        if not name_of_block(family, key)
    ]


def name_of_block(family: Family, key: str) -> str:
    """Return the name of a block's module; empty: its key results in none."""
    name = family.prefix + _OTHERS.sub("_", key.lower()).strip("_")
    return name if _NAME.fullmatch(name) and len(name) <= _NAME_CHARS else ""


def _current_layers(config: AppConfig) -> Layers:
    """Return the current content of app.json; read again only if the file has changed, because every module of a family
    asks."""
    try:
        return _read_layers(config.file, _state_of(config.file), config.sources.variables, type(config))
    except ConfigError:  # it is being edited: the content read at the start is used
        return config.sources.layers


@lru_cache(4)
def _read_layers(
    file: Path, _state: tuple[int, ...], variables: tuple[Variable, ...], document: type[AppDocument]
) -> Layers:
    return merge_app(ConfigFile.read(file), variables, document)


def _state_of(file: Path) -> tuple[int, ...]:
    try:
        status = file.stat()
    except OSError:
        return ()
    # no program can set the time of the last change of any kind, unlike that of the content
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _family_blocks(layers: Layers, family: Family) -> Mapping[str, Any]:
    blocks = layers.get_value((family.key,))
    return blocks if isinstance(blocks, dict) else {}


def _block_problem(layers: Layers, path: tuple[str, str], message: str) -> ConfigProblem:
    origin = layers.origins.get(path, DEFAULT)
    return ConfigProblem(message, origin.file, origin.line, origin.column, path, origin.variable)

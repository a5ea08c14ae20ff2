"""Local modules, for development: `NAME.py` or `NAME/__init__.py` in the folder that app.json names."""

import importlib.util
import itertools
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from agentcore.api import Module
from agentcore.api.module import MODULE_NAME
from agentcore.core.discovery.code import UnloadedCode, digest_of, forget_compiled, forget_import_caches, unload_code
from agentcore.late_dataclasses import dataclass

_NAME = re.compile(MODULE_NAME)
# names of modules contain no double underscore, so the parts cannot be confused
_PRIVATE = "_agentcore_local__{name}__"
_loads = itertools.count(1)


@dataclass(frozen=True)
class LocalModule:
    """A module in the folder of local modules.

    Args:
        file: The Python file; of a package, its `__init__.py`.
    """

    name: str
    file: Path

    distribution = ""
    version = ""

    @property
    def source(self) -> str:
        """What the user trusts: the folder of local modules, absolute."""
        folder = self.file.parent.parent if self.file.name == "__init__.py" else self.file.parent
        return str(folder.absolute())

    @property
    def source_paths(self) -> tuple[Path, ...]:
        """The folder of the module's code, or its one file."""
        return (self.file.parent if self.file.name == "__init__.py" else self.file,)

    def describe_origin(self) -> dict[str, str]:
        """Describe the origin of the module for users: its file."""
        return {"file": str(self.file)}

    def compute_fingerprint(self) -> str:
        """A digest of the module's files; another one: it changed."""
        return digest_of(self.source_paths, "")

    def make_importable(self) -> None:
        """Nothing is to be done: it is loaded by its path."""

    def load(self) -> Any:
        """Import the file again, under a private name, and return its `Module` subclass, or else the Python module.

        Code that was loaded before stays loaded, until `unload_local`.
        Runs module code: call it in a thread, under a limit. Files of a package import one another relatively.

        Raises:
            TypeError: It defines several `Module` subclasses.
            BaseException: Raised by the import.
        """
        forget_import_caches()
        forget_compiled(self.source_paths)
        private = f"{_PRIVATE.format(name=self.name)}{next(_loads)}"
        folders = [str(self.file.parent)] if self.file.name == "__init__.py" else None
        spec = importlib.util.spec_from_file_location(private, self.file, submodule_search_locations=folders)
        if spec is None or spec.loader is None:
            raise ImportError(f"{self.file} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[private] = module
        try:
            spec.loader.exec_module(module)
            return _object_in(module, self.file)
        except BaseException:
            unload_code([private])
            raise


def local_file(name: str, modules_dir: Path | None) -> Path | None:
    """The file of a local module; a package counts before a file of the same name, as in Python itself."""
    if modules_dir is None or not _NAME.fullmatch(name):
        return None
    files = (modules_dir / name / "__init__.py", modules_dir / f"{name}.py")
    return next((file for file in files if file.is_file()), None)


def local_names(modules_dir: Path | None) -> Iterator[str]:
    """The names of all local modules; none where the folder does not exist."""
    if modules_dir is None or not modules_dir.is_dir():
        return
    for path in modules_dir.iterdir():
        name = path.name.removesuffix(".py")
        if local_file(name, modules_dir) is not None:
            yield name


def unload_local(name: str) -> UnloadedCode:
    """Remove all loads of a local module from `sys.modules`; return the removed code."""
    prefix = _PRIVATE.format(name=name)
    return UnloadedCode(lambda loaded: loaded.startswith(prefix))


def _object_in(module: ModuleType, file: Path) -> Any:
    own = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Module) and value.__module__.startswith(module.__name__)
    ]
    bases = {base for cls in own for base in cls.__mro__[1:]}
    candidates = {cls.__name__: cls for cls in own if cls not in bases and not cls.__name__.startswith("_")}
    if len(candidates) > 1:
        raise TypeError(
            f"{file} defines several modules, {', '.join(sorted(candidates))}; put each in a file of its own"
        )
    return next(iter(candidates.values()), module)

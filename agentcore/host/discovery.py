"""Finding the module behind a name: entry points first, then the folder of local modules. Nothing is imported here."""

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

import structlog

from agentcore.api.errors import AgentcoreError
from agentcore.host.config_model import MODULE_NAME
from agentcore.host.discovery_installed import InstalledModule, forget_distribution, installed_entries, rescan
from agentcore.host.discovery_local import LocalModule, forget_local, local_file, local_names

log = structlog.get_logger(__name__)

Found = InstalledModule | LocalModule
"""A module that was found: `name`, `distribution`, `version`, `file`, `origin()`, `fingerprint()`, `load()`."""

_NAME = re.compile(MODULE_NAME)


class ModuleNotInstalled(AgentcoreError):  # noqa: N818 - it says what happened
    """No entry point and no local module has the name.

    Args:
        name: What was asked for.
        near: Names that are installed and look like it, the nearest first.
    """

    def __init__(self, name: str, near: tuple[str, ...]) -> None:
        self.name, self.near = name, near
        self.command = f"pip install agentcore-{name.replace('_', '-')}"
        meant = f"did you mean {' or '.join(map(repr, near))}? Else" if near else "to install it,"
        super().__init__(f"module {name!r} is not installed; {meant} try: {self.command}")


def find_module(name: str, modules_dir: Path | None) -> Found:
    """Find a module without importing anything.

    An entry point wins over a local module of the same name, and the first on `sys.path` over other entry points;
    a warning is logged for what is hidden by that.

    Args:
        name: The module's name.
        modules_dir: The folder of local modules, or None.
    Raises:
        ModuleNotInstalled: There is none.
    """
    entries = installed_entries().get(name, ()) if _NAME.fullmatch(name) else ()
    file = local_file(name, modules_dir)
    if entries:
        found = entries[0]
        for hidden in _hidden(found, entries[1:], file):
            log.warning("module_hidden", module=name, used=found.distribution, hidden=hidden)
        return found
    if file is not None:
        return LocalModule(name, file)
    raise ModuleNotInstalled(name, tuple(difflib.get_close_matches(name.lower(), installed_names(modules_dir))))


def installed_names(modules_dir: Path | None = None) -> tuple[str, ...]:
    """The names of all modules that could be listed: entry points, and local modules if a folder is given."""
    names = {name for name in installed_entries() if _NAME.fullmatch(name)}
    return tuple(sorted(names | set(local_names(modules_dir))))


def forget(names: Iterable[str]) -> None:
    """Take the code of modules out of `sys.modules`, so that the next load imports what is on disk now.

    The whole distribution of each module goes, so all its modules have to be stopped before and loaded anew after.
    Code that is running keeps what it has. The metadata of installed distributions is read again, too.
    """
    rescan()
    for name in names:
        forget_local(name)
        for entry in installed_entries().get(name, ()):
            forget_distribution(entry)


def _hidden(found: InstalledModule, others: tuple[InstalledModule, ...], file: Path | None) -> list[str]:
    # one distribution can stand on sys.path twice: that is the same module
    distributions = {other.distribution for other in others} - {found.distribution}
    return [*sorted(name or "a distribution without a name" for name in distributions), *([str(file)] if file else [])]

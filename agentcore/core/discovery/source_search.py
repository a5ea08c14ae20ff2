"""Finds the source of a module by its name: distributions, and the folder of local modules. Imports nothing."""

import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from agentcore.api.module import MODULE_NAME
from agentcore.config.config_errors import ConfigError, ConfigProblem
from agentcore.config.loading import AppConfig
from agentcore.core.discovery.code import UnloadedCode
from agentcore.core.discovery.families import FamilyMember, family_members, members_named
from agentcore.core.discovery.installed import (
    InstalledModule,
    installed_entries,
    installed_families,
    invalidate_metadata,
    unload_distribution,
)
from agentcore.core.discovery.local import LocalModule, local_file, local_names, unload_local
from agentcore.errors import AgentcoreError
from agentcore.installing import INDEX_WARNING, pip_command
from agentcore.near_names import near_names

Found = InstalledModule | LocalModule | FamilyMember
"""A module that was found: `name`, `source`, `distribution`, `version`, `file`, `origin()`, `fingerprint()`, `load()`.

`source` is what the user trusts: the distribution's name in its normal form, or the folder of local modules.
"""

Places = AppConfig | Path | None
"""Where modules are searched besides distributions: in the folder of local modules that app.json names and in its
blocks; or in a folder of local modules alone."""

_NAME = re.compile(MODULE_NAME)


class ModuleNotInstalled(AgentcoreError):  # noqa: N818 - it says what happened
    """No entry point and no local module has the name.

    Args:
        near: Installed names that are similar, the nearest first.
        keys: Keys of app.json whose blocks could result in it.
    """

    def __init__(self, name: str, near: tuple[str, ...], keys: tuple[str, ...] = ()) -> None:
        self.name = name
        self.near = near
        if keys:
            self.command = ""
            others = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            super().__init__(f"no block of {' or '.join(keys)} in app.json makes module {name!r}{others}")
            return
        self.command = pip_command(f"agentcore-{name.replace('_', '-')}")
        meant = f"did you mean {' or '.join(map(repr, near))}? Else" if near else "to install it,"
        super().__init__(f"module {name!r} is not installed; {meant} try: {self.command} ({INDEX_WARNING})")


class ModuleNotChosen(AgentcoreError):  # noqa: N818 - it says what happened
    """A module has a source that the user has not chosen.

    Args:
        candidates: Its current sources.
        chosen: The source that the user trusts, which is not among them; empty: none yet.
    """

    def __init__(self, name: str, candidates: Sequence[Found], chosen: str = "") -> None:
        self.name = name
        self.candidates = tuple(candidates)
        self.chosen = chosen
        found = " and ".join(map(describe_found_module, candidates))
        problem = (
            f"module {name!r} was {chosen}, and is {found} now"
            if chosen
            else f"module {name!r} is registered more than once, by {found}"
        )
        super().__init__(
            f"{problem}: nothing is loaded until the user chooses, in the approval view or with: "
            + " or ".join(choose_command(name, found.source) for found in candidates)
        )


def describe_found_module(found: Found) -> str:
    """Describe the source of a module: its distribution with the version, or its folder; and its file."""
    text = f"{found.source} {found.version}".strip()
    if isinstance(found, FamilyMember):
        text = f"{text} for block {found.description}"
    file = found.describe_origin().get("file", "")
    return f"{text} ({file})" if file else text


def title_of(name: str, found: Found | None) -> str:
    """Return the title of a module that declares none; for one of a family, that of its block."""
    if isinstance(found, FamilyMember) and len(found.keys) == 1:
        return found.keys[0]
    return name.replace("_", " ").capitalize()


def choose_command(name: str, source: str) -> str:
    """Return the command with which the user chooses the source of a module."""
    return shlex.join(["agentcore", "modules", "choose", name, source])


def find_candidates(name: str, places: Places) -> tuple[Found, ...]:
    """Return all sources of a name, each once: distributions in the order of `sys.path`, a local module, then
    blocks."""
    entries = installed_entries().get(name, ()) if _NAME.fullmatch(name) else ()
    # one distribution can occur twice on sys.path: that is the same module
    found: dict[str, Found] = {}
    for entry in entries:
        found.setdefault(entry.source if len(entries) > 1 else "", entry)
    file = local_file(name, _modules_folder(places))
    local = [LocalModule(name, file)] if file is not None else []
    members = members_named(name, places) if isinstance(places, AppConfig) else []
    return (*found.values(), *local, *members)


def find_module(name: str, places: Places, chosen: str = "") -> Found:
    """Find a module without importing anything.

    Args:
        chosen: The source that the user trusts for it; empty: any, if it is the only one.
    Raises:
        ModuleNotInstalled: There is none.
        ModuleNotChosen: There are several, or none of the trusted source.
        ConfigError: It is an invalid block of app.json.
    """
    found = find_candidates(name, places)
    if not found:
        raise _not_installed(name, places)
    trusted = [each for each in found if each.source == chosen] if chosen else list(found)
    if len(trusted) > 1 and len({each.source for each in trusted}) == 1:
        raise _duplicate_name_error(name, trusted)
    if len(trusted) != 1:
        raise ModuleNotChosen(name, found, chosen)
    if isinstance(trusted[0], FamilyMember):
        trusted[0].check_block()
    return trusted[0]


def installed_names(places: Places = None) -> tuple[str, ...]:
    """The names of all modules that could be listed: entry points, local modules, and blocks of app.json."""
    names = {name for name in installed_entries() if _NAME.fullmatch(name)}
    if isinstance(places, AppConfig):
        names.update(member.name for member in family_members(places))
    return tuple(sorted(names | set(local_names(_modules_folder(places)))))


def unload_modules(modules: Iterable[Found]) -> tuple[UnloadedCode, ...]:
    """Remove the code of modules from `sys.modules`, so that the next load imports the current code on disk.

    The whole distribution of each module is removed, as it was when the module was found and as it is now. Running code
    keeps its modules. The metadata of installed distributions is read again, too.

    Returns:
        The removed code: `put_back` of each, the last one first, restores it.
    """
    invalidate_metadata()
    taken = []
    for module in modules:
        if isinstance(module, LocalModule):
            taken.append(unload_local(module.name))
            continue
        before = module.entry if isinstance(module, FamilyMember) else module
        now = [entry for entry in _registered_entries(module) if entry.source == module.source]
        taken += [unload_distribution(each) for each in (before, *now)]
    return tuple(taken)


def _registered_entries(module: InstalledModule | FamilyMember) -> list[InstalledModule]:
    """The entry points that have its name now, or that of its family."""
    if isinstance(module, FamilyMember):
        return [family.entry for family in installed_families() if family.entry.name == module.entry.name]
    return list(installed_entries().get(module.name, ()))


def _modules_folder(places: Places) -> Path | None:
    return places.modules_folder if isinstance(places, AppConfig) else places


def _not_installed(name: str, places: Places) -> ModuleNotInstalled:
    near = near_names(name, installed_names(places))
    keys = [family.key for family in installed_families() if name.startswith(family.prefix)]
    return ModuleNotInstalled(name, tuple(near), tuple(dict.fromkeys(keys)))


def _duplicate_name_error(name: str, found: Sequence[Found]) -> ConfigError:
    """Return the error for one distribution that has the name more than once, so that the user could not choose."""
    both = " and ".join(map(describe_found_module, found))
    return ConfigError([ConfigProblem(f"module {name!r} is both {both}; rename the block")])

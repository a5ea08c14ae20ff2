"""Adds, changes and removes blocks of families: the blocks and `modules` of app.json in one change."""

import asyncio
from collections.abc import Mapping
from dataclasses import field, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

from agentcore.config.config_errors import ConfigError
from agentcore.config.json_source import JsonSource
from agentcore.core.approvals.policy_changes import Proposal
from agentcore.core.discovery.families import name_of_block
from agentcore.core.discovery.installed import Family, installed_families
from agentcore.core.events import EventBus
from agentcore.core.modules.modules import Modules
from agentcore.core.modules.source_choice import SourceChoice
from agentcore.core.settings.display import diff_of, to_json_pointer
from agentcore.core.settings.settings_change import SettingChange, SettingsPlan, plan_changes
from agentcore.core.settings.settings_document import SettingsDocument, SettingsSubject
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.secrets import MASK
from agentcore.server.http.refusal import Refusal
from agentcore.server.modules.enabling import ModuleSwitch, listed_names

_NOTHING = object()


@dataclass(frozen=True)
class BlockChange:
    """A change of blocks that can be written.

    Args:
        plan: The change of app.json.
        code: Fingerprint of the family's code when this was planned.
        added: Modules that are added to the list and start.
        removed: Modules that are removed and stop.
    """

    family: Family
    plan: SettingsPlan
    keys: tuple[str, ...]
    code: str = field(repr=False)
    added: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths in app.json that change, as JSON Pointers."""
        lists = ("/modules",) if self.added or self.removed else ()
        return (*(to_json_pointer((self.family.key, key)) for key in self.keys), *lists)

    @property
    def diff(self) -> tuple[tuple[str, str], ...]:
        """The changes of app.json, with secrets masked."""
        return diff_of(self.plan.before, self.plan.after)

    def rebase_onto(self, again: "BlockChange") -> "BlockChange":
        """Return the same change based on the current app.json, if it still has the same effect; else this one.

        Of two pending changes, the one that is applied first changes the file that the other was planned on.
        """
        before = self.plan.before
        after = self.plan.after
        is_same = (self.added, self.removed) == (again.added, again.removed) and all(
            before.value_at(path) == again.plan.before.value_at(path)
            and after.value_at(path) == again.plan.after.value_at(path)
            for path in ((self.family.key, key) for key in self.keys)
        )
        return replace(again, code=self.code) if is_same else self

    def to_proposal(self, secrets: Mapping[str, bool]) -> Proposal:
        """Return what the user is shown.

        Args:
            secrets: Names of secrets that are stored with it; True if one replaces another value.
        """
        kind = "blocks_change"
        if self.added:
            kind = "blocks_add"
        elif self.removed:
            kind = "blocks_remove"
        names = ", ".join(name_of_block(self.family, key) for key in self.keys)
        paths = (*self.paths, *(to_json_pointer(("secrets", name)) for name in secrets))
        lines = (
            f"-{name}: …\n+{name}: … (new)\n" if is_there else f"+{name}: …\n" for name, is_there in secrets.items()
        )
        kept = (("secrets", "".join(lines)),) if secrets else ()
        return Proposal(kind, names, paths, (*self.diff, *kept))


def family_of(key: str) -> Family:
    """Return the family whose blocks are under a key.

    Raises:
        ToolError: `family_not_found`.
    """
    families = installed_families()
    found = next((family for family in families if family.key == key), None)
    if found is None:
        known = sorted({family.key for family in families})
        there_are = f"there are: {', '.join(known)}" if known else "no package that brings one is installed"
        raise ToolError("family_not_found", f"no family of modules has the key {key!r}; {there_are}", families=known)
    return found


def plan_blocks(
    file: Path, subject: SettingsSubject, key: str, blocks: Mapping[str, Mapping[str, Any] | None]
) -> BlockChange:
    """Plan a change of blocks; reads files.

    Args:
        file: app.json.
        subject: Its settings.
        key: The family's key.
        blocks: Blocks by key; None removes one. A mask stands for the text in the file.
    Raises:
        ToolError: `family_not_found`, `invalid_block`, and those of `plan_changes`.
        ConfigError: app.json cannot be read.
    """
    family = family_of(key)
    document = subject.read_document()
    old = document.value_at((key,)) if isinstance(document.value_at((key,)), dict) else {}
    changes = [_plan_change(family, name, old.get(name, _NOTHING), block) for name, block in blocks.items()]
    plan = plan_changes(document, changes)
    _refuse_same_names(family, plan.after, blocks)
    gone = tuple(name_of_block(family, name) for name, block in blocks.items() if block is None)
    new = tuple(name_of_block(family, name) for name, block in blocks.items() if block is not None and name not in old)
    listed = listed_names(file)
    requested = (*(name for name in listed if name not in gone), *(name for name in new if name not in listed))
    if requested != listed:
        plan = replace(plan, after=_with_modules(plan.after, requested))
    return BlockChange(family, plan, tuple(blocks), family.entry.compute_fingerprint(), new, gone)


async def apply_block_change(
    change: BlockChange, switch: ModuleSwitch, modules: Modules, sources: SourceChoice, events: EventBus
) -> None:
    """Write blocks exactly as they were planned, and start, reload or stop their modules.

    Raises:
        ConfigError: The file cannot be written, or was changed meanwhile.
        Refusal: `module_changed`: the family's code differs from when this was planned.
    """
    if await asyncio.to_thread(family_of(change.family.key).entry.compute_fingerprint) != change.code:
        raise Refusal(
            HTTPStatus.CONFLICT,
            "module_changed",
            f"the code of the family {change.family.key!r} on the disk is another than when this was asked for; "
            "nothing was changed, ask for it again",
            retryable=True,
        )
    await asyncio.to_thread(change.plan.write)
    events.publish("settings.changed", {"module": None, "paths": list(change.paths)})
    for name in change.removed:
        if name in modules.records:
            await switch.disable(name)
            await modules.remove_module(name)
    await modules.reload_changed_blocks([(change.family.key, key) for key in change.keys])
    for name in change.added:
        found = await switch.sole_candidate(name)
        if found is not None:  # the user has seen its block
            await sources.choose_source(name, found, "person", runs=False)
    if change.added:
        await switch.enable_together(change.added)


def _plan_change(family: Family, key: str, old: Any, block: Mapping[str, Any] | None) -> SettingChange:
    path = (family.key, key)
    if block is None:
        if old is _NOTHING:
            raise ToolError("block_not_found", f"{family.key} has no block {key!r}", key=key)
        return SettingChange(path, is_removal=True)
    if not name_of_block(family, key):
        message = f"{key!r} makes no module's name: it has no letter a-z and no digit, or is too long; rename it"
        raise ToolError("invalid_block", message, key=key)
    return SettingChange(path, _restore_masked(block, old, path))


def _restore_masked(value: Any, old: Any, path: tuple[str | int, ...]) -> Any:
    """Return a value in which masks are replaced by the old texts."""
    if value == MASK:
        if not isinstance(old, str):
            message = (
                f"{to_json_pointer(path)} is a mask, and nothing stood there that it could mean; give the value itself"
            )
            raise ToolError("invalid_block", message, path=to_json_pointer(path))
        return old
    if isinstance(value, Mapping):
        before = old if isinstance(old, dict) else {}
        return {key: _restore_masked(part, before.get(key, _NOTHING), (*path, key)) for key, part in value.items()}
    if isinstance(value, list):
        # items of a list correspond by index, which only works if the length is the same
        items = old if isinstance(old, list) and len(old) == len(value) else [_NOTHING] * len(value)
        return [_restore_masked(part, items[at], (*path, at)) for at, part in enumerate(value)]
    return value


def _refuse_same_names(family: Family, after: SettingsDocument, blocks: Mapping[str, object]) -> None:
    all_blocks = after.value_at((family.key,))
    for key in blocks if isinstance(all_blocks, dict) else ():
        name = name_of_block(family, key)
        others = [other for other in all_blocks if other != key and name_of_block(family, other) == name]
        if key in all_blocks and others:
            message = f"{key!r} and {others[0]!r} would both be module {name!r}; rename one"
            raise ToolError("invalid_block", message, key=key)


def _with_modules(document: SettingsDocument, names: tuple[str, ...]) -> SettingsDocument:
    file = document.file
    try:
        source = JsonSource(file.edit_text(("modules",), list(names)))
    except ConfigError as exc:
        raise ToolError("invalid_settings", f"nothing was saved: {exc}") from exc
    return document.with_file(replace(file, source=source, exists=True))

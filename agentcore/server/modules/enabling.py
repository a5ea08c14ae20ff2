"""Enables and disables modules while the server runs, in app.json and in the core."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Literal

from agentcore.api import Principal
from agentcore.config.config_errors import ConfigError
from agentcore.config.config_file import ConfigFile
from agentcore.config.json_source import JsonSource
from agentcore.config.loading import AppConfig, set_modules
from agentcore.core.approvals.policy_changes import Apply
from agentcore.core.declarations.components import policy_lines
from agentcore.core.discovery.source_search import Found, find_candidates, find_module, installed_names
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.core.modules.modules import Modules
from agentcore.core.modules.page_policy_additions import page_additions
from agentcore.core.settings.display import diff_of
from agentcore.core.settings.settings_document import SettingsSubject
from agentcore.errors import AgentcoreError, ToolError
from agentcore.server.http.refusal import Refusal
from agentcore.server.modules.blocks import block_diff

ModuleAction = Literal["enable", "disable", "reload"]


class ModuleSwitch:
    """Enables and disables modules, one change at a time: app.json first, so that a restart finds the same state."""

    def __init__(self, config: AppConfig, modules: Modules) -> None:
        self._config = config
        self._modules = modules
        self._change = asyncio.Lock()

    async def enable(self, name: str) -> None:
        """List a module and start it; its state shows if it became ready.

        Raises:
            ToolError: `module_not_found`: it is neither listed nor installed.
            Refusal: `setting_read_only`, `config_not_written`.
        """
        await self.enable_together([name])

    async def enable_together(self, names: Sequence[str]) -> None:
        """List modules and start them at the same time; see `enable`."""
        for name in names:
            await self._check_exists(name)
            if not is_passed_as_object(self._modules.records.get(name)):
                await self._set_listed(name, is_on=True)
        await self._modules.enable_together(names)
        await self._sort_modules()

    async def must_confirm(self, principal: Principal, name: str, action: ModuleAction) -> bool:
        """True if the user must confirm an action on a module.

        Requests of the page may come from a script. Therefore enabling a module needs confirmation, and so does
        reloading code that changed since it was loaded. Disabling does not, nor does reloading the same code, except
        for a module that runs scripts in the page: as long as it runs, calls of the page need approval.

        Raises:
            ToolError: `module_not_found`.
        """
        if principal.kind != "page":
            return False
        if action == "enable":
            return True
        stopping = self._modules.stopped_with(name, for_reload=action == "reload")
        if any(record.manifest.runs_scripts_in_page for record in stopping):
            return True
        return action == "reload" and not await self._modules.is_same_code(name)

    async def must_confirm_restart(self, principal: Principal, names: Sequence[str]) -> bool:
        """True if the user must confirm a restart of the host of these modules: as if each was reloaded."""
        if principal.kind != "page":
            return False
        again = self._modules.restarted_with(names)
        if any(record.manifest.runs_scripts_in_page for record in again):
            return True
        return not all([await self._modules.is_same_code(record.name) for record in again])

    async def only_if_code_unchanged(self, names: Sequence[str], apply: Apply) -> Apply:
        """Return a change that is applied only if the code that it loads is the same as when the user was asked.

        Args:
            names: The modules with that code.
            apply: Applies the change.
        Returns:
            Applies the change, or raises `module_changed`.
        """
        modules = self._modules
        code = [await modules.code_on_disk(name) for name in names]

        async def checked() -> None:
            if [await modules.code_on_disk(name) for name in names] != code:
                raise Refusal(
                    HTTPStatus.CONFLICT,
                    "module_changed",
                    f"the code of {' and '.join(map(repr, names))} on the disk is another than when this was asked "
                    "for, which nobody has confirmed to run; nothing was changed, ask for it again",
                    retryable=True,
                )
            await apply()

        return checked

    async def preview_change(self, name: str, *, is_on: bool) -> tuple[tuple[str, str], ...]:
        """Check that a module can be enabled or disabled, and return the changes: file and unified diff.

        They include what a module would add to the page beyond its element, and the block that would define it.

        Raises:
            ToolError: `module_not_found`.
            Refusal: `setting_read_only`, `config_not_written`.
        """
        await self._check_exists(name)
        if is_passed_as_object(self._modules.records.get(name)):
            return ()
        self.refuse_fixed()
        try:
            listing = await asyncio.to_thread(_listing_diff, self._config, self._modules, name, is_on)
            if not is_on:
                return listing
            return (
                *listing,
                *await self.block_diff(name),
                *await asyncio.to_thread(_page_diff, self._config, self._modules, name),
            )
        except ConfigError as exc:
            raise _not_written(exc) from exc

    async def block_diff(self, name: str) -> tuple[tuple[str, str], ...]:
        """Return how enabling or reloading a module changes the block that defines it; empty: not at all."""
        found = await asyncio.to_thread(find_candidates, name, self._config)
        return block_diff(self._config, self._modules, name, found)

    async def sole_candidate(self, name: str) -> Found | None:
        """Return the only source that enabling a module could use; None if there is none or the user must choose."""
        if is_passed_as_object(self._modules.records.get(name)):
            return None
        found = await asyncio.to_thread(find_candidates, name, self._config)
        return found[0] if len(found) == 1 else None

    async def _check_exists(self, name: str) -> None:
        if name in self._modules.records:
            return
        installed = await asyncio.to_thread(installed_names, self._config)
        if name not in installed:
            raise ToolError(
                "module_not_found",
                f"module {name!r} is not installed; installed are {list(installed)}",
                modules=list(installed),
            )

    async def disable(self, name: str) -> None:
        """Remove a module from the list and stop it, with those that require it.

        Raises:
            ToolError: `module_not_found`.
            Refusal: `setting_read_only`, `config_not_written`.
        """
        if not is_passed_as_object(self._modules.get_record(name)):
            await self._set_listed(name, is_on=False)
        await self._modules.disable(name)
        await self._sort_modules()

    async def _sort_modules(self) -> None:
        """Sort the running modules into the order that a restart would use."""
        with suppress(ConfigError):  # the file is being edited
            self._modules.reorder_modules(await asyncio.to_thread(listed_names, self._config.file))

    async def _set_listed(self, name: str, *, is_on: bool) -> None:
        self.refuse_fixed()
        async with self._change:
            try:
                await asyncio.to_thread(_rewrite_list, self._config.file, name, is_on)
            except ConfigError as exc:
                raise _not_written(exc) from exc

    def refuse_fixed(self) -> None:
        """Check that the list of modules can be changed in app.json.

        Raises:
            Refusal: `setting_read_only`.
        """
        origin = self._config.origin_of(("modules",))
        if origin.is_read_only:
            raise Refusal(
                HTTPStatus.CONFLICT,
                "setting_read_only",
                f'"modules" comes from {origin}, which wins over app.json; change it there and restart',
                setting="modules",
            )


def is_passed_as_object(record: ModuleRecord | None) -> bool:
    """True if a module was passed to the core as an object: then app.json does not control it."""
    return record is not None and record.plugin is not None and not record.origin


def listed_names(file: Path) -> tuple[str, ...]:
    """Return the modules that app.json lists now; none if it does not exist.

    Raises:
        ConfigError: It cannot be read.
    """
    names = ConfigFile.read(file).source.value.get("modules", [])
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


def _rewrite_list(file: Path, name: str, is_on: bool) -> None:
    names = listed_names(file)
    requested = _with_module(names, name, is_on)
    if requested != names:
        set_modules(file, requested)


def _with_module(names: tuple[str, ...], name: str, is_on: bool) -> tuple[str, ...]:
    if is_on and name not in names:
        return (*names, name)
    return names if is_on else tuple(other for other in names if other != name)


def _listing_diff(config: AppConfig, modules: Modules, name: str, is_on: bool) -> tuple[tuple[str, str], ...]:
    """Return how listing a module, or removing it from the list, changes app.json."""
    before = SettingsSubject.of_app(config, blocks=modules.block_models()).read_document()
    names = listed_names(config.file)
    requested = _with_module(names, name, is_on)
    if requested == names:
        return ()
    text = before.app.edit_text(("modules",), list(requested))
    after = replace(before, app=replace(before.app, source=JsonSource(text), exists=True))
    return diff_of(before, after)


def _page_diff(config: AppConfig, modules: Modules, name: str) -> tuple[tuple[str, str], ...]:
    """Return what enabling a module adds to the page: as it runs, else as declared in its source."""
    record = modules.records.get(name)
    if record is not None and record.component is not None:
        lines = policy_lines(record.component)
    else:
        try:
            lines = page_additions(find_module(name, config).source_paths)
        except AgentcoreError:  # not installed, or not chosen: none of its code will run
            return ()
    if not lines:
        return ()
    added = "".join(f"+{line}\n" for line in lines)
    return (("page", f"--- page\n+++ page with {name}\n@@ -0,0 +1,{len(lines)} @@\n{added}"),)


def _not_written(error: ConfigError) -> Refusal:
    return Refusal(HTTPStatus.CONFLICT, "config_not_written", f"{error}; nothing was changed", retryable=True)

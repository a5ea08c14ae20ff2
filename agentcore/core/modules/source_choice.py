"""Stores which distribution or folder provides each module; only the user changes it."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import structlog

from agentcore.api import Principal
from agentcore.config.loading import AppConfig
from agentcore.core.approvals.policy_changes import PolicyChanges, Proposal
from agentcore.core.discovery.source_search import (
    Found,
    ModuleNotChosen,
    describe_found_module,
    find_candidates,
    find_module,
)
from agentcore.errors import ToolError
from agentcore.store.module_sources import ModuleSources, SourceRow, read_chosen
from agentcore.store.state.state_dir import DATABASE_NAME

log = structlog.get_logger(__name__)

_SERVER = Principal("server")

Use = Callable[[str], Awaitable[object]]
"""Has a module run with what is chosen for it now."""


class SourceChoice:
    """Finds the sources of modules, and proposes to the user those that they have not chosen.

    The first start of a module that app.json lists stores its source, if there is only one: the user installed and
    listed it. From then on another source under the name is not loaded before the user confirms it.

    Args:
        config: app.json; folders are stored relative to its own.
    """

    def __init__(self, config: AppConfig, store: ModuleSources, changes: PolicyChanges, use: Use) -> None:
        self._config = config
        self._store = store
        self._changes = changes
        self._use = use
        self._chosen: dict[str, SourceRow] = {}
        self._refused: set[tuple[str, str]] = set()
        self._proposed: dict[tuple[str, str], str] = {}

    async def load_decisions(self) -> None:
        """Load the stored decisions."""
        for row in await self._store.load():
            if row.verdict == "chosen":
                self._chosen[row.module] = row
            else:
                self._refused.add((row.module, row.source))

    def is_refused(self, name: str, found: Found) -> bool:
        """True if the user has refused it."""
        return (name, self._stored_form(found.source)) in self._refused

    def find_choice(self, name: str) -> SourceRow | None:
        """Return the chosen source of a module, with its versions; None: nothing was ever loaded for it."""
        return self._chosen.get(name)

    async def find_module_source(self, name: str) -> tuple[Found, tuple[Found, ...]]:
        """Find the source to load; other sources of the name are proposed to the user, unless they were refused.

        Raises:
            ModuleNotInstalled: There is none.
            ModuleNotChosen: The user has to choose first.
        """
        found = await asyncio.to_thread(find_candidates, name, self._config)
        try:
            used = await asyncio.to_thread(find_module, name, self._config, self._trusted_source(name))
        except ModuleNotChosen:
            self._propose_sources(name, found)
            raise
        rivals = tuple(other for other in found if other.source != used.source)
        self._propose_sources(name, rivals)
        if name not in self._chosen:
            self._chosen[name] = await self._store.record_loaded_version(name, self._stored_form(used.source), "")
        return used, rivals

    async def record_loaded_version(self, name: str, found: Found | None, version: str) -> None:
        """Store that a version of a source is about to become ready.

        Args:
            found: The source; None: the module was passed as an object.
        """
        if found is None:
            return
        before = self._chosen.get(name)
        kept = self._stored_form(found.source)
        if before is not None and (before.source, before.version) == (kept, version):
            return
        row = self._chosen[name] = await self._store.record_loaded_version(name, kept, version)
        if row.before:
            log.warning("module_version_changed", module=name, source=row.source, before=row.before, now=row.version)

    async def choose_source(self, name: str, shown: Found, by: str, *, runs: bool = True) -> None:
        """Set the source of a module to exactly what the user was shown, and run it if app.json lists it.

        Raises:
            ToolError: `module_changed`: it has changed since.
        """
        current = await asyncio.to_thread(find_candidates, name, self._config)
        if not any(describe_found_module(found) == describe_found_module(shown) for found in current):
            raise ToolError(
                "module_changed",
                f"{describe_found_module(shown)} does not stand behind module {name!r} any more; nothing was changed",
                module=name,
            )
        await self._store_choice(name, shown.source, by)
        for other in current:  # the user has seen these, and chosen another one
            if other.source != shown.source:
                await self._refuse_source(name, other, by)
        if runs:
            await self._use(name)

    async def _store_choice(self, name: str, source: str, by: str) -> None:
        """Store the user's choice."""
        kept = self._stored_form(source)
        await self._store.save_decision(name, kept, "chosen", by)
        self._refused.discard((name, kept))
        self._chosen[name] = next(row for row in await self._store.load() if row[:3] == (name, kept, "chosen"))
        self.withdraw_proposals(name)
        log.warning("module_source_chosen", module=name, source=kept, by=by)

    def withdraw_proposals(self, name: str) -> None:
        """Ask no more about a module."""
        for key in [key for key in self._proposed if key[0] == name]:
            self._changes.withdraw_change(self._proposed.pop(key))

    async def make_proposal(self, name: str, source: str) -> tuple[Proposal, Found]:
        """Return the proposal for choosing a source of a module.

        Raises:
            ToolError: `source_not_found`.
        """
        current = await asyncio.to_thread(find_candidates, name, self._config)
        wanted = self._full_source(source)
        for found in current:
            if found.source == wanted:
                return self._build_proposal(name, found), found
        known = [found.source for found in current]
        message = f"nothing called {source!r} stands behind module {name!r}; there is: {', '.join(known) or 'nothing'}"
        raise ToolError("source_not_found", message, module=name, sources=known)

    def describe_difference(self, name: str, found: Found) -> tuple[tuple[str, str], ...]:
        """Describe the current and the proposed source of a module; empty: it is the chosen one."""
        before = self._chosen.get(name)
        if before is not None and before.source == self._stored_form(found.source):
            return ()
        removed = [f"- {before.source} {before.version}".rstrip()] if before is not None else []
        return ((f"module {name}", "\n".join([*removed, f"+ {describe_found_module(found)}", ""])),)

    # -- asking ------------------------------------------------------------------------------------------------

    def _propose_sources(self, name: str, found: tuple[Found, ...]) -> None:
        """Propose these, and nothing else of this module; pending proposals stay pending."""
        wanted = {(name, describe_found_module(each)): each for each in found if not self.is_refused(name, each)}
        waiting = {change.change_id for change in self._changes.waiting}
        for key in [key for key in self._proposed if key[0] == name and key not in wanted]:
            self._changes.withdraw_change(self._proposed.pop(key))
        for key, each in wanted.items():
            if self._proposed.get(key) not in waiting:
                self._propose_source(name, each)

    def _propose_source(self, name: str, found: Found) -> None:
        apply = partial(self.choose_source, name, found, "person")
        refuse = partial(self._refuse_source, name, found, "person")
        try:
            change = self._changes.propose_change(self._build_proposal(name, found), _SERVER, apply, refuse)
        except ToolError as exc:  # too many wait: the module reports what it waits for, and a reload proposes it again
            log.warning("module_source_not_asked", module=name, found=describe_found_module(found), reason=exc.message)
        else:
            log.warning("module_source_waits", module=name, found=describe_found_module(found))
            self._proposed[name, describe_found_module(found)] = change.change_id

    def _build_proposal(self, name: str, found: Found) -> Proposal:
        return Proposal("module_source", name, (found.source,), self.describe_difference(name, found), lasts=True)

    async def _refuse_source(self, name: str, found: Found, by: str) -> None:
        kept = self._stored_form(found.source)
        self._refused.add((name, kept))
        await self._store.save_decision(name, kept, "refused", by)
        log.warning("module_source_refused", module=name, source=kept)

    # -- spelling ----------------------------------------------------------------------------------------------

    def _trusted_source(self, name: str) -> str:
        row = self._chosen.get(name)
        return "" if row is None else self._full_source(row.source)

    def _stored_form(self, source: str) -> str:
        """Return a source as it is stored: a folder below that of app.json as a relative path, so that both can be
        moved."""
        folder = self._config.folder
        is_below = source.startswith("/") and Path(source).is_relative_to(folder)
        return f"./{Path(source).relative_to(folder)}" if is_below else source

    def _full_source(self, kept: str) -> str:
        return full_source(kept, self._config.folder)


def full_source(kept: str, folder: Path) -> str:
    """Return a stored source in the form of discovery.

    Args:
        kept: A distribution's name, or a folder, absolute or relative to that of app.json.
        folder: The folder of app.json.
    """
    return str(folder / kept) if kept.startswith("./") else kept


def remembered_sources(config: AppConfig, state: Path) -> dict[str, str]:
    """Return the chosen sources of modules, for imports without a core; the state folder is only read.

    Args:
        config: app.json; folders are stored relative to its own.
        state: The state folder, which may be locked or missing.
    """
    return {name: full_source(kept, config.folder) for name, kept in read_chosen(state / DATABASE_NAME).items()}

"""Which distribution or folder stands behind each module's name: remembered, and changed by a person alone."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import structlog

from agentcore.api import Principal
from agentcore.config.loading import AppConfig
from agentcore.core.approvals.policy_changes import PolicyChanges, Proposal
from agentcore.core.discovery.finding import Found, ModuleNotChosen, candidates, described, find_module
from agentcore.errors import ToolError
from agentcore.store.module_sources import ModuleSources, SourceRow, read_chosen
from agentcore.store.state.state_dir import DATABASE_NAME

log = structlog.get_logger(__name__)

_SERVER = Principal("server")

Use = Callable[[str], Awaitable[object]]
"""Has a module run with what is chosen for it now."""


class SourceChoice:
    """Finds what stands behind modules, and lays before a person what they have not chosen.

    The first start of a module that app.json lists remembers what is there, if it is one: the person installed and
    listed it. From then on something else under the name is not loaded before a person said so.

    Args:
        config: app.json, from whose folder sources are kept.
    """

    def __init__(self, config: AppConfig, store: ModuleSources, changes: PolicyChanges, use: Use) -> None:
        self._config, self._store, self._changes, self._use = config, store, changes, use
        self._chosen: dict[str, SourceRow] = {}
        self._refused: set[tuple[str, str]] = set()
        self._proposed: dict[tuple[str, str], str] = {}

    async def restore(self) -> None:
        """Load what was said."""
        for row in await self._store.load():
            if row.verdict == "chosen":
                self._chosen[row.module] = row
            else:
                self._refused.add((row.module, row.source))

    def is_refused(self, name: str, found: Found) -> bool:
        """Whether a person has said no to it."""
        return (name, self._kept(found.source)) in self._refused

    def history(self, name: str) -> SourceRow | None:
        """What is chosen for a module, with its versions; None: nothing was ever loaded for it."""
        return self._chosen.get(name)

    async def find(self, name: str) -> tuple[Found, tuple[Found, ...]]:
        """Find what is to be loaded, and what else has the name: it waits for a person, unless they have refused it.

        Raises:
            ModuleNotInstalled: There is none.
            ModuleNotChosen: A person has to choose first.
        """
        found = await asyncio.to_thread(candidates, name, self._config)
        try:
            used = await asyncio.to_thread(find_module, name, self._config, self._trusted(name))
        except ModuleNotChosen:
            self._ask(name, found)
            raise
        rivals = tuple(other for other in found if other.source != used.source)
        self._ask(name, rivals)
        if name not in self._chosen:
            self._chosen[name] = await self._store.see(name, self._kept(used.source), "")
        return used, rivals

    async def loaded(self, name: str, source: str, version: str) -> None:
        """Note that a version of a source got ready."""
        before = self._chosen.get(name)
        kept = self._kept(source)
        if before is not None and (before.source, before.version) == (kept, version):
            return
        row = self._chosen[name] = await self._store.see(name, kept, version)
        if row.before:
            log.warning("module_version_changed", module=name, source=row.source, before=row.before, now=row.version)

    async def choose(self, name: str, shown: Found, by: str, *, runs: bool = True) -> None:
        """Put exactly what a person was shown behind a module, and have it run if app.json lists it.

        Raises:
            ToolError: `module_changed`: it is another one by now.
        """
        current = await asyncio.to_thread(candidates, name, self._config)
        if not any(described(found) == described(shown) for found in current):
            raise ToolError(
                "module_changed",
                f"{described(shown)} does not stand behind module {name!r} any more; nothing was changed",
                module=name,
            )
        await self._trust(name, shown.source, by)
        for other in current:  # the person has seen these, and took another
            if other.source != shown.source:
                await self._refuse(name, other, by)
        if runs:
            await self._use(name)

    async def _trust(self, name: str, source: str, by: str) -> None:
        """Remember a person's choice."""
        kept = self._kept(source)
        await self._store.decide(name, kept, "chosen", by)
        self._refused.discard((name, kept))
        self._chosen[name] = next(row for row in await self._store.load() if row[:3] == (name, kept, "chosen"))
        self.withdraw(name)
        log.warning("module_source_chosen", module=name, source=kept, by=by)

    def withdraw(self, name: str) -> None:
        """Ask no more about a module."""
        for key in [key for key in self._proposed if key[0] == name]:
            self._changes.withdraw(self._proposed.pop(key))

    async def proposal(self, name: str, source: str) -> tuple[Proposal, Found]:
        """What a person confirms who wants a source behind a module.

        Raises:
            ToolError: `source_not_found`.
        """
        current = await asyncio.to_thread(candidates, name, self._config)
        wanted = self._full(source)
        for found in current:
            if found.source == wanted:
                return self._proposal(name, found), found
        known = [found.source for found in current]
        message = f"nothing called {source!r} stands behind module {name!r}; there is: {', '.join(known) or 'nothing'}"
        raise ToolError("source_not_found", message, module=name, sources=known)

    def difference(self, name: str, found: Found) -> tuple[tuple[str, str], ...]:
        """What stands behind a module now and then, for a proposal; empty: it is what is chosen for it."""
        before = self._chosen.get(name)
        if before is not None and before.source == self._kept(found.source):
            return ()
        removed = [f"- {before.source} {before.version}".rstrip()] if before is not None else []
        return ((f"module {name}", "\n".join([*removed, f"+ {described(found)}", ""])),)

    # -- asking ------------------------------------------------------------------------------------------------

    def _ask(self, name: str, found: tuple[Found, ...]) -> None:
        """Have these wait for a person, and nothing else of this module; what waits already waits on."""
        wanted = {(name, described(each)): each for each in found if not self.is_refused(name, each)}
        waiting = {change.change_id for change in self._changes.waiting}
        for key in [key for key in self._proposed if key[0] == name and key not in wanted]:
            self._changes.withdraw(self._proposed.pop(key))
        for key, each in wanted.items():
            if self._proposed.get(key) not in waiting:
                self._propose(name, each)

    def _propose(self, name: str, found: Found) -> None:
        apply, refuse = partial(self.choose, name, found, "person"), partial(self._refuse, name, found, "person")
        try:
            change = self._changes.propose(self._proposal(name, found), _SERVER, apply, refuse)
        except ToolError as exc:  # too many wait: the module says what it waits for, and a reload asks again
            log.warning("module_source_not_asked", module=name, found=described(found), reason=exc.message)
        else:
            log.warning("module_source_waits", module=name, found=described(found))
            self._proposed[name, described(found)] = change.change_id

    def _proposal(self, name: str, found: Found) -> Proposal:
        return Proposal("module_source", name, (found.source,), self.difference(name, found), lasts=True)

    async def _refuse(self, name: str, found: Found, by: str) -> None:
        kept = self._kept(found.source)
        self._refused.add((name, kept))
        await self._store.decide(name, kept, "refused", by)
        log.warning("module_source_refused", module=name, source=kept)

    # -- spelling ----------------------------------------------------------------------------------------------

    def _trusted(self, name: str) -> str:
        row = self._chosen.get(name)
        return "" if row is None else self._full(row.source)

    def _kept(self, source: str) -> str:
        """As it is kept: a folder below that of app.json by its way from there, so that both can be moved."""
        folder = self._config.folder
        is_below = source.startswith("/") and Path(source).is_relative_to(folder)
        return f"./{Path(source).relative_to(folder)}" if is_below else source

    def _full(self, kept: str) -> str:
        return full_source(kept, self._config.folder)


def full_source(kept: str, folder: Path) -> str:
    """A source as discovery names it, from what is kept of it.

    Args:
        kept: A distribution's name, or a folder, absolute or from app.json's.
        folder: The folder of app.json.
    """
    return str(folder / kept) if kept.startswith("./") else kept


def remembered_sources(config: AppConfig, state: Path) -> dict[str, str]:
    """What is chosen for modules, for whoever imports them without a host; the state folder is only read.

    Args:
        config: app.json, from whose folder sources are kept.
        state: The state folder, whoever holds it; it need not exist.
    """
    return {name: full_source(kept, config.folder) for name, kept in read_chosen(state / DATABASE_NAME).items()}

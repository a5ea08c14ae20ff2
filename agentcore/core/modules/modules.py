"""All modules that are listed: started together, stopped in reverse, enabled, disabled and reloaded meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence

import structlog
from pydantic import BaseModel

from agentcore.config.config_errors import ConfigError
from agentcore.config.loading import AppConfig
from agentcore.core.approvals.definition_review import Offered
from agentcore.core.declarations.definitions import without_session
from agentcore.core.discovery.families import FamilyMember, code_in
from agentcore.core.discovery.installed import invalidate_metadata
from agentcore.core.discovery.source_search import (
    Found,
    ModuleNotChosen,
    ModuleNotInstalled,
    describe_found_module,
    find_candidates,
    find_module,
    unload_modules,
)
from agentcore.core.modules.host_protocols import ModuleProxy
from agentcore.core.modules.lifecycle import Lifecycle
from agentcore.core.modules.module_record import ModuleRecord, merged_instructions
from agentcore.core.modules.reloading import Reload
from agentcore.core.modules.source_choice import SourceChoice
from agentcore.core.modules.tool_registry import HostFacts, ToolRegistry
from agentcore.errors import ToolError

log = structlog.get_logger(__name__)

CodeOnDisk = tuple[tuple[str, str, str], ...]
"""Each module that was found with its source and a digest of its code; equal ones: nothing changed."""


class Modules:
    """Starts, stops, reloads and restarts modules, one change at a time."""

    def __init__(self, lifecycle: Lifecycle, registry: ToolRegistry, sources: SourceChoice, config: AppConfig) -> None:
        self._lifecycle = lifecycle
        self._registry = registry
        self._sources = sources
        self._config = config
        self._change = asyncio.Lock()
        self.records = registry.records

    def get_record(self, name: str) -> ModuleRecord:
        """The module's record.

        Raises:
            ToolError: `module_not_found`.
        """
        record = self.records.get(name)
        if record is None:
            known = sorted(self.records)
            raise ToolError("module_not_found", f"no module {name!r} is listed; listed are {known}", modules=known)
        return record

    async def start(self, names: Iterable[str]) -> None:
        """Start modules together; one that fails is marked, the others continue."""
        async with self._change:
            await self._lifecycle.start([ModuleRecord(name) for name in dict.fromkeys(names)])

    async def stop(self, names: Iterable[str] | None = None) -> None:
        """Stop modules (None: all), in reverse order of readiness. Modules that require a stopped one are stopped,
        too."""
        async with self._change:
            await self._lifecycle.stop(self.records if names is None else names)

    async def enable(self, name: str) -> ModuleRecord:
        """Start one module that is not running."""
        await self.enable_together([name])
        return self.records[name]

    async def enable_together(self, names: Sequence[str]) -> None:
        """Start those of these modules that are not running, at the same time."""
        async with self._change:
            off = [
                name
                for name in dict.fromkeys(names)
                if (record := self.records.get(name)) is None or record.state not in ("ready", "loading")
            ]
            await self._start_stopped(off)

    async def disable(self, name: str) -> ModuleRecord:
        """Stop one module, and those that require it."""
        async with self._change:
            record = self.get_record(name)
            self._sources.withdraw_proposals(name)
            await self._lifecycle.stop(self._lifecycle.with_dependents([name]))
            return record

    async def release_lost_modules(self, names: Iterable[str], reason: str) -> None:
        """Release modules whose host has ended; they are `failed`, with the reason."""
        async with self._change:
            for name in names:
                record = self.records.get(name)
                # one that failed did so because of this, and its own reason is more specific
                if record is not None and record.state in ("ready", "loading", "failed"):
                    await self._lifecycle.release_lost_module(record, reason)

    async def start_again(self, names: Iterable[str]) -> None:
        """Start modules that failed because their host ended, unless they were changed since."""
        async with self._change:
            failed = [name for name in names if (found := self.records.get(name)) and found.state == "failed"]
            await self._lifecycle.start([ModuleRecord(name) for name in failed])

    def offered_by(self, name: str) -> Offered | None:
        """Return what a module that the server itself runs offers, for comparison with a foreign machine; None: it runs
        none."""
        record = self.records.get(name)
        if record is None or record.state != "ready" or record.has_outside_definitions:
            return None
        tools = [without_session(tool.definition) for tool in record.tools]
        return Offered(tools, merged_instructions(record.manifest.instructions, record.offered_instructions))

    async def add_hosted_module(self, record: ModuleRecord, plugin: ModuleProxy) -> None:
        """Serve a module that a foreign machine has started; see `Lifecycle.add_hosted_module`."""
        await self._lifecycle.add_hosted_module(record, plugin)

    def merge_again(self) -> None:
        """Merge the tools of all modules again, after a change of the hosts that may use chats."""
        self._lifecycle.offers.merge_tools()

    async def read_hosted_again(self, record: ModuleRecord) -> None:
        """Read the tools of a module of a foreign machine again, which is back."""
        await self._lifecycle.offers.refresh_offer(record)

    def know_host(self, host: str, absent: frozenset[str] | None, facts: HostFacts | None) -> None:
        """Record a foreign machine.

        Args:
            absent: The names of its known tools, while it is not connected; None: it is connected.
            facts: Facts for models about it; None: it was removed.
        """
        self._lifecycle.know_host(host, absent, facts)

    async def remove_hosted_module(self, record: ModuleRecord, reason: str) -> None:
        """Remove a module of a foreign machine."""
        await self._lifecycle.remove_hosted_module(record, reason)

    async def restart_modules(self, names: Sequence[str], end: Callable[[], Awaitable[None]]) -> None:
        """Stop the modules of one host and those that require them, end it, and start them again.

        Args:
            names: The modules of that host; disabled ones stay disabled.
            end: Ends the host.
        """
        async with self._change:
            on = self.restarted_with(names)
            await self._lifecycle.stop(record.name for record in on)
            await end()
            await self._lifecycle.start([ModuleRecord(record.name) for record in on])

    def restarted_with(self, names: Sequence[str]) -> list[ModuleRecord]:
        """Return the modules that restart with the host of these modules: the enabled ones, and those that require
        them."""
        meant = self._lifecycle.with_dependents(names)
        return [
            record
            for name in meant
            if (record := self.records.get(name)) and record.state not in ("stopped", "missing")
        ]

    async def remove_module(self, name: str) -> None:
        """Remove a module that does not run; a running one stays."""
        async with self._change:
            record = self.records.get(name)
            if record is not None and record.state in ("stopped", "missing", "failed"):
                del self.records[name]

    async def reload(self, name: str) -> list[ModuleRecord]:
        """Replace the running code of a module and of its distribution by the current code on disk.

        If that fails, the running code continues, with the reason in `reload_error`.
        """
        async with self._change:
            record = self.get_record(name)
            with self._registry.preserve_page_scripts():
                return await self._reload_modules(record)

    def stopped_with(self, name: str, *, for_reload: bool) -> list[ModuleRecord]:
        """Return the modules that stop with a module: itself, those that require it, and for a reload those of its
        distribution.

        Raises:
            ToolError: `module_not_found`.
        """
        record = self.get_record(name)
        family = [name, *(other.name for other in self._running_family(record))] if for_reload else [name]
        return [self.records[other] for other in self._lifecycle.with_dependents(family)]

    async def is_same_code(self, name: str) -> bool:
        """True if a reload would run exactly the loaded code; always true of modules that were passed as objects.

        Raises:
            ToolError: `module_not_found`.
        """
        record = self.get_record(name)
        is_alone = await asyncio.to_thread(self._has_code_of_its_block, record)
        family = [] if is_alone else self._running_family(record)
        loaded = [each for each in (record, *family) if each.name not in self._lifecycle.given]
        return await asyncio.to_thread(lambda: all(map(self._is_as_loaded, loaded)))

    def _is_as_loaded(self, record: ModuleRecord) -> bool:
        if record.found is None:
            return False
        invalidate_metadata()
        try:
            now = find_module(record.name, self._config, record.found.source)
        except (ModuleNotInstalled, ModuleNotChosen, ConfigError):
            return False
        return (
            now.describe_origin() == record.found.describe_origin() and now.compute_fingerprint() == record.fingerprint
        )

    def block_models(self) -> dict[str, type[BaseModel] | None]:
        """The keys of families of which a module is loaded, each with the model of its blocks."""
        loaded = [record for record in self.records.values() if record.block_model is not None]
        return {each.found.family.key: each.block_model for each in loaded if isinstance(each.found, FamilyMember)}

    def find_block(self, name: str) -> tuple[str, str]:
        """Return the location in app.json of the block of which a module is made.

        Raises:
            ToolError: `module_not_found`: there is no such module, or it is made of no block.
        """
        found = self.get_record(name).found
        if not isinstance(found, FamilyMember):
            raise ToolError("module_not_found", f"module {name!r} is made of no block of app.json", module=name)
        return found.path

    async def reload_changed_blocks(self, paths: Collection[tuple[str, ...]]) -> None:
        """Reload modules whose blocks were changed with the user's approval, unless their code has changed, too.

        Args:
            paths: The changed settings of app.json.
        """
        async with self._change:
            for record in list(self.records.values()):
                path = record.found.path if isinstance(record.found, FamilyMember) else ()
                is_meant = path and any(path == changed[:2] or path[:1] == changed for changed in paths)
                if is_meant and record.state in ("ready", "failed"):
                    await self._reload_block(record)

    async def _reload_block(self, record: ModuleRecord) -> None:
        if await asyncio.to_thread(self._has_code_of_its_block, record):
            with self._registry.preserve_page_scripts():
                await self._reload_modules(record)

    async def code_on_disk(self, name: str) -> CodeOnDisk:
        """All code on the disk that starting or reloading a module, listed or not, could load now."""
        record = self.records.get(name)
        family = () if record is None else self._running_family(record)
        names = sorted({name, *(other.name for other in family)})
        return await asyncio.to_thread(self._code_of, names)

    def _code_of(self, names: Sequence[str]) -> CodeOnDisk:
        invalidate_metadata()
        found = [each for name in names for each in find_candidates(name, self._config)]
        return tuple((each.name, describe_found_module(each), each.compute_fingerprint()) for each in found)

    async def read_again(self, name: str) -> None:
        """Read a module's tools again, if it is ready."""
        await self._lifecycle.offers.read_again(name)

    async def use_choice(self, name: str) -> None:
        """Run a listed module from the source that the user has chosen."""
        async with self._change:
            record = self.records.get(name)
            if record is not None and record.state == "ready":
                await self._reload_modules(record)
            elif record is not None and record.state != "stopped":
                await self._start_stopped([name])

    def reorder_modules(self, names: Iterable[str]) -> None:
        """Put the modules into the order of app.json, by which the first of two tools with one name counts."""
        listed = [name for name in names if name in self.records]
        order = [*listed, *(name for name in self.records if name not in listed)]
        if order != list(self.records):
            records = {name: self.records[name] for name in order}
            self.records.clear()
            self.records.update(records)
            self._lifecycle.offers.merge_tools()

    async def has_changed(self, record: ModuleRecord) -> bool:
        """True if the code of a running module on disk differs from the loaded one; a reload would run it."""
        if record.found is None or record.state != "ready":
            return False
        has_changed = await asyncio.to_thread(self._fingerprint_now, record.found) != record.fingerprint
        if has_changed and record.notice_change():
            log.warning("module_changed", module=record.name, **record.origin)
        return has_changed

    # -- inside ------------------------------------------------------------------------------------------------

    async def _start_stopped(self, names: Sequence[str]) -> None:
        """Start modules that do not run, with the code that is on the disk now, unless their distribution runs."""
        families = {}
        for name in names:
            before = self.records.get(name)
            families[name] = [] if before is None else self._running_family(before)
            if before is not None and not families[name]:
                await asyncio.to_thread(unload_modules, [before.found] if before.found is not None else [])
        records = [ModuleRecord(name) for name in names]
        await self._lifecycle.start(records)
        for record in records:
            if families[record.name] and record.origin:
                record.use_loaded_version(families[record.name][0].origin.get("version", ""))

    async def _reload_modules(self, record: ModuleRecord) -> list[ModuleRecord]:
        is_alone = await asyncio.to_thread(self._has_code_of_its_block, record)
        family = [record.name, *([] if is_alone else [other.name for other in self._running_family(record)])]
        names = [name for name in self.records if name in family]
        if record.name in self._lifecycle.given:  # an object: there is no other code of it
            dependents = self._lifecycle.with_dependents(names)
            running = [name for name in dependents if name in names or self.records[name].state == "ready"]
            await self._lifecycle.stop(running)
            await self._lifecycle.start([ModuleRecord(name) for name in running])
        else:
            async with self._lifecycle.keep_hosts_running():
                await Reload(self._lifecycle, names, takes_code=not is_alone).run()
        return [self.records[name] for name in names]

    def _fingerprint_now(self, found: Found) -> str:
        if not isinstance(found, FamilyMember):
            return found.compute_fingerprint()
        return next((now.compute_fingerprint() for now in self._members_now(found)), "")

    def _members_now(self, found: FamilyMember) -> Iterator[FamilyMember]:
        """The block of app.json as it is now, or none."""
        for now in find_candidates(found.name, self._config):
            if isinstance(now, FamilyMember) and now.source == found.source:
                yield now

    def _has_code_of_its_block(self, record: ModuleRecord) -> bool:
        """True if a module is a block of a family whose code is unchanged: then only its block is read again."""
        if not isinstance(record.found, FamilyMember) or not record.fingerprint:
            return False
        invalidate_metadata()
        code = code_in(record.fingerprint)
        return any(code_in(now.compute_fingerprint()) == code for now in self._members_now(record.found))

    def _running_family(self, record: ModuleRecord) -> list[ModuleRecord]:
        """The other modules of its distribution that are on."""
        return [
            other
            for other in self.records.values()
            if other is not record
            and other.state != "stopped"
            and record.distribution
            and other.distribution == record.distribution
        ]

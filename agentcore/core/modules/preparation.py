"""Everything before a module's `init`: its code is found, imported and checked, and its settings are read."""

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

from agentcore.api import Module
from agentcore.config.config_errors import ConfigError
from agentcore.config.loading import AppConfig
from agentcore.config.problems import problems_of_faults
from agentcore.core.discovery.families import FamilyMember
from agentcore.core.discovery.installed import InstalledModule
from agentcore.core.discovery.package_requirements import check_requirements
from agentcore.core.discovery.source_search import Found
from agentcore.core.module_code.containment import run_contained
from agentcore.core.modules import loader
from agentcore.core.modules.host_protocols import ModuleHost, ModuleHosts
from agentcore.core.modules.leftovers import RunPeriod, Surroundings
from agentcore.core.modules.module_record import LoadedCode, ModuleRecord
from agentcore.core.modules.source_choice import SourceChoice
from agentcore.limits import HOOK_SECONDS, IMPORT_SECONDS


class Preparation:
    """Prepares modules, each where it runs: in this process, or in a host.

    Args:
        sources: Finds their code, from the source that the user has chosen.
        places: The hosts of modules that do not run in this process.
        given: Modules passed as objects, which are not searched for.
    """

    def __init__(
        self, config: AppConfig, sources: SourceChoice, places: ModuleHosts, given: Mapping[str, Module]
    ) -> None:
        self._config = config
        self._sources = sources
        self._places = places
        self._given = given

    async def prepare_module(self, record: ModuleRecord) -> None:
        """Find, import and check a module's code, and read its settings; nothing of it runs after that.

        Raises:
            ModuleNotInstalled: There is none.
            ModuleNotChosen: The user has to choose its source first.
            BaseException: Any other reason why it cannot be started.
        """
        record.begin_preparation(RunPeriod(Surroundings(), None))
        home = self._find_home(record.name)
        record.adopt_plugin(await home.make_plugin(record))
        record.declare(await loader.read_declarations(record, self._config.locale))
        if record.settings is None:  # code that is brought back has those that it ran with
            record.use_settings(await home.read_settings(record))
        record.mark_prepared()

    def _find_home(self, name: str) -> "_Home":
        host = self._places.find_module_host(name)
        if host is not None:
            return _Host(self._config, self._sources, host)
        if name in self._given:
            return _PassedObject(self._config, self._given[name])
        return _ThisProcess(self._config, self._sources)


class _Home(Protocol):
    """Where a module runs."""

    async def make_plugin(self, record: ModuleRecord) -> Any:
        """Return the object that implements its hooks."""
        ...

    async def read_settings(self, record: ModuleRecord) -> Any:
        """Return its validated settings.

        Raises:
            ConfigError: They are invalid.
        """
        ...


class _PassedObject:
    """A module that was passed as an object: it runs in this process."""

    def __init__(self, config: AppConfig, plugin: Module) -> None:
        self._config = config
        self._plugin = plugin

    async def make_plugin(self, record: ModuleRecord) -> Any:
        return self._plugin

    async def read_settings(self, record: ModuleRecord) -> Any:
        return await _read_settings_here(record, self._config)


class _ThisProcess:
    """The code of a module is imported in this process."""

    def __init__(self, config: AppConfig, sources: SourceChoice) -> None:
        self._config = config
        self._sources = sources

    async def make_plugin(self, record: ModuleRecord) -> Any:
        # code that runs again is not imported again
        code = await self._load_code(record) if record.loaded is None else record.loaded
        return await loader.make_plugin(record, code.target, self._config)

    async def _load_code(self, record: ModuleRecord) -> LoadedCode:
        found = await _find_source(record, self._sources)
        code = await loader.load_code(found)
        record.load_code(code)
        return code

    async def read_settings(self, record: ModuleRecord) -> Any:
        return await _read_settings_here(record, self._config)


class _Host:
    """A module runs in a host: none of its code runs in this process."""

    def __init__(self, config: AppConfig, sources: SourceChoice, host: ModuleHost) -> None:
        self._config = config
        self._sources = sources
        self._host = host

    async def make_plugin(self, record: ModuleRecord) -> Any:
        found = await self._find_source(record) if record.found is None else record.found
        loading = self._host.load_module(record.name, found, record.fingerprint, self._config.locale)
        proxy = await run_contained(loading, IMPORT_SECONDS, f"import:{record.name}", record.name)
        record.load_in_host(proxy)
        return proxy

    async def _find_source(self, record: ModuleRecord) -> Found:
        finding = self._host.find_module(record.name)
        found = await run_contained(finding, IMPORT_SECONDS, f"find:{record.name}", record.name)
        if found is None:
            found = await _find_source(record, self._sources)
        else:
            record.find_source(found, await asyncio.to_thread(found.describe_origin))
        record.identify_code(await asyncio.to_thread(found.compute_fingerprint))
        return found

    async def read_settings(self, record: ModuleRecord) -> Any:
        proxy = record.placed
        assert proxy is not None  # noqa: S101 - the plugin is the proxy
        raw = await asyncio.to_thread(loader.raw_settings, record, self._config)
        checking = proxy.check_settings(raw.values)
        faults = await run_contained(checking, HOOK_SECONDS, f"settings:{record.name}", record.name)
        if faults and record.manifest.settings is not None:
            raise ConfigError(problems_of_faults(faults, record.manifest.settings, raw.values, raw.origins))
        return raw.values


async def _find_source(record: ModuleRecord, sources: SourceChoice) -> Found:
    """Find a module's code on the disk; nothing is imported."""
    found, rivals = await sources.find_module_source(record.name)
    record.find_rivals(rivals)
    # in a thread: the folder of the package is known once no other thread imports it, which takes time
    record.find_source(found, await asyncio.to_thread(found.describe_origin))
    installed = found.entry if isinstance(found, FamilyMember) else found
    if isinstance(installed, InstalledModule):
        await asyncio.to_thread(check_requirements, installed)
    return found


async def _read_settings_here(record: ModuleRecord, config: AppConfig) -> Any:
    read = asyncio.to_thread(loader.load_settings, record, config)
    return await run_contained(read, HOOK_SECONDS, f"settings:{record.name}", record.name)

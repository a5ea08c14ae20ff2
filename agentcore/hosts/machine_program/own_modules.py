"""The modules of a foreign machine: those that its own app.json lists, with its own settings."""

import asyncio

import structlog

from agentcore.config.loading import AppConfig
from agentcore.config.settings_of_modules import module_settings, validate_settings
from agentcore.config.written_secrets import secrets_to_mask
from agentcore.core.discovery.families import FamilyMember
from agentcore.core.discovery.installed import InstalledModule
from agentcore.core.discovery.package_requirements import check_requirements
from agentcore.core.discovery.reference_values import references_of
from agentcore.core.discovery.source_search import find_module
from agentcore.core.module_code.containment import run_contained
from agentcore.core.module_code.module_error import log_failure, reason_of
from agentcore.errors import AgentcoreError
from agentcore.hosts.machine_program.machine_worker import MachineWorker
from agentcore.hosts.worker.hosted_module import HostedModule
from agentcore.limits import IMPORT_SECONDS
from agentcore.secrets import register_masked_values

log = structlog.get_logger(__name__)


class ModuleNotServed(AgentcoreError):  # noqa: N818 - it says what is the case
    """A module cannot run in a host of another machine; the message says why."""


class OwnModules:
    """Starts the modules of an app.json in a worker.

    Args:
        config: The app.json of this machine.
    """

    def __init__(self, worker: MachineWorker, config: AppConfig) -> None:
        self._worker = worker
        self._config = config
        self._settled = {name: asyncio.Event() for name in config.modules}
        self._ready: set[str] = set()

    async def start(self) -> None:
        """Start them together; one that fails is listed in `MachineWorker.failed`, and the others continue."""
        async with asyncio.TaskGroup() as group:
            for number, name in enumerate(self._config.modules, 1):
                group.create_task(self._start_module(name, number), name=f"start:{name}")

    async def _start_module(self, name: str, number: int) -> None:
        hosted: HostedModule | None = None
        try:
            hosted = await self._make_module(name, number)
            await self._wait_for_required(hosted)
            settings = await asyncio.to_thread(self._resolve_settings, hosted)
            limit_s = hosted.manifest.init_timeout_s or self._config.limits.init_timeout
            await self._worker.start_own_module(hosted, settings, limit_s)
            self._ready.add(name)
            log.info("module_ready", module=name, tools=len(self._worker.tools[name]))
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - sys.exit() in a module must not end the host
            self._worker.failed[name] = str(exc) if isinstance(exc, AgentcoreError) else reason_of(exc)
            log_failure(log, "module_failed", exc, module=name, reason=self._worker.failed[name])
            if hosted is not None:
                await self._stop_failed_module(hosted)
        finally:
            self._settled[name].set()

    async def _stop_failed_module(self, hosted: HostedModule) -> None:
        try:
            await self._worker.stop_failed_module(hosted)
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            log_failure(log, "module_shutdown_failed", exc, module=hosted.name)

    async def _make_module(self, name: str, number: int) -> HostedModule:
        finding = asyncio.to_thread(_import_module, name, self._config)
        target, fingerprint = await run_contained(finding, IMPORT_SECONDS, f"import:{name}", name)
        hosted = HostedModule(name, number, target, fingerprint)
        await run_contained(
            asyncio.to_thread(hosted.make_plugin, self._config.locale), IMPORT_SECONDS, f"make:{name}", name
        )
        if hosted.manifest.runs_scripts_in_page:
            raise ModuleNotServed("it runs scripts in the page, and runs in a server only")
        return hosted

    async def _wait_for_required(self, hosted: HostedModule) -> None:
        for name in hosted.manifest.requires:
            if name not in self._settled or name == hosted.name:
                raise ModuleNotServed(f"it requires module {name!r}, which app.json does not list")
            await self._settled[name].wait()
            if name not in self._ready:
                raise ModuleNotServed(f"it requires module {name!r}, which has failed")

    def _resolve_settings(self, hosted: HostedModule) -> object:
        model = hosted.manifest.settings
        given = module_settings(self._config, hosted.name, hosted.manifest.config_key, model)
        found = references_of(self._config).resolve(given.values, given.origins)
        register_masked_values((*found.secrets, *secrets_to_mask(model, given.values)))
        resolved = type(given)(given.key, found.values, given.origins)
        return resolved.values if model is None else validate_settings(model, resolved)


def _import_module(name: str, config: AppConfig) -> tuple[object, str]:
    """Import the object of a module's entry point; return it and the fingerprint of its code. Call it in a thread."""
    found = find_module(name, config)
    if isinstance(found, FamilyMember):
        raise ModuleNotServed("it is made of a block of app.json, and runs in a server only")
    if isinstance(found, InstalledModule):
        check_requirements(found)
    found.make_importable()
    fingerprint = found.compute_fingerprint()
    return found.load(), fingerprint

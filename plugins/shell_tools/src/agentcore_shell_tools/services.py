"""`Services`: background commands that listen on a port, each of which is a resource beside its terminal."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from agentcore.api import SERVICE_TYPE, Listener, Resource, Runtime, ToolError, read_listening_sockets
from agentcore_shell_tools.limits import SERVICE_LOOK_S, SERVICES_PER_PROCESS
from agentcore_shell_tools.process import Process


@dataclass(frozen=True, slots=True)
class Service:
    """A port of a process, and its resource."""

    listener: Listener
    resource: Resource
    process: Process

    @property
    def url(self) -> str:
        """The address at which this machine reaches it."""
        return f"http://{self.listener.host}:{self.listener.port}/"

    @property
    def problem(self) -> str:
        """Why this machine does not reach it, as a clause; empty if it does."""
        if self.listener.is_reachable:
            return ""
        if self.process.has_own_network:
            place = "the command's sandbox, because the setting `network` of shell_tools is false"
        else:
            place = "a network namespace that the command made"
        return f"port {self.listener.port} is open only in {place}"


class Services:
    """Finds services by the sockets of running commands, and releases them when nothing listens any more.

    Args:
        runtime: The module's runtime.
        list_processes: Returns all processes.
    """

    def __init__(self, runtime: Runtime, list_processes: Callable[[], Sequence[Process]]) -> None:
        self._runtime = runtime
        self._list_processes = list_processes
        self._services: dict[str, Service] = {}
        self._known_sockets: frozenset[int] = frozenset()
        self._looking = asyncio.Lock()
        self._has_work = asyncio.Event()
        # no TaskGroup: the task lasts as long as the module, and `close` ends it
        self._watching = asyncio.create_task(self._watch(), name="shell_tools:services")

    def find_process(self, service_id: str) -> Process | None:
        """Return the process of a service."""
        service = self._services.get(service_id)
        return None if service is None else service.process

    def list_for(self, process: Process) -> list[Service]:
        """Return the services of a process."""
        return [service for service in self._services.values() if service.process is process]

    def notify_started(self) -> None:
        """Watch the sockets, because a process has started."""
        self._has_work.set()

    async def look_at(self, process: Process) -> None:
        """Find the services of one process now."""
        async with self._looking:
            await self._update(process)

    async def close(self) -> None:
        """Stop watching; safe to call twice. The resources end with the module."""
        self._watching.cancel()
        with suppress(asyncio.CancelledError):
            await self._watching

    async def _watch(self) -> None:
        while True:
            await self._has_work.wait()
            async with self._looking:
                await self._look_at_all()
            if not self._services and not any(process.is_running for process in self._list_processes()):
                self._has_work.clear()
            await asyncio.sleep(SERVICE_LOOK_S)

    async def _look_at_all(self) -> None:
        # in a thread: it reads /proc
        sockets = await asyncio.to_thread(read_listening_sockets)
        has_changed = sockets != self._known_sockets
        self._known_sockets = sockets
        # a process whose terminal was closed is in the table no more
        processes = {*self._list_processes(), *(service.process for service in self._services.values())}
        for process in processes:
            if has_changed or process.has_own_network or (self.list_for(process) and not process.is_running):
                await self._update(process)

    async def _update(self, process: Process) -> None:
        listeners = await asyncio.to_thread(process.list_listeners) if process.is_running else []
        found = {(each.port, each.is_reachable): each for each in listeners}
        known = {(service.listener.port, service.listener.is_reachable): service for service in self.list_for(process)}
        for key, service in known.items():
            if key not in found:
                await self._release(service)
        for key, listener in found.items():
            if key not in known and len(self.list_for(process)) < SERVICES_PER_PROCESS:
                self._create(process, listener)

    def _create(self, process: Process, listener: Listener) -> None:
        with suppress(ToolError):  # `too_many_resources`: the terminal remains
            resource = self._runtime.resources.create(
                SERVICE_TYPE, process.session_id, adapter_type="tcp", on_release=self._on_release
            )
            service = Service(listener, resource, process)
            self._services[resource.resource_id] = service
            self._runtime.resources.update(
                resource.resource_id,
                status="ready" if listener.is_reachable else "failed",
                last_url=service.url,
                title=service.problem or f"{listener.host}:{listener.port}",
            )

    async def _release(self, service: Service) -> None:
        del self._services[service.resource.resource_id]
        reason = f"Nothing listens on {service.url} any more; {service.process.short_id} has its output."
        await self._runtime.resources.release(service.resource.resource_id, reason)

    async def _on_release(self, resource: Resource) -> None:
        """End the command of a service that was closed while it listened."""
        service = self._services.pop(resource.resource_id, None)
        if service is not None:
            await service.process.terminate()

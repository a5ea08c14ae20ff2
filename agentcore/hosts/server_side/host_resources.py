"""The resources of a host, as its server knows them."""

import asyncio
from base64 import b64decode
from collections.abc import Awaitable, Callable, Collection, Coroutine
from typing import Any

import structlog

from agentcore.api import Image
from agentcore.api.resource import Reopening, Resource, ResourceUpdate
from agentcore.core.module_code.module_error import reason_of
from agentcore.core.module_code.value_reading import read_mapping
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.errors import ToolError
from agentcore.hosts.server_side import host_messages
from agentcore.hosts.server_side.message_handlers import Handlers
from agentcore.hosts.wire.frames import LinkError
from agentcore.hosts.wire.peer import Message, Peer

log = structlog.get_logger(__name__)

_RESOURCES = 1_000
_KEYS = 100
_RELEASES = 2_000
_ENDED_AWAY = "it ended while its host had no connection to the server"
_RELEASE_SECONDS = 10.0


class HostResources:
    """Creates, changes and ends the resources in the registry that a host reports.

    Args:
        host: Its name.
        names: The modules that it runs.
        request: Sends it a request.
        prefix: The prefix of its modules' names here.
        tools: The names of its own tools, the only ones that can reopen resources of a foreign machine; None: it is no
            foreign machine.
    Attributes:
        awaited: Modules that kept running without a server, and may not have been adopted yet.
        over: Ids of resources that ended here while the host was away: they end there when it comes back.
    """

    def __init__(
        self,
        host: str,
        peer: Peer,
        resources: ResourceRegistry,
        names: Callable[[], Collection[str]],
        request: Callable[[Message], Awaitable[Any]],
        *,
        prefix: str = "",
        tools: Callable[[], Collection[str]] | None = None,
    ) -> None:
        self._host = host
        self._peer = peer
        self._resources = resources
        self._names = names
        self._request = request
        self._prefix = prefix
        self._tools = tools
        self._loop = asyncio.get_running_loop()
        self._releasing: set[str] = set()
        self._working: set[asyncio.Task[None]] = set()
        self.awaited: Collection[str] = ()
        self.over: set[str] = set()

    def message_handlers(self, handlers: Handlers) -> dict[str, Callable[[Message], None]]:
        """The handlers, by the types of messages."""
        told = handlers.message_handler
        return {
            "resource.create": told(host_messages.CreateResource, self._create_resource),
            "resource.adopt": told(host_messages.OfResource, self._adopt_resource),
            "resource.update": told(host_messages.UpdateResource, self._update_resource),
            "resource.event": told(host_messages.ResourceEvent, self._emit_event),
            "resource.release": told(host_messages.ReleaseResource, self._resource_released),
            "resource.held": told(host_messages.SurvivingResource, self._restore_resource),
        }

    def release_missing_resources(self, owner: str, living: Collection[str]) -> None:
        """End the resources that a module no longer has after running without a server."""
        for each in self._resources.list(owner=owner):
            if each.resource_id not in living and each.resource_id not in self._releasing:
                self._releasing.add(each.resource_id)
                self._run_in_background(
                    self._release_on_server(each.resource_id, owner, "it ended meanwhile", lost_by=_ENDED_AWAY)
                )

    def _restore_resource(self, told: host_messages.SurvivingResource) -> None:
        """Know a resource of a module that has gone on without a server, as it is now."""
        resource_id = told.resource.resource_id
        owner = self._find_owner(resource_id)
        if owner is None:
            self._create_resource(told)
        elif told.resource.status != "starting":
            self._resources.adopt(owner, resource_id, self._release_on_host)  # it was released by way of another link
        self._update_resource(told)

    def _create_resource(self, told: host_messages.CreateResource) -> None:
        owner = f"{self._prefix}{told.owner}"
        made = told.resource
        if owner not in self._names():
            if owner in self.awaited:
                return  # all of them are reported when the module is adopted
            raise LinkError("it makes a resource of a module that it does not run")
        reason = self._why_not(owner, made)
        if reason:
            # what is behind it there cannot be reached, so it ends
            log.warning("resource_refused", host=self._host, module=owner, reason=reason)
            self._run_in_background(self._end_on_host(made))

    def _why_not(self, owner: str, made: Resource) -> str:
        """Return why a resource cannot be added here; empty: it was added."""
        if made.resource_id in self.over:
            return "it was ended while its host was away"
        if len(self._resources.list(owner=owner)) >= _RESOURCES:
            return f"a module of a host may have {_RESOURCES:,} resources"
        try:
            self._resources.admit_resource(owner, made, self._release_on_host)
        except ToolError as exc:  # the id was used for another one meanwhile
            return exc.message
        return ""

    def _adopt_resource(self, told: host_messages.OfResource) -> None:
        resource_id = told.resource.resource_id
        owner = self._find_owner(resource_id)
        if owner is not None:
            self._resources.adopt(owner, resource_id, self._release_on_host)

    def _update_resource(self, told: host_messages.UpdateResource) -> None:
        now = told.resource
        icon = told.icon
        owner = self._find_owner(now.resource_id)
        if owner is None:
            return
        held = self._resources.get(now.resource_id)
        if len(held.keys | now.keys) > _KEYS:
            raise ValueError(f"a resource may have {_KEYS} keys")
        held.adapter_type = now.adapter_type
        change = ResourceUpdate(
            status=None if now.status == "closed" else now.status,
            last_url=now.last_url,
            title=now.title,
            icon=None if icon is None else Image(b64decode(icon.base64, validate=True), icon.mime),
            keep_running=now.keep_running,
            keys=now.keys,
            reopening=self._reopening(told.reopening),
        )
        self._resources.update(now.resource_id, change, owner=owner)

    def _reopening(self, told: host_messages.Reopening | None) -> Reopening | None:
        """Return the call that reopens a resource; None: there is none, or this host may not use it."""
        if told is None:
            return None
        if self._tools is not None and told.tool and told.tool not in self._tools():
            log.debug("reopening_refused", host=self._host, tool=told.tool[:100])
            return None
        return told.tool, told.arguments

    def _emit_event(self, told: host_messages.ResourceEvent) -> None:
        owner = self._find_owner(told.resource_id)
        event = told.event
        if event not in ("log", "progress", "screenshot", "error"):
            return  # of a newer host
        if owner is not None:
            data = read_mapping(told.data, "the data of an event of a host", mends_text=True)
            self._resources.emit(told.resource_id, event, data, owner=owner)  # type: ignore[arg-type]  # one of these

    def _resource_released(self, told: host_messages.ReleaseResource) -> None:
        owner = self._find_owner(told.resource_id)
        if owner is not None and told.resource_id not in self._releasing:
            self._releasing.add(told.resource_id)
            self._run_in_background(self._release_on_server(told.resource_id, owner, told.reason))

    async def _release_on_server(self, resource_id: str, owner: str, reason: str, *, lost_by: str = "") -> None:
        try:
            await self._resources.release(resource_id, owner, reason, lost_by=lost_by)
        finally:
            self._releasing.discard(resource_id)

    async def _release_on_host(self, resource: Resource) -> None:
        """End a resource where it is."""
        if resource.resource_id in self._releasing:
            return
        if self._peer.ended is not None:
            self.over.add(resource.resource_id)
            return
        self._releasing.add(resource.resource_id)
        try:
            await self._request({"type": "resource.release", "resourceId": resource.resource_id})
        finally:
            self._releasing.discard(resource.resource_id)

    async def _end_on_host(self, resource: Resource) -> None:
        """End a resource on the host that was never known here, without waiting."""
        try:
            async with asyncio.timeout(_RELEASE_SECONDS):
                await self._release_on_host(resource)
        except Exception as exc:  # noqa: BLE001 - it is over there, and so is whatever goes wrong
            log.warning("resource_release_failed", resource_id=resource.resource_id, reason=reason_of(exc))

    def _find_owner(self, resource_id: str) -> str | None:
        """Return the module of this host that has a resource; None: it has ended.

        Raises:
            LinkError: It belongs to another host.
        """
        owner = self._resources.owner_of(resource_id)
        if owner is not None and owner not in self._names():
            raise LinkError(f"it speaks of the resource {resource_id[:200]!r}, which is not of its modules")
        return owner

    def _run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        if len(self._working) >= _RELEASES:
            work.close()
            raise LinkError(f"more than {_RELEASES:,} resources that end at one time")
        # in no TaskGroup: messages start it, outside of any block that could wait for it
        task = self._loop.create_task(work, name=f"host:{self._host}")
        self._working.add(task)
        task.add_done_callback(self._working.discard)

"""Selects the host of a call, for every surface."""

from typing import Any

from agentcore.api import Resource
from agentcore.core.calls.call import Call
from agentcore.core.calls.call_errors import chat_refused
from agentcore.core.calls.chat_protocols import ConversationSlot
from agentcore.core.calls.module_starts import find_when_started
from agentcore.core.declarations.hosted_names import host_title, is_pooled_host, pool_of
from agentcore.core.events import EventBus
from agentcore.core.modules.host_protocols import ModuleHosts
from agentcore.core.modules.module_record import RegisteredTool
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.errors import ToolError


class Routing:
    """Finds the tools of calls."""

    def __init__(
        self,
        registry: ToolRegistry,
        resources: ResourceRegistry,
        conversation: ConversationSlot,
        places: ModuleHosts,
        events: EventBus,
    ) -> None:
        self._events = events
        self._registry = registry
        self._resources = resources
        self._conversation = conversation
        self._places = places

    async def wait_for_tool(self, call: Call, given: dict[str, Any], resource_id: str | None) -> RegisteredTool:
        """As `tool_of`, but while a module that may have the tool is starting, wait for it.

        Raises:
            ToolError: As `tool_of`; `module_starting`: the time limit of the call was reached first.
        """
        wanted_ms = call.request.timeout_ms
        return await find_when_started(
            lambda: self.tool_of(call, given, resource_id),
            self._registry,
            self._events,
            call.request.tool,
            None if wanted_ms is None else wanted_ms / 1000,
        )

    async def tool_of(self, call: Call, given: dict[str, Any], resource_id: str | None) -> RegisteredTool:
        """Return the tool of a call: that of the host where its resource is, else of the host that is chosen for it.

        Sets `call.host` to that host.

        Args:
            given: Its arguments.
            resource_id: The resource that its caller has named beside them.
        Raises:
            ToolError: As `ToolRegistry.get_tool`; `tool_not_on_host`: the host that the call names, by itself or by its
                resource, has no such tool; `invalid_arguments`: it names two hosts;
                `pool_full`: no host of a pool has free capacity.
        """
        name = call.request.tool
        call.host = await self._choose_host(call)
        if not self._registry.has_hosts:
            return self._registry.get_tool(name, call.host)
        resource = self._find_named_resource(call, given, resource_id)
        host = None if resource is None else self._resources.host_of(resource.resource_id)
        if resource is None or host is None:
            tool = self._registry.get_tool(name, call.host)
            self._check_named(call, tool)
            return await self._in_pool(call, tool)
        named = call.request.host
        if named and named not in (host, pool_of(host)):
            what = f"{resource.resource_id!r} is on {host_title(host)}, and the call names {host_title(named)}"
            raise ToolError("invalid_arguments", f"{what}: leave one of them out", resource_id=resource.resource_id)
        call.host = host
        tool = self._registry.get_tool(name, host)
        if tool.module.host != host:
            what = resource.resource_type.replace("_", " ")
            raise self._not_on_host(name, host, f"the {what} {resource.resource_id!r} is on {host_title(host)}, which")
        return tool

    def _check_named(self, call: Call, tool: RegisteredTool) -> None:
        """Check that a call whose caller has named a host runs there; the preferred host of a chat is not checked.

        Raises:
            ToolError: `tool_not_on_host`.
        """
        named = call.request.host
        host = tool.module.host
        if named and named not in (host, pool_of(host)):
            raise self._not_on_host(tool.definition.name, named, host_title(named))

    def _not_on_host(self, name: str, host: str, who: str) -> ToolError:
        found = self._registry.hosts_with_tool(name)
        where = " and ".join(map(host_title, found)) or "nowhere just now"
        message = f"{who} has no tool {name!r}, and nothing runs on another machine instead; it is on {where}"
        return ToolError("tool_not_on_host", message, tool=name, host=host, on=[each or "server" for each in found])

    def check_chats(self, host: str, tool: RegisteredTool) -> None:
        """Refuse a tool that works on chats to a foreign machine that may not use them.

        Raises:
            ToolError: `host_not_allowed`.
        """
        if not self._registry.may_use_chats(host):
            raise chat_refused(host, tool.definition.name)

    async def _in_pool(self, call: Call, tool: RegisteredTool) -> RegisteredTool:
        """Return the tool of the host of a pool that a call goes to; for a host of no pool, the tool itself."""
        host = tool.module.host
        if not is_pooled_host(host) or call.host == host:
            return tool
        needs_room = tool.definition.resource is not None
        call.host = await self._places.find_pool_host(pool_of(host), call.session_id, needs_room=needs_room)
        return self._registry.get_tool(tool.definition.name, call.host)

    async def _choose_host(self, call: Call) -> str:
        """Return the host that is chosen for a call, the most specific choice first; empty: none is."""
        if call.request.host:
            return call.request.host
        if call.parent is not None and (inherited := call.parent.host_inside):
            return inherited
        chat = self._conversation.chat
        return "" if chat is None else self._registry.choose_host(await chat.hosts_of(call.session_id))

    def _find_named_resource(self, call: Call, given: dict[str, Any], resource_id: str | None) -> Resource | None:
        """Return the resource that a call names, if it may reach it."""
        name = call.request.tool
        tool = self._registry.tools_at(call.host).get(name) or self._registry.tools.get(name)
        use = None if tool is None else tool.definition.resource
        if use is None:
            return None
        named = resource_id if resource_id is not None and use.key is None else given.get(use.argument)
        if not isinstance(named, str):
            return None
        try:
            if use.key is not None:
                resource = self._by_key(call, use.type, use.key, named)
            else:
                short = self._resources.find_by_short_id(call.session_id, use.type, named)
                resource = self._resources.find_planned_resource(named) or short or self._resources.get(named)
        except ToolError:
            return None  # the reason why it cannot be reached is reported when it is needed
        is_reachable = call.is_made_by_user or resource.session_id == call.session_id
        return resource if is_reachable and resource.resource_type == use.type else None

    def _by_key(self, call: Call, resource_type: str, key: str, value: str) -> Resource:
        """Return the resource with a key on the host of a call: in a pool, one of its own session before others'."""
        for own in self._resources.list(session_id=call.session_id, resource_type=resource_type):
            where = self._resources.host_of(own.resource_id) or ""
            if own.keys.get(key) == value and is_pooled_host(where) and call.host in ("", where, pool_of(where)):
                return own
        return self._resources.by_key(resource_type, key, value, call.host)

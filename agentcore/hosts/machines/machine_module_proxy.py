"""The proxy in the server for a module of a foreign machine: its hooks send requests over the current link."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from agentcore.api import ToolResult, WebComponent, hookimpl
from agentcore.api.definition import CallPreview
from agentcore.core.calls.call_context import CallContext
from agentcore.core.modules.module_runtime import ModuleRuntime
from agentcore.errors import ToolError
from agentcore.hosts.machines.machine_calls import host_away
from agentcore.hosts.server_side.host_link import HostLink
from agentcore.hosts.server_side.linked_module import LinkedModule
from agentcore.hosts.server_side.module_proxy import RemoteModule
from agentcore.hosts.server_side.replies import RunningModule
from agentcore.hosts.wire.declarations import preview_of
from agentcore.hosts.wire.frames import LinkError
from agentcore.limits import PREVIEW_SECONDS

_PREVIEW_SECONDS = 0.95 * PREVIEW_SECONDS
"""Before the waiting call gives up, and needs approval."""

_NOWHERE = Path("/nonexistent")


class ItsMachine(Protocol):
    """The machine of a module, as far as the module uses it."""

    @property
    def is_connected(self) -> bool:
        """True if it is connected, and accepts calls."""
        ...

    @property
    def is_drained(self) -> bool:
        """True if it accepts no new work."""
        ...

    @property
    def roots(self) -> Sequence[str]:
        """The workspace folders there."""
        ...

    def is_silent(self) -> bool:
        """True if it does not respond now, though it is connected."""
        ...

    def check_connected(self) -> None:
        """Check that it is connected.

        Raises:
            ToolError: `host_away`.
        """
        ...

    async def wait_until_connected(self, timeout_s: float) -> None:
        """Wait until it accepts calls.

        Raises:
            ToolError: `host_away`.
        """
        ...

    async def call_tool(
        self, module: LinkedModule, context: CallContext, tool: str, arguments: dict[str, Any]
    ) -> ToolResult:
        """Have a call carried out."""
        ...


class HostedModule(RemoteModule):
    """Implements the hooks of one module of a foreign machine, which starts and stops it itself."""

    machine: ItsMachine
    goes_on = True
    outlives = True

    def use_link(self, link: HostLink) -> None:
        """Ask over this link from now on."""
        self._link = link

    async def check_settings(self, values: dict[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Return no errors: its settings are those of its own machine."""
        return ()

    @hookimpl
    async def init(self, runtime: ModuleRuntime) -> None:
        """Handle its messages from now on; it was started there."""
        self.connect_runtime(runtime)

    @hookimpl
    async def execute_tool_call(self, ctx: CallContext, tool_name: str, args: dict[str, Any]) -> ToolResult:
        """Have a call carried out."""
        return await self.machine.call_tool(self._linked, ctx, tool_name, args)

    @hookimpl
    async def get_web_component(self) -> WebComponent | None:
        """Return None: nothing of a foreign machine is served to the page."""
        return None

    @hookimpl
    async def shutdown(self) -> None:
        """Do nothing: the user of that machine stops it there."""
        self._link.remove_module(self._linked)

    async def clear_up(self) -> Sequence[str] | None:
        """Return nothing: what it leaves is on its own machine."""
        return ()

    @property
    def is_away(self) -> bool:
        return not self.machine.is_connected

    @property
    def roots(self) -> Sequence[str]:
        return self.machine.roots

    @property
    def is_draining(self) -> bool:
        return self.machine.is_drained

    async def wait_until_there(self, timeout_s: float) -> None:
        """Wait for its host, which may be away.

        Raises:
            ToolError: `host_away`.
        """
        await self.machine.wait_until_connected(timeout_s)

    async def ask_module(self, request: Mapping[str, Any], data: bytes | None) -> tuple[dict[str, Any], bytes | None]:
        """Ask it as the same module of the server, over the connection that there is.

        Raises:
            ToolError: `host_away`: the connection was lost before the answer came; `host_failed`; or what it raised.
        """
        try:
            return await self._link.ask_module(self._linked, request, data)
        except LinkError as exc:
            host = self._link.name
            message = f"host {host!r} was lost before it answered ({exc}); what it did before that is not known"
            raise ToolError("host_away", message, retryable=True, host=host) from exc

    async def _request_host(self, kind: str, **fields: Any) -> dict[str, Any]:
        self.machine.check_connected()
        return await super()._request_host(kind, **fields)

    async def _preview_call(self, context: CallContext, arguments: dict[str, Any]) -> CallPreview | None:
        self.machine.check_connected()
        try:
            async with asyncio.timeout(_PREVIEW_SECONDS):
                told = await self._link.preview_call(self._linked, context, context.tool, arguments)
        except TimeoutError:
            if self.machine.is_silent():
                raise host_away(self._link.name) from None
            raise
        except ToolError as exc:
            if self._link.peer.ended is not None:  # no approval for a call that cannot be checked any more
                raise host_away(self._link.name) from exc
            raise
        # services are those of the server's own machine
        return None if told is None else replace(preview_of(told), services=())

    async def log_in(self, step: str, address: str = "") -> str:
        """Take a step of the module's log-in."""
        self.machine.check_connected()
        return await super().log_in(step, address)


def hosted_module(machine: ItsMachine, link: HostLink, linked: LinkedModule, told: RunningModule) -> HostedModule:
    """Return the proxy of a module that a foreign machine has started; its class is its own, with the module's
    docstring.

    Raises:
        TypeError, ValueError: Its declarations are invalid.
        ToolError: `module_stays`: it is for a server only.
    """
    if told.attributes.get("runs_scripts_in_page"):
        raise ToolError("module_stays", f"module {told.name!r} runs scripts in the page, and runs in a server only")
    own: type[HostedModule] = type("HostedModule", (HostedModule,), {"__doc__": told.description})
    # files of that machine are not here
    here = {name: value for name, value in told.attributes.items() if name != "skills_folder"}
    told = told.model_copy(update={"settings": None, "attributes": here})
    made = own(link, linked, told, _NOWHERE, told.fingerprint)
    made.machine = machine
    return made

"""What stands in the server for a module that runs in a host: its hooks ask there."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import structlog

from agentcore.api import ToolDefinition, ToolResult, WebComponent, hookimpl
from agentcore.api.definition import CallPreview
from agentcore.api.login import LoginStatus
from agentcore.api.report import Report
from agentcore.errors import ToolError
from agentcore.host.calls.context import CallContext
from agentcore.host.containment.reading import read_mapping, read_text, read_texts
from agentcore.host.modules.runtime import ModuleRuntime
from agentcore.remote.places.link import HostLink, LinkedModule, types_of
from agentcore.remote.places.schema_model import model_of_schema
from agentcore.remote.wire.declared import component_of, definition_of, preview_of
from agentcore.remote.wire.frames import LinkError

log = structlog.get_logger(__name__)

_FILES = 2_000
_FILES_BYTES = 32 * 1024 * 1024


class RemoteModule:
    """Implements the hooks of one module by asking its host.

    Its attributes are those of the module, as the host said them: they are read as those of any module.
    """

    def __init__(
        self, link: HostLink, linked: LinkedModule, told: Mapping[str, Any], folder: Path, fingerprint: str
    ) -> None:
        self.place, self.fingerprint = link.name, fingerprint
        self.problems: Sequence[str] = ()
        self._link, self._linked, self._folder = link, linked, folder
        attributes = read_mapping(told["attributes"], f"the attributes of module {linked.name!r}")
        for name, value in attributes.items():
            setattr(self, name, value)
        self.config_key = told["config_key"]
        schema = told["settings"]
        if schema is not None:
            known = read_mapping(schema, f"the settings of module {linked.name!r}")
            self.Settings = model_of_schema("Settings", known)

    @property
    def outlives(self) -> bool:
        """See `PlacedModule.outlives`."""
        return self._link.outlives

    @property
    def goes_on(self) -> bool:
        """See `PlacedModule.goes_on`."""
        return self._link.goes_on

    async def check_settings(self, values: dict[str, Any]) -> Sequence[Mapping[str, Any]]:
        """See `PlacedModule.check_settings`."""
        message = {"type": "settings.check", "module": self._linked.number, "values": values}
        found = await self._link.peer.request(message)
        if type(found) is not list:
            raise TypeError("the host's word on settings is no list")
        return [read_mapping(each, "a fault of settings") for each in found]

    @hookimpl
    async def init(self, runtime: ModuleRuntime) -> None:
        """Have the module start."""
        self._linked.runtime = runtime
        self._linked.on_definitions = runtime.tools_changed
        self._linked.on_report = lambda: runtime.give_report(self._report)
        self._linked.on_login = lambda status: self._take_login(runtime, status)
        self._login: _RemoteLogin | None = None
        settings = runtime.settings
        await self._ask("module.state", state="ready", settings=settings)

    @hookimpl
    async def get_tool_definitions(self) -> list[ToolDefinition]:
        """What the host says of the module's tools."""
        answer = await self._ask("definitions", what="tools")
        self.problems = read_texts(answer["problems"], "the problems of a host", "sentences")
        if type(answer["tools"]) is not list:
            raise TypeError("the host's tools are no list")
        tools = [definition_of(each, self._preview, self._complete) for each in answer["tools"]]
        self._linked.resource_types = types_of(tools)
        return tools

    @hookimpl
    async def execute_tool_call(self, ctx: CallContext, tool_name: str, args: dict[str, Any]) -> ToolResult:
        """Have a call carried out."""
        return await self._link.call(self._linked, ctx, tool_name, args)

    @hookimpl
    async def get_web_component(self) -> WebComponent | None:
        """What the host says of the module's element, with the files that belong to it."""
        told = (await self._ask("definitions", what="component"))["component"]
        if told is None:
            return None
        await self._take_files(read_mapping(told.pop("files"), "the files of a host"))
        return component_of(told, self._folder)

    @hookimpl
    async def shutdown(self) -> None:
        """Have the module end; of a host that has ended there is nothing to do."""
        try:
            if self._link.peer.ended is None:
                await self._ask("module.state", state="stopped")
        finally:
            self._link.remove(self._linked)

    # -- inside ------------------------------------------------------------------------------------------------

    async def _ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        return await self._link.request({"type": kind, "module": self._linked.number, **fields})

    async def _preview(self, context: CallContext, arguments: dict[str, Any]) -> CallPreview | None:
        tool = context.tool
        told = await self._link.preview(self._linked, context, tool, arguments)
        return None if told is None else preview_of(told)

    async def _complete(self, tool: str, argument: str, begun: str, given: dict[str, str]) -> list[str]:
        answer = await self._ask("tool.complete", tool=tool, argument=argument, begun=begun, given=given)
        return list(read_texts(answer["values"], "the values of a host", "texts"))

    async def _report(self) -> Report:
        told = await self._ask("module.report")
        return Report(told["facts"], told["log"], told["originalNames"])

    def _take_login(self, runtime: ModuleRuntime, told: Mapping[str, Any]) -> None:
        status = LoginStatus(told["state"], told["said"], told["address"])
        if self._login is None:
            self._login = _RemoteLogin(self, status)
            runtime.offer_login(self._login)
        self._login.known = status

    async def log_in(self, step: str, address: str = "") -> str:
        """Take a step of the module's log-in."""
        message = {"type": "login.step", "module": self._linked.number, "step": step, "address": address}
        try:
            return read_text(await self._link.peer.request(message), "the address of a host's log-in")
        except LinkError as exc:
            raise ToolError("login_failed", f"the host of the module has ended: {exc}") from exc

    async def _take_files(self, files: Mapping[str, Any]) -> None:
        """Copy what the page needs of the module, which the server itself serves."""
        sizes = [size if type(size) is int and size >= 0 else _FILES_BYTES for size in files.values()]
        if len(files) > _FILES or sum(sizes) > _FILES_BYTES:
            raise ValueError(f"the element has more than {_FILES} files or {_FILES_BYTES:,} bytes")
        async with asyncio.TaskGroup() as group:
            for name in files:
                group.create_task(self._take_file(name))

    async def _take_file(self, name: str) -> None:
        parts = name.split("/")
        if not all(parts) or any(part.startswith(".") for part in parts):
            raise ValueError(f"the element has a file {name!r:.200}, whose name cannot be taken")
        blob = await self._link.peer.request({"type": "file.get", "module": self._linked.number, "path": name})
        data = self._link.peer.take_blob(blob)
        await asyncio.to_thread(_write, self._folder / name, data)


class _RemoteLogin:
    """Implements `agentcore.api.Login`: the host says how it stands whenever that changes."""

    def __init__(self, module: RemoteModule, known: LoginStatus) -> None:
        self._module, self.known = module, known

    def status(self) -> LoginStatus:
        """See `agentcore.api.Login`."""
        return self.known

    async def begin(self) -> str:
        """See `agentcore.api.Login`."""
        return await self._module.log_in("begin")

    async def finish(self, address: str) -> None:
        """See `agentcore.api.Login`."""
        await self._module.log_in("finish", address)

    async def log_out(self) -> None:
        """See `agentcore.api.Login`."""
        await self._module.log_in("log_out")


def remote_module(
    link: HostLink, linked: LinkedModule, told: Mapping[str, Any], folder: Path, *, fingerprint: str
) -> RemoteModule:
    """What stands for a module that a host has loaded, of a class of its own, whose docstring is the module's."""
    described = read_text(told["description"], f"the description of module {linked.name!r}")
    own: type[RemoteModule] = type("RemoteModule", (RemoteModule,), {"__doc__": described})
    return own(link, linked, told, folder, fingerprint)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    path.write_bytes(data)

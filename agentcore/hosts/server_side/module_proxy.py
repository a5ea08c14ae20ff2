"""The proxy in the server for a module that runs in a host: its hooks send requests there."""

import asyncio
import contextlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import structlog

from agentcore.api import ToolDefinition, ToolResult, WebComponent, hookimpl
from agentcore.api.definition import CallPreview
from agentcore.api.login import LoginStatus
from agentcore.api.report import Report
from agentcore.api.requirement import ReportProgress, RequirementInfo, RequirementStatus
from agentcore.core.calls.call_context import CallContext
from agentcore.core.module_code.module_error import reason_of
from agentcore.core.module_code.value_reading import read_mapping, read_text
from agentcore.core.modules.module_runtime import ModuleRuntime
from agentcore.errors import ToolError
from agentcore.hosts.server_side.browser_methods import BrowserMethod, complete_entry, find_method
from agentcore.hosts.server_side.host_link import HostLink
from agentcore.hosts.server_side.host_messages import LoginState, RequirementProgress, read_answer
from agentcore.hosts.server_side.host_messages import RequirementInfo as SentInfo
from agentcore.hosts.server_side.linked_module import LinkedModule, types_of
from agentcore.hosts.server_side.replies import (
    Checked,
    Completed,
    Defined,
    Files,
    InvalidSettings,
    Left,
    Loaded,
    Reported,
)
from agentcore.hosts.server_side.schema_model import model_of_schema
from agentcore.hosts.wire.declarations import (
    ATTRIBUTES,
    component_of,
    definition_of,
    needs_precheck,
    preview_of,
    reads_arguments,
)
from agentcore.hosts.wire.frames import LinkError
from agentcore.limits import TOOLS_PER_MODULE

log = structlog.get_logger(__name__)

_PROBLEMS = 100
_FILES = 2_000
_FILES_BYTES = 32 * 1024 * 1024


class RemoteModule:
    """Implements the hooks of one module by requests to its host.

    Its attributes are those of the module, as the host sent them: they are read as those of any module.
    """

    def __init__(self, link: HostLink, linked: LinkedModule, told: Loaded, folder: Path, fingerprint: str) -> None:
        self.host_name = link.name
        self.fingerprint = fingerprint
        self.problems: Sequence[str] = ()
        self.prechecked_tools: Collection[str] = ()
        self.reads_arguments: Collection[str] = ()
        self._link = link
        self._linked = linked
        self._folder = folder
        attributes = read_mapping(told.attributes, f"the attributes of module {linked.name!r}")
        for name in ATTRIBUTES:
            if name in attributes:
                setattr(self, name, attributes[name])
        self.config_key = told.config_key
        if told.settings is not None:
            known = read_mapping(told.settings, f"the settings of module {linked.name!r}")
            self.Settings = model_of_schema("Settings", known)

    @property
    def survives_server(self) -> bool:
        return self._link.outlives

    @property
    def is_left_running(self) -> bool:
        return self._link.goes_on

    @property
    def is_away(self) -> bool:
        return False

    @property
    def roots(self) -> Sequence[str]:
        return ()

    @property
    def is_draining(self) -> bool:
        return False

    async def wait_until_there(self, timeout_s: float) -> None:
        """See `ModuleProxy.wait_until_there`: a process of this machine is there, or its module has failed."""

    async def check_settings(self, values: dict[str, Any]) -> Sequence[Mapping[str, Any]]:
        message = {"type": "settings.check", "module": self._linked.number, "values": values}
        told = read_answer(
            InvalidSettings, {"faults": await self._link.request_value(message)}, "what the host says of settings"
        )
        return [{"type": problem.type, "loc": tuple(problem.loc), "msg": problem.msg} for problem in told.faults]

    @hookimpl
    async def init(self, runtime: ModuleRuntime) -> None:
        """Have the module start."""
        self.connect_runtime(runtime)
        await self._request_host("module.state", state="ready", settings=runtime.settings)

    def connect_runtime(self, runtime: ModuleRuntime) -> None:
        """Handle the module's messages from now on."""
        self._linked.runtime = runtime
        self._linked.on_definitions = runtime.tools_changed
        self._linked.on_report = lambda: runtime.give_report(self._fetch_report)
        self._linked.on_login = lambda status: self._handle_login_status(runtime, status)
        self._login: _RemoteLogin | None = None
        self._requirements: dict[str, _RemoteRequirement] = {}
        self._linked.on_requirement = lambda info: self._handle_requirement(runtime, info)
        self._linked.on_requirement_progress = self._handle_requirement_progress

    @hookimpl
    async def get_tool_definitions(self) -> list[ToolDefinition]:
        """Return the definitions of the module's tools that the host sent."""
        answer = await self._request_host("definitions", what="tools")
        told = read_answer(Defined, answer, f"the tools of module {self._linked.name!r}")
        # in a thread, because a hundred definitions take time
        tools = await asyncio.to_thread(self._read_tools, told)
        self._linked.tools = frozenset(tool.name for tool in tools)
        self._linked.resource_types = types_of(tools)
        return tools

    def _read_tools(self, told: Defined) -> list[ToolDefinition]:
        tools: dict[str, ToolDefinition] = {}
        looking: set[str] = set()
        reading: set[str] = set()
        methods: dict[str, BrowserMethod] = {}
        problems = list(told.problems)
        for number, each in enumerate(told.tools[: TOOLS_PER_MODULE + 1]):
            try:
                entry = complete_entry(each)
                tool = definition_of(entry, self._preview_call, self._complete_argument)
                name = read_text(tool.name, "its name")
                if name in tools:
                    problems.append(f"tool {name!r} is defined twice; the first counts")
                    continue
                tools[name] = tool
                looking |= {name} if needs_precheck(entry) else set()
                reading |= {name} if reads_arguments(entry) else set()
                if (method := find_method(each)) is not None:
                    methods[name] = method
            except TypeError as exc:
                problems.append(f"tool {number + 1} is left out: {reason_of(exc)}")
        self._linked.methods = methods
        self.prechecked_tools = looking
        self.reads_arguments = reading
        if (beyond := len(told.tools) - TOOLS_PER_MODULE - 1) > 0:
            problems.append(f"{beyond} more tools are left out: a module may have {TOOLS_PER_MODULE}")
        self.problems = problems[:_PROBLEMS]
        return list(tools.values())

    @hookimpl
    async def execute_tool_call(self, ctx: CallContext, tool_name: str, args: dict[str, Any]) -> ToolResult:
        """Have a call carried out."""
        return await self._link.call_tool(self._linked, ctx, tool_name, args)

    @hookimpl
    async def get_web_component(self) -> WebComponent | None:
        """Return the module's web component that the host sent, with its files."""
        told = (await self._request_host("definitions", what="component")).get("component")
        if told is None:
            return None
        where = f"the element of module {self._linked.name!r}"
        await self._copy_files(read_answer(Files, told, where).files)
        return component_of(told, self._folder)

    @hookimpl
    async def shutdown(self) -> None:
        """Stop the module; does nothing if the host has ended."""
        try:
            if self._link.peer.ended is None:
                await self._request_host("module.state", state="stopped")
        finally:
            self._link.remove_module(self._linked)

    async def clear_up(self) -> Sequence[str] | None:
        if self._link.peer.ended is not None:
            return ()  # all of it has ended with its process
        answer = await self._request_host("module.state", state="gone")
        return read_answer(Left, answer, f"what module {self._linked.name!r} left").left

    # -- inside ------------------------------------------------------------------------------------------------

    async def _request_host(self, kind: str, **fields: Any) -> dict[str, Any]:
        return await self._link.request_object({"type": kind, "module": self._linked.number, **fields})

    async def _preview_call(self, context: CallContext, arguments: dict[str, Any]) -> CallPreview | None:
        tool = context.tool
        told = await self._link.preview_call(self._linked, context, tool, arguments)
        return None if told is None else preview_of(told)

    async def _complete_argument(self, tool: str, argument: str, begun: str, given: dict[str, str]) -> list[str]:
        answer = await self._request_host("tool.complete", tool=tool, argument=argument, begun=begun, given=given)
        return read_answer(Completed, answer, f"what tool {tool!r} completes").values

    async def _fetch_report(self) -> Report:
        answer = await self._request_host("module.report")
        told = read_answer(Reported, answer, f"the report of module {self._linked.name!r}")
        return Report(told.facts, told.log, told.original_names)

    def _handle_login_status(self, runtime: ModuleRuntime, told: LoginState) -> None:
        status = LoginStatus(told.state, told.said, told.address)  # type: ignore[arg-type]  # it is read when it is used
        if self._login is None:
            self._login = _RemoteLogin(self, status)
            runtime.offer_login(self._login)
        self._login.known = status

    def _handle_requirement(self, runtime: ModuleRuntime, sent: SentInfo) -> None:
        requirement = _RemoteRequirement(self, RequirementInfo(**sent.model_dump()))
        self._requirements[sent.name] = requirement
        runtime.declare_requirement(requirement)

    def _handle_requirement_progress(self, progress: RequirementProgress) -> None:
        requirement = self._requirements.get(progress.name)
        if requirement is not None and requirement.report is not None:
            requirement.report(progress.text, progress.fraction)

    async def check_requirement(self, name: str) -> RequirementStatus:
        """Have the host check a requirement of the module."""
        answer = await self._request_host("requirement.check", name=name)
        told = read_answer(Checked, answer, f"the state of requirement {name!r}")
        return RequirementStatus(told.is_met, told.text)

    async def install_requirement(self, name: str) -> None:
        """Have the host install a requirement of the module; cancelled there with this."""
        await self._request_host("requirement.install", name=name)

    async def log_in(self, step: str, address: str = "") -> str:
        """Take a step of the module's log-in."""
        message = {"type": "login.step", "module": self._linked.number, "step": step, "address": address}
        try:
            return read_text(await self._link.peer.request(message), "the address of a host's log-in")
        except LinkError as exc:
            raise ToolError("login_failed", f"the host of the module has ended: {exc}") from exc

    async def _copy_files(self, files: Mapping[str, int]) -> None:
        """Copy what the page needs of the module, which the server itself serves."""
        if len(files) > _FILES or sum(files.values()) > _FILES_BYTES:
            raise ValueError(f"the element has more than {_FILES} files or {_FILES_BYTES:,} bytes")
        async with asyncio.TaskGroup() as group:
            for name, size in files.items():
                group.create_task(self._copy_file(name, size))

    async def _copy_file(self, name: str, size: int) -> None:
        parts = name.split("/")
        if not all(parts) or any(part.startswith(".") for part in parts):
            raise ValueError(f"the element has a file {name!r:.200}, whose name cannot be taken")
        blob = await self._link.request_value({"type": "file.get", "module": self._linked.number, "path": name})
        data = self._link.peer.pop_blob(blob)
        if len(data) > size:
            raise ValueError(f"the element's file {name!r:.200} has {len(data):,} bytes, and was said to have {size:,}")
        await asyncio.to_thread(_write_file, self._folder / name, data)


class _RemoteLogin:
    """Implements `agentcore.api.Login`: the host reports its state whenever that changes."""

    def __init__(self, module: RemoteModule, known: LoginStatus) -> None:
        self._module = module
        self.known = known

    def status(self) -> LoginStatus:
        return self.known

    async def begin(self) -> str:
        return await self._module.log_in("begin")

    async def finish(self, address: str) -> None:
        await self._module.log_in("finish", address)

    async def log_out(self) -> None:
        await self._module.log_in("log_out")


class _RemoteRequirement:
    """Implements `agentcore.api.Requirement` by requests to the host of the module."""

    def __init__(self, module: RemoteModule, info: RequirementInfo) -> None:
        self._module = module
        self.info = info
        self.report: ReportProgress | None = None

    async def check(self) -> RequirementStatus:
        return await self._module.check_requirement(self.info.name)

    async def install(self, report: ReportProgress) -> None:
        self.report = report
        try:
            await self._module.install_requirement(self.info.name)
        finally:
            self.report = None


def remote_module(
    link: HostLink, linked: LinkedModule, told: Loaded, folder: Path, *, fingerprint: str
) -> RemoteModule:
    """Return the proxy of a module that a host has loaded, of a separate class, whose docstring is the module's."""
    own: type[RemoteModule] = type("RemoteModule", (RemoteModule,), {"__doc__": told.description})
    return own(link, linked, told, folder, fingerprint)


def _write_file(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    path.write_bytes(data)

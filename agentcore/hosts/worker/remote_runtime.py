"""The implementation of `Runtime` in a host, over a link."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agentcore.api.host_info import HostInfo
from agentcore.api.login import Login
from agentcore.api.operation import Operation, operations_of
from agentcore.api.report import ReadReport
from agentcore.api.requirement import LocalizedText
from agentcore.api.runtime import Runtime
from agentcore.api.web import Route
from agentcore.core.declarations.module_requirement import ModuleRequirement
from agentcore.core.declarations.module_storage import ModuleStorage, StoredBytes
from agentcore.core.modules.module_routes import ModuleRoute
from agentcore.core.modules.runtime_arguments import ReadingRuntime
from agentcore.core.resources.module_resources import ModuleResources
from agentcore.errors import ToolError
from agentcore.files.workspace import Workspace
from agentcore.hosts.wire.operation_messages import decode_answer, encode_request
from agentcore.hosts.worker.logins import OfferedLogin
from agentcore.hosts.worker.module_environment import HostSurroundings
from agentcore.hosts.worker.operation_requests import with_requests
from agentcore.hosts.worker.server_connection import Line
from agentcore.hosts.worker.worker_resources import WorkerResources
from agentcore.hosts.worker.worker_routes import WorkerRoutes
from agentcore.net.url_policy import OwnOrigins
from agentcore.supervision.control_files.control_files import ControlFiles

if TYPE_CHECKING:
    from agentcore.store.credentials.module_secrets import ModuleSecrets

_OPERATIONS = operations_of(Runtime)


class RemoteRuntime(ReadingRuntime):
    """Implements `agentcore.api.Runtime` for one module of a host.

    Args:
        module: The server's number of this start of the module.
        settings: Validated.
    """

    def __init__(
        self,
        name: str,
        module: int,
        settings: Any,
        *,
        claims: tuple[str, ...],
        line: Line,
        surroundings: HostSurroundings,
        resources: WorkerResources,
        routes: WorkerRoutes,
    ) -> None:
        super().__init__(name, settings, ModuleResources(resources, name), claims)
        self._module = module
        self._line = line
        self._surroundings = surroundings
        self._routes = routes
        self._secrets: ModuleSecrets | None = None
        self._instructions = ""
        self._chat_starts: dict[str, dict[str, Any]] = {}
        self._next = 0
        self._handlers: dict[int, Callable[[Mapping[str, Any]], None]] = {}
        self._patterns: dict[int, str] = {}
        self._notes: dict[str, Mapping[str, Any]] = {}
        self._waiting: Mapping[str, Any] | None = None
        self.report: ReadReport | None = None
        self.login: OfferedLogin | None = None
        self.requirements: dict[str, ModuleRequirement] = {}
        self.undo: list[Callable[[], None]] = []

    @property
    def data_dir(self) -> Path:
        """The module's own folder, created at first use."""
        from agentcore.store.state.private_file import make_private_folder  # noqa: PLC0415 - a store, which few need

        folder = self._surroundings.state / "data" / self.name
        for each in (folder.parent, folder):
            make_private_folder(each)
        return folder

    @property
    def private_folders(self) -> tuple[Path, ...]:
        """Folders with keys and records."""
        return self._surroundings.private_folders

    @property
    def secrets(self) -> "ModuleSecrets":
        """The module's stored secrets."""
        from agentcore.store.credentials.module_secrets import ModuleSecrets  # noqa: PLC0415 - a store, which few need

        if self._secrets is None:
            self._secrets = ModuleSecrets(self._surroundings.state, self.name)
            self.undo.append(self._secrets.close)
        return self._secrets

    @property
    def storage(self) -> ModuleStorage:
        """The module's persistent storage."""
        from agentcore.store.state.stored_files import StoredFiles  # noqa: PLC0415 - as above

        if self._surroundings.stores_at_server:
            stored = ServerStorage(self._line, self._module)  # type: ignore[abstract]  # its operations are made from the table
            return ModuleStorage(stored, self.name)
        return ModuleStorage(StoredFiles(self.data_dir), self.name)

    @property
    def workspace(self) -> Workspace:
        """The folders that tools may touch."""
        return self._surroundings.workspace

    @property
    def control_files(self) -> ControlFiles:
        """The guard of the files that decide what runs outside of the sandbox."""
        return self._surroundings.control_files

    @property
    def locale(self) -> Literal["en", "zh"]:
        """The language for texts for users."""
        return self._surroundings.locale

    def _add_route(self, route: ModuleRoute) -> Route:
        added = self._routes.add_route(self._module, route)
        self.undo.append(added.remove)
        return added

    @property
    def _own_origins(self) -> OwnOrigins:
        return self._surroundings.own_origins

    def hosts(self) -> Sequence[HostInfo]:
        """Return none: only modules in the server's process can list hosts."""
        return ()

    def deliver_event(self, message: Mapping[str, Any]) -> None:
        """Hand on an event that the module has subscribed to."""
        handler = self._handlers.get(message["subscription"])
        if handler is not None:
            handler(message["event"])

    def _perform_operation(self, operation: Operation, arguments: dict[str, Any]) -> None:
        if operation.function is Runtime.instruct:
            if arguments["text"] == self._instructions:
                return
            self._instructions = arguments["text"]
        if operation.function is Runtime.tell_new_chats:
            self._chat_starts[arguments["tool"]] = arguments
        if operation.function is Runtime.note:
            self._notes[arguments["subject"]] = arguments
        if operation.function is Runtime.set_waiting:
            self._waiting = arguments
        self._send_operation(operation, arguments)

    def _send_operation(self, operation: Operation, arguments: Mapping[str, Any]) -> None:
        fields, _ = encode_request(operation, arguments)
        self._send_message(operation.name, **fields)

    def _subscribe(self, pattern: str, handler: Callable[[Mapping[str, Any]], None]) -> Callable[[], None]:
        self._next += 1
        number = self._next
        self._handlers[number] = handler
        self._patterns[number] = pattern
        self._send_message("event.subscribe", subscription=number, pattern=pattern)

        def unsubscribe() -> None:
            if self._handlers.pop(number, None) is not None:
                del self._patterns[number]
                self._send_message("event.unsubscribe", subscription=number)

        return unsubscribe

    def resend_state(self) -> None:
        """Send the module's state to a server that does not know it."""
        self._routes.resend_routes(self._module)
        for number, pattern in self._patterns.items():
            self._send_message("event.subscribe", subscription=number, pattern=pattern)
        for note in self._notes.values():
            self._send_operation(_OPERATIONS["note"], note)
        if self._waiting is not None:
            self._send_operation(_OPERATIONS["waiting"], self._waiting)
        if self.report is not None:
            self._send_message("module.reports")
        if self.login is not None:
            self.login.resend_status()
        for requirement in self.requirements.values():
            self._send_requirement(requirement)
        if self._instructions:
            self._send_operation(_OPERATIONS["instruct"], {"text": self._instructions})
        for start in self._chat_starts.values():
            self._send_operation(_OPERATIONS["chats.tell"], start)

    @property
    def instructions(self) -> str:
        """Instructions for models that the module set while running."""
        return self._instructions

    def _set_report_reader(self, read: ReadReport) -> None:
        self.report = read
        self._send_message("module.reports")

    def _offer_login(self, login: Login) -> None:
        self.login = OfferedLogin(login, self.name, lambda status: self._send_message("login.status", status=status))
        self.undo.append(self.login.close)
        self.login.send_status()

    async def check_requirement(self, name: str) -> dict[str, Any]:
        """Check a requirement for the server.

        Raises:
            ToolError: `requirement_not_found`.
        """
        status = await self._find_requirement(name).check()
        return {"isMet": status.is_met, "text": status.text}

    async def install_requirement(self, name: str) -> None:
        """Install a requirement for the server, and send its progress there.

        Raises:
            ToolError: `requirement_not_found`, or why it failed.
        """

        def send_progress(text: LocalizedText, fraction: float | None) -> None:
            self._send_message("requirement.progress", name=name, text=text, fraction=fraction)

        await self._find_requirement(name).install(send_progress)

    def _find_requirement(self, name: str) -> ModuleRequirement:
        requirement = self.requirements.get(name)
        if requirement is None:
            message = f"module {self.name!r} declares no requirement {name!r}"
            raise ToolError("requirement_not_found", message, requirements=sorted(self.requirements))
        return requirement

    def _declare_requirement(self, requirement: ModuleRequirement) -> None:
        self.requirements[requirement.info.name] = requirement
        self._send_requirement(requirement)

    def _send_requirement(self, requirement: ModuleRequirement) -> None:
        self._send_message("requirement.declare", info=asdict(requirement.info))

    def _send_message(self, kind: str, **fields: Any) -> None:
        self._line.send_message({"type": kind, "module": self._module, **fields})


_LIMIT_SECONDS = 40.0
"""The server itself gives up waiting for NATS after 30 s."""


@with_requests(StoredBytes)
class ServerStorage(StoredBytes):
    """Implements `StoredBytes` for one module by asking the server over the link.

    Args:
        module: The module's number.
    """

    def __init__(self, line: Line, module: int) -> None:
        self._line = line
        self._module = module

    async def request_operation(self, operation: Operation, arguments: dict[str, Any]) -> Any:
        fields, data = encode_request(operation, arguments)
        message = {"type": operation.name, "module": self._module, **fields}
        try:
            async with asyncio.timeout(_LIMIT_SECONDS):
                answer = await self._line.request(message, data, is_repeatable=operation.is_repeatable)
        except TimeoutError:
            raise TimeoutError("the server did not answer in time") from None
        return decode_answer(operation, answer, self._line.pop_blob)

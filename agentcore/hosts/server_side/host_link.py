"""The server's end of the link to one host: its calls, requests and reports.

Messages of a host must be about modules that it runs, calls that were sent to it, and resources of its modules; any
other message ends the link, and is ignored.
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import structlog

from agentcore.api import Runtime, ToolResult
from agentcore.api.host_kinds.frames import Transport
from agentcore.api.operation import Operation, operations_of
from agentcore.core.calls.call_context import CallContext
from agentcore.core.declarations.module_messages import read_message
from agentcore.core.module_code.module_error import reason_of
from agentcore.core.modules.module_runtime import ModuleRuntime
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.hosts.server_side import host_messages, replies
from agentcore.hosts.server_side.call_requests import CallRequests
from agentcore.hosts.server_side.host_messages import M, read_answer
from agentcore.hosts.server_side.host_resources import HostResources
from agentcore.hosts.server_side.linked_module import LinkedModule, module_failed_error
from agentcore.hosts.server_side.message_handlers import Handlers
from agentcore.hosts.server_side.operation_access import OPERATIONS, MachineAccess
from agentcore.hosts.server_side.proxied_routes import ServedRoutes
from agentcore.hosts.server_side.sent_calls import SentCalls
from agentcore.hosts.wire.frames import PROTOCOL, LinkError
from agentcore.hosts.wire.peer import Message, Peer
from agentcore.hosts.wire.values import error_of
from agentcore.supervision.blocking_module import Holder
from agentcore.supervision.control_files.control_files import ControlReport
from agentcore.supervision.control_files.quarantine import Quarantined

log = structlog.get_logger(__name__)

MESSAGES_PER_SECOND = 20_000
"""How many messages a second, averaged over two, a host may send; one that sends more is disconnected."""

_REASON_SECONDS = 1.0
_SUBSCRIPTIONS = 1_000


Answer = Callable[[Message], Awaitable[Any]]


class MessageHandlerFactory(Protocol):
    """Makes a handler of what is done with a message; see `Handlers.message_handler`."""

    def __call__(
        self, model: type[M], act: Callable[[M], None], *, is_cheap: bool = False
    ) -> Callable[[Message], None]: ...


class HostLink:
    """The server's end of a link.

    Args:
        name: The host's name in app.json.
        transport: Carries the messages.
        resources: All resources of the server.
        outlives: True if the host survives this server.
        prefix: The prefix of its modules' names here: `HOST/` for a foreign machine.
        foreign: The foreign machine at the other end; None: it is a process of this machine.
        on_hello: Called with the greeting of the host.
        on_blocked: Called with the module that blocked the host's event loop, and the duration in seconds.
        on_control_files: Called with what the user has to know of the control files of its workspace.
        on_end: Called once with the reason why the link has ended.
    """

    def __init__(
        self,
        name: str,
        transport: Transport,
        resources: ResourceRegistry,
        *,
        outlives: bool,
        prefix: str = "",
        foreign: MachineAccess | None = None,
        on_hello: Callable[[replies.Hello], None],
        on_blocked: Callable[[Holder, float], None],
        on_control_files: Callable[[ControlReport, str], None],
        on_end: Callable[[str], None],
    ) -> None:
        self.name = name
        self.outlives = outlives
        self.prefix = prefix
        self._on_hello = on_hello
        self._on_blocked = on_blocked
        self._on_control_files = on_control_files
        self._loop = asyncio.get_running_loop()
        self._modules: dict[int, LinkedModule] = {}
        self._last_module = 0
        self._pings: dict[int, asyncio.Future[None]] = {}
        self._awaited: frozenset[str] = frozenset()
        self._is_greeted = self.goes_on = self.is_over = False
        self.pass_on: Callable[[Mapping[str, Any], Callable[[], None]], None] = lambda event, tell: tell()
        self.on_done: Callable[[], None] = lambda: None
        self._reason: asyncio.Future[str] = self._loop.create_future()
        self.peer = Peer(transport, on_end=on_end, per_second=MESSAGES_PER_SECOND)
        self.routes = ServedRoutes(self.peer)
        self.calls = SentCalls(self.peer, resources, lambda: self._modules, outlives=outlives, foreign=foreign)
        self.resources = HostResources(
            name,
            self.peer,
            resources,
            lambda: self.module_names,
            self.request_object,
            prefix=prefix,
            tools=None if foreign is None else self._tools,
        )
        self._handlers = Handlers(name)
        self._serve_requests(self.calls)
        notices = self.resources.message_handlers(self._handlers) | self._message_handlers(
            self._handlers.message_handler
        )
        # an operation without an entry in the table is a defect, and is found when the first host connects
        self.peer.add_message_handlers({kind: notices[kind] for kind in notices if OPERATIONS[kind] == "own"})

    def adopt_calls(self, calls: SentCalls, told: replies.Hello) -> None:
        """Resume the calls of an earlier link to the same host, which has greeted."""
        calls.switch_peer(self.peer, lambda: self._modules)
        calls.number_from(told.highest)
        calls.expect_calls(each.n for each in told.calls)
        self.calls = calls
        self._serve_requests(calls)
        progress = self._handlers.message_handler(host_messages.Progress, calls.handle_progress, is_cheap=True)
        self.peer.add_message_handlers({"tool.result": calls.handle_result, "tool.progress": progress})

    def _serve_requests(self, calls: SentCalls) -> None:
        requests = CallRequests(self.peer, calls).request_handlers()
        foreign = calls.foreign
        if foreign is not None:
            requests = {kind: _restrict_operation(foreign, kind, answer) for kind, answer in requests.items()}
        self.peer.add_request_handlers(requests)

    def serve_storage(self, requests: Mapping[str, Answer]) -> None:
        """Also store data of modules here: for hosts of a pool, which share it."""
        self.peer.add_request_handlers({kind: answer for kind, answer in requests.items() if OPERATIONS[kind] == "own"})

    def module_named(self, told: host_messages.OfModule) -> str:
        """Return the name of a module that the host runs, by the number of its start.

        Raises:
            ToolError: `module_stopping`.
            LinkError: It runs none of that number.
        """
        return self._require_module(told).name

    def _message_handlers(self, told: MessageHandlerFactory) -> dict[str, Callable[[Message], None]]:
        """Return the handlers of messages from the host and its modules, by type."""
        notices = {
            each.name: self._handlers.wrap(functools.partial(self._perform_notice, each))
            for each in operations_of(Runtime).values()
        }
        return notices | {
            "tool.result": self.calls.handle_result,
            "tool.progress": told(host_messages.Progress, self.calls.handle_progress, is_cheap=True),
            "hello": told(replies.Hello, self._handle_hello),
            "hello.done": told(host_messages.Nothing, lambda said: self.on_done()),
            "pong": told(host_messages.Pong, self._handle_pong, is_cheap=True),
            "event.subscribe": told(host_messages.Subscribe, self._handle_subscribe),
            "event.unsubscribe": told(host_messages.Unsubscribe, self._handle_unsubscribe),
            "module.blocked": told(host_messages.Blocked, self._handle_blocked),
            "control_files.report": told(host_messages.ControlFilesReport, self._report_control_files),
            "resource.all": told(host_messages.LivingResources, self._handle_living_resources),
            "module.reports": told(host_messages.OfModule, lambda said: self._require_module(said).on_report()),
            "login.status": told(host_messages.Login, lambda said: self._require_module(said).on_login(said.status)),
            "requirement.declare": told(
                host_messages.DeclareRequirement, lambda said: self._require_module(said).on_requirement(said.info)
            ),
            "requirement.progress": told(
                host_messages.RequirementProgress,
                lambda said: self._require_module(said).on_requirement_progress(said),
            ),
            "route.add": told(host_messages.AddRoute, self._add_route),
            "route.remove": told(host_messages.RemoveRoute, self._remove_route),
            "route.out": told(host_messages.StreamChunk, self.routes.on_data, is_cheap=True),
            "route.taken": told(host_messages.Room, self.routes.on_room, is_cheap=True),
            "route.close": told(host_messages.CloseChannel, self.routes.on_close),
            "goodbye": told(host_messages.Goodbye, self._handle_goodbye),
        }

    # -- modules -----------------------------------------------------------------------------------------------

    def add_module(self, module: LinkedModule) -> None:
        """Add a module that the host has loaded."""
        self._modules[module.number] = module
        self._last_module = max(self._last_module, module.number)

    def remove_module(self, module: LinkedModule) -> None:
        """Remove a module; its host releases what it had here."""
        self._modules.pop(module.number, None)
        for end in module.subscriptions.values():
            end()
        module.subscriptions.clear()
        self.routes.remove_all(module.number)

    @property
    def module_names(self) -> tuple[str, ...]:
        """Return the modules that the host runs."""
        return tuple(dict.fromkeys(module.name for module in self._modules.values()))

    def _tools(self) -> frozenset[str]:
        """Return the names of the tools of all modules that the host runs."""
        return frozenset().union(*(module.tools for module in self._modules.values()))

    @property
    def has_modules(self) -> bool:
        """True if the host runs any module."""
        return bool(self._modules)

    def fail_all_calls(self, reason: str) -> None:
        """End all calls that the host worked on, with the reason why it has ended."""
        if not self._reason.done():
            self._reason.set_result(reason)
        self.calls.fail_all(reason)
        self.remove_all_modules()

    def remove_all_modules(self) -> None:
        """Remove what the host served here after its connection has ended, except its calls, because it may come
        back."""
        for ping in self._pings.values():
            ping.cancel()
        self._pings.clear()
        self.routes.close_channels()
        for module in list(self._modules.values()):
            self.remove_module(module)

    async def ping(self) -> float:
        """Wait for the host's reply; return how long it took, in seconds."""
        number = self.calls.next_number()
        pong = self._pings[number] = self._loop.create_future()
        began = self._loop.time()
        self.peer.send_message({"type": "ping", "n": number})
        try:
            await pong
        finally:
            self._pings.pop(number, None)
        return self._loop.time() - began

    def detach(self) -> None:
        """End calls only on this side when the server ends and the host keeps running."""
        self.goes_on = True
        self.calls.detach_all()
        self.peer.close()

    # -- calls -------------------------------------------------------------------------------------------------

    async def call_tool(
        self, module: LinkedModule, context: CallContext, tool: str, arguments: dict[str, Any]
    ) -> ToolResult:
        """Carry out a call; a cancelled one is cancelled there as well.

        Raises:
            ToolError: The error that ended it; `module_failed`: its host has ended.
            Exception: Any other exception of the module.
        """
        number, sent = self.calls.open_call(context, module)
        sent.result = self._loop.create_future()
        try:
            if self.peer.ended is not None:
                raise module_failed_error(module.name, await self._wait_for_end_reason() or self.peer.ended)
            self.peer.send_encoded(to_json(self.calls.build_message("tool.call", number, sent, tool, arguments)))
            return await sent.result
        except asyncio.CancelledError:
            await self.calls.cancel_call(number, sent)
            raise
        finally:
            self.calls.close_call(number)

    async def preview_call(
        self, module: LinkedModule, context: CallContext, tool: str, arguments: dict[str, Any]
    ) -> Any:
        """Return the tool's preview of a call; None: it only confirms that the arguments are valid.

        Raises:
            ToolError: The call cannot run.
            Exception: Any other exception of the module.
        """
        number, sent = self.calls.open_call(context, module)
        try:
            answer = await self.request_object(self.calls.build_message("call.preview", number, sent, tool, arguments))
        finally:
            self.calls.close_call(number)
            sent.end_work()
        return answer.get("preview")

    async def ask_module(
        self, module: LinkedModule, request: Mapping[str, Any], data: bytes | None
    ) -> tuple[dict[str, Any], bytes | None]:
        """Send a module there a request of the same module here.

        Raises:
            ToolError: Raised by the module; `host_has_no_module`: it answers no requests; `host_failed`: it raised
                something else, or its answer is invalid.
            LinkError: The link has ended.
        """
        blob = None if data is None else await self.peer.send_blob(data)
        message = {"type": "module.ask", "module": module.number, "request": dict(request), "blob": blob}
        try:
            return self._read_module_answer(await self.peer.request(message))
        except LinkError:
            raise
        except ToolError as exc:
            if exc.type != "unknown_message":
                raise
            text = f"host {self.name!r} runs an agentcore whose modules answer nothing; it needs a newer one"
            raise ToolError("host_has_no_module", text, host=self.name, module=module.name) from exc
        except Exception as exc:  # an exception of a foreign machine's module is no defect of this one
            text = f"module {module.name!r} failed there: {reason_of(exc)}"
            raise ToolError("host_failed", text, untrusted=True, host=self.name) from exc

    def _read_module_answer(self, answer: Any) -> tuple[dict[str, Any], bytes | None]:
        told = read_answer(replies.Asked, answer, "the answer of a host")
        if told.failed is not None:
            raise error_of(told.failed)
        if told.blob is None:
            return read_message(told.answer, None, "a host")
        try:
            data = self.peer.pop_blob(told.blob)
            return read_message(told.answer, data, "a host")
        except (LinkError, ToolError) as exc:  # a host that follows the protocol has checked both
            self.peer.close(f"an answer to a question that is none of this protocol: {exc}")
            raise LinkError(str(exc)) from exc

    async def request_object(self, message: Message) -> dict[str, Any]:
        """Send a request to the module's side; exceptions of the module are raised here.

        Raises:
            ToolError: The host's error reply; `module_failed`: the link has ended.
            Exception: Raised by the module.
        """
        answer = await self.request_value(message)
        if type(answer) is not dict:
            raise TypeError(f"the host {self.name!r} gave no object")
        if "failed" in answer:
            raise error_of(answer["failed"])
        return answer

    async def request_value(self, message: Message) -> Any:
        """Return the host's reply to a request, of any type.

        Raises:
            ToolError: The host's error reply; `module_failed`: the link has ended.
        """
        try:
            return await self.peer.request(message)
        except LinkError as exc:
            reason = await self._wait_for_end_reason() or str(exc)
            raise ToolError("module_failed", f"the host {self.name!r} has ended: {reason}", host=self.name) from exc

    async def _wait_for_end_reason(self) -> str:
        """Return why the host has ended, which is known soon after its link has; empty: it was stopped."""
        if not self.peer.ended:
            return ""
        await asyncio.wait({self._reason}, timeout=_REASON_SECONDS)
        return self._reason.result() if self._reason.done() else ""

    # -- messages of modules ---------------------------------------------------------------------------------------

    def _perform_notice(self, operation: Operation, message: Message) -> None:
        """Call the method of a module's runtime that an operation stands for."""
        of_module = host_messages.read_host_message(host_messages.OfModule, message)
        arguments = host_messages.read_notice(operation, message)
        if operation.function is Runtime.tools_changed:
            self._require_module(of_module).on_definitions()
            return
        runtime = self._require_runtime(of_module)
        if operation.function is Runtime.record:
            self.calls.check_recorded(arguments.get("call_id", ""))
        getattr(runtime, operation.method)(**arguments)

    def _require_module(self, told: host_messages.OfModule) -> LinkedModule:
        module = self._modules.get(told.module)
        if module is None:
            if 0 < told.module <= self._last_module:
                raise ToolError("module_stopping", "the module is stopping")
            raise LinkError("it speaks of a module that it does not run")
        return module

    def _require_runtime(self, told: host_messages.OfModule) -> ModuleRuntime:
        module = self._require_module(told)
        if module.runtime is None:
            if module.name in self._awaited:
                raise ToolError("module_stopping", "the module has not been taken up yet; it tells all again then")
            raise LinkError("a module speaks that has not started")
        return module.runtime

    def _handle_subscribe(self, told: host_messages.Subscribe) -> None:
        module = self._require_module(told)
        runtime = self._require_runtime(told)
        number = told.subscription
        if number in module.subscriptions:
            raise LinkError("a subscription without a number of its own")
        if len(module.subscriptions) >= _SUBSCRIPTIONS:
            raise ValueError(f"a module may have {_SUBSCRIPTIONS:,} subscriptions")

        def notify(event: Mapping[str, Any]) -> None:
            told = {"type": "event.notify", "module": module.number, "subscription": number, "event": event}
            self.pass_on(event, lambda: self.peer.send_message(told))

        module.subscriptions[number] = runtime.subscribe(told.pattern, notify)

    def _handle_unsubscribe(self, told: host_messages.Unsubscribe) -> None:
        end = self._require_module(told).subscriptions.pop(told.subscription, None)
        if end is not None:
            end()

    def _handle_blocked(self, told: host_messages.Blocked) -> None:
        self._on_blocked(Holder(self._require_module(told).name, told.tool, told.place), told.seconds)

    def _report_control_files(self, told: host_messages.ControlFilesReport) -> None:
        modules = tuple(module.name for number in told.modules if (module := self._modules.get(number)) is not None)
        self.calls.check_recorded("", len(told.quarantined))
        files = tuple(Quarantined(each.path, each.aside, each.why, each.instead) for each in told.quarantined)
        self._on_control_files(ControlReport(modules, files, told.limit, told.advice), self.name)

    def _handle_living_resources(self, told: host_messages.LivingResources) -> None:
        self.resources.release_missing_resources(self._require_module(told).name, set(told.living))

    def _add_route(self, told: host_messages.AddRoute) -> None:
        self.routes.add_route(self._require_runtime(told), told)

    def _remove_route(self, told: host_messages.RemoveRoute) -> None:
        self.routes.remove_route(self._require_module(told).number, told.route)

    # -- the link itself ---------------------------------------------------------------------------------------

    def _handle_hello(self, told: replies.Hello) -> None:
        if told.protocol != PROTOCOL:
            raise LinkError(f"it speaks {told.protocol[:100]!r}, and this server {PROTOCOL!r}")
        if self._is_greeted:
            raise LinkError("it greets a second time")
        self._is_greeted = True
        # at once: its next message may be about calls and modules that it kept running
        self.calls.number_from(told.highest)
        self.calls.expect_calls(each.n for each in told.calls)
        self._awaited = self.resources.awaited = frozenset(f"{self.prefix}{each.name}" for each in told.members)
        self._last_module = max((each.module for each in told.members), default=0)
        self._on_hello(told)

    def _handle_pong(self, told: host_messages.Pong) -> None:
        pong = self._pings.get(told.n)
        if pong is not None and not pong.done():
            pong.set_result(None)

    def _handle_goodbye(self, told: host_messages.Goodbye) -> None:
        self.is_over = told.is_over
        log.warning("host_said_goodbye", host=self.name, reason=told.reason[:500])


def _restrict_operation(foreign: MachineAccess, operation: str, answer: Answer) -> Answer:
    """Return the error for a request of a foreign machine that the table refuses."""

    async def answer_if_allowed(message: Message) -> Any:
        foreign.check_operation(operation)
        return await answer(message)

    return answer_if_allowed

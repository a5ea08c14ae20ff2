"""A host's end of the link: carries out the server's requests."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any

import structlog

from agentcore import __version__
from agentcore.api.host_kinds.frames import Transport
from agentcore.core.event_loop.watchdog import NoExternalWatcher, Watchdog
from agentcore.core.module_code.containment import ModuleExit
from agentcore.core.module_code.module_error import log_failure, reason_of
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.hosts.wire.declarations import preview_to_wire
from agentcore.hosts.wire.frames import PROTOCOL, LinkError
from agentcore.hosts.wire.peer import Message, OnMessage, OnRequest, Peer
from agentcore.hosts.wire.values import arguments_of, error_to_wire, resource_of, result_to_wire
from agentcore.hosts.worker.ended_calls import EndedCall, EndedCalls
from agentcore.hosts.worker.hosted_module import HostedModule, find_installed, import_target
from agentcore.hosts.worker.module_environment import HostSurroundings
from agentcore.hosts.worker.module_runs import ModuleRuns
from agentcore.hosts.worker.remote_context import RemoteContext
from agentcore.hosts.worker.remote_runtime import RemoteRuntime
from agentcore.hosts.worker.server_connection import Line
from agentcore.hosts.worker.worker_resources import WorkerResources
from agentcore.hosts.worker.worker_routes import WorkerRoutes
from agentcore.supervision.blocking_module import Holder
from agentcore.supervision.control_files.control_files import ControlReport

log = structlog.get_logger(__name__)

_QUARANTINED_SENT = 1_000
_SAID_SECONDS = 60
"""How long a server may wait for the end of a call that is known."""


class Worker:
    """Runs modules for a server, or for one server after another.

    Args:
        name: The host's name.
        outlives: True if it survives its server.
    """

    def __init__(self, name: str, *, outlives: bool = False) -> None:
        self._name = name
        self._surroundings: HostSurroundings | None = None
        self._greeting: Message = {}
        self._greets: Peer | None = None
        self._codes: dict[int, Any] = {}
        self._hosted_modules: dict[int, HostedModule] = {}
        self._stopped: dict[int, HostedModule] = {}
        self._stays = ModuleRuns()
        self._watchdog = Watchdog(self._list_source_folders, self._report_blocked, NoExternalWatcher())
        self._running: dict[int, RemoteContext] = {}
        self._ended = EndedCalls()
        self._tasks: set[asyncio.Task[None]] = set()
        self._highest = 0
        self.line = Line(outlives=outlives)
        self._resources = WorkerResources(self.line)
        self._routes = WorkerRoutes(self.line)

    def attach(self, transport: Transport, on_end: Callable[[str], None]) -> Peer:
        """Serve a server over this connection, and send it the state of this host.

        Args:
            on_end: Called with the reason why the connection has ended.
        """

        def on_ended(reason: str) -> None:
            self.line.detach(peer)
            self._routes.close_channels()
            on_end(reason)

        peer = Peer(transport, on_end=on_ended)
        peer.add_request_handlers(self._request_handlers())
        peer.add_message_handlers(self._message_handlers())
        self._greets = peer
        return peer

    def send_hello(self) -> None:
        """Send the state of this host before anything else; the event loop is watched from now on."""
        if self._greets is None or self._greets.ended is not None:
            return
        self.line.attach(self._greets)
        self._watchdog.start()
        self.line.send_message(self._build_hello())

    def _build_hello(self) -> Message:
        said = {"type": "hello", "protocol": PROTOCOL, "name": self._name, "pid": os.getpid(), "version": __version__}
        return {**said, "highest": self._highest, **self._describe_state()}

    def _describe_state(self) -> Message:
        """Return the state of this host, for a server that may not know it."""
        if self._surroundings is None:
            return {}
        return {
            "greeting": {name: self._greeting[name] for name in ("roots", "protected", "state", "locale")},
            "members": [
                {"module": each.number, "name": each.name, "fingerprint": each.fingerprint, **each.describe()}
                for each in self._hosted_modules.values()
                if each.settings is not None
            ],
            "calls": self._list_calls(),
        }

    def _list_calls(self) -> list[Message]:
        """Return the running calls, and those that have ended and that no server has confirmed."""
        return [*map(_describe_running_call, self._running.values()), *map(_describe_ended_call, self._ended.values())]

    async def stop(self) -> None:
        """End all calls, and stop all modules, the last one first."""
        for context in list(self._running.values()):
            context.cancel_call()
        for hosted in reversed(list(self._hosted_modules.values())):
            with contextlib.suppress(Exception):
                await hosted.shutdown()
        if self._surroundings is not None:
            await self._surroundings.control_files.close()

    def _request_handlers(self) -> dict[str, OnRequest]:
        return {
            "module.find": self._find_module,
            "module.state": self._set_state,
            "settings.check": self._check_settings,
            "definitions": self._collect_definitions,
            "call.preview": self._preview_call,
            "tool.complete": self._complete_argument,
            "module.report": self._read_report,
            "login.step": self._log_in,
            "requirement.check": self._check_requirement,
            "requirement.install": self._install_requirement,
            "resource.release": self._release_resource,
            "route.request": self._routes.answer_request,
            "file.get": self._get_file,
        }

    def _message_handlers(self) -> dict[str, OnMessage]:
        return {
            "hello.ok": self._handle_hello_reply,
            "ping": lambda message: self.line.send_message({"type": "pong", "n": message["n"]}),
            "tool.call": self._start_call,
            "tool.cancel": self._cancel_call,
            "tool.resume": self._resume_call,
            "tool.done": lambda message: self._ended.discard(message["call"]),
            "event.notify": self._deliver_event,
            "route.in": self._routes.on_data,
            "route.taken": self._routes.on_room,
            "route.close": self._routes.on_close,
            "goodbye": lambda message: log.info("server_said_goodbye", reason=message.get("reason")),
        }

    # -- modules -----------------------------------------------------------------------------------------------

    def _handle_hello_reply(self, message: Message) -> None:
        if self._surroundings is None:
            self._surroundings = HostSurroundings.from_hello_reply(message, self._name)
            self._greeting = message
            self._surroundings.on_control_files = self._report_control_files
        else:
            self._surroundings.own_origins.declare("server", message["ownOrigins"])

    async def _find_module(self, message: Message) -> Any:
        return {"found": await asyncio.to_thread(find_installed, message["name"])}

    async def _set_state(self, message: Message) -> Any:
        number = message["module"]
        state = message["state"]
        self._highest = max(self._highest, number, message.get("code", 0))
        if state == "loaded":
            return await self._load_module(number, message)
        if state == "ready":
            return await self._start_module(self._require_module(number), message["settings"])
        return await self._clear_up(number) if state == "gone" else await self._stop_module(number)

    async def _load_module(self, number: int, message: Message) -> dict[str, Any]:
        code = message["code"]
        try:
            if code not in self._codes:
                for folder in message["path"]:
                    if folder not in sys.path:
                        sys.path.append(folder)
                with self._watchdog.during_imports():
                    target = await asyncio.to_thread(
                        import_target, message["name"], message["entry"], message["file"], message["fresh"]
                    )
                self._codes[code] = target
            hosted = HostedModule(message["name"], number, self._codes[code], message["fingerprint"])
            found = await asyncio.to_thread(hosted.make_plugin, message["locale"])
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - sys.exit() in a module must not end the host
            return {"failed": failure_to_wire(exc)}
        self._hosted_modules[number] = hosted
        return found

    async def _check_settings(self, message: Message) -> Any:
        hosted = self._require_module(message["module"])
        return await asyncio.to_thread(hosted.check_settings, message["values"])

    async def _start_module(self, hosted: HostedModule, values: dict[str, Any]) -> dict[str, Any]:
        try:
            if hosted.runtime is not None:
                if hosted.settings == values:
                    hosted.runtime.resend_state()
                    self._resources.resend_resources(hosted.name, hosted.number)
                    return {}
                await hosted.shutdown()
            settings = await asyncio.to_thread(hosted.settings_of, values)
            runtime = await self._prepare_start(hosted, settings)
            await hosted.init(runtime)
            hosted.settings = values
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            return {"failed": failure_to_wire(exc)}
        return {}

    async def _prepare_start(self, hosted: HostedModule, settings: Any) -> RemoteRuntime:
        """Return the runtime for a module's `init`, with what an earlier process left in order.

        Args:
            settings: Validated.
        """
        assert self._surroundings is not None  # noqa: S101 - the server greets first
        runtime = RemoteRuntime(  # type: ignore[abstract]  # its operations are made from the table
            hosted.name,
            hosted.number,
            settings,
            claims=hosted.manifest.claims,
            line=self.line,
            surroundings=self._surroundings,
            resources=self._resources,
            routes=self._routes,
        )
        await self._surroundings.restore_control_files()
        await self._stays.start_run(hosted)
        return runtime

    async def _stop_module(self, number: int) -> dict[str, Any]:
        hosted = self._hosted_modules.pop(number, None)
        if hosted is None:
            return {}
        self._stopped[number] = hosted
        try:
            await hosted.shutdown()
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            return {"failed": failure_to_wire(exc)}
        return {}

    async def _clear_up(self, number: int) -> dict[str, Any]:
        """Find what a module has left that was stopped, and end that."""
        hosted = self._stopped.pop(number, None)
        if hosted is None or self._surroundings is None:
            return {"left": []}
        return {"left": await self._stays.end_run(hosted, self._surroundings.state)}

    async def _collect_definitions(self, message: Message) -> Any:
        hosted = self._require_module(message["module"])
        try:
            if message["what"] == "component":
                return {"component": await hosted.load_component()}
            return await hosted.collect_definitions()
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            return {"failed": failure_to_wire(exc)}

    async def _read_report(self, message: Message) -> Any:
        runtime = self._require_module(message["module"]).runtime
        if runtime is None or runtime.report is None:
            return {"facts": {}, "log": "", "originalNames": {}}
        try:
            report = await runtime.report()
            return {
                "facts": dict(report.facts),
                "log": report.log,
                "originalNames": dict(report.original_names),
            }
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            return {"failed": failure_to_wire(exc)}

    async def _log_in(self, message: Message) -> Any:
        runtime = self._require_module(message["module"]).runtime
        if runtime is None or runtime.login is None:
            raise ToolError("login_failed", "the module offers no log-in any more")
        return await runtime.login.run_step(message)

    async def _check_requirement(self, message: Message) -> Any:
        return await self._require_runtime(message["module"]).check_requirement(message["name"])

    async def _install_requirement(self, message: Message) -> Any:
        await self._require_runtime(message["module"]).install_requirement(message["name"])
        return {}

    def _require_runtime(self, number: Any) -> RemoteRuntime:
        runtime = self._require_module(number).runtime
        if runtime is None:
            raise ToolError("module_stopping", "the module is stopping", retryable=True)
        return runtime

    async def _get_file(self, message: Message) -> Any:
        data = await asyncio.to_thread(self._require_module(message["module"]).read_file, message["path"])
        return await self.line.peer.send_blob(data)

    def _deliver_event(self, message: Message) -> None:
        hosted = self._hosted_modules.get(message["module"])
        if hosted is None or hosted.runtime is None:
            return
        try:
            hosted.runtime.deliver_event(message)
        except BaseException as exc:  # noqa: BLE001 - a listener of a module may even try to end the process
            log_failure(log, "event_listener_failed", exc, module=hosted.name)

    def _list_source_folders(self) -> dict[str, tuple[str, ...]]:
        return {hosted.name: hosted.source_dirs for hosted in list(self._hosted_modules.values())}

    def _report_blocked(self, holder: Holder, seconds: float) -> None:
        for hosted in self._hosted_modules.values():
            if hosted.name == holder.module:
                told = {"module": hosted.number, "tool": holder.tool, "place": holder.place, "seconds": seconds}
                self.line.send_message({"type": "module.blocked", **told})
                return

    def _report_control_files(self, report: ControlReport) -> None:
        self.line.send_message(
            {
                "type": "control_files.report",
                "modules": [each.number for each in self._hosted_modules.values() if each.name in report.modules],
                "quarantined": [each.to_json() for each in report.quarantined[:_QUARANTINED_SENT]],
                "limit": report.limit,
                "advice": report.advice,
            }
        )

    def _require_module(self, number: Any) -> HostedModule:
        hosted = self._hosted_modules.get(number)
        if hosted is None:
            raise ToolError("module_stopping", "the module is stopping", retryable=True)
        return hosted

    # -- calls -------------------------------------------------------------------------------------------------

    def _start_call(self, message: Message) -> None:
        self._highest = max(self._highest, message["n"])
        # in no TaskGroup: `stop` ends it, or its server does
        task = asyncio.get_running_loop().create_task(self._carry_out(message), name=f"call:{message['tool']}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _cancel_call(self, message: Message) -> None:
        if (context := self._running.get(message["n"])) is not None:
            context.cancel_call()

    def _resume_call(self, message: Message) -> None:
        """Resume a call for the next server: a running one is sent when it ends, an ended one now."""
        if message["n"] in self._running:
            return
        if (ended := self._ended.get(message["call"])) is not None:
            task = asyncio.get_running_loop().create_task(self._send_result(ended), name="call:said")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            gone = ToolError("interrupted", "its result is not kept any more; look before you repeat it")
            head = {"type": "tool.result", "id": message["call"], "n": message["n"], "resourceId": None}
            self.line.send_message({**head, "ok": False, "error": error_to_wire(gone)})

    async def _carry_out(self, message: Message) -> None:
        number = message["n"]
        head = {"type": "tool.result", "id": message["call"], "n": number, "resourceId": message["resourceId"]}
        try:
            hosted = self._require_module(message["module"])
            context = self._open_context(hosted, message)
            try:
                result, encoded = await hosted.execute_call(context, message["tool"], arguments_of(message))
                context.flush_progress()
                ended = EndedCall(head, result, encoded)
            finally:
                self._close_context(context)
        except asyncio.CancelledError:
            ended = EndedCall(head, error=error_to_wire(ToolError("cancelled", "it was cancelled")))
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            ended = EndedCall(head, error=failure_to_wire(exc))
        if self.line.outlives:
            self._ended.add(ended)
        await self._send_result(ended)

    async def _send_result(self, ended: EndedCall) -> None:
        """Send the end of a call, if there is a server; its data are inserted as they were encoded."""
        if not self.line.is_up:
            return
        if ended.result is None:
            self.line.send_message({**ended.head, "ok": False, "error": ended.error})
            return
        try:
            wire = await result_to_wire(ended.result, self.line.peer.send_blob)
            said = to_json({**ended.head, "ok": True, "result": wire})[:-2] + b',"data":' + ended.encoded + b"}}"
            self.line.peer.send_encoded(said)
        except ToolError as exc:  # it is too large
            self.line.send_message({**ended.head, "ok": False, "error": error_to_wire(exc)})
        except LinkError:
            pass  # where there is another server, that asks for it

    def _open_context(self, hosted: HostedModule, message: Message) -> RemoteContext:
        """Start a call, or a preview of one; `_end` ends a call."""
        assert self._surroundings is not None  # noqa: S101 - the server greets first
        if "nextIndex" in message:
            self._resources.set_next_indexes(message["chatSessionId"], message["nextIndex"])
        resource = None
        if "resource" in message:
            runs = message["type"] == "tool.call"
            resource = self._resources.resolve_resource(hosted.name, resource_of(message["resource"]), runs=runs)
        context = RemoteContext(  # type: ignore[abstract]  # its operations are made from the table
            self.line, message, self._surroundings.workspace, resource
        )
        self._running[context.number] = context
        return context

    def _close_context(self, context: RemoteContext) -> None:
        del self._running[context.number]
        if context.resource is not None:
            self._resources.discard_planned(context.resource)

    async def _preview_call(self, message: Message) -> Any:
        if (task := asyncio.current_task()) is not None:
            task.set_name(f"preview:{message['tool']}")
        try:
            hosted = self._require_module(message["module"])
            context = self._open_context(hosted, message)
            try:
                preview = await hosted.preview_call(context, message["tool"], arguments_of(message))
            finally:
                context.end_preview()
                del self._running[context.number]  # it must not affect the call that creates its resource
            return {"preview": None if preview is None else preview_to_wire(preview)}
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            return {"failed": failure_to_wire(exc)}

    async def _complete_argument(self, message: Message) -> Any:
        hosted = self._require_module(message["module"])
        try:
            found = await hosted.complete_argument(
                message["tool"], message["argument"], message["begun"], message["given"]
            )
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            return {"failed": failure_to_wire(exc)}
        return {"values": found}

    # -- resources and routes ----------------------------------------------------------------------------------

    async def _release_resource(self, message: Message) -> Any:
        await self._resources.release_quietly(message["resourceId"])
        return {}


def _describe_running_call(context: RemoteContext) -> Message:
    return {"call": context.call_id, "n": context.number, "leftMs": context.left_ms}


def _describe_ended_call(ended: EndedCall) -> Message:
    return {"call": ended.call_id, "n": ended.head["n"], "leftMs": _SAID_SECONDS * 1000}


def failure_to_wire(exc: BaseException) -> dict[str, Any]:
    """Encode an exception of a module; attempts to end the process are reported as such."""
    if isinstance(exc, Exception):
        return error_to_wire(exc)
    exit_error = ModuleExit(reason_of(exc))
    exit_error.__cause__ = exc
    return error_to_wire(exit_error)

"""A host's end of the link: what the server asks of it, carried out."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any

import structlog

from agentcore.api.result import ToolResult
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.host.containment.containment import ModuleExit
from agentcore.host.containment.foreign_error import log_failure, reason_of
from agentcore.remote.wire.declared import preview_to_wire
from agentcore.remote.wire.frames import PROTOCOL
from agentcore.remote.wire.peer import Message, Peer, Transport
from agentcore.remote.wire.values import error_to_wire, resource_of, result_to_wire
from agentcore.remote.worker.context import RemoteContext
from agentcore.remote.worker.member import Member, load
from agentcore.remote.worker.resources import HeldResources
from agentcore.remote.worker.routes import HeldRoutes
from agentcore.remote.worker.runtime import RemoteRuntime
from agentcore.remote.worker.surroundings import HostSurroundings

log = structlog.get_logger(__name__)


class Worker:
    """Runs modules for a server.

    Args:
        name: The host's name.
        transport: The link to the server.
        on_end: Told why the link has ended.
    """

    def __init__(self, name: str, transport: Transport, on_end: Callable[[str], None]) -> None:
        self._name = name
        self._surroundings: HostSurroundings | None = None
        self._codes: dict[int, Any] = {}
        self._members: dict[int, Member] = {}
        self._running: dict[int, RemoteContext] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.peer = Peer(
            transport,
            on_request={
                "module.state": self._set_state,
                "settings.check": self._check_settings,
                "definitions": self._define,
                "call.preview": self._preview,
                "tool.complete": self._complete,
                "module.report": self._report,
                "login.step": self._log_in,
                "resource.release": self._release,
                "route.request": self._answer_route,
                "file.get": self._get_file,
            },
            on_message={
                "hello.ok": self._greet,
                "ping": self._pong,
                "tool.call": self._begin_call,
                "tool.cancel": self._cancel_call,
                "event.notify": self._notify,
                "goodbye": lambda message: log.info("server_said_goodbye", reason=message.get("reason")),
            },
            on_end=on_end,
        )
        self._resources = HeldResources(self.peer)
        self._routes = HeldRoutes(self.peer)
        self.peer.listen(
            {
                "route.in": self._routes.on_data,
                "route.taken": self._routes.on_room,
                "route.close": self._routes.on_close,
            }
        )

    def begin(self) -> None:
        """Say what this host is."""
        self.peer.tell(
            {"type": "hello", "protocol": PROTOCOL, "name": self._name, "pid": os.getpid(), "python": sys.version}
        )

    async def stop(self) -> None:
        """End all calls, and stop all modules, the last one first."""
        for context in list(self._running.values()):
            context.cut()
        for member in reversed(list(self._members.values())):
            with contextlib.suppress(Exception):
                await member.shutdown()

    # -- modules -----------------------------------------------------------------------------------------------

    def _greet(self, message: Message) -> None:
        if self._surroundings is None:
            self._surroundings = HostSurroundings.of(message)
        else:
            self._surroundings.own_origins.declare("server", message["ownOrigins"])

    async def _set_state(self, message: Message) -> Any:
        number, state = message["module"], message["state"]
        if state == "loaded":
            return await self._load(number, message)
        if state == "ready":
            return await self._start(self._member(number), message["settings"])
        return await self._stop(number)

    async def _load(self, number: int, message: Message) -> dict[str, Any]:
        code = message["code"]
        try:
            if code not in self._codes:
                for folder in message["path"]:
                    if folder not in sys.path:
                        sys.path.append(folder)
                target = await asyncio.to_thread(
                    load, message["name"], message["entry"], message["file"], message["fresh"]
                )
                self._codes[code] = target
            member = Member(message["name"], number, self._codes[code])
            found = await asyncio.to_thread(member.make, message["locale"])
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - sys.exit() in a module must not end the host
            return {"failed": _failure(exc)}
        self._members[number] = member
        return found

    async def _check_settings(self, message: Message) -> Any:
        member = self._member(message["module"])
        return await asyncio.to_thread(member.check_settings, message["values"])

    async def _start(self, member: Member, values: dict[str, Any]) -> dict[str, Any]:
        assert self._surroundings is not None  # noqa: S101 - the server greets first
        try:
            settings = await asyncio.to_thread(member.settings_of, values)
            runtime = RemoteRuntime(
                member.name,
                member.number,
                settings,
                claims=member.manifest.claims,
                peer=self.peer,
                surroundings=self._surroundings,
                resources=self._resources,
                routes=self._routes,
            )
            await member.init(runtime)
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            return {"failed": _failure(exc)}
        return {}

    async def _stop(self, number: int) -> dict[str, Any]:
        member = self._members.pop(number, None)
        if member is None:
            return {}
        try:
            await member.shutdown()
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            return {"failed": _failure(exc)}
        return {}

    async def _define(self, message: Message) -> Any:
        member = self._member(message["module"])
        try:
            if message["what"] == "component":
                return {"component": await member.component()}
            return await member.definitions()
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            return {"failed": _failure(exc)}

    async def _report(self, message: Message) -> Any:
        runtime = self._member(message["module"]).runtime
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
            return {"failed": _failure(exc)}

    async def _log_in(self, message: Message) -> Any:
        runtime = self._member(message["module"]).runtime
        if runtime is None or runtime.login is None:
            raise ToolError("login_failed", "the module offers no log-in any more")
        return await runtime.login.step(message)

    async def _get_file(self, message: Message) -> Any:
        data = await asyncio.to_thread(self._member(message["module"]).read_file, message["path"])
        return await self.peer.send_blob(data)

    def _notify(self, message: Message) -> None:
        member = self._members.get(message["module"])
        if member is None or member.runtime is None:
            return
        try:
            member.runtime.notify(message)
        except BaseException as exc:  # noqa: BLE001 - a listener of a module may even try to end the process
            log_failure(log, "event_listener_failed", exc, module=member.name)

    def _member(self, number: Any) -> Member:
        member = self._members.get(number)
        if member is None:
            raise ToolError("module_stopping", "the module is stopping", retryable=True)
        return member

    # -- calls -------------------------------------------------------------------------------------------------

    def _begin_call(self, message: Message) -> None:
        # in no TaskGroup: `stop` ends it, or its server does
        task = asyncio.get_running_loop().create_task(self._carry_out(message), name=f"call:{message['tool']}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _cancel_call(self, message: Message) -> None:
        if (context := self._running.get(message["n"])) is not None:
            context.cut()

    async def _carry_out(self, message: Message) -> None:
        number = message["n"]
        head = {"type": "tool.result", "id": message["call"], "n": number, "resourceId": message["resourceId"]}
        try:
            member = self._member(message["module"])
            context = self._begin(member, message)
            try:
                result, encoded = await member.execute(context, message["tool"], message["args"])
                context.tell_held()
                self.peer.send_encoded(await self._result(head, result, encoded))
            finally:
                self._end(context)
        except asyncio.CancelledError:
            self.peer.tell({**head, "ok": False, "error": error_to_wire(ToolError("cancelled", "it was cancelled"))})
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            self.peer.tell({**head, "ok": False, "error": _failure(exc)})

    async def _result(self, head: dict[str, Any], result: ToolResult, encoded: bytes) -> bytes:
        """The message with a result: its data stand in it as they were encoded."""
        head["ok"], head["result"] = True, await result_to_wire(result, self.peer.send_blob)
        return to_json(head)[:-2] + b',"data":' + encoded + b"}}"

    def _begin(self, member: Member, message: Message) -> RemoteContext:
        """A call, or a preview of one, begins; `_end` ends it."""
        assert self._surroundings is not None  # noqa: S101 - the server greets first
        if "nextIndex" in message:
            self._resources.note_next(message["chatSessionId"], message["nextIndex"])
        resource = None
        if "resource" in message:
            runs = message["type"] == "tool.call"
            resource = self._resources.take(member.name, resource_of(message["resource"]), runs=runs)
        context = RemoteContext(self.peer, message, self._surroundings.workspace, resource)
        self._running[context.number] = context
        return context

    def _end(self, context: RemoteContext) -> None:
        del self._running[context.number]
        if context.resource is not None:
            self._resources.let_go(context.resource)

    async def _preview(self, message: Message) -> Any:
        try:
            member = self._member(message["module"])
            context = self._begin(member, message)
            try:
                preview = await member.preview(context, message["tool"], message["args"])
            finally:
                self._end(context)
            return {"preview": None if preview is None else preview_to_wire(preview)}
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            return {"failed": _failure(exc)}

    async def _complete(self, message: Message) -> Any:
        member = self._member(message["module"])
        try:
            found = await member.complete(message["tool"], message["argument"], message["begun"], message["given"])
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            return {"failed": _failure(exc)}
        return {"values": found}

    # -- resources and routes ----------------------------------------------------------------------------------

    async def _release(self, message: Message) -> Any:
        await self._resources.release_quietly(message["resourceId"])
        return {}

    async def _answer_route(self, message: Message) -> Any:
        return await self._routes.answer(message)

    def _pong(self, message: Message) -> None:
        self.peer.tell({"type": "pong", "n": message["n"]})


def _failure(exc: BaseException) -> dict[str, Any]:
    """What a module raised; what tried to end the process is said as such."""
    if issubclass(type(exc), Exception):
        return error_to_wire(exc)
    exit_error = ModuleExit(reason_of(exc))
    exit_error.__cause__ = exc
    return error_to_wire(exit_error)

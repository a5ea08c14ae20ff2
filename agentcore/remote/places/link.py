"""The server's end of the link to one host: its calls, what it asks for, what it tells.

Whatever a host says is about modules that it runs, calls that were sent to it, and resources of its modules; anything
else ends the link, and nothing of it is believed.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from agentcore.api import Image, Principal, ToolResult
from agentcore.api.resource import Resource
from agentcore.bounds import CANCEL_GRACE_SECONDS
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.host.calls.context import CallContext
from agentcore.host.calls.errors import CallGoesOn
from agentcore.host.calls.running import CarryOn
from agentcore.host.containment.reading import read_mapping, read_number, read_text
from agentcore.host.modules.runtime import ModuleRuntime
from agentcore.host.resources.registry import ResourceRegistry
from agentcore.remote.places.routes import ServedRoutes
from agentcore.remote.wire.frames import PROTOCOL, LinkError
from agentcore.remote.wire.peer import Message, Peer, Transport
from agentcore.remote.wire.values import (
    error_of,
    principal_to_wire,
    resource_of,
    resource_to_wire,
    result_of,
    result_to_wire,
)

log = structlog.get_logger(__name__)

MESSAGES_PER_SECOND = 20_000
"""What a host may say on average over two seconds; one that says more is cut off."""

_DONE_SECONDS = 0.5
_TIMEOUT_SECONDS_MAX = 3600.0


@dataclass(eq=False)
class LinkedModule:
    """A module that the host runs, as the link knows it.

    Args:
        runtime: What it may do here, once it starts.
        resource_types: The types of resources that its calls act on.
    """

    name: str
    number: int
    runtime: ModuleRuntime | None = None
    resource_types: frozenset[str] = frozenset()
    on_definitions: Callable[[], None] = lambda: None
    on_report: Callable[[], None] = lambda: None
    on_login: Callable[[Mapping[str, Any]], None] = lambda status: None
    subscriptions: dict[int, Callable[[], None]] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class _Sent:
    """A call, or a preview, that the host works on."""

    context: CallContext
    module: LinkedModule
    result: asyncio.Future[ToolResult] | None = None


class HostLink:
    """The server's end of a link.

    Args:
        name: The host's name in app.json.
        transport: What carries the messages.
        resources: All resources of the server.
        outlives: Whether the host goes on when this server ends.
        on_hello: Told what the host says of itself, when it greets.
        on_end: Told once why the link has ended.
    """

    def __init__(
        self,
        name: str,
        transport: Transport,
        resources: ResourceRegistry,
        *,
        outlives: bool,
        on_hello: Callable[[Message], None],
        on_end: Callable[[str], None],
    ) -> None:
        self.name, self.outlives = name, outlives
        self._resources, self._on_hello = resources, on_hello
        self._loop = asyncio.get_running_loop()
        self._next = 0
        self._last_principal: tuple[Principal | None, dict[str, Any]] = None, {}
        self._sent: dict[int, _Sent] = {}
        self._modules: dict[int, LinkedModule] = {}
        self._pings: dict[int, asyncio.Future[None]] = {}
        on_request = {
            "tool.ask": self._ask,
            "tool.sample": self._sample,
            "tool.roots": self._roots,
            "call.nested": self._nested,
            "agent.run": self._run_agent,
            "session.history": self._history,
            "session.summary": self._summary,
            "session.todos": self._todos,
            **{f"artifact.{name}": self._artifact for name in ("save", "load", "open", "describe", "lines", "find")},
        }
        on_message: dict[str, Callable[[Message], None]] = {
            "hello": self._hello,
            "pong": self._pong,
            "tool.result": self._take_result,
            "tool.progress": self._take_progress,
            "resource.create": self._create_resource,
            "resource.adopt": self._adopt_resource,
            "resource.update": self._update_resource,
            "resource.event": self._emit,
            "resource.release": self._resource_released,
            "event.publish": self._publish,
            "event.subscribe": self._subscribe,
            "event.unsubscribe": self._unsubscribe,
            "note": self._note,
            "record": self._record,
            "instruct": self._instruct,
            "served.changed": self._served_changed,
            "definitions": lambda message: self._module(message).on_definitions(),
            "module.reports": lambda message: self._module(message).on_report(),
            "login.status": lambda message: self._module(message).on_login(message["status"]),
            "route.add": self._add_route,
            "route.remove": self._remove_route,
            "goodbye": self._goodbye,
        }
        self.peer = Peer(
            transport, on_request=on_request, on_message=on_message, on_end=on_end, per_second=MESSAGES_PER_SECOND
        )
        self.routes = ServedRoutes(self.peer)
        self.peer.listen(
            {
                "route.out": self.routes.on_data,
                "route.taken": self.routes.on_room,
                "route.close": self.routes.on_close,
            }
        )
        self._releasing: set[str] = set()
        self.goes_on = False
        self._expected: dict[int, asyncio.Event] = {}
        self._working: set[asyncio.Task[None]] = set()

    # -- modules -----------------------------------------------------------------------------------------------

    def add(self, module: LinkedModule) -> None:
        """Know a module that the host has loaded."""
        self._modules[module.number] = module

    def remove(self, module: LinkedModule) -> None:
        """Know it no more; what it had here is taken back by its host."""
        self._modules.pop(module.number, None)
        for end in module.subscriptions.values():
            end()
        module.subscriptions.clear()
        self.routes.remove_all(module.number)

    @property
    def module_names(self) -> tuple[str, ...]:
        """The modules that the host runs."""
        return tuple(dict.fromkeys(module.name for module in self._modules.values()))

    @property
    def has_modules(self) -> bool:
        """Whether the host runs any module."""
        return bool(self._modules)

    def lose(self, error: Callable[[str], ToolError]) -> None:
        """End all calls that the host worked on; `error` makes what they end with, of the module's name."""
        sent, self._sent = self._sent, {}
        for each in sent.values():
            if each.result is not None and not each.result.done():
                each.result.set_exception(error(each.module.name))
        for ping in self._pings.values():
            ping.cancel()
        self._pings.clear()
        self.routes.lose()
        for module in list(self._modules.values()):
            self.remove(module)

    async def ping(self) -> float:
        """Wait for the host's answer; gives how long it took, in seconds."""
        self._next += 1
        number = self._next
        pong = self._pings[number] = self._loop.create_future()
        began = self._loop.time()
        self.peer.tell({"type": "ping", "n": number})
        try:
            await pong
        finally:
            self._pings.pop(number, None)
        return self._loop.time() - began

    def number_from(self, number: int) -> None:
        """Give calls numbers above this one: the host knows those up to it from an earlier server."""
        self._next = max(self._next, number)

    def let_go(self) -> None:
        """The server ends, and the host goes on: calls end here, and not there."""
        self.goes_on = True
        sent, self._sent = self._sent, {}
        for each in sent.values():
            if each.result is not None and not each.result.done():
                each.result.set_exception(CallGoesOn())
        self.peer.end()

    def take_resources(self, module: LinkedModule, told: Sequence[Any]) -> None:
        """Know the resources of a module that has gone on without a server."""
        for each in told:
            if each["owner"] == module.name:
                self._create_resource({"owner": module.name, "resource": each["resource"]})
                self._update_resource(each)

    def expect(self, numbers: Iterable[int]) -> None:
        """Let what the host asks for these calls wait: an earlier server sent them, and they are to be taken up."""
        self._expected = {number: asyncio.Event() for number in numbers}

    def _is_taken_up(self, number: int) -> None:
        if (expected := self._expected.pop(number, None)) is not None:
            expected.set()

    def carrying_on(self, call_id: str, number: int) -> CarryOn:
        """The way to wait for the end of a call that has gone on without a server."""

        async def end(context: CallContext) -> ToolResult:
            module = next(each for each in self._modules.values() if each.name == context.module)
            sent = self._sent[number] = _Sent(context, module, self._loop.create_future())
            self._is_taken_up(number)
            self.peer.tell({"type": "tool.resume", "call": call_id, "n": number})
            try:
                assert sent.result is not None  # noqa: S101 - made above
                return await sent.result
            except asyncio.CancelledError:
                await self._cancel(number, sent)
                raise
            finally:
                self._sent.pop(number, None)

        return end

    def disown(self, call_id: str, number: int) -> None:
        """Nobody wants a call of an earlier server any more."""
        self._is_taken_up(number)
        self.peer.tell({"type": "tool.cancel", "n": number})
        self.peer.tell({"type": "tool.done", "call": call_id})

    # -- calls -------------------------------------------------------------------------------------------------

    async def call(
        self, module: LinkedModule, context: CallContext, tool: str, arguments: dict[str, Any]
    ) -> ToolResult:
        """Have a call carried out; a cancelled one is cancelled there as well.

        Raises:
            ToolError: What ended it; `module_failed`: its host has ended.
            Exception: What else the module raised.
        """
        number, sent = self._open(context, module)
        sent.result = self._loop.create_future()
        try:
            if self.peer.ended is not None:
                raise gone(module.name, self.peer.ended)
            self.peer.send_encoded(to_json(self._message("tool.call", number, sent, tool, arguments)))
            return await sent.result
        except asyncio.CancelledError:
            await self._cancel(number, sent)
            raise
        finally:
            self._sent.pop(number, None)

    async def _cancel(self, number: int, sent: _Sent) -> None:
        """Have the host end a call, and let it clean up."""
        sent.result = self._loop.create_future()  # the other one was cancelled with whoever waited for it
        self.peer.tell({"type": "tool.cancel", "n": number})
        await asyncio.wait({sent.result}, timeout=CANCEL_GRACE_SECONDS)
        if sent.result.done() and not sent.result.cancelled():
            sent.result.exception()  # nobody else looks at it

    async def preview(self, module: LinkedModule, context: CallContext, tool: str, arguments: dict[str, Any]) -> Any:
        """What the tool says of a call; None: it has nothing to say beside that the arguments are right.

        Raises:
            ToolError: The call cannot run.
            Exception: What else the module raised.
        """
        number, sent = self._open(context, module)
        try:
            answer = await self.request(self._message("call.preview", number, sent, tool, arguments))
        finally:
            self._sent.pop(number, None)
        return answer["preview"]

    async def request(self, message: Message) -> dict[str, Any]:
        """A request to the module's side; what the module raised is raised here.

        Raises:
            ToolError: What the host answers instead; `module_failed`: the link has ended.
            Exception: What the module raised.
        """
        try:
            answer = await self.peer.request(message)
        except LinkError as exc:
            raise ToolError("module_failed", f"the host {self.name!r} has ended: {exc}", host=self.name) from exc
        if type(answer) is not dict:
            raise TypeError(f"the host {self.name!r} gave no object")
        if "failed" in answer:
            raise error_of(answer["failed"])
        return answer

    def _open(self, context: CallContext, module: LinkedModule) -> tuple[int, _Sent]:
        self._next += 1
        sent = self._sent[self._next] = _Sent(context, module)
        return self._next, sent

    def _message(self, kind: str, number: int, sent: _Sent, tool: str, arguments: dict[str, Any]) -> Message:
        context = sent.context
        resource = context.resource
        message: Message = {
            "type": kind,
            "id": context.call_id,
            "call": context.call_id,
            "n": number,
            "module": sent.module.number,
            "chatSessionId": context.session_id,
            "resourceId": None,
            "tool": tool,
            "args": arguments,
            "principal": self._principal(context.principal),
            "timeoutMs": self._time_left_ms(context),
        }
        if (chars := context.model_chars) is not None:
            message["modelChars"] = chars
        if (todos := context.todos) is not None:
            message["session"] = {"todos": list(todos)}
        if sent.module.resource_types:
            session = context.session_id
            message["nextIndex"] = {
                each: self._resources.next_index(session, each) for each in sent.module.resource_types
            }
        if resource is not None:
            message["resourceId"], message["resource"] = resource.resource_id, resource_to_wire(resource)
        return message

    def _principal(self, principal: Principal) -> dict[str, Any]:
        """Who asks, on the wire; the one who asked last is the one who asks next, mostly."""
        if principal is not self._last_principal[0]:
            self._last_principal = principal, principal_to_wire(principal)
        return self._last_principal[1]

    def _time_left_ms(self, context: CallContext) -> int:
        deadline = context.deadline
        left_s = deadline - self._loop.time() if deadline else _TIMEOUT_SECONDS_MAX
        return max(int(left_s * 1000), 0)

    def _take_result(self, message: Message) -> None:
        sent = self._sent.get(message["n"])
        if sent is None:
            # of a call that was cancelled, or that ended with its time: whoever wanted it has gone
            if type(message["n"]) is not int or not 0 < message["n"] <= self._next:
                raise LinkError("a result of a call that was never sent")
            return
        if sent.result is None or message["id"] != sent.context.call_id:
            raise LinkError("a result that is no answer to its call")
        if sent.result.done():
            raise LinkError("a second result of one call")
        # once the record has it: what the host forgets, nobody could tell any more
        if self.outlives:
            self._loop.call_later(_DONE_SECONDS, self.peer.tell, {"type": "tool.done", "call": message["id"]})
        if message["ok"] is True:
            sent.result.set_result(result_of(message["result"], self.peer.take_blob))
        else:
            sent.result.set_exception(error_of(message["error"]))

    def _take_progress(self, message: Message) -> None:
        sent = self._sent.get(message["n"])
        if sent is None:
            return
        kind, context = message["kind"], sent.context
        if kind == "progress":
            context.progress(message["fraction"], message["message"])
        elif kind == "log":
            context.log(message["message"], level=message["level"])
        elif kind == "output":
            context.show_output(read_text(message["text"], "output of a host"))

    # -- what calls ask for ------------------------------------------------------------------------------------

    async def _sent_of(self, message: Message) -> _Sent:
        if (expected := self._expected.get(message["n"])) is not None:
            await expected.wait()
        sent = self._sent.get(message["n"])
        if sent is None:
            if type(message["n"]) is not int or not 0 < message["n"] <= self._next:
                raise LinkError("it asks on behalf of a call that was never sent")
            raise ToolError("cancelled", "the call has ended")
        return sent

    def _answer(self, sent: _Sent, value: Any) -> dict[str, Any]:
        return {"value": value, "timeoutMs": self._time_left_ms(sent.context)}

    async def _ask(self, message: Message) -> Any:
        sent = await self._sent_of(message)
        question = read_text(message["question"], "the question of a host")
        limit_s = read_number(message["timeoutS"], "timeout_s of a host", low=0, high=_TIMEOUT_SECONDS_MAX)
        if message["url"] is not None:
            await sent.context.ask(question, url=read_text(message["url"], "the url of a host"), timeout_s=limit_s)
            return self._answer(sent, None)
        if message["schema"] is not None:
            schema = read_mapping(message["schema"], "the form of a host")
            return self._answer(sent, await sent.context.ask(question, schema=schema, timeout_s=limit_s))
        is_secret = message["isSecret"] is True
        options = message["options"]
        answer = await sent.context.ask(question, options, timeout_s=limit_s, is_secret=is_secret)
        return self._answer(sent, answer)

    async def _sample(self, message: Message) -> Any:
        sent = await self._sent_of(message)
        text = await sent.context.sample(
            read_text(message["prompt"], "the prompt of a host"),
            system=read_text(message["system"], "the system text of a host"),
            max_tokens=int(read_number(message["maxTokens"], "max_tokens of a host", low=0, high=1_000_000)),
            is_shown_first=message["isShownFirst"] is True,
        )
        return self._answer(sent, text)

    async def _roots(self, message: Message) -> Any:
        sent = await self._sent_of(message)
        return self._answer(sent, list(await sent.context.client_roots()))

    async def _nested(self, message: Message) -> Any:
        sent = await self._sent_of(message)
        arguments = read_mapping(message["arguments"], "the arguments of a host's call")
        result = await sent.context.call(read_text(message["tool"], "the tool of a host's call"), arguments)
        wire = await result_to_wire(result, self.peer.send_blob)
        return self._answer(sent, wire if result.data is None else wire | {"data": result.data})

    async def _run_agent(self, message: Message) -> Any:
        sent = await self._sent_of(message)
        prompt = read_text(message["prompt"], "the prompt of a host's agent")
        report = await sent.context.run_agent(prompt, message["tools"], message["model"], message["budget"])
        return self._answer(sent, report)

    async def _history(self, message: Message) -> Any:
        sent = await self._sent_of(message)
        return self._answer(sent, [dict(each) for each in await sent.context.session.history()])

    async def _summary(self, message: Message) -> Any:
        sent = await self._sent_of(message)
        summary, turns = message["summary"], message["keepTurns"]
        if type(turns) is not int or not (summary is None or type(summary) is str):
            raise TypeError("keepTurns of a host is no number, or its summary no text")
        return self._answer(sent, await sent.context.session.compact(summary, keep_turns=turns))

    async def _todos(self, message: Message) -> Any:
        sent = await self._sent_of(message)
        todos = read_mapping({"todos": message["todos"]}, "the list of a host")["todos"]
        await sent.context.session.set_todos(todos)
        return self._answer(sent, None)

    async def _artifact(self, message: Message) -> Any:
        artifacts = (await self._sent_of(message)).context.artifacts
        action = message["type"].removeprefix("artifact.")
        if action == "save":
            data = self.peer.take_blob(message["blob"])
            mime, name = (read_text(message[key], f"{key} of an artifact of a host") for key in ("mime", "name"))
            return (await artifacts.save(data, mime=mime, name=name)).to_json()
        found = read_text(message["artifactId"], "the id of an artifact of a host")
        if action == "describe":
            return (await artifacts.describe(found)).to_json()
        if action == "load":
            return await self.peer.send_blob(await artifacts.load(found))
        if action == "open":
            with await artifacts.open(found) as file:
                return await self.peer.send_blob(await asyncio.to_thread(file.read, file.size_bytes))
        first, limit = (int(read_number(message[key], key, low=0, high=1e9)) for key in ("first", "limit"))
        if action == "find":
            query = read_text(message["query"], "the query of a host")
            lines = await artifacts.find_lines(found, query, first, limit=limit)
        else:
            chars = int(read_number(message["chars"], "chars", low=0, high=1e9))
            lines = await artifacts.lines(found, first, limit=limit, chars=chars)
        return {"lines": lines.lines, "total": lines.total}

    # -- resources ---------------------------------------------------------------------------------------------

    def _create_resource(self, message: Message) -> None:
        owner, made = message["owner"], resource_of(message["resource"])
        if owner not in self.module_names:
            raise LinkError("it makes a resource of a module that it does not run")
        try:
            self._resources.admit(owner, made, self._release_there)
        except ToolError:
            # the id was given away meanwhile: what is behind it there cannot be reached, so it ends
            log.warning("resource_refused", host=self.name, module=owner, resource_id=made.resource_id)
            self._later(self._release_there(made))

    def _adopt_resource(self, message: Message) -> None:
        told = resource_of(message["resource"])
        found = self._own(told.resource_id)
        if found is not None:
            self._resources.adopt(found, told.resource_id, self._release_there)

    def _update_resource(self, message: Message) -> None:
        told = resource_of(message["resource"])
        owner = self._own(told.resource_id)
        if owner is None:
            return
        icon, reopening = message.get("icon"), message.get("reopening")
        self._resources.get(told.resource_id).adapter_type = told.adapter_type
        self._resources.update(
            told.resource_id,
            owner=owner,
            status=told.status if told.status in ("starting", "ready", "busy", "failed") else None,
            last_url=told.last_url,
            title=told.title,
            icon=None if icon is None else _icon(icon),
            keep_running=told.keep_running,
            keys=told.keys,
            reopening=None if reopening is None else (reopening["tool"], reopening["arguments"]),
        )

    def _emit(self, message: Message) -> None:
        resource_id, event = message["resourceId"], message["event"]
        owner = self._own(resource_id)
        if event not in ("log", "progress", "screenshot", "error"):
            return  # of a newer host
        if owner is not None:
            data = read_mapping(message["data"], "the data of an event of a host", mends_text=True)
            self._resources.emit(resource_id, event, data, owner=owner)

    def _resource_released(self, message: Message) -> None:
        resource_id = message["resourceId"]
        owner = self._own(resource_id)
        if owner is not None and resource_id not in self._releasing:
            reason = read_text(message["reason"], "the reason of a host")
            self._releasing.add(resource_id)
            self._later(self._released(resource_id, owner, reason))

    async def _released(self, resource_id: str, owner: str, reason: str) -> None:
        try:
            await self._resources.release(resource_id, owner, reason)
        finally:
            self._releasing.discard(resource_id)

    async def _release_there(self, resource: Resource) -> None:
        """End a resource where it is."""
        if resource.resource_id in self._releasing or self.peer.ended is not None:
            return
        self._releasing.add(resource.resource_id)
        try:
            await self.request({"type": "resource.release", "resourceId": resource.resource_id})
        finally:
            self._releasing.discard(resource.resource_id)

    def _own(self, resource_id: Any) -> str | None:
        """The module of this host that has a resource; None: it is gone.

        Raises:
            LinkError: It is another's.
        """
        if type(resource_id) is not str:
            raise LinkError("the id of a resource that is no text")
        owner = self._resources.owner_of(resource_id)
        if owner is not None and owner not in {module.name for module in self._modules.values()}:
            raise LinkError(f"it speaks of the resource {resource_id[:200]!r}, which is not of its modules")
        return owner

    # -- what modules tell -------------------------------------------------------------------------------------

    def _module(self, message: Message) -> LinkedModule:
        module = self._modules.get(message["module"])
        if module is None:
            raise LinkError("it speaks of a module that it does not run")
        return module

    def _runtime(self, message: Message) -> ModuleRuntime:
        module = self._module(message)
        if module.runtime is None:
            raise LinkError("a module speaks that has not started")
        return module.runtime

    def _publish(self, message: Message) -> None:
        session = message["sessionId"]
        self._runtime(message).publish(message["event"], message["data"], session_id=session)

    def _subscribe(self, message: Message) -> None:
        module, number = self._module(message), message["subscription"]
        if type(number) is not int or number in module.subscriptions:
            raise LinkError("a subscription without a number of its own")

        def notify(event: Mapping[str, Any]) -> None:
            told = {"type": "event.notify", "module": module.number, "subscription": number, "event": event}
            self.peer.tell(told)

        module.subscriptions[number] = self._runtime(message).subscribe(message["pattern"], notify)

    def _unsubscribe(self, message: Message) -> None:
        end = self._module(message).subscriptions.pop(message["subscription"], None)
        if end is not None:
            end()

    def _note(self, message: Message) -> None:
        self._runtime(message).note(message["subject"], message["said"], advice=message["advice"])

    def _record(self, message: Message) -> None:
        self._runtime(message).record(
            message["outcome"], message["details"], call_id=message["call"], session_id=message["sessionId"]
        )

    def _instruct(self, message: Message) -> None:
        self._runtime(message).instruct(message["text"])

    def _served_changed(self, message: Message) -> None:
        self._runtime(message).served_changed(message["address"])

    def _add_route(self, message: Message) -> None:
        self.routes.add(self._runtime(message), message)

    def _remove_route(self, message: Message) -> None:
        self.routes.remove(self._module(message).number, message["route"])

    # -- the link itself ---------------------------------------------------------------------------------------

    def _hello(self, message: Message) -> None:
        if message["protocol"] != PROTOCOL:
            raise LinkError(f"it speaks {message['protocol']!r:.100}, and this server {PROTOCOL!r}")
        self._on_hello(message)

    def _pong(self, message: Message) -> None:
        pong = self._pings.get(message["n"])
        if pong is not None and not pong.done():
            pong.set_result(None)

    def _goodbye(self, message: Message) -> None:
        log.warning("host_said_goodbye", host=self.name, reason=str(message.get("reason"))[:500])

    def _later(self, work: Any) -> None:
        # in no TaskGroup: messages start it, outside of any block that could wait for it
        task = self._loop.create_task(work, name=f"host:{self.name}")
        self._working.add(task)
        task.add_done_callback(self._working.discard)


def gone(module: str, reason: str) -> ToolError:
    """What a call ends with whose host has ended."""
    return ToolError(
        "module_failed",
        f"the process of module {module!r} ended: {reason or 'it was closed'}; whether the call had an effect is not "
        "known",
        module=module,
    )


def types_of(tools: Sequence[Any]) -> frozenset[str]:
    """The types of resources that tools act on."""
    return frozenset(tool.resource.type for tool in tools if tool.resource is not None)


def _icon(wire: Mapping[str, Any]) -> Image:
    from base64 import b64decode  # noqa: PLC0415 - few resources have icons

    return Image(b64decode(read_text(wire["base64"], "an icon of a host")), read_text(wire["mime"], "mime of an icon"))

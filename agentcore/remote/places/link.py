"""The server's end of the link to one host: its calls, what it asks for, what it tells.

Whatever a host says is about modules that it runs, calls that were sent to it, and resources of its modules; anything
else ends the link, and nothing of it is believed.
"""

import asyncio
from base64 import b64decode
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
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
from agentcore.host.containment.foreign_error import reason_of
from agentcore.host.containment.reading import read_mapping
from agentcore.host.modules.runtime import ModuleRuntime
from agentcore.host.resources.registry import ResourceRegistry
from agentcore.remote.places import messages
from agentcore.remote.places.messages import M, read, read_answer
from agentcore.remote.places.routes import ServedRoutes
from agentcore.remote.wire.frames import PROTOCOL, LinkError
from agentcore.remote.wire.peer import BLOBS_BYTES, Message, Peer, Transport
from agentcore.remote.wire.values import (
    error_of,
    principal_to_wire,
    resource_to_wire,
    result_of,
    result_to_wire,
)
from agentcore.supervision.holder import Holder

log = structlog.get_logger(__name__)

MESSAGES_PER_SECOND = 20_000
"""What a host may say on average over two seconds; one that says more is cut off."""

_DONE_SECONDS = 0.5
_REASON_SECONDS = 1.0
_TIMEOUT_SECONDS_MAX = 3600.0
_SUBSCRIPTIONS = 1_000
_RESOURCES = 1_000
_KEYS = 100
_RELEASES = 1_000
_RELEASE_SECONDS = 10.0
_REFUSALS_LOGGED = 100
_LOADS = 2
_SAVING_BYTES = 2 * BLOBS_BYTES


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
    on_login: Callable[[messages.LoginState], None] = lambda status: None
    subscriptions: dict[int, Callable[[], None]] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class _Sent:
    """A call, or a preview, that the host works on."""

    context: CallContext
    module: LinkedModule
    result: asyncio.Future[ToolResult] | None = None
    work: set[asyncio.Task[Any]] | None = None

    def begin(self) -> None:
        """Note that the running task is for this call, and ends with it."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - requests are tasks
        self.work = self.work or set()
        self.work.add(task)
        task.add_done_callback(self.work.discard)

    def end_work(self) -> None:
        """End what goes on for this call."""
        for task in tuple(self.work or ()):
            task.cancel()


class HostLink:
    """The server's end of a link.

    Args:
        name: The host's name in app.json.
        transport: What carries the messages.
        resources: All resources of the server.
        outlives: Whether the host goes on when this server ends.
        on_hello: Told what the host says of itself, when it greets.
        on_blocked: Told which module held the host's event loop, and for how many seconds.
        on_end: Told once why the link has ended.
    """

    def __init__(
        self,
        name: str,
        transport: Transport,
        resources: ResourceRegistry,
        *,
        outlives: bool,
        on_hello: Callable[[messages.Hello], None],
        on_blocked: Callable[[Holder, float], None],
        on_end: Callable[[str], None],
    ) -> None:
        self.name, self.outlives = name, outlives
        self._resources, self._on_hello, self._on_blocked = resources, on_hello, on_blocked
        self._loop = asyncio.get_running_loop()
        self._next = 0
        self._last_principal: tuple[Principal | None, dict[str, Any]] = None, {}
        self._sent: dict[int, _Sent] = {}
        self._modules: dict[int, LinkedModule] = {}
        self._last_module = 0
        self._pings: dict[int, asyncio.Future[None]] = {}
        self._is_greeted = False
        self._reason: asyncio.Future[str] = self._loop.create_future()
        self._refusals = self._saving_bytes = 0
        self._loading = asyncio.Semaphore(_LOADS)
        on_request = {
            "tool.ask": self._asked(messages.Ask, self._ask),
            "tool.sample": self._asked(messages.Sample, self._sample),
            "tool.roots": self._asked(messages.OfCall, self._roots),
            "call.nested": self._asked(messages.Nested, self._nested),
            "agent.run": self._asked(messages.RunAgent, self._run_agent),
            "session.history": self._asked(messages.OfCall, self._history),
            "session.summary": self._asked(messages.Summary, self._summary),
            "session.todos": self._asked(messages.Todos, self._todos),
            "artifact.save": self._asked(messages.SaveArtifact, self._save_artifact),
            "artifact.load": self._asked(messages.OfArtifact, self._load_artifact),
            "artifact.open": self._asked(messages.OfArtifact, self._open_artifact),
            "artifact.describe": self._asked(messages.OfArtifact, self._describe_artifact),
            "artifact.lines": self._asked(messages.ArtifactPart, self._read_artifact),
            "artifact.find": self._asked(messages.ArtifactPart, self._find_in_artifact),
        }
        on_message: dict[str, Callable[[Message], None]] = {
            "tool.result": self._take_result,
            "hello": self._told(messages.Hello, self._hello),
            "pong": self._told(messages.Pong, self._pong),
            "tool.progress": self._told(messages.Progress, self._take_progress),
            "resource.create": self._told(messages.CreateResource, self._create_resource),
            "resource.adopt": self._told(messages.OfResource, self._adopt_resource),
            "resource.update": self._told(messages.UpdateResource, self._update_resource),
            "resource.event": self._told(messages.ResourceEvent, self._emit),
            "resource.release": self._told(messages.ReleaseResource, self._resource_released),
            "event.publish": self._told(messages.Publish, self._publish),
            "event.subscribe": self._told(messages.Subscribe, self._subscribe),
            "event.unsubscribe": self._told(messages.Unsubscribe, self._unsubscribe),
            "module.blocked": self._told(messages.Blocked, self._blocked),
            "note": self._told(messages.Note, self._note),
            "record": self._told(messages.RecordNotice, self._record),
            "instruct": self._told(messages.Instruct, self._instruct),
            "served.changed": self._told(messages.ServedChanged, self._served_changed),
            "definitions": self._told(messages.OfModule, lambda told: self._module(told).on_definitions()),
            "module.reports": self._told(messages.OfModule, lambda told: self._module(told).on_report()),
            "login.status": self._told(messages.Login, lambda told: self._module(told).on_login(told.status)),
            "route.add": self._told(messages.AddRoute, self._add_route),
            "route.remove": self._told(messages.RemoveRoute, self._remove_route),
            "goodbye": self._told(messages.Goodbye, self._goodbye),
        }
        self.peer = Peer(
            transport, on_request=on_request, on_message=on_message, on_end=on_end, per_second=MESSAGES_PER_SECOND
        )
        self.routes = ServedRoutes(self.peer)
        self.peer.listen(
            {
                "route.out": self._told(messages.Piece, self.routes.on_data),
                "route.taken": self._told(messages.Room, self.routes.on_room),
                "route.close": self._told(messages.CloseChannel, self.routes.on_close),
            }
        )
        self._releasing: set[str] = set()
        self.goes_on = False
        self._expected: dict[int, asyncio.Event] = {}
        self._working: set[asyncio.Task[None]] = set()

    def _told(self, model: type[M], act: Callable[[M], None]) -> Callable[[Message], None]:
        """What to do with a message: read it, and act; what it wants and cannot have is refused, and logged."""

        def take(message: Message) -> None:
            told = read(model, message)
            try:
                act(told)
            except LinkError:
                raise
            except Exception as exc:  # noqa: BLE001 - what another process wants may be anything
                self._refusals += 1
                if self._refusals <= _REFUSALS_LOGGED:
                    log.warning("host_message_refused", host=self.name, type=message["type"], reason=reason_of(exc))

        return take

    def _asked(self, model: type[M], act: Callable[[M], Awaitable[Any]]) -> Callable[[Message], Awaitable[Any]]:
        """The same of a request, whose refusal is its answer."""

        async def answer(message: Message) -> Any:
            return await act(read_answer(model, message, message["type"]))

        return answer

    # -- modules -----------------------------------------------------------------------------------------------

    def add(self, module: LinkedModule) -> None:
        """Know a module that the host has loaded."""
        self._modules[module.number] = module
        self._last_module = max(self._last_module, module.number)

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

    def lose(self, reason: str) -> None:
        """End all calls that the host worked on, and say why it has ended."""
        if not self._reason.done():
            self._reason.set_result(reason)
        sent, self._sent = self._sent, {}
        for each in sent.values():
            if each.result is not None and not each.result.done():
                each.result.set_exception(gone(each.module.name, reason))
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

    def take_resources(self, module: LinkedModule, told: Sequence[messages.HeldResource]) -> None:
        """Know the resources of a module that has gone on without a server."""
        for each in told:
            if each.owner == module.name:
                self._create_resource(each)
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
                sent.end_work()

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
                raise gone(module.name, await self._why() or self.peer.ended)
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
            sent.end_work()
        return answer.get("preview")

    async def request(self, message: Message) -> dict[str, Any]:
        """A request to the module's side; what the module raised is raised here.

        Raises:
            ToolError: What the host answers instead; `module_failed`: the link has ended.
            Exception: What the module raised.
        """
        answer = await self.answer(message)
        if type(answer) is not dict:
            raise TypeError(f"the host {self.name!r} gave no object")
        if "failed" in answer:
            raise error_of(answer["failed"])
        return answer

    async def answer(self, message: Message) -> Any:
        """What the host answers to a request, whatever it is.

        Raises:
            ToolError: What the host answers instead; `module_failed`: the link has ended.
        """
        try:
            return await self.peer.request(message)
        except LinkError as exc:
            reason = await self._why() or str(exc)
            raise ToolError("module_failed", f"the host {self.name!r} has ended: {reason}", host=self.name) from exc

    async def _why(self) -> str:
        """Why the host has ended, which is known soon after its link has; empty: it was ended in order."""
        if not self.peer.ended:
            return ""
        await asyncio.wait({self._reason}, timeout=_REASON_SECONDS)
        return self._reason.result() if self._reason.done() else ""

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
        sent = self._sent_or_late(message.get("n"))
        if sent is None:
            # of a call that was cancelled, or that ended with its time: whoever wanted it has gone
            self.peer.drop_blobs(message)
            return
        if sent.result is None or message.get("id") != sent.context.call_id:
            raise LinkError("a result that is no answer to its call")
        if sent.result.done():
            raise LinkError("a second result of one call")
        # once the record has it: what the host forgets, nobody could tell any more
        if self.outlives:
            self._loop.call_later(_DONE_SECONDS, self.peer.tell, {"type": "tool.done", "call": sent.context.call_id})
        if message.get("ok") is True:
            sent.result.set_result(result_of(message.get("result"), self.peer.take_blob))
        else:
            sent.result.set_exception(error_of(message.get("error")))

    def _take_progress(self, told: messages.Progress) -> None:
        sent = self._sent_or_late(told.n)
        if sent is None:
            return
        if told.kind == "progress":
            sent.context.progress(told.fraction, told.message)
        elif told.kind == "log":
            sent.context.log(told.message, level=told.level)  # type: ignore[arg-type]  # it is read there
        elif told.kind == "output":
            sent.context.show_output(told.text)

    # -- what calls ask for ------------------------------------------------------------------------------------

    def _sent_or_late(self, number: Any) -> _Sent | None:
        """A call that the host works on; None: it has ended.

        Raises:
            LinkError: There never was one of this number.
        """
        if type(number) is not int or not 0 < number <= self._next:
            raise LinkError("it speaks of a call that was never sent to it")
        return self._sent.get(number)

    async def _sent_of(self, asked: messages.OfCall) -> _Sent:
        """The call on whose behalf the running task works from now on."""
        if (expected := self._expected.get(asked.n)) is not None:
            await expected.wait()
        sent = self._sent_or_late(asked.n)
        if sent is None:
            raise ToolError("cancelled", "the call has ended")
        sent.begin()
        return sent

    def _answer(self, sent: _Sent, value: Any) -> dict[str, Any]:
        return {"value": value, "timeoutMs": self._time_left_ms(sent.context)}

    async def _ask(self, asked: messages.Ask) -> Any:
        sent = await self._sent_of(asked)
        question, limit_s = asked.question, min(asked.timeout_s, _TIMEOUT_SECONDS_MAX)
        if asked.url is not None:
            await sent.context.ask(question, url=asked.url, timeout_s=limit_s)
            return self._answer(sent, None)
        if asked.form is not None:
            form = read_mapping(asked.form, "the form of a host")
            return self._answer(sent, await sent.context.ask(question, schema=form, timeout_s=limit_s))
        answer = await sent.context.ask(question, asked.options, timeout_s=limit_s, is_secret=asked.is_secret)
        return self._answer(sent, answer)

    async def _sample(self, asked: messages.Sample) -> Any:
        sent = await self._sent_of(asked)
        text = await sent.context.sample(
            asked.prompt, system=asked.system, max_tokens=asked.max_tokens, is_shown_first=asked.is_shown_first
        )
        return self._answer(sent, text)

    async def _roots(self, asked: messages.OfCall) -> Any:
        sent = await self._sent_of(asked)
        return self._answer(sent, list(await sent.context.client_roots()))

    async def _nested(self, asked: messages.Nested) -> Any:
        sent = await self._sent_of(asked)
        result = await sent.context.call(asked.tool, asked.arguments)
        wire = await result_to_wire(result, self.peer.send_blob)
        return self._answer(sent, wire if result.data is None else wire | {"data": result.data})

    async def _run_agent(self, asked: messages.RunAgent) -> Any:
        sent = await self._sent_of(asked)
        report = await sent.context.run_agent(asked.prompt, asked.tools, asked.model, asked.budget)
        return self._answer(sent, report)

    async def _history(self, asked: messages.OfCall) -> Any:
        sent = await self._sent_of(asked)
        return self._answer(sent, [dict(each) for each in await sent.context.session.history()])

    async def _summary(self, asked: messages.Summary) -> Any:
        sent = await self._sent_of(asked)
        told = await sent.context.session.compact(asked.summary, keep_turns=asked.keep_turns)
        return self._answer(sent, told)

    async def _todos(self, asked: messages.Todos) -> Any:
        sent = await self._sent_of(asked)
        todos = read_mapping({"todos": asked.todos}, "the list of a host")["todos"]
        await sent.context.session.set_todos(todos)
        return self._answer(sent, None)

    # -- artifacts ---------------------------------------------------------------------------------------------

    async def _save_artifact(self, asked: messages.SaveArtifact) -> Any:
        artifacts = (await self._sent_of(asked)).context.artifacts
        data = self.peer.take_blob(asked.blob)
        if self._saving_bytes + len(data) > _SAVING_BYTES:
            raise ToolError("too_many_artifacts", "the host saves too much at one time; try again", retryable=True)
        self._saving_bytes += len(data)
        try:
            return (await artifacts.save(data, mime=asked.mime, name=asked.name)).to_json()
        finally:
            self._saving_bytes -= len(data)

    async def _load_artifact(self, asked: messages.OfArtifact) -> Any:
        artifacts = (await self._sent_of(asked)).context.artifacts
        async with self._loading:  # a host that asks for many has them one after the other
            _check_size((await artifacts.describe(asked.artifact_id)).size_bytes)
            return await self.peer.send_blob(await artifacts.load(asked.artifact_id))

    async def _open_artifact(self, asked: messages.OfArtifact) -> Any:
        artifacts = (await self._sent_of(asked)).context.artifacts
        async with self._loading:
            with await artifacts.open(asked.artifact_id) as file:
                _check_size(file.size_bytes)
                return await self.peer.send_blob(await asyncio.to_thread(file.read, file.size_bytes))

    async def _describe_artifact(self, asked: messages.OfArtifact) -> Any:
        sent = await self._sent_of(asked)
        return (await sent.context.artifacts.describe(asked.artifact_id)).to_json()

    async def _read_artifact(self, asked: messages.ArtifactPart) -> Any:
        artifacts = (await self._sent_of(asked)).context.artifacts
        lines = await artifacts.lines(asked.artifact_id, asked.first, limit=asked.limit, chars=asked.chars)
        return {"lines": lines.lines, "total": lines.total}

    async def _find_in_artifact(self, asked: messages.ArtifactPart) -> Any:
        artifacts = (await self._sent_of(asked)).context.artifacts
        lines = await artifacts.find_lines(asked.artifact_id, asked.query, asked.first, limit=asked.limit)
        return {"lines": lines.lines, "total": lines.total}

    # -- resources ---------------------------------------------------------------------------------------------

    def _create_resource(self, told: messages.CreateResource) -> None:
        owner, made = told.owner, told.resource.made()
        if owner not in self.module_names:
            raise LinkError("it makes a resource of a module that it does not run")
        reason = self._why_not(owner, made)
        if reason:
            # what is behind it there cannot be reached, so it ends
            log.warning("resource_refused", host=self.name, module=owner, reason=reason)
            self._later(self._end_there(made))

    def _why_not(self, owner: str, made: Resource) -> str:
        """Why a resource cannot live here; empty: it does from now on."""
        if len(self._resources.list(owner=owner)) >= _RESOURCES:
            return f"a module of a host may have {_RESOURCES:,} resources"
        try:
            self._resources.admit(owner, made, self._release_there)
        except ToolError as exc:  # the id was given away meanwhile
            return exc.message
        return ""

    def _adopt_resource(self, told: messages.OfResource) -> None:
        resource_id = told.resource.resource_id
        owner = self._own(resource_id)
        if owner is not None:
            self._resources.adopt(owner, resource_id, self._release_there)

    def _update_resource(self, told: messages.UpdateResource) -> None:
        now, icon, reopening = told.resource, told.icon, told.reopening
        owner = self._own(now.resource_id)
        if owner is None:
            return
        held = self._resources.get(now.resource_id)
        if len(held.keys | now.keys) > _KEYS:
            raise ValueError(f"a resource may have {_KEYS} keys")
        held.adapter_type = now.adapter_type
        self._resources.update(
            now.resource_id,
            owner=owner,
            status=None if now.status == "closed" else now.status,
            last_url=now.last_url,
            title=now.title,
            icon=None if icon is None else Image(b64decode(icon.base64, validate=True), icon.mime),
            keep_running=now.keep_running,
            keys=now.keys,
            reopening=None if reopening is None else (reopening.tool, reopening.arguments),
        )

    def _emit(self, told: messages.ResourceEvent) -> None:
        owner, event = self._own(told.resource_id), told.event
        if event not in ("log", "progress", "screenshot", "error"):
            return  # of a newer host
        if owner is not None:
            data = read_mapping(told.data, "the data of an event of a host", mends_text=True)
            self._resources.emit(told.resource_id, event, data, owner=owner)  # type: ignore[arg-type]  # one of these

    def _resource_released(self, told: messages.ReleaseResource) -> None:
        owner = self._own(told.resource_id)
        if owner is not None and told.resource_id not in self._releasing:
            self._releasing.add(told.resource_id)
            self._later(self._released(told.resource_id, owner, told.reason))

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

    async def _end_there(self, resource: Resource) -> None:
        """The same of one that was never known here; nobody waits for it."""
        try:
            async with asyncio.timeout(_RELEASE_SECONDS):
                await self._release_there(resource)
        except Exception as exc:  # noqa: BLE001 - it is over there, and so is whatever goes wrong
            log.warning("resource_release_failed", resource_id=resource.resource_id, reason=reason_of(exc))

    def _own(self, resource_id: str) -> str | None:
        """The module of this host that has a resource; None: it is gone.

        Raises:
            LinkError: It is another's.
        """
        owner = self._resources.owner_of(resource_id)
        if owner is not None and owner not in {module.name for module in self._modules.values()}:
            raise LinkError(f"it speaks of the resource {resource_id[:200]!r}, which is not of its modules")
        return owner

    # -- what modules tell -------------------------------------------------------------------------------------

    def _module(self, told: messages.OfModule) -> LinkedModule:
        module = self._modules.get(told.module)
        if module is None:
            if 0 < told.module <= self._last_module:
                raise ToolError("module_stopping", "the module is stopping")
            raise LinkError("it speaks of a module that it does not run")
        return module

    def _runtime(self, told: messages.OfModule) -> ModuleRuntime:
        module = self._module(told)
        if module.runtime is None:
            raise LinkError("a module speaks that has not started")
        return module.runtime

    def _publish(self, told: messages.Publish) -> None:
        self._runtime(told).publish(told.event, told.data, session_id=told.session_id)

    def _subscribe(self, told: messages.Subscribe) -> None:
        module, runtime, number = self._module(told), self._runtime(told), told.subscription
        if number in module.subscriptions:
            raise LinkError("a subscription without a number of its own")
        if len(module.subscriptions) >= _SUBSCRIPTIONS:
            raise ValueError(f"a module may have {_SUBSCRIPTIONS:,} subscriptions")

        def notify(event: Mapping[str, Any]) -> None:
            told = {"type": "event.notify", "module": module.number, "subscription": number, "event": event}
            self.peer.tell(told)

        module.subscriptions[number] = runtime.subscribe(told.pattern, notify)

    def _unsubscribe(self, told: messages.Unsubscribe) -> None:
        end = self._module(told).subscriptions.pop(told.subscription, None)
        if end is not None:
            end()

    def _blocked(self, told: messages.Blocked) -> None:
        self._on_blocked(Holder(self._module(told).name, told.tool, told.place), told.seconds)

    def _note(self, told: messages.Note) -> None:
        self._runtime(told).note(told.subject, told.said, advice=told.advice)

    def _record(self, told: messages.RecordNotice) -> None:
        self._runtime(told).record(told.outcome, told.details, call_id=told.call, session_id=told.session_id)

    def _instruct(self, told: messages.Instruct) -> None:
        self._runtime(told).instruct(told.text)

    def _served_changed(self, told: messages.ServedChanged) -> None:
        self._runtime(told).served_changed(told.address)

    def _add_route(self, told: messages.AddRoute) -> None:
        self.routes.add(self._runtime(told), told)

    def _remove_route(self, told: messages.RemoveRoute) -> None:
        self.routes.remove(self._module(told).number, told.route)

    # -- the link itself ---------------------------------------------------------------------------------------

    def _hello(self, told: messages.Hello) -> None:
        if told.protocol != PROTOCOL:
            raise LinkError(f"it speaks {told.protocol[:100]!r}, and this server {PROTOCOL!r}")
        if self._is_greeted:
            raise LinkError("it greets a second time")
        self._is_greeted = True
        self._on_hello(told)

    def _pong(self, told: messages.Pong) -> None:
        pong = self._pings.get(told.n)
        if pong is not None and not pong.done():
            pong.set_result(None)

    def _goodbye(self, told: messages.Goodbye) -> None:
        log.warning("host_said_goodbye", host=self.name, reason=told.reason[:500])

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        if len(self._working) >= _RELEASES:
            work.close()
            raise LinkError(f"more than {_RELEASES:,} resources that end at one time")
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


def _check_size(size_bytes: int) -> None:
    if size_bytes > BLOBS_BYTES:
        raise ToolError(
            "message_too_large",
            f"the artifact has {size_bytes:,} bytes; what passes between a host and its server may have "
            f"{BLOBS_BYTES:,}: read it in parts",
            limit_bytes=BLOBS_BYTES,
        )

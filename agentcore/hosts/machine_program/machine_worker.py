"""A worker that runs the modules of its own app.json, for a server that it dials in to."""

import asyncio
import platform
import secrets
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import structlog
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from agentcore.core.declarations.module_messages import read_answer
from agentcore.core.events import Event
from agentcore.core.module_code.containment import run_contained
from agentcore.core.module_code.module_error import log_failure
from agentcore.core.module_code.ownership import OWNER
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.hosts.wire.peer import Message, OnMessage, OnRequest, Peer
from agentcore.hosts.worker.hosted_module import HostedModule
from agentcore.hosts.worker.module_environment import HostSurroundings
from agentcore.hosts.worker.worker import Worker, failure_to_wire
from agentcore.limits import HOOK_SECONDS


class _ServerMessage(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, alias_generator=to_camel)


class Origins(_ServerMessage):
    """The server's own addresses, which browsers of this host must not open."""

    own_origins: list[str]


class HelloReply(Origins):
    """A server has accepted a host.

    Args:
        keep_minutes: How long to keep resources without a server, by type of resource; empty name: all others.
    """

    keep_minutes: dict[str, Annotated[float, Field(gt=0)]]


class PairCode(_ServerMessage):
    """The code that the user enters at the server to pair this host."""

    code: Annotated[str, Field(min_length=1, max_length=100)]
    expires_at: int


class PairKey(_ServerMessage):
    """The user has paired this host: its key from now on."""

    key: Annotated[str, Field(min_length=20, max_length=1_000, pattern=r"^achk_[A-Za-z0-9_-]+$")]


log = structlog.get_logger(__name__)

_REQUESTS = frozenset(
    (
        "definitions",
        "call.preview",
        "tool.complete",
        "module.report",
        "login.step",
        "requirement.check",
        "resource.release",
        "route.request",
    )
)
"""The requests of a server that a foreign machine accepts: its modules, their code and settings belong to that machine,
and only its own user installs anything on it."""

_REASON = "its server was away for too long"


class MachineWorker(Worker):
    """Runs modules of this machine for one server, over one connection after another.

    Args:
        name: The host's name.
        surroundings: The environment of its modules, from its own app.json.
    Attributes:
        instance: Changes with each start of this program: resources of earlier starts have ended.
        failed: Modules that could not be started, and why.
        on_greeted: Called when the server has accepted this host.
        on_code: Called with the code for pairing this host, and its expiry (ms since 1970).
        on_key: Called with the new key of this host; it is stored when that returns.
    """

    def __init__(self, name: str, surroundings: HostSurroundings) -> None:
        super().__init__(name, outlives=True)
        self._surroundings = surroundings
        surroundings.on_control_files = self._report_control_files
        self.instance = secrets.token_hex(8)
        self.failed: dict[str, str] = {}
        self.on_greeted: Callable[[], None] = lambda: None
        self.on_code: Callable[[str, int], None] = lambda code, until_ms: None
        self.on_key: Callable[[str], None] = lambda key: None
        self._tools: dict[int, dict[str, Any]] = {}
        self._is_paired = True
        self._keep_s: Mapping[str, float] = {}
        self._timers: list[asyncio.TimerHandle] = []

    async def start_own_module(self, hosted: HostedModule, settings: Any, limit_s: float) -> None:
        """Start a module and serve it.

        Args:
            settings: Validated.
            limit_s: How long its `init` may take.
        Raises:
            BaseException: Raised by the module; `TimeoutError`: it took too long.
        """
        runtime = await self._prepare_start(hosted, settings)
        await run_contained(hosted.init(runtime), limit_s, f"init:{hosted.name}", hosted.name)
        defining = hosted.collect_definitions()
        self._tools[hosted.number] = await run_contained(defining, HOOK_SECONDS, f"tools:{hosted.name}", hosted.name)
        hosted.settings = {}
        self._hosted_modules[hosted.number] = hosted

    async def stop_failed_module(self, hosted: HostedModule) -> None:
        """Stop a module that did not start."""
        await hosted.shutdown()

    def watch_resources(self, tell: Callable[[Event], None]) -> None:
        """Report each change of a resource here; see `WorkerResources.watch_changes`."""
        self._resources.watch_changes(tell)

    def disconnect(self, reason: str) -> None:
        """Close the connection for good: resources here end with it."""
        if self.line.is_up:
            peer = self.line.peer
            peer.send_message({"type": "goodbye", "reason": reason, "isOver": True})
            peer.close()

    @property
    def tools(self) -> dict[str, list[str]]:
        """The names of the tools of each module."""
        return {
            hosted.name: [str(tool.get("name")) for tool in self._tools[number]["tools"]]
            for number, hosted in self._hosted_modules.items()
        }

    def attach(self, transport: Any, on_end: Callable[[str], None]) -> Peer:
        self._end_timers()

        def on_ended(reason: str) -> None:
            self._wait_for_server()
            on_end(reason)

        return super().attach(transport, on_ended)

    def send_unpaired_hello(self) -> None:
        """Greet a server that has not paired this host: it reads no long message, and requests the modules once its
        user has entered the code."""
        self._is_paired = False
        self.send_hello()

    def send_paired_hello(self) -> None:
        """Greet a server that knows this host by its key."""
        self._is_paired = True
        self.send_hello()

    def _build_hello(self) -> Message:
        said = super()._build_hello()
        if self._is_paired:
            return said
        return {**said, "members": [], "failed": [], "calls": [], "workspace": [], "hasMore": True}

    async def _send_offer(self, message: Message) -> Any:
        """Send what this host provides to the server that is to pair it."""
        if self._is_paired:
            raise ToolError("unknown_message", "this host is paired already")
        return {"blob": await self.line.peer.send_blob(to_json(super()._build_hello()))}

    def _request_handlers(self) -> dict[str, OnRequest]:
        served = {kind: serve for kind, serve in super()._request_handlers().items() if kind in _REQUESTS}
        return served | {
            "module.state": self._clear_up_stopped,
            "module.ask": self._answer_module_request,
            "pair.offer": self._send_offer,
        }

    def _message_handlers(self) -> dict[str, OnMessage]:
        own: dict[str, OnMessage] = {
            "pair.code": self._handle_pair_code,
            "pair.key": self._handle_pair_key,
            "origins": self._handle_origins,
        }
        return super()._message_handlers() | own

    def _describe_state(self) -> Message:
        assert self._surroundings is not None  # noqa: S101 - given from the start
        return {
            "instance": self.instance,
            "platform": f"{platform.system()} {platform.machine()}",
            "workspace": [str(root) for root in self._surroundings.workspace.roots],
            "members": [
                {
                    "module": each.number,
                    "name": each.name,
                    "fingerprint": each.fingerprint,
                    **each.describe(),
                    "settings": None,
                    "instructions": "" if each.runtime is None else each.runtime.instructions,
                    **self._tools[each.number],
                }
                for each in self._hosted_modules.values()
            ],
            "failed": [{"name": name, "reason": reason} for name, reason in self.failed.items()],
            "calls": self._list_calls(),
        }

    async def _clear_up_stopped(self, message: Message) -> Any:
        return {"left": []}  # a server stops nothing here

    async def _answer_module_request(self, message: Message) -> Any:
        """Have a module answer what the same module on the server asks."""
        hosted = self._require_module(message["module"])
        handler = None if hosted.runtime is None else hosted.runtime.answers_hosts
        if handler is None:
            text = f"module {hosted.name!r} answers nothing that it is asked there"
            raise ToolError("host_has_no_module", text, host=self._name, module=hosted.name)
        data = None if message["blob"] is None else self.line.peer.pop_blob(message["blob"])
        OWNER.set(hosted.name)
        try:
            answer, chunk = read_answer(await handler(message["request"], data))
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            if not isinstance(exc, ToolError):
                log_failure(log, "answer_failed", exc, module=hosted.name)
            return {"failed": failure_to_wire(exc)}
        return {"answer": answer, "blob": None if chunk is None else await self.line.peer.send_blob(chunk)}

    def _handle_hello_reply(self, message: Message) -> None:
        """Send the server, which knows this host's modules now, the state of each and the existing resources."""
        assert self._surroundings is not None  # noqa: S101 - given from the start
        greeting = HelloReply.model_validate(message)
        self._surroundings.own_origins.declare("server", greeting.own_origins)
        self._keep_s = {kind: minutes * 60 for kind, minutes in greeting.keep_minutes.items()}
        for hosted in self._hosted_modules.values():
            if hosted.runtime is not None:
                hosted.runtime.resend_state()
            self._resources.resend_resources(hosted.name, hosted.number)
        self.line.send_message({"type": "hello.done"})
        self.on_greeted()

    def _handle_origins(self, message: Message) -> None:
        assert self._surroundings is not None  # noqa: S101 - given from the start
        self._surroundings.own_origins.declare("server", Origins.model_validate(message).own_origins)

    def _handle_pair_code(self, message: Message) -> None:
        said = PairCode.model_validate(message)
        self.on_code(said.code, said.expires_at)

    def _handle_pair_key(self, message: Message) -> None:
        self.on_key(PairKey.model_validate(message).key)
        self.line.send_message({"type": "pair.kept"})

    async def _collect_definitions(self, message: Message) -> Any:
        told = await super()._collect_definitions(message)
        if message.get("what") == "tools" and "tools" in told:
            self._tools[message["module"]] = told
        return told

    # -- without a server ----------------------------------------------------------------------------------------

    def _wait_for_server(self) -> None:
        """Keep resources for the time that the server has set."""
        self._end_timers()
        loop = asyncio.get_running_loop()
        for kind, seconds in self._keep_s.items():
            self._timers.append(loop.call_later(seconds, self._expire_resources, kind))

    def _end_timers(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    def _expire_resources(self, kind: str) -> None:
        """End the resources of one type, or of all that have no time of their own (empty)."""
        ends = [
            each.resource_id
            for each in self._resources.list()
            if (each.resource_type == kind if kind else each.resource_type not in self._keep_s)
        ]
        if not ends:
            return
        log.warning("resources_given_up", resources=len(ends), reason=_REASON)
        # in no TaskGroup: `stop` ends it, or it ends by itself
        task = asyncio.get_running_loop().create_task(self._release_all(ends), name="resources:given_up")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _release_all(self, resource_ids: list[str]) -> None:
        for resource_id in resource_ids:
            await self._resources.release(resource_id, reason=_REASON)

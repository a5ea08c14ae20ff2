"""The context of a call that its tool sees: the implementation of `ToolContext`."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, overload

from agentcore.api import ArtifactLines, ArtifactLink, ChatSession, LogLevel, Principal, Resource, ToolResult
from agentcore.core.calls.call import Call, CallOutcome, CallRequest, Notify, pause_clock
from agentcore.core.calls.call_questions import Questions
from agentcore.core.calls.call_reports import ShownOutput, read_fraction, read_log, read_message, read_output
from agentcore.core.calls.chat_protocols import ConversationSlot, no_session
from agentcore.core.calls.host_requests import HostQuestion, ask_host
from agentcore.core.calls.result_shortening import model_chars
from agentcore.core.calls.threaded_context import ThreadedContext
from agentcore.core.events import EventBus
from agentcore.core.module_code.ownership import OWNER
from agentcore.core.modules.host_protocols import ModuleHosts
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.files.open_file import OpenFile
from agentcore.files.workspace import Workspace
from agentcore.late_dataclasses import dataclass
from agentcore.limits import LOGS_PER_CALL, PROGRESS_INTERVAL_SECONDS
from agentcore.store.artifacts.artifact_rows import Artifact
from agentcore.store.artifacts.artifact_store import ArtifactStore
from agentcore.store.artifacts.files import unknown_artifact
from agentcore.store.store import Store
from agentcore.valid_text import valid_text, with_valid_text

ASK_SECONDS_MAX = 3600.0
"""How long a call may wait for the answer to a question."""

SAMPLE_SECONDS = 600.0
"""How long the user may read a request to a model before allowing it."""


@dataclass(frozen=True, slots=True)
class CallServices:
    """The services of the core that calls use through their context."""

    workspace: Workspace
    store: Store
    events: EventBus
    resources: ResourceRegistry
    conversation: ConversationSlot
    make_call: Callable[[CallRequest, Notify | None], Coroutine[Any, Any, CallOutcome]]
    places: ModuleHosts
    name_untrusted_sources: Callable[[str], Sequence[str]]


class CallContext(ThreadedContext):
    """Implements `agentcore.api.ToolContext` for calls of this core."""

    __slots__ = ("_call", "_is_over", "_log", "_progress", "_services")

    def __init__(self, call: Call, services: CallServices) -> None:
        super().__init__()
        self._call = call
        self._services = services
        self._is_over = False
        self._progress: _Progress | None = None
        self._log: _CallLog | None = None

    @property
    def call_id(self) -> str:
        """Id of the call."""
        return self._call.id

    @property
    def tool(self) -> str:
        """The tool that is called."""
        return self._call.request.tool

    @property
    def module(self) -> str:
        """The module whose tool is called."""
        prepared = self._call.prepared
        return "" if prepared is None else prepared.tool.module.name

    @property
    def session_id(self) -> str:
        """The session it belongs to."""
        return self._call.session_id

    @property
    def principal(self) -> Principal:
        """Who made the call."""
        return self._call.request.principal

    @property
    def resource(self) -> Resource | None:
        """The resource that the core resolved."""
        return self._call.resource

    @property
    def deadline(self) -> float:
        """The event loop's time at which the call is cut off."""
        return self._call.deadline

    @property
    def workspace(self) -> Workspace:
        """The folders that tools may touch."""
        return self._services.workspace

    @property
    def artifacts(self) -> "CallArtifacts":
        """The artifacts of the call."""
        return CallArtifacts(self._services.store.artifacts, self._call)

    @property
    def model_chars(self) -> int | None:
        reader = self._call.request.reader
        prepared = self._call.prepared
        return None if reader is None or prepared is None else model_chars(prepared.tool.definition, reader)

    @property
    def is_cancelled(self) -> bool:
        """True if the call, or the preview that this context is for, was cancelled or ran out of time."""
        return self._is_over or self._call.is_cancelled or (0 < self._call.deadline <= self._loop.time())

    def end_preview(self) -> None:
        """Note that the preview which this context is for has ended, so that a thread of it stops."""
        self._is_over = True

    def progress(self, fraction: float | None = None, message: str = "") -> None:
        self._run_in_loop(self._report_progress, read_fraction(fraction), read_message(message))

    def log(self, message: str, *, level: LogLevel = "info") -> None:
        self._run_in_loop(self._send_log, read_log(message, level), level)

    def show_output(self, text: str) -> None:
        self._run_in_loop(self._append_output, read_output(text), len(text))

    def _find_call_task(self) -> asyncio.Task[Any] | None:
        work = self._call.work
        return None if work is None else work.task

    @overload
    async def ask(
        self,
        question: str,
        options: Sequence[str] | None = None,
        *,
        timeout_s: float | None = 300,
        is_secret: bool = False,
    ) -> str: ...
    @overload
    async def ask(
        self, question: str, *, schema: Mapping[str, Any], timeout_s: float | None = 300
    ) -> dict[str, Any]: ...
    @overload
    async def ask(self, question: str, *, url: str, timeout_s: float | None = 300) -> None: ...
    async def ask(
        self,
        question: str,
        options: Sequence[str] | None = None,
        *,
        schema: Mapping[str, Any] | None = None,
        url: str | None = None,
        timeout_s: float | None = 300,
        is_secret: bool = False,
    ) -> str | dict[str, Any] | None:
        timeout_s = None if timeout_s is None else min(timeout_s, ASK_SECONDS_MAX)
        asker = self._call.request.asker if not is_secret else None
        questions = Questions(self._call, self._services.conversation.chat, asker)
        with pause_clock(self._call):
            if url is not None:
                await questions.open_address(valid_text(question), url, timeout_s)
                return None
            if schema is not None:
                return await questions.fill_in(valid_text(question), with_valid_text(dict(schema)), timeout_s)
            offered = None if options is None else [valid_text(option) for option in options]
            return await questions.ask(valid_text(question), offered, timeout_s)

    async def sample(
        self, prompt: str, *, system: str = "", max_tokens: int = 1000, is_shown_first: bool = False
    ) -> str:
        asker = self._call.request.asker
        chat = self._services.conversation.chat
        with pause_clock(self._call):
            if asker is not None:
                return await asker.sample(valid_text(prompt), valid_text(system), max_tokens)
            if chat is None or chat.session_of(self._call) is None:
                raise ToolError("no_model", "this call has no chat, so there is no model to ask")
            told = valid_text(f"{system}\n\n{prompt}" if system else prompt)
            if is_shown_first:
                await Questions(self._call, chat, None).allow_sample(told, SAMPLE_SECONDS)
            return await chat.run_agent(self._call, told, [], None, {"steps": 1})

    async def client_roots(self) -> Sequence[str]:
        asker = self._call.request.asker
        return () if asker is None else await asker.roots()

    async def untrusted_sources(self) -> Sequence[str]:
        call = self._call
        return () if call.is_made_by_user else tuple(self._services.name_untrusted_sources(call.session_id))

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        return await self._call_tool(tool, arguments)

    async def call_as_host(self, host: str, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool for a foreign machine that works on this call: the machine is the caller, and gets the result.

        Raises:
            ToolError: As `agentcore.api.ToolContext.call`.
        """
        return await self._call_tool(tool, arguments, Principal("host", host))

    async def _call_tool(self, tool: str, arguments: Mapping[str, Any], foreign: Principal | None = None) -> ToolResult:
        self._refuse_if_carried_on()
        parent = self._call
        request = self._call.request
        # the same gate and session; the parent's deadline is its own as well
        nested = CallRequest(
            valid_text(tool),
            with_valid_text(dict(arguments)),
            foreign or request.principal,
            session_id=parent.session_id,
            parent_call_id=parent.id,
            # no caller could send a call of a foreign machine again once it is approved
            waits_for_approval=request.waits_for_approval or request.inner_waits or foreign is not None,
            agent_id=request.agent_id,
            mode=request.mode,
            # the client of the call serves its own user's calls, not those of another machine
            asker=None if foreign is not None else request.asker,
            session_owner=request.session_owner,
        )
        outcome = await self._services.make_call(nested, parent.notify)
        parent.has_read_untrusted |= outcome.is_untrusted
        return outcome.unwrap()

    async def ask_host(
        self, host: str, request: Mapping[str, Any], data: bytes | None = None, *, timeout_s: float = 30
    ) -> tuple[dict[str, Any], bytes | None]:
        return await ask_host(
            self._call, self._services.places, HostQuestion.from_arguments(host, request, data, timeout_s)
        )

    @property
    def todos(self) -> Sequence[Mapping[str, Any]] | None:
        """The list of things to do of the chat session that the call comes from; None: it comes from none."""
        chat = self._services.conversation.chat
        session = None if chat is None else chat.session_of(self._call)
        return None if session is None else session.todos

    @property
    def session(self) -> ChatSession:
        session = self._services.conversation.get().session_of(self._call)
        if session is None:
            raise no_session()
        return session

    async def run_agent(
        self,
        prompt: str,
        tools: Sequence[str] | None = None,
        model: str | None = None,
        budget: Mapping[str, int] | None = None,
    ) -> str:
        self._refuse_if_carried_on()
        owner = OWNER.set("")  # objects that an agent starts belong to the core
        try:
            return await self._services.conversation.get().run_agent(
                self._call, valid_text(prompt), tools, model, budget
            )
        finally:
            OWNER.reset(owner)

    def _refuse_if_carried_on(self) -> None:
        """Refuse new work of a call that an earlier server began: the permissions of its caller and its chat ended with
        it.

        Raises:
            ToolError: `interrupted`.
        """
        if self._call.is_carried_on:
            message = (
                "the server that began this call has ended, so it can begin no other calls: make them in a new one"
            )
            raise ToolError("interrupted", message)

    def end_progress(self) -> None:
        """Report pending progress, before the result."""
        if self._progress is not None:
            self._progress.publish_pending()
        if self._call.output is not None:
            self._call.output.publish_pending()

    def _report_progress(self, fraction: float | None, message: str) -> None:
        if self._progress is None:
            self._progress = _Progress(self._call, self._services, self._loop)
        self._progress.report(fraction, message)

    def _send_log(self, message: str, level: LogLevel) -> None:
        if self._log is None:
            self._log = _CallLog(self._call)
        self._log.send_message(message, level)

    def _append_output(self, piece: str, length: int) -> None:
        if self._call.output is None:
            self._call.output = ShownOutput(self._publish_output, self._loop)
        self._call.output.add(piece, length)

    def _publish_output(self, told: dict[str, Any]) -> None:
        # listeners stop once they have the outcome
        if not self._call.has_ended:
            payload = {"callId": self._call.id, **told}
            # not stored: a client that resumes reads all of it
            self._services.events.publish("call.output", payload, session_id=self._call.session_id, kept=False)


class _Progress:
    """Passes on the newest progress, at most every so often, and none of a call that has ended."""

    def __init__(self, call: Call, services: CallServices, loop: asyncio.AbstractEventLoop) -> None:
        self._call = call
        self._services = services
        self._loop = loop
        self._next_at = 0.0
        self._held: dict[str, Any] | None = None

    def report(self, fraction: float | None, message: str) -> None:
        progress: dict[str, Any] = {"callId": self._call.id, "message": message}
        if fraction is not None:
            progress["fraction"] = fraction
        is_scheduled = self._held is not None
        self._held = progress
        now = self._loop.time()
        if now >= self._next_at:
            self.publish_pending()
        elif not is_scheduled:
            self._loop.call_at(self._next_at, self.publish_pending)

    def publish_pending(self) -> None:
        progress = self._held
        self._held = None
        # listeners stop once they have the outcome: later output would appear after the result
        if progress is None or self._call.has_ended:
            return
        self._next_at = self._loop.time() + PROGRESS_INTERVAL_SECONDS
        self._services.events.publish("call.progress", progress, session_id=self._call.session_id)
        if self._call.resource is not None:
            self._services.resources.publish_event(self._call.resource, "progress", progress)
        if self._call.notify is not None:
            self._call.notify("progress", progress)


class _CallLog:
    """Forwards as many messages as a call may have, and none once it has ended.

    Args:
        call: The call that sends them.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._count = 0

    def send_message(self, message: str, level: LogLevel) -> None:
        """Forward one message; the last one states that no more follow."""
        self._count += 1
        notify = self._call.notify
        if notify is None or self._call.has_ended or self._count > LOGS_PER_CALL:
            return
        if self._count == LOGS_PER_CALL:
            message = f"{LOGS_PER_CALL:,} messages were passed on; what else this call says is not"
            level = "warning"
        told = {"callId": self._call.id, "tool": self._call.request.tool, "level": level, "message": message}
        notify("log", told)


class CallArtifacts:
    """Implements `agentcore.api.Artifacts` for one call.

    Its own artifacts belong to its session, and it can read others that it has access to.
    """

    def __init__(self, store: ArtifactStore, call: Call) -> None:
        self._store = store
        self._call = call

    async def save(self, data: bytes, *, mime: str, name: str) -> ArtifactLink:
        call = self._call
        return await self._store.save(
            data,
            mime=mime,
            name=name,
            session_id=call.session_id,
            call_id=call.id,
            is_untrusted=call.is_of_open_world,
            account=call.artifact_account,
        )

    async def is_given(self, artifact_id: str) -> bool:
        """True if the executing module has access to an artifact: the arguments name it, or the call has saved it.

        A call that a foreign machine has made has access to what that machine had before, whatever the arguments name.

        Raises:
            ToolError: `artifact_not_found`.
        """
        saved_by = (await self._store.get_artifact(artifact_id)).call_id
        call = self._call
        while call.id != saved_by:
            prepared = call.prepared
            if prepared is None or artifact_id not in to_json(prepared.given).decode():
                return False
            if call.parent is None or call.request.principal.kind != "host":
                return True
            call = call.parent
        return True

    async def load(self, artifact_id: str) -> bytes:
        await self._find_artifact(artifact_id, reads=True)
        return await self._store.load(artifact_id)

    async def describe(self, artifact_id: str) -> ArtifactLink:
        found = await self._find_artifact(artifact_id)
        return ArtifactLink(artifact_id, found.mime, found.size_bytes, found.name)

    async def open(self, artifact_id: str) -> OpenFile:
        await self._find_artifact(artifact_id)
        return await self._store.open_file(artifact_id)

    async def lines(self, artifact_id: str, first: int = 1, *, limit: int, chars: int) -> ArtifactLines:
        return await self._store.read_lines(await self._find_artifact(artifact_id, reads=True), first, limit, chars)

    async def find_lines(self, artifact_id: str, query: str, first: int = 1, *, limit: int) -> ArtifactLines:
        return await self._store.find_lines(await self._find_artifact(artifact_id, reads=True), query, first, limit)

    async def _find_artifact(self, artifact_id: str, *, reads: bool = False) -> Artifact:
        call, artifact = self._call, await self._store.get_artifact(artifact_id)
        if not (call.is_made_by_user or artifact.session_id == call.session_id or await self._is_attached(artifact_id)):
            # as if it were not there: which ids others have is nothing for it to find out
            raise unknown_artifact(artifact_id)
        if reads and artifact.is_untrusted:
            call.has_opened_untrusted = True
        return artifact

    async def _is_attached(self, artifact_id: str) -> bool:
        """True if the user attached it to a message of the session."""
        return await self._store.is_pinned(artifact_id, self._call.session_id)

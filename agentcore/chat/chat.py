"""Chat sessions of a host: takes messages, results and approvals, and lets turns go on whoever listens."""

import asyncio
import importlib
import json
import os
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any

import structlog

from agentcore.api.context import Principal
from agentcore.api.errors import ToolError
from agentcore.chat.settings import ChatSettings
from agentcore.chat.stream import Sink, Stream
from agentcore.chat.texts import text
from agentcore.chat.told import tell_client_result
from agentcore.chat.wire import ChatBody, ClientTool, PageInfo, read_answer, read_client_result
from agentcore.host import Host
from agentcore.host.approving import check_approver
from agentcore.host.events import Event
from agentcore.host.url_pattern import host_of
from agentcore.store.chat_rows import ChatCallRow, ChatSessionRow

if TYPE_CHECKING:
    from agentcore.chat.engine import Engine

log = structlog.get_logger(__name__)


class Chat:
    """The chat of one host. Closed before the host is stopped.

    Args:
        host: Carries out the calls.
        environ: Where keys and addresses of providers stand.
    """

    def __init__(self, host: Host, environ: Mapping[str, str] = os.environ) -> None:
        self._host, self._chats, self._environ = host, host.store.chats, environ
        self._locale = host.config.locale
        self._engine: Engine | None = None
        self._loading = asyncio.Lock()
        self._locks: dict[str, asyncio.Lock] = {}
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._stopped: set[asyncio.Task[None]] = set()
        self._unsubscribe = (
            host.events.subscribe("approval.decided", self._notice_decision),
            host.events.subscribe("stop.changed", self._notice_stop),
        )
        if host.config.approvals.api_token:
            log.warning("api_token_approves", hint="anybody who reads the token can approve calls of a model")

    @property
    def settings(self) -> ChatSettings:
        """Models and agents, as app.json has them.

        Raises:
            ToolError: `invalid_settings`.
        """
        return ChatSettings.read(self._host.config.models, self._host.config.agents, self._environ)

    async def post(self, body: ChatBody, principal: Principal, sink: Sink) -> None:
        """Take what a client sends, and go on with the session; returns after the last event.

        Every failure is an event. A client that goes away (cancels this) does not end the turn.
        """
        stream = Stream(self._host.events, body.session_id, self._locale, sink)
        # waited for and not awaited: neither end of the two takes the other with it
        await asyncio.wait({self._spawn(self._take(body, principal, stream), body.session_id)})

    async def resume(self) -> None:
        """Let turns go on that were cut off by the end of the last process. Called when the modules have started."""
        for request, verdict in self._host.approvals.unused:
            said = {"callId": request.call_id, "approved": verdict.approved, "by": verdict.by}
            self._spawn(self._take_decision(request.session_id, said), request.session_id)
        for session_id in await self._chats.cut_off():
            log.info("session_resumed", session_id=session_id)
            stream = Stream(self._host.events, session_id, self._locale)
            self._spawn(self._guarded(self._go_on(session_id, stream), session_id, stream), session_id)

    def stop(self, session_id: str) -> int:
        """End the turns of a session now; its messages stay. Gives how many went on."""
        tasks = [task for task, session in self._tasks.items() if session == session_id]
        self._stopped.update(tasks)
        for task in tasks:
            task.cancel()
        return len(tasks)

    def warm(self) -> None:
        """Import what asking a model takes, in the background, if there is any model to ask."""
        if ChatSettings({}, {}, self._environ).is_set_up or self._host.config.models:
            self._spawn(self._warm(), "")

    async def close(self) -> None:
        """End all turns as a restart does: they go on afterwards. May be called twice."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._engine is not None:
            await self._engine.close()

    # -- what comes in -----------------------------------------------------------------------------------------

    async def _take(self, body: ChatBody, principal: Principal, stream: Stream) -> None:
        await self._guarded(self._dispatch(body, principal, stream), body.session_id, stream)

    async def _dispatch(self, body: ChatBody, principal: Principal, stream: Stream) -> list[str]:
        settings = self.settings
        agent = settings.agent(body.agent_id)
        session = await self._session(body, principal)
        if body.role == "function":
            await self._take_answer(body, principal, stream)
            return await self._go_on(session.session_id, stream, body)
        call = await self._find_client_call(body)
        if call is not None:
            await self._take_result(body, call)
            return await self._go_on(session.session_id, stream, body)
        settings.choose(body.model or None, agent)
        lock = self._lock(session.session_id)
        if lock.locked():
            message = "the session answers another message; wait for its end, or stop it"
            raise ToolError("session_busy", message, retryable=True)
        async with lock:
            await self._keep_context(body, starts_turn=True)
            turn = await self._turn(session.session_id, stream, body)
            await turn.take(body.message)
            return list(await turn.go_on())

    async def _session(self, body: ChatBody, principal: Principal) -> ChatSessionRow:
        """The session, made at its first message.

        Raises:
            ToolError: `forbidden`: it is another credential's, or another user's.
        """
        session = await self._chats.find(body.session_id)
        if session is None:
            session = await self._chats.create(
                body.session_id,
                owner=principal.kind,
                user_id=body.user_id,
                agent_id=body.agent_id,
                model=body.model or "",
            )
        if (session.owner, session.user_id) != (principal.kind, body.user_id):
            raise ToolError("forbidden", f"session {body.session_id!r} is somebody else's; use one of your own")
        return session

    async def _take_answer(self, body: ChatBody, principal: Principal, stream: Stream) -> None:
        """Keep a person's answer to one call: it counts once."""
        answer = read_answer(body.message)
        call = await self._waiting_call(body.session_id, answer.toolId)
        if answer.approved and call.kind == "client":
            return  # the client runs it, and its result is what counts
        if answer.approved:
            tool = self._host.registry.tools.get(call.tool_name)
            waiting = self._host.approvals.find(call.call_id)
            check_approver(
                principal,
                None if tool is None else tool.definition,
                None if waiting is None else waiting.preview,
                api_token_approves=self._host.config.approvals.api_token,
            )
        moved = await self._chats.move(
            body.session_id,
            answer.toolId,
            "waiting",
            "approved" if answer.approved else "rejected",
            answered_by=f"{principal.kind}:{principal.id}" if principal.id else principal.kind,
        )
        if not moved:
            raise await self._not_waiting(body.session_id, answer.toolId)
        if not answer.approved:
            stream.content(text(self._locale, "cancelled"))

    async def _find_client_call(self, body: ChatBody) -> ChatCallRow | None:
        """The call whose result a message is; None: it is an ordinary message."""
        if body.toolId is not None:
            call = await self._waiting_call(body.session_id, body.toolId)
            if call.kind != "client":
                raise ToolError("tool_call_not_found", f"call {body.toolId!r} does not run in the client")
            return call
        result = read_client_result(body.message)
        if result is None:
            return None
        for call in await self._chats.open_calls(body.session_id):
            if (call.kind, call.state, call.tool_name) == ("client", "waiting", result.tool_name):
                return call
        return None

    async def _take_result(self, body: ChatBody, call: ChatCallRow) -> None:
        await self._host.policy.note_source(body.session_id, call.tool_name)
        result = read_client_result(body.message)
        said = body.message if result is None else result.result
        told = tell_client_result(said, self._locale, call.tool_name)
        stored = json.dumps(told, ensure_ascii=False)
        if not await self._chats.move(body.session_id, call.tool_id, "waiting", "done", result=stored):
            raise await self._not_waiting(body.session_id, call.tool_id)

    async def _waiting_call(self, session_id: str, tool_id: str) -> ChatCallRow:
        call = await self._chats.find_call(session_id, tool_id)
        if call is None or call.state != "waiting":
            raise await self._not_waiting(session_id, tool_id)
        return call

    async def _not_waiting(self, session_id: str, tool_id: str) -> ToolError:
        call = await self._chats.find_call(session_id, tool_id)
        if call is None:
            return ToolError("tool_call_not_found", f"no call {tool_id!r} was made in this session", toolId=tool_id)
        if call.state == "waiting":
            return ToolError(
                "approval_expired", f"call {tool_id!r} waited too long; send a new message", toolId=tool_id
            )
        return ToolError("tool_call_answered", f"call {tool_id!r} was answered already", toolId=tool_id)

    # -- going on ----------------------------------------------------------------------------------------------

    async def _go_on(self, session_id: str, stream: Stream, body: ChatBody | None = None) -> list[str]:
        """Go on with a session if nothing is waited for any more; gives the calls that are."""
        async with self._lock(session_id):
            if body is not None:
                await self._keep_context(body, starts_turn=False)
            calls = await self._chats.open_calls(session_id)
            waiting = [call.tool_id for call in calls if call.state == "waiting"]
            if waiting:
                return waiting
            turn = await self._turn(session_id, stream, body)
            return list(await turn.go_on())

    async def _turn(self, session_id: str, stream: Stream, body: ChatBody | None) -> Any:
        session = await self._chats.find(session_id)
        assert session is not None  # noqa: S101 - found or made before
        engine = await self._load_engine()
        turns = importlib.import_module("agentcore.chat.turn")
        settings = self.settings
        agent = settings.agent(session.agent_id)
        wanted = (body.model if body is not None else None) or session.model or None
        plan = turns.TurnPlan(
            session,
            agent,
            settings.choose(wanted, agent),
            PageInfo.model_validate_json(session.page) if session.page else None,
            tuple(ClientTool.model_validate(tool) for tool in json.loads(session.client_tools or "[]")),
        )
        return turns.Turn(self._host, engine, plan, stream)

    async def _keep_context(self, body: ChatBody, *, starts_turn: bool) -> None:
        """Keep page, client tools, agent and model for the rest of the turn, and for after a restart."""
        values: dict[str, str | None] = {}
        if (page := body.current_page_info) is not None and page.url:
            await self._host.policy.note_source(body.session_id, host_of(page.url) or text(self._locale, "page_source"))
        if starts_turn or body.current_page_info is not None:
            values["page"] = None if body.current_page_info is None else body.current_page_info.model_dump_json()
        if starts_turn or body.browser_tools is not None:
            tools = [tool.model_dump() for tool in body.browser_tools or ()]
            values["client_tools"] = json.dumps(tools, ensure_ascii=False) if tools else None
        if starts_turn:
            values["agent_id"] = body.agent_id
        if body.model:
            values["model"] = body.model
        if values:
            await self._chats.change(body.session_id, **values)

    async def _guarded(self, work: Coroutine[Any, Any, list[str]], session_id: str, stream: Stream) -> None:
        """Carry out a stretch of a turn; whatever happens, it ends with the last event."""
        waiting: list[str] = []
        try:
            waiting = await work
            await self._rest(session_id)
        except asyncio.CancelledError:
            if asyncio.current_task() in self._stopped:
                await self._rest(session_id)
                stream.error(ToolError("cancelled", "the turn was stopped"))
            raise
        except ToolError as exc:
            stream.error(exc)
            waiting = await self._waiting(session_id)
            await self._rest_unless_busy(session_id)
        except Exception as exc:
            log.exception("turn_failed", session_id=session_id)
            message = f"the turn failed with {type(exc).__name__}; the log has the traceback"
            stream.error(ToolError("internal_error", message, session_id=session_id))
            await self._rest(session_id)
        finally:
            stream.finished(waiting)

    async def _waiting(self, session_id: str) -> list[str]:
        calls = await self._chats.open_calls(session_id)
        return [call.tool_id for call in calls if call.state == "waiting"]

    async def _rest_unless_busy(self, session_id: str) -> None:
        if not self._lock(session_id).locked():
            await self._rest(session_id)

    async def _rest(self, session_id: str) -> None:
        await self._chats.change(session_id, is_running=0)

    # -- tasks and events --------------------------------------------------------------------------------------

    def _notice_decision(self, event: Event) -> None:
        if event.session_id is not None:
            self._spawn(self._take_decision(event.session_id, event.data), event.session_id)

    async def _take_decision(self, session_id: str, said: Mapping[str, Any]) -> None:
        """Go on with a call that a person decided elsewhere: at the terminal, in the approval view."""
        call = await self._chats.call_of_host(said["callId"])
        if call is None:
            return
        after: Any = "approved" if said["approved"] else "rejected"
        if await self._chats.move(session_id, call.tool_id, "waiting", after, answered_by=said["by"]):
            stream = Stream(self._host.events, session_id, self._locale)
            await self._guarded(self._go_on(session_id, stream), session_id, stream)

    def _notice_stop(self, event: Event) -> None:
        if event.data["stopped"]:
            for session_id in set(self._tasks.values()):
                self.stop(session_id)

    def _spawn(self, work: Coroutine[Any, Any, None], session_id: str) -> asyncio.Task[None]:
        """Start work that outlives the request; `close` waits for it."""
        task = asyncio.get_running_loop().create_task(work, name=f"chat:{session_id}")
        self._tasks[task] = session_id
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[None]) -> None:
        session_id = self._tasks.pop(task, "")
        self._stopped.discard(task)
        if session_id not in self._tasks.values():
            self._locks.pop(session_id, None)

    def _lock(self, session_id: str) -> asyncio.Lock:
        return self._locks.setdefault(session_id, asyncio.Lock())

    async def _warm(self) -> None:
        try:
            await self._load_engine()
        except ToolError as exc:
            log.warning("chat_not_installed", error=exc.message)

    async def _load_engine(self) -> "Engine":
        """Import the model libraries at first use, in a thread: it takes seconds.

        Raises:
            ToolError: `model_not_configured`: they are not installed.
        """
        async with self._loading:
            if self._engine is None:
                try:
                    await asyncio.to_thread(importlib.import_module, "agentcore.chat.turn")
                except ModuleNotFoundError as exc:
                    message = f"the chat needs {exc.name}; pip install 'agentcore-runtime[chat]'"
                    raise ToolError("model_not_configured", message) from exc
                self._engine = importlib.import_module("agentcore.chat.engine").Engine()
            return self._engine

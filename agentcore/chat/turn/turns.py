"""Lets the turns of sessions go on, one at a time in each, whoever asked for them and whoever listens."""

import asyncio
import importlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from agentcore.api import Principal
from agentcore.chat.session.live import LiveSession, LiveSessions, Sink
from agentcore.chat.session.model_scales import ModelScales
from agentcore.chat.session.queue import publish_queue
from agentcore.chat.session.stream import Stream
from agentcore.chat.session.transcript import create_notice
from agentcore.chat.settings import ChatSettings
from agentcore.chat.system import plan_system
from agentcore.chat.turn.file_readers import FileReaders
from agentcore.chat.turn.stopping import StoppedTurn
from agentcore.chat.turn.untrusted import use_mark
from agentcore.core import Core
from agentcore.core.calls import ModelReader
from agentcore.core.policy import find_reach, owner_of
from agentcore.errors import ToolError
from agentcore.installing import pip_command
from agentcore.store.chat import ChatSessionRow

if TYPE_CHECKING:
    from agentcore.chat.model.engine import Engine
    from agentcore.chat.turn.turn import Turn

log = structlog.get_logger(__name__)

Work = Callable[[Stream], Coroutine[Any, Any, list[str]]]
"""A stretch of a turn, which tells its events to the stream that it is given; gives the calls that wait then."""


class Turns:
    """The turns of one host.

    Args:
        host: Carries out the calls.
        settings: Reads models and agents as they are now.

    Attributes:
        live: Sessions in which something goes on.
        on_rest: Told of a session in which something has ended.
    """

    def __init__(self, core: Core, settings: Callable[[], ChatSettings]) -> None:
        self._core = core
        self._chats = core.store.chats
        self._settings = settings
        self.live = LiveSessions()
        self._readers = FileReaders(core.workspace)
        self._engine: Engine | None = None
        self._loading = asyncio.Lock()
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._stopped: set[asyncio.Task[None]] = set()
        self._stopping: dict[str, asyncio.Task[None]] = {}
        self._is_closed = False
        self.on_rest: Callable[[str], None] = lambda _: None

    @property
    def busy_sessions(self) -> set[str]:
        """Ids of the sessions in which something goes on."""
        return set(self._tasks.values()) - {""}

    def open_stream(self, session_id: str, sink: Sink | None = None) -> Stream:
        """Where a stretch of a turn tells what happens."""
        live = self.live.get_or_create(session_id)
        return Stream(self._core.events, session_id, self._core.config.locale, live, sink=sink)

    def get_turn_lock(self, session_id: str) -> asyncio.Lock:
        """What the one turn of a session holds."""
        return self.live.get_or_create(session_id).turn

    @asynccontextmanager
    async def lock_turn(self, session_id: str) -> AsyncIterator[None]:
        """Hold a session for its one turn."""
        live = self.live.get_or_create(session_id)
        async with live.turn:
            live.has_turn = True
            try:
                yield
            finally:
                live.has_turn = False

    def check_idle(self, session_id: str) -> None:
        """Refuse what may not happen while a turn goes on.

        Raises:
            ToolError: `session_busy`.
        """
        if self.live.get_or_create(session_id).has_turn:
            message = "the session answers another message; wait for its end, or stop it"
            raise ToolError("session_busy", message, retryable=True)

    def stop_turns(self, session_id: str) -> int:
        """Begin to end what goes on in a session; what was said stays. Gives how many turns and calls that are."""
        tasks = [task for task, session in self._tasks.items() if session == session_id and task not in self._stopped]
        self._stopped.update(tasks)
        for task in tasks:
            task.cancel()
        live = self.live.get_or_create(session_id)
        before = self._stopping.get(session_id)
        live.stops += 1
        work = self._finish_stopped_turn(session_id, before, is_turn=live.has_turn and bool(tasks))
        task = self._stopping[session_id] = self.spawn_task(work, session_id)
        self._stopped.add(task)  # it is not stopped itself
        task.add_done_callback(partial(self._remove_stopping_task, session_id))
        return len(tasks)

    async def stop_and_wait(self, session_id: str) -> int:
        """End what goes on in a session, and return when all of it is settled."""
        count = self.stop_turns(session_id)
        # waited for and not awaited: who asks may go away
        await asyncio.wait((self._stopping[session_id],))
        return count

    async def _finish_stopped_turn(self, session_id: str, before: asyncio.Task[None] | None, *, is_turn: bool) -> None:
        if before is not None:
            await asyncio.wait((before,))
        stream = self.open_stream(session_id)
        async with self.get_turn_lock(session_id):  # it is free when what held it has ended
            ending = StoppedTurn(self._core, stream)
            await ending.store_partial_text()
            is_turn = await ending.settle_calls() or is_turn
            if is_turn:
                await self._finish_with_error(ToolError("cancelled", "the turn was stopped"), session_id, stream)
            else:
                await self._pause_queue(session_id)
        if is_turn:
            stream.send_finished([])

    async def close(self) -> None:
        """End all turns as a restart does. May be called twice."""
        self._is_closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._readers.close()
        if self._engine is not None:
            await self._engine.close()

    def spawn_task(self, work: Coroutine[Any, Any, None], session_id: str) -> asyncio.Task[None]:
        """Start work that outlives the request; `close` waits for it."""
        # in no TaskGroup: one turn that fails must not end the others; `close` cancels this one, and waits
        task = asyncio.get_running_loop().create_task(work, name=f"chat:{session_id}")
        self._tasks[task] = session_id
        task.add_done_callback(self._remove_task)
        return task

    async def start_if_idle(self, session_id: str, choose: Callable[[], Awaitable[Work | None]]) -> bool:
        """Start a stretch of a turn if nothing goes on in the session; False: nothing was started.

        Args:
            choose: Asked while the session is held for it; None: nothing is to be started after all.
        """
        if (live := self.live.get_or_create(session_id)).turn.locked():
            live.must_advance = True  # whoever holds it looks afterwards
            return False
        live = await self._acquire_turn(session_id)
        stops = live.stops
        work = None
        try:
            work = await choose()
        finally:
            if work is None or live.stops != stops:  # stopped before it began
                live.turn.release()
        if work is None or live.stops != stops:
            return False
        self._start_locked(session_id, work)
        return True

    async def replace_running_turn(self, session_id: str, work: Work) -> None:
        """Start a stretch of a turn in the place of the one that goes on, which is ended."""
        while self.live.get_or_create(session_id).has_turn:
            await self.stop_and_wait(session_id)
        await self._acquire_turn(session_id)
        self._start_locked(session_id, work)

    async def _acquire_turn(self, session_id: str) -> LiveSession:
        """Hold a session, whose live side is not forgotten from then on."""
        while True:
            live = self.live.get_or_create(session_id)
            await live.turn.acquire()
            if self.live.find(session_id) is live:
                return live
            live.turn.release()  # nothing went on, and it was forgotten, before it was held

    def _start_locked(self, session_id: str, work: Work) -> None:
        stream = self.open_stream(session_id)
        live = self.live.get_or_create(session_id)
        live.has_turn = True

        def release(_: asyncio.Task[None]) -> None:
            live.has_turn = False
            live.turn.release()

        task = self.spawn_task(self.run_guarded(work(stream), session_id, stream, holds_turn=True), session_id)
        # not in the task, which may be cancelled before it begins
        task.remove_done_callback(self._remove_task)
        task.add_done_callback(release)
        task.add_done_callback(self._remove_task)

    async def pin_attachments(self, session_id: str, attachments: Sequence[str], by: Principal) -> None:
        """Hold what is attached to a message that is about to be sent.

        Raises:
            ToolError: `artifact_not_found`: of an artifact that is not there, or is another's; `attachments_full`.
        """
        if attachments:
            owner = None if find_reach(by, "converse") == "all" else owner_of(by)
            await self._core.store.artifacts.pin_artifacts(attachments, session_id, owner)

    @asynccontextmanager
    async def unpin_if_unsent(self, session_id: str, attachments: Sequence[str]) -> AsyncIterator[None]:
        """Let go of what was held for a message where sending it fails."""
        try:
            yield
        except BaseException:
            if attachments:
                await self._core.store.artifacts.unpin_artifacts(attachments, session_id)
            raise

    async def run_guarded(
        self, work: Coroutine[Any, Any, list[str]], session_id: str, stream: Stream, *, holds_turn: bool = False
    ) -> None:
        """Carry out a stretch of a turn; whatever happens, it ends with the last event."""
        waiting: list[str] = []
        is_stopped = False

        def is_alone() -> bool:
            return holds_turn or not self.live.get_or_create(session_id).has_turn

        try:
            waiting = await work
            if is_alone():
                await self._mark_idle(session_id)
        except asyncio.CancelledError:
            is_stopped = asyncio.current_task() in self._stopped
            if is_stopped:
                # here for the client alone, and when all is settled: from then on it may send again
                if stream.sink is not None and (ending := self._stopping.get(session_id)) is not None:
                    await asyncio.wait((ending,))
                stream.send_error(ToolError("cancelled", "the turn was stopped"), is_of_turn=False)
            raise
        except ToolError as exc:
            stream.send_error(exc, is_of_turn=is_alone())
            waiting = await self.list_waiting_calls(session_id)
            if is_alone():
                await self._mark_idle(session_id)
        except Exception as exc:
            log.exception("turn_failed", session_id=session_id)
            message = f"the turn failed with {type(exc).__name__}; the log has the traceback"
            await self._finish_with_error(
                ToolError("internal_error", message, session_id=session_id), session_id, stream
            )
        finally:
            stream.send_finished(waiting, is_of_turn=is_alone() and not is_stopped)

    async def continue_turn(self, session_id: str, stream: Stream) -> list[str]:
        """Go on with a session if nothing is waited for any more; gives the calls that are."""
        async with self.lock_turn(session_id):
            waiting = await self.list_waiting_calls(session_id)
            return waiting or await self.run_turn(await self.load_turn(session_id, stream), session_id)

    async def run_turn(self, turn: "Turn", session_id: str) -> list[str]:
        """Let a turn go on; what ends it is kept for the person to read.

        Raises:
            ToolError: What ended it.
        """
        try:
            return list(await turn.run_until_waiting())
        except ToolError as exc:
            await self.store_turn_error(session_id, exc)
            raise
        finally:
            self.live.get_or_create(session_id).client = None

    async def load_turn(self, session_id: str, stream: Stream) -> "Turn":
        """The turn of a session as it is stored.

        Raises:
            ToolError: The model or the agent cannot be had.
        """
        session = await self._chats.find_session(session_id)
        assert session is not None  # noqa: S101 - found or made before
        use_mark(session.mark)
        stream.live.todos = json.loads(session.todos or "[]")
        stream.live.client = stream.sink
        stream.live.model_scales = ModelScales.from_json_text(session.model_scales)
        engine = await self.load_engine()
        turns = importlib.import_module("agentcore.chat.turn.turn")
        settings = self._settings()
        agent = settings.get_agent(session.agent_id)
        stream.live.owner = session.owner
        stream.live.agent_id = session.agent_id
        stream.live.mode = settings.mode_for(session.mode, session.agent_id)
        stream.live.hosts = settings.hosts_for(session.host, session.agent_id)
        stream.live.reader = ModelReader(agent.result_chars, agent.offers_tool)
        plan = turns.TurnPlan(
            session,
            agent,
            settings.choose_model(session.model or None, agent),
            await plan_system(self._core, session),
        )
        made: Turn = turns.Turn(self._core, engine, plan, stream, self._readers)
        return made

    async def store_turn_error(self, session_id: str, error: ToolError) -> None:
        """Keep what ended a turn among the messages; a person says when those go on that wait."""
        await self._pause_queue(session_id)
        await self._chats.append_messages(session_id, [create_notice("", error=error.to_json())])

    async def load_engine(self) -> "Engine":
        """Import the model libraries at first use, in a thread: it takes seconds.

        Raises:
            ToolError: `model_not_configured`: they are not installed.
        """
        async with self._loading:
            if self._engine is None:
                try:
                    with self._core.during_imports():
                        await asyncio.to_thread(importlib.import_module, "agentcore.chat.turn.turn")
                except ModuleNotFoundError as exc:
                    message = f"the chat needs {exc.name}; {pip_command('agentcore-runtime[chat]')}"
                    raise ToolError("model_not_configured", message) from exc
                self._engine = importlib.import_module("agentcore.chat.model.engine").Engine()
            return self._engine

    async def check_can_start(self, session: ChatSessionRow, *, model: str = "", agent_id: str = "") -> None:
        """See that a turn can begin; with a model or an agent, that it can with these.

        Raises:
            ToolError: `agent_not_found`, `model_not_found`, `model_not_configured`.
        """
        settings = self._settings()
        agent = settings.get_agent(agent_id or session.agent_id)
        settings.choose_model(model or session.model or None, agent)
        await self.load_engine()

    async def _finish_with_error(self, error: ToolError, session_id: str, stream: Stream) -> None:
        await self._mark_idle(session_id)
        await self.store_turn_error(session_id, error)
        stream.send_error(error)

    async def list_waiting_calls(self, session_id: str) -> list[str]:
        """The calls of a session that wait, those inside of its calls included."""
        calls = await self._chats.load_open_calls(session_id)
        return [
            *(call.tool_id for call in calls if call.state == "waiting"),
            *self.list_waiting_inner_calls(session_id),
        ]

    def list_waiting_inner_calls(self, session_id: str) -> list[str]:
        """The calls of sub-agents, and those that tools make, that wait for a person."""
        live = self.live.find(session_id)
        approvals = self._core.approvals
        return [
            tool_id
            for tool_id, call_id in ({} if live is None else live.inner).items()
            if (pending := approvals.find_pending(call_id)) is not None and pending.verdict is None
        ]

    async def _pause_queue(self, session_id: str) -> None:
        if await self._chats.queue.set_paused(session_id, is_paused=True):
            await publish_queue(self._chats, self.open_stream(session_id))

    async def _mark_idle(self, session_id: str) -> None:
        await self._chats.update_session(session_id, is_running=0)

    def _remove_stopping_task(self, session_id: str, task: asyncio.Task[None]) -> None:
        if self._stopping.get(session_id) is task:
            del self._stopping[session_id]

    def _remove_task(self, task: asyncio.Task[None]) -> None:
        session_id = self._tasks.pop(task, "")
        self._stopped.discard(task)
        if session_id and not self._is_closed:
            self.on_rest(session_id)
        self.remove_if_idle(session_id)

    def remove_if_idle(self, session_id: str) -> None:
        """Forget the live side of a session in which nothing goes on."""
        if session_id not in self._tasks.values():
            self.live.remove_if_idle(session_id)

"""Schedules turns, at most one per session, independently of the clients that requested them or listen."""

import asyncio
import importlib
import json
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from agentcore.chat.session.event_stream import Stream
from agentcore.chat.session.live_state import LiveSessions, Sink
from agentcore.chat.session.message_queue import publish_queue
from agentcore.chat.session.model_scales import ModelScales
from agentcore.chat.session.transcript import create_notice
from agentcore.chat.settings import ChatSettings
from agentcore.chat.system.parts import plan_system
from agentcore.chat.turn.file_readers import FileReaders
from agentcore.chat.turn.stopping import StoppedTurn
from agentcore.chat.untrusted_text import use_mark
from agentcore.core.calls.call import ModelReader
from agentcore.core.core import Core
from agentcore.errors import ToolError
from agentcore.installing import pip_command
from agentcore.store.chat.chat_rows import ChatSessionRow

if TYPE_CHECKING:
    from agentcore.chat.model.model_requests import Engine
    from agentcore.chat.turn.turn import Turn

log = structlog.get_logger(__name__)

T = TypeVar("T")

Outcome = list[str] | asyncio.Task[object]
"""How work on a turn ended: the ids of the calls that wait, or the turn that it started, which sends the last event."""

Work = Callable[[Stream], Coroutine[Any, Any, list[str]]]
"""Work on a turn: publishes its events to the given stream, and returns the ids of the calls that then wait."""


class Turns:
    """The turns of all sessions of a core.

    Args:
        core: Runs the calls.
        settings: Returns the current models and agents.

    Attributes:
        live: In-memory state of the sessions in use.
        on_rest: Called with the id of a session in which a task has ended.
    """

    def __init__(self, core: Core, settings: Callable[[], ChatSettings]) -> None:
        self._core = core
        self._chats = core.store.chats
        self._settings = settings
        self.live = LiveSessions()
        self._readers = FileReaders(core.workspace)
        self._engine: Engine | None = None
        self._loading = asyncio.Lock()
        self._tasks: dict[asyncio.Task[Any], str] = {}
        self._stopped: set[asyncio.Task[Any]] = set()
        self._stopping: dict[str, asyncio.Task[None]] = {}
        self._is_closed = False
        self.on_rest: Callable[[str], None] = lambda _: None

    @property
    def busy_sessions(self) -> set[str]:
        """Ids of the sessions with running tasks."""
        return set(self._tasks.values()) - {""}

    def open_stream(self, session_id: str, sink: Sink | None = None) -> Stream:
        """Create a stream for the events of a session; `sink` is the client that waits for them."""
        live = self.live.get_or_create(session_id)
        return Stream(self._core.events, session_id, self._core.config.locale, live, sink=sink)

    def stop_turns(self, session_id: str) -> int:
        """Start stopping all tasks of a session; return how many were cancelled. Stored messages remain."""
        tasks = [task for task, session in self._tasks.items() if session == session_id and task not in self._stopped]
        self._stopped.update(tasks)
        for task in tasks:
            task.cancel()
        live = self.live.get_or_create(session_id)
        before = self._stopping.get(session_id)
        live.stops += 1
        work = self._finish_stopped_turn(session_id, before, is_turn=live.turn.has_turn and bool(tasks))
        task = self._stopping[session_id] = self.spawn_task(work, session_id)
        self._stopped.add(task)  # a second stop must not cancel this task
        task.add_done_callback(partial(self._remove_stopping_task, session_id))
        return len(tasks)

    async def stop_and_wait(self, session_id: str) -> int:
        """Stop all tasks of a session, wait until its calls are settled, and return how many were cancelled."""
        count = self.stop_turns(session_id)
        # wait(), not await: cancelling the caller must not cancel the task
        await asyncio.wait((self._stopping[session_id],))
        return count

    async def _finish_stopped_turn(self, session_id: str, before: asyncio.Task[None] | None, *, is_turn: bool) -> None:
        if before is not None:
            await asyncio.wait((before,))
        stream = self.open_stream(session_id)
        async with stream.live.turn.lock_session():  # released when the cancelled turn has ended
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
        """Cancel all turns; they resume after a restart. Safe to call twice."""
        self._is_closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._readers.close()
        if self._engine is not None:
            await self._engine.close()

    def spawn_task(self, work: Coroutine[Any, Any, T], session_id: str) -> asyncio.Task[T]:
        """Start a task that survives the request; `close` waits for it."""
        # not in a TaskGroup: a failing turn must not cancel the others; `close` cancels and awaits this task
        task = asyncio.get_running_loop().create_task(work, name=f"chat:{session_id}")
        self._tasks[task] = session_id
        task.add_done_callback(self._remove_task)
        return task

    async def start_if_idle(
        self, session_id: str, choose: Callable[[], Awaitable[Work | None]], stream: Stream | None = None
    ) -> asyncio.Task[object] | None:
        """Start work on a turn if none is running in the session; return None if nothing was started.

        Args:
            session_id: The session.
            choose: Called while the session's lock is held; returns None if there is nothing to start.
            stream: Receives the turn's events; None: no client waits for them.
        """
        live = self.live.get_or_create(session_id)
        if not await live.turn.acquire_unless_turn():
            return None
        stops = live.stops
        work = None
        try:
            work = await choose()
        finally:
            if work is None or live.stops != stops:  # stopped before it started
                live.turn.release()
        if work is None or live.stops != stops:
            return None
        return self._start_locked(work, stream or self.open_stream(session_id))

    async def replace_running_turn(self, session_id: str, work: Work) -> None:
        """Stop the running turn of a session, and start work on another one."""
        while not await self.live.get_or_create(session_id).turn.acquire_unless_turn():
            await self.stop_and_wait(session_id)
        self._start_locked(work, self.open_stream(session_id))

    def _start_locked(self, work: Work, stream: Stream) -> asyncio.Task[object]:
        """Start work on a turn; the caller holds the session's lock, which the turn holds from now on."""
        lock = stream.live.turn
        lock.mark_turn()
        is_released = False

        def release() -> None:
            nonlocal is_released
            if not is_released:
                is_released = True
                lock.release()

        guarded = self.run_guarded(work(stream), stream.session_id, stream, release=release)
        task = self.spawn_task(guarded, stream.session_id)
        # in callbacks: a task may be cancelled before it starts; the session counts as idle only after the release
        task.remove_done_callback(self._remove_task)
        task.add_done_callback(lambda _: release())
        task.add_done_callback(self._remove_task)
        return task

    def start_continuation(
        self,
        session_id: str,
        stream: Stream | None = None,
        prepare: Callable[[], Awaitable[None]] | None = None,
    ) -> asyncio.Task[object]:
        """Continue a session's turn after the running one, unless calls wait.

        Args:
            session_id: The session.
            stream: Receives the events; None: no client waits for them.
            prepare: Called before, while the session's lock is held.
        """
        stream = stream or self.open_stream(session_id)
        work = self._continue_turn(session_id, stream, prepare)
        return self.spawn_task(self.run_guarded(work, session_id, stream), session_id)

    async def _continue_turn(
        self, session_id: str, stream: Stream, prepare: Callable[[], Awaitable[None]] | None
    ) -> list[str]:
        async with stream.live.turn.lock_session():
            if prepare is not None:
                await prepare()
            if waiting := await self.list_waiting_calls(session_id):
                return waiting
            stream.live.turn.mark_turn()
            return await self.run_turn(await self.load_turn(session_id, stream), session_id)

    async def run_guarded(
        self,
        work: Coroutine[Any, Any, Outcome],
        session_id: str,
        stream: Stream,
        *,
        release: Callable[[], None] | None = None,
    ) -> asyncio.Task[object] | None:
        """Run work on a turn; whatever happens, its last event is `session.finished`.

        Args:
            work: The work.
            session_id: The session.
            stream: Receives the events.
            release: Releases the session's lock, if the caller acquired it for this turn.
        Returns:
            The turn that the work started, which sends that event; None: there is none.
        """
        outcome: Outcome = []
        is_stopped = False

        def is_alone() -> bool:
            return release is not None or not self.live.get_or_create(session_id).turn.has_turn

        try:
            outcome = await self._run_to_outcome(work, session_id, stream, is_alone)
        except asyncio.CancelledError:
            is_stopped = asyncio.current_task() in self._stopped
            if is_stopped:
                if release is not None:
                    release()  # the stop is completed under the lock
                # only for the client, and only once the stop is complete: after this event it may send again
                if stream.sink is not None and (ending := self._stopping.get(session_id)) is not None:
                    await asyncio.wait((ending,))
                stream.send_error(ToolError("cancelled", "the turn was stopped"), is_of_turn=False)
            raise
        finally:
            if isinstance(outcome, list):
                stream.send_finished(outcome, is_of_turn=is_alone() and not is_stopped)
        return None if isinstance(outcome, list) else outcome

    async def _run_to_outcome(
        self, work: Coroutine[Any, Any, Outcome], session_id: str, stream: Stream, is_alone: Callable[[], bool]
    ) -> Outcome:
        """Run work on a turn, and report its failure; a turn that it started reports its own."""
        outcome: Outcome = []
        try:
            outcome = await work
            if isinstance(outcome, list) and is_alone():
                await self._mark_idle(session_id)
        except ToolError as exc:
            stream.send_error(exc, is_of_turn=is_alone())
            outcome = await self.list_waiting_calls(session_id)
            if is_alone():
                await self._mark_idle(session_id)
        except Exception as exc:
            log.exception("turn_failed", session_id=session_id)
            message = f"the turn failed with {type(exc).__name__}; the log has the traceback"
            await self._finish_with_error(
                ToolError("internal_error", message, session_id=session_id), session_id, stream
            )
        return outcome

    async def run_turn(self, turn: "Turn", session_id: str) -> list[str]:
        """Run a turn until it ends or waits; an error that ends it is stored as a notice for the user.

        Raises:
            ToolError: The error that ended it.
        """
        try:
            return list(await turn.run_until_waiting())
        except ToolError as exc:
            await self.store_turn_error(session_id, exc)
            raise
        finally:
            self.live.get_or_create(session_id).client = None

    async def load_turn(self, session_id: str, stream: Stream) -> "Turn":
        """Create the turn of a session from its stored state.

        Raises:
            ToolError: The model or the agent is not available.
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
        self._core.policy.set_session_mode(session.session_id, settings.mode_for(session.mode, session.agent_id))
        stream.live.hosts = settings.hosts_for(session.host, session.agent_id)
        stream.live.reader = ModelReader(agent.result_chars, agent.offers_tool, self._readers.read_image)
        choice = settings.choose_model(session.model or None, agent)
        if stream.live.model_scales.writes_calls(choice.full_name):
            choice = choice.model_copy(update={"tools": "prompted"})
        system = await plan_system(self._core, session)
        for source in system.list_untrusted_sources(agent):
            await self._core.policy.record_untrusted_source(session_id, source)
        # while modules start, what they tell is not complete
        is_first = session.chat_starts is None and not self._core.registry.list_starting_modules()
        starts = system.starts.model_dump_json() if is_first else None
        plan = turns.TurnPlan(session, agent, choice, system, starts)
        made: Turn = turns.Turn(self._core, engine, plan, stream, self._readers)
        return made

    async def store_turn_error(self, session_id: str, error: ToolError) -> None:
        """Store the error that ended a turn as a notice, and pause the queue until the user resumes it."""
        await self._pause_queue(session_id)
        await self._chats.append_messages(session_id, [create_notice("", error=error.to_json())])

    async def load_engine(self) -> "Engine":
        """Import the model libraries at first use, in a thread because it takes seconds.

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
                self._engine = importlib.import_module("agentcore.chat.model.model_requests").Engine()
            return self._engine

    async def check_can_start(self, session: ChatSessionRow, *, model: str = "", agent_id: str = "") -> None:
        """Check that a turn can start with the session's model and agent, or with the given ones.

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
        """Return the ids of a session's waiting calls, including nested ones."""
        calls = await self._chats.load_open_calls(session_id)
        return [
            *(call.tool_id for call in calls if call.state == "waiting"),
            *self.list_waiting_inner_calls(session_id),
        ]

    def list_waiting_inner_calls(self, session_id: str) -> list[str]:
        """Return the ids of nested calls, made by sub-agents or tools, that wait for the user."""
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

    def _remove_task(self, task: asyncio.Task[Any]) -> None:
        session_id = self._tasks.pop(task, "")
        self._stopped.discard(task)
        if session_id and not self._is_closed:
            self.on_rest(session_id)
        self.remove_if_idle(session_id)

    def remove_if_idle(self, session_id: str) -> None:
        """Discard the in-memory state of a session without running tasks."""
        if session_id not in self._tasks.values():
            self.live.remove_if_idle(session_id)

"""Lets the turns of sessions go on, one at a time in each, whoever asked for them and whoever listens."""

import asyncio
import importlib
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import structlog

from agentcore.api import Principal
from agentcore.chat.session.live import LiveSessions, Sink
from agentcore.chat.session.model_scales import ModelScales
from agentcore.chat.session.stream import Stream
from agentcore.chat.session.transcript import notice
from agentcore.chat.settings import ChatSettings
from agentcore.chat.system import plan_system
from agentcore.chat.turn.file_readers import FileReaders
from agentcore.chat.wire import ClientTool, PageInfo
from agentcore.errors import ToolError
from agentcore.host import Host
from agentcore.host.calls import ModelReader
from agentcore.host.policy import owner_of, reach
from agentcore.installing import pip_command

if TYPE_CHECKING:
    from agentcore.chat.model.engine import Engine
    from agentcore.chat.turn.turn import Turn

log = structlog.get_logger(__name__)


class Turns:
    """The turns of one host.

    Args:
        host: Carries out the calls.
        settings: Reads models and agents as they are now.
    """

    def __init__(self, host: Host, settings: Callable[[], ChatSettings]) -> None:
        self._host, self._chats, self._settings = host, host.store.chats, settings
        self.live = LiveSessions()
        self._readers = FileReaders(host.workspace)
        self._engine: Engine | None = None
        self._loading = asyncio.Lock()
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._stopped: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> set[str]:
        """Ids of the sessions in which something goes on."""
        return set(self._tasks.values()) - {""}

    def stream(self, session_id: str, sink: Sink | None = None) -> Stream:
        """Where a stretch of a turn tells what happens."""
        live = self.live.get(session_id)
        return Stream(self._host.events, session_id, self._host.config.locale, live, sink=sink)

    def lock(self, session_id: str) -> asyncio.Lock:
        """What the one turn of a session holds."""
        return self.live.get(session_id).turn

    def check_idle(self, session_id: str) -> None:
        """Refuse what may not happen while a turn goes on.

        Raises:
            ToolError: `session_busy`.
        """
        if self.lock(session_id).locked():
            message = "the session answers another message; wait for its end, or stop it"
            raise ToolError("session_busy", message, retryable=True)

    def stop(self, session_id: str) -> int:
        """End the turns of a session now; its messages stay. Gives how many went on."""
        tasks = [task for task, session in self._tasks.items() if session == session_id]
        self._stopped.update(tasks)
        for task in tasks:
            task.cancel()
        return len(tasks)

    async def stopped(self, session_id: str) -> None:
        """End the turns of a session, and wait until they have ended."""
        tasks = [task for task, session in self._tasks.items() if session == session_id]
        self.stop(session_id)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        """End all turns as a restart does. May be called twice."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._readers.close()
        if self._engine is not None:
            await self._engine.close()

    def spawn(self, work: Coroutine[Any, Any, None], session_id: str) -> asyncio.Task[None]:
        """Start work that outlives the request; `close` waits for it."""
        # in no TaskGroup: one turn that fails must not end the others; `close` cancels this one, and waits
        task = asyncio.get_running_loop().create_task(work, name=f"chat:{session_id}")
        self._tasks[task] = session_id
        task.add_done_callback(self._forget)
        return task

    async def begin(self, session_id: str, work: Callable[[Stream], Coroutine[Any, Any, list[str]]]) -> None:
        """Start a stretch of a turn that holds the session from now on, and nobody waits for.

        Raises:
            ToolError: `session_busy`.
        """
        self.check_idle(session_id)
        lock = self.lock(session_id)
        await lock.acquire()  # it is free: nothing comes in between
        stream = self.stream(session_id)
        task = self.spawn(self.guarded(work(stream), session_id, stream, holds_turn=True), session_id)
        # not in the task, which may be cancelled before it begins
        task.remove_done_callback(self._forget)
        task.add_done_callback(lambda _: lock.release())
        task.add_done_callback(self._forget)

    async def hold(self, session_id: str, attachments: Sequence[str], by: Principal) -> None:
        """Hold what is attached to a message that is about to be sent.

        Raises:
            ToolError: `artifact_not_found`: of an artifact that is not there, or is another's; `attachments_full`.
        """
        if attachments:
            owner = None if reach(by, "converse") == "all" else owner_of(by)
            await self._host.store.artifacts.hold(attachments, session_id, owner)

    @asynccontextmanager
    async def sending(self, session_id: str, attachments: Sequence[str]) -> AsyncIterator[None]:
        """Let go of what was held for a message where sending it fails."""
        try:
            yield
        except BaseException:
            if attachments:
                await self._host.store.artifacts.release(attachments, session_id)
            raise

    async def guarded(
        self, work: Coroutine[Any, Any, list[str]], session_id: str, stream: Stream, *, holds_turn: bool = False
    ) -> None:
        """Carry out a stretch of a turn; whatever happens, it ends with the last event."""
        waiting: list[str] = []

        def is_alone() -> bool:
            return holds_turn or not self.lock(session_id).locked()

        try:
            waiting = await work
            if is_alone():
                await self._rest(session_id)
        except asyncio.CancelledError:
            if asyncio.current_task() in self._stopped:
                await self._end_with(ToolError("cancelled", "the turn was stopped"), session_id, stream)
            raise
        except ToolError as exc:
            stream.error(exc, is_of_turn=is_alone())
            waiting = await self.waiting(session_id)
            if is_alone():
                await self._rest(session_id)
        except Exception as exc:
            log.exception("turn_failed", session_id=session_id)
            message = f"the turn failed with {type(exc).__name__}; the log has the traceback"
            await self._end_with(ToolError("internal_error", message, session_id=session_id), session_id, stream)
        finally:
            stream.finished(waiting, is_of_turn=is_alone())

    async def go_on(self, session_id: str, stream: Stream) -> list[str]:
        """Go on with a session if nothing is waited for any more; gives the calls that are."""
        async with self.lock(session_id):
            waiting = await self.waiting(session_id)
            return waiting or await self.carry(await self.turn(session_id, stream), session_id)

    async def carry(self, turn: "Turn", session_id: str) -> list[str]:
        """Let a turn go on; what ends it is kept for the person to read.

        Raises:
            ToolError: What ended it.
        """
        try:
            return list(await turn.go_on())
        except ToolError as exc:
            await self.keep_error(session_id, exc)
            raise
        finally:
            self.live.get(session_id).client = None

    async def turn(self, session_id: str, stream: Stream) -> "Turn":
        """The turn of a session as it is stored.

        Raises:
            ToolError: The model or the agent cannot be had.
        """
        session = await self._chats.find(session_id)
        assert session is not None  # noqa: S101 - found or made before
        stream.live.todos = json.loads(session.todos or "[]")
        stream.live.client = stream.sink
        stream.live.model_scales = ModelScales.read(session.model_scales)
        engine = await self.load_engine()
        turns = importlib.import_module("agentcore.chat.turn.turn")
        settings = self._settings()
        agent = settings.agent(session.agent_id)
        stream.live.agent_id, stream.live.mode = session.agent_id, settings.mode_for(session.mode, session.agent_id)
        stream.live.reader = ModelReader(agent.result_chars, agent.offers)
        plan = turns.TurnPlan(
            session,
            agent,
            settings.choose(session.model or None, agent),
            await plan_system(self._host, session),
            PageInfo.model_validate_json(session.page) if session.page else None,
            tuple(ClientTool.model_validate(tool) for tool in json.loads(session.client_tools or "[]")),
        )
        made: Turn = turns.Turn(self._host, engine, plan, stream, self._readers)
        return made

    async def keep_error(self, session_id: str, error: ToolError) -> None:
        """Keep what ended a turn among the messages."""
        await self._chats.append(session_id, [notice("", error=error.to_json())])

    async def load_engine(self) -> "Engine":
        """Import the model libraries at first use, in a thread: it takes seconds.

        Raises:
            ToolError: `model_not_configured`: they are not installed.
        """
        async with self._loading:
            if self._engine is None:
                try:
                    with self._host.importing():
                        await asyncio.to_thread(importlib.import_module, "agentcore.chat.turn.turn")
                except ModuleNotFoundError as exc:
                    message = f"the chat needs {exc.name}; {pip_command('agentcore-runtime[chat]')}"
                    raise ToolError("model_not_configured", message) from exc
                self._engine = importlib.import_module("agentcore.chat.model.engine").Engine()
            return self._engine

    async def _end_with(self, error: ToolError, session_id: str, stream: Stream) -> None:
        await self._rest(session_id)
        await self.keep_error(session_id, error)
        stream.error(error)

    async def waiting(self, session_id: str) -> list[str]:
        """The calls of a session that wait, those inside of its calls included."""
        calls = await self._chats.open_calls(session_id)
        return [*(call.tool_id for call in calls if call.state == "waiting"), *self.waiting_inside(session_id)]

    def waiting_inside(self, session_id: str) -> list[str]:
        """The calls of sub-agents, and those that tools make, that wait for a person."""
        live, approvals = self.live.find(session_id), self._host.approvals
        return [
            tool_id
            for tool_id, call_id in ({} if live is None else live.inner).items()
            if (pending := approvals.find(call_id)) is not None and pending.verdict is None
        ]

    async def _rest(self, session_id: str) -> None:
        await self._chats.change(session_id, is_running=0)

    def _forget(self, task: asyncio.Task[None]) -> None:
        session_id = self._tasks.pop(task, "")
        self._stopped.discard(task)
        if session_id not in self._tasks.values():
            self.live.forget(session_id)

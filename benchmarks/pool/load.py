"""Sessions that call again and again, as sensible clients do, and what they were told."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.pool.farm import Farm, Runs, note

_NOTHING_DONE = frozenset(("server_away", "host_away", "pool_full", "too_many_calls", "lease_unknown", "lease_lost"))
"""Errors that say that the call did not run."""

EXPECTED = frozenset(("interrupted", "server_away", "host_away", "pool_full"))
"""Errors that whoever calls has to reckon with."""

_AGAIN_SECONDS = 0.2
_ON_ITS_WAY_SECONDS = 0.05
"""So long after something was killed an answer may have been on its way before."""


@dataclass(eq=False)
class Session:
    """One session with a counter of its own.

    Args:
        count: What it was told last.
        unknown: Calls since then whose end nobody knows.
        where: The host, and its process, that told it.
    """

    id: str
    count: int = 0
    unknown: int = 0
    asked: int = 0
    where: tuple[str, int] | None = None
    is_ready: bool = True
    is_urgent: bool = False


@dataclass(eq=False)
class Disruption:
    """Something was killed.

    Args:
        what: What.
        at: When.
        waiting: The sessions that have had no answer since.
        took_s: How long it was until the last one had.
    """

    what: str
    at: float
    waiting: set[Session]
    took_s: float = 0.0
    sessions: int = field(init=False)

    def __post_init__(self) -> None:
        self.sessions = len(self.waiting)


class Load:
    """Calls of many sessions, so many of them at one time.

    Those that something killed has hit are asked at once, beside the others: what is measured then is when they can be
    answered, not when it is their turn.
    """

    def __init__(self, farm: Farm, sessions: int, in_flight: int) -> None:
        self._farm, self._in_flight = farm, in_flight
        self.sessions = [Session(f"s{number}") for number in range(sessions)]
        self._ready = deque(self.sessions)
        self._news = asyncio.Semaphore(sessions)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_over = False
        self.took_ms: list[float] = []
        self.ends: dict[str, str] = {}
        self.unanswered: dict[str, Session] = {}
        self.answered_again: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.wrong_counts: list[str] = []
        self.disruptions: list[Disruption] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """A block in which all sessions call; at its end calls on their way are waited for."""
        workers = [asyncio.create_task(self._work()) for _ in range(self._in_flight)]
        try:
            yield
        finally:
            self._is_over = True
            for _ in workers:
                self._news.release()
            await asyncio.gather(*workers)
            while self._tasks:
                await asyncio.wait(set(self._tasks))

    async def once(self) -> None:
        """Have each session call once, and be told."""
        limit = asyncio.Semaphore(self._in_flight)

        async def first(session: Session) -> None:
            async with limit:
                while session.where is None:
                    if not await self._ask(session):
                        await asyncio.sleep(_AGAIN_SECONDS)

        await asyncio.gather(*map(first, self.sessions))

    def disrupted(self, what: str, sessions: Iterable[Session]) -> Disruption:
        """Something is killed now, which sessions feel."""
        made = Disruption(what, time.perf_counter(), set(sessions))
        self.disruptions.append(made)
        for session in made.waiting:
            session.is_urgent = True
            if session.is_ready:
                session.is_ready = False
                self._ready.remove(session)
                self._start_asking(session)
        return made

    def on(self, host: str) -> list[Session]:
        """The sessions that a host answered last."""
        return [each for each in self.sessions if each.where is not None and each.where[0] == host]

    def some_of_each(self, number: int) -> list[Session]:
        """So many sessions of each host."""
        hosts = {each.where[0] for each in self.sessions if each.where is not None}
        return [each for host in hosts for each in self.on(host)[:number]]

    async def ask_again(self) -> None:
        """Ask for the ends of calls during which the server went away, by their ids."""
        call_ids = self._farm.runs().call_ids

        async def ask(ticket: str, session: Session) -> None:
            answer = await self._farm.call("count", session.id, call_ids.get(ticket), ticket=ticket)
            if answer is None:
                self.answered_again["no answer"] += 1
            elif answer.get("ok"):
                self.ends[ticket] = "ok"
                self.answered_again["ok"] += 1
            else:
                self.answered_again[answer["error"]["type"]] += 1

        begun = {ticket: session for ticket, session in self.unanswered.items() if ticket in call_ids}
        self.answered_again["not begun"] += len(self.unanswered) - len(begun)
        self.unanswered = {}
        await asyncio.gather(*(ask(ticket, session) for ticket, session in begun.items()))

    # -- asking ----------------------------------------------------------------------------------------------------

    async def _work(self) -> None:
        while True:
            await self._news.acquire()
            if self._is_over:
                return
            if self._ready:
                session = self._ready.popleft()
                session.is_ready = False
                self._put_back(session, again_at_once=await self._ask(session))

    def _put_back(self, session: Session, *, again_at_once: bool) -> None:
        if self._is_over and not session.is_urgent:
            return
        if session.is_urgent:
            self._start_asking(session)
        elif again_at_once:
            session.is_ready = True
            self._ready.append(session)
            self._news.release()
        else:
            asyncio.get_running_loop().call_later(_AGAIN_SECONDS, self._later, session)

    def _later(self, session: Session) -> None:
        self._put_back(session, again_at_once=True)

    def _start_asking(self, session: Session) -> None:
        task = asyncio.create_task(self._ask_until_answered(session))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _ask_until_answered(self, session: Session) -> None:
        began = time.perf_counter()
        while session.is_urgent and time.perf_counter() - began < 60:
            if not await self._ask(session):
                await asyncio.sleep(_AGAIN_SECONDS)
        session.is_urgent = False
        self._put_back(session, again_at_once=True)

    async def _ask(self, session: Session) -> bool:
        """Make a call; gives whether the next one may be made at once."""
        session.asked += 1
        ticket, began = f"{session.id}.{session.asked}", time.perf_counter()
        answer = await self._farm.call("count", session.id, ticket=ticket)
        if answer is None:
            self.ends[ticket] = "unknown"
            self.unanswered[ticket] = session
            session.unknown += 1
            return False
        if answer.get("ok"):
            self.ends[ticket] = "ok"
            self.took_ms.append((time.perf_counter() - began) * 1000)
            self._told(session, ticket, answer["data"], began)
            return True
        error = str(answer["error"]["type"])
        self.errors[error] += 1
        is_undone = error in _NOTHING_DONE
        self.ends[ticket] = "refused" if is_undone else "unknown"
        session.unknown += not is_undone
        if error not in EXPECTED:
            note(session.id, answer["error"])
        return error == "interrupted"

    def _told(self, session: Session, ticket: str, data: dict[str, Any], began: float) -> None:
        count, where = data["count"], (data["host"], data["pid"])
        if session.where is not None and session.where != where:
            if session.where not in self._farm.gone:
                self.wrong_counts.append(f"{ticket}: from {session.where} to {where}, which nobody has killed")
            session.count = 0
        if not session.count < count <= session.count + 1 + session.unknown:
            self.wrong_counts.append(f"{ticket}: {count} after {session.count}, {session.unknown} unknown, {where}")
        session.count, session.unknown, session.where = count, 0, where
        now = time.perf_counter()
        for each in self.disruptions:
            is_since = began > each.at or now > each.at + _ON_ITS_WAY_SECONDS
            if session in each.waiting and is_since and where not in self._farm.gone:
                each.waiting.discard(session)
                each.took_s = max(each.took_s, now - each.at)
        session.is_urgent = any(session in each.waiting for each in self.disruptions)

    # -- afterwards ------------------------------------------------------------------------------------------------

    def ran_twice(self, runs: Runs) -> int:
        """Calls that ran more than once."""
        by_ticket = sum(1 for ticket, number in runs.tickets.items() if number > 1)
        return max(by_ticket, sum(1 for number in runs.calls.values() if number > 1))

    def lost(self, runs: Runs) -> int:
        """Calls that were answered with a result, and of which no host knows."""
        return sum(1 for ticket, end in self.ends.items() if end == "ok" and not runs.tickets[ticket])

    def ran_though_refused(self, runs: Runs) -> int:
        """Calls that were answered with an error by which nothing was done, and that ran."""
        return sum(1 for ticket, end in self.ends.items() if end == "refused" and runs.tickets[ticket])

"""Log-in codes and page sessions."""

import sqlite3

import pytest

from agentcore.store.credentials.one_time_codes import CODES
from agentcore.store.credentials.page_sessions import SESSIONS, PageSession, PageSessions
from agentcore.store.database.database import Database

DAY = 24 * 3600


class Clock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def sessions(database: Database, clock: Clock) -> PageSessions:
    return await PageSessions.open(database, "page", now=clock, clock=clock)


async def log_in(sessions: PageSessions) -> PageSession:
    session = await sessions.exchange_code(sessions.create_code())
    assert session is not None
    return session


@pytest.mark.spec("S1")
async def test_code_opens_one_session_once(sessions: PageSessions) -> None:
    code = sessions.create_code()
    session = await sessions.exchange_code(code)
    assert await sessions.authenticate([session.cookie], session.header) == session.session_id
    assert await sessions.exchange_code(code) is None


@pytest.mark.spec("S1")
async def test_code_is_worth_nothing_after_ten_minutes(sessions: PageSessions, clock: Clock) -> None:
    early, late = sessions.create_code(), sessions.create_code()
    clock.now += 600
    assert await sessions.exchange_code(early) is not None
    clock.now += 1
    assert await sessions.exchange_code(late) is None


@pytest.mark.spec("S1")
async def test_oldest_code_ends_when_there_are_too_many(sessions: PageSessions) -> None:
    codes = [sessions.create_code() for _ in range(CODES + 1)]
    assert await sessions.exchange_code(codes[0]) is None
    assert await sessions.exchange_code(codes[1]) is not None


@pytest.mark.spec("S1")
async def test_both_values_of_one_session_are_needed(sessions: PageSessions) -> None:
    one, other = await log_in(sessions), await log_in(sessions)
    for cookie, header in [
        (one.cookie, ""),
        ("", one.header),
        (one.cookie, other.header),
        (one.header, one.cookie),
        (one.cookie, "\ud800"),
    ]:
        assert await sessions.authenticate([cookie], header) is None


@pytest.mark.spec("S1")
async def test_session_outlives_the_process_and_only_hashes_are_stored(
    sessions: PageSessions, database: Database
) -> None:
    session = await log_in(sessions)
    again = await PageSessions.open(database, "page", now=lambda: 1_700_000_000.0)
    assert await again.authenticate([session.cookie], session.header) == session.session_id
    stored = await database.read(lambda c: repr(c.execute("SELECT * FROM page_sessions").fetchall()))
    assert session.cookie not in stored
    assert session.header not in stored


@pytest.mark.spec("K4")
async def test_session_of_the_page_opens_no_approval_origin(sessions: PageSessions, database: Database) -> None:
    session, code = await log_in(sessions), sessions.create_code()
    approval = await PageSessions.open(database, "approval")
    assert await approval.authenticate([session.cookie], session.header) is None
    assert await approval.exchange_code(code) is None


@pytest.mark.spec("S1")
async def test_session_ends_after_thirty_days_without_use(
    sessions: PageSessions, clock: Clock, database: Database
) -> None:
    session = await log_in(sessions)
    clock.now += 30 * DAY + 1
    assert await sessions.authenticate([session.cookie], session.header) is None
    assert await database.read(lambda c: c.execute("SELECT count(*) FROM page_sessions").fetchone()) == (0,)


async def test_use_keeps_a_session_alive_also_over_a_restart(
    sessions: PageSessions, clock: Clock, database: Database
) -> None:
    session = await log_in(sessions)
    for _ in range(3):
        clock.now += 20 * DAY
        assert await sessions.authenticate([session.cookie], session.header) == session.session_id
    again = await PageSessions.open(database, "page", now=clock)
    assert await again.authenticate([session.cookie], session.header) == session.session_id


async def test_idle_session_is_not_loaded_at_the_next_start(
    sessions: PageSessions, clock: Clock, database: Database
) -> None:
    await log_in(sessions)
    clock.now += 31 * DAY
    assert (await PageSessions.open(database, "page", now=clock)).list_sessions() == []


@pytest.mark.spec("S1")
async def test_revoked_session_is_gone_at_once_and_for_good(
    sessions: PageSessions, database: Database, clock: Clock
) -> None:
    session = await log_in(sessions)
    assert await sessions.revoke(session.session_id)
    assert not await sessions.revoke(session.session_id)
    assert await sessions.authenticate([session.cookie], session.header) is None
    again = await PageSessions.open(database, "page", now=clock)
    assert await again.authenticate([session.cookie], session.header) is None


async def test_new_session_ends_the_one_unused_for_longest(
    sessions: PageSessions, clock: Clock, database: Database
) -> None:
    opened = []
    for _ in range(SESSIONS):
        clock.now += 1
        opened.append(await log_in(sessions))
    clock.now += 7200
    assert await sessions.authenticate([opened[0].cookie], opened[0].header) is not None
    newest = await log_in(sessions)
    for session, is_open in [(opened[0], True), (opened[1], False), (opened[2], True), (newest, True)]:
        assert (await sessions.authenticate([session.cookie], session.header) is not None) == is_open
    assert await database.read(lambda c: c.execute("SELECT count(*) FROM page_sessions").fetchone()) == (SESSIONS,)


async def test_full_disk_does_not_lock_out_who_is_logged_in(
    sessions: PageSessions, clock: Clock, database: Database
) -> None:
    session = await log_in(sessions)

    def refuse_updates(connection: sqlite3.Connection) -> None:
        connection.execute(
            "CREATE TRIGGER full BEFORE UPDATE ON page_sessions BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        )

    await database.write(refuse_updates)
    clock.now += 2 * DAY
    assert await sessions.authenticate([session.cookie], session.header) == session.session_id


async def test_secrets_do_not_show_in_representations(sessions: PageSessions) -> None:
    session = await log_in(sessions)
    assert session.cookie not in repr(session)
    assert session.header not in repr(session)

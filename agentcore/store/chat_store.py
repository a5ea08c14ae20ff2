"""Chat sessions, their messages, and the calls that wait: on the disk before anybody is told."""

import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from agentcore.store.chat_rows import ChatCallRow, ChatCallState, ChatSessionRow
from agentcore.store.database import Database

_SESSION = ", ".join(ChatSessionRow._fields)
_CALL = ", ".join(ChatCallRow._fields)
_CHANGEABLE = frozenset(ChatSessionRow._fields) - {"session_id", "owner", "user_id", "created_at_ms"}
_CALL_CHANGEABLE = frozenset(("state", "call_id", "definition_digest", "answered_by", "result", "expires_at_ms"))


class ChatStore:
    """The tables of the chat. Each method is one transaction; what it wrote survives a power cut when it returns."""

    def __init__(self, database: Database, now: Callable[[], float] = time.time) -> None:
        self._database, self._now = database, now

    # -- sessions ----------------------------------------------------------------------------------------------

    async def create(
        self, session_id: str, *, owner: str, user_id: str = "", agent_id: str = "default", model: str = ""
    ) -> ChatSessionRow:
        """The session of this id, made if there is none; whose it is stands in the row."""
        now_ms = self._now_ms()
        row = ChatSessionRow(session_id, owner, user_id, agent_id, model, "", None, None, 0, 0, 0, now_ms, now_ms)
        return await self._database.write(partial(_create, row), is_durable=True)

    async def find(self, session_id: str) -> ChatSessionRow | None:
        """The session, if there is one."""
        return await self._database.read(partial(_find, session_id))

    async def sessions_of(self, owner: str, *, text: str = "", limit: int = 100) -> list[ChatSessionRow]:
        """Sessions of a credential, the last used first; `text` stands in the title."""
        return await self._database.read(partial(_list, owner, text, limit))

    async def cut_off(self) -> list[str]:
        """Ids of sessions whose turn was going on, or was about to, when the last process ended."""
        return await self._database.read(_cut_off)

    async def change(self, session_id: str, **values: str | int | None) -> None:
        """Set columns of a session.

        Raises:
            ValueError: A name is no column that changes.
        """
        _check(values, _CHANGEABLE)
        await self._database.write(partial(_change, session_id, values), is_durable=True)

    # -- messages ----------------------------------------------------------------------------------------------

    async def messages(self, session_id: str) -> list[str]:
        """The messages of a session, oldest first, as they were given."""
        return await self._database.read(partial(_messages, session_id))

    async def append(
        self,
        session_id: str,
        messages: Sequence[str] = (),
        *,
        calls: Sequence[ChatCallRow] = (),
        settles: Iterable[str] = (),
        **values: str | int | None,
    ) -> None:
        """Add messages, the calls that the last of them wants, and say which calls the model is told of by them.

        Args:
            session_id: The session.
            messages: JSON texts.
            calls: New calls.
            settles: Ids of calls whose results stand in the messages.
            values: Columns of the session to set.
        """
        _check(values, _CHANGEABLE)
        now_ms = self._now_ms()
        work = partial(
            _append, session_id, messages=messages, calls=calls, settles=tuple(settles), values=values, now_ms=now_ms
        )
        await self._database.write(work, is_durable=True)

    # -- calls -------------------------------------------------------------------------------------------------

    async def open_calls(self, session_id: str) -> list[ChatCallRow]:
        """Calls of a session that the model has not been told the result of, in the model's order."""
        return await self._database.read(partial(_open_calls, session_id))

    async def find_call(self, session_id: str, tool_id: str) -> ChatCallRow | None:
        """One call of a session, if there is one."""
        return await self._database.read(partial(_find_call, session_id, tool_id))

    async def call_of_host(self, call_id: str) -> ChatCallRow | None:
        """The call that waits under an id of the host."""
        return await self._database.read(partial(_call_of_host, call_id))

    async def move(
        self, session_id: str, tool_id: str, before: ChatCallState, after: ChatCallState, **values: str | int | None
    ) -> bool:
        """Bring a call from one state to the next; False: it is not in that state, or has expired, and stays.

        Of two who try the same, one gets True.
        """
        _check(values, _CALL_CHANGEABLE)
        changes = {"state": after, **values}
        work = partial(_move, session_id, tool_id, before=before, changes=changes, now_ms=self._now_ms())
        return await self._database.write(work, is_durable=True)

    def _now_ms(self) -> int:
        return int(self._now() * 1000)


def _check(values: Iterable[str], known: frozenset[str]) -> None:
    if unknown := set(values) - known:
        raise ValueError(f"no column to change: {sorted(unknown)}")


def _create(row: ChatSessionRow, connection: sqlite3.Connection) -> ChatSessionRow:
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT OR IGNORE INTO chat_sessions ({_SESSION}) VALUES ({marks})", row)  # noqa: S608
    found = _find(row.session_id, connection)
    assert found is not None  # noqa: S101 - inserted just before
    return found


def _find(session_id: str, connection: sqlite3.Connection) -> ChatSessionRow | None:
    query = f"SELECT {_SESSION} FROM chat_sessions WHERE session_id = ?"  # noqa: S608 - names of columns
    row = connection.execute(query, (session_id,)).fetchone()
    return None if row is None else ChatSessionRow(*row)


def _list(owner: str, text: str, limit: int, connection: sqlite3.Connection) -> list[ChatSessionRow]:
    query = (
        f"SELECT {_SESSION} FROM chat_sessions WHERE owner = ? AND instr(lower(title), lower(?)) > 0"  # noqa: S608
        " ORDER BY last_used_at_ms DESC, session_id LIMIT ?"
    )
    return [ChatSessionRow(*row) for row in connection.execute(query, (owner, text, limit))]


def _cut_off(connection: sqlite3.Connection) -> list[str]:
    query = (
        "SELECT session_id FROM chat_sessions WHERE is_running = 1"
        " UNION SELECT session_id FROM chat_calls WHERE state IN ('approved', 'rejected')"
    )
    return [row[0] for row in connection.execute(query)]


def _change(session_id: str, values: dict[str, str | int | None], connection: sqlite3.Connection) -> None:
    sets = ", ".join(f"{name} = ?" for name in values)
    statement = f"UPDATE chat_sessions SET {sets} WHERE session_id = ?"  # noqa: S608 - names were checked
    connection.execute(statement, (*values.values(), session_id))


def _messages(session_id: str, connection: sqlite3.Connection) -> list[str]:
    query = "SELECT message FROM chat_messages WHERE session_id = ? ORDER BY number"
    return [row[0] for row in connection.execute(query, (session_id,))]


def _append(
    session_id: str,
    connection: sqlite3.Connection,
    *,
    messages: Sequence[str],
    calls: Sequence[ChatCallRow],
    settles: Sequence[str],
    values: dict[str, str | int | None],
    now_ms: int,
) -> None:
    rows = [(session_id, now_ms, message) for message in messages]
    connection.executemany("INSERT INTO chat_messages (session_id, time_ms, message) VALUES (?, ?, ?)", rows)
    marks = ", ".join("?" * len(ChatCallRow._fields))
    connection.executemany(f"INSERT INTO chat_calls ({_CALL}) VALUES ({marks})", calls)  # noqa: S608
    told = [(session_id, tool_id) for tool_id in settles]
    # results stand in the messages now: they are not kept twice
    statement = "UPDATE chat_calls SET state = 'settled', result = NULL WHERE session_id = ? AND tool_id = ?"
    connection.executemany(statement, told)
    _change(session_id, {"last_used_at_ms": now_ms, **values}, connection)


def _open_calls(session_id: str, connection: sqlite3.Connection) -> list[ChatCallRow]:
    query = (
        f"SELECT {_CALL} FROM chat_calls"  # noqa: S608 - names of columns
        " WHERE session_id = ? AND state <> 'settled' ORDER BY number"
    )
    return [ChatCallRow(*row) for row in connection.execute(query, (session_id,))]


def _find_call(session_id: str, tool_id: str, connection: sqlite3.Connection) -> ChatCallRow | None:
    query = f"SELECT {_CALL} FROM chat_calls WHERE session_id = ? AND tool_id = ?"  # noqa: S608
    row = connection.execute(query, (session_id, tool_id)).fetchone()
    return None if row is None else ChatCallRow(*row)


def _call_of_host(call_id: str, connection: sqlite3.Connection) -> ChatCallRow | None:
    query = f"SELECT {_CALL} FROM chat_calls WHERE state = 'waiting' AND call_id = ?"  # noqa: S608
    row = connection.execute(query, (call_id,)).fetchone()
    return None if row is None else ChatCallRow(*row)


def _move(
    session_id: str,
    tool_id: str,
    connection: sqlite3.Connection,
    *,
    before: ChatCallState,
    changes: dict[str, str | int | None],
    now_ms: int,
) -> bool:
    sets = ", ".join(f"{name} = ?" for name in changes)
    statement = (
        f"UPDATE chat_calls SET {sets} WHERE session_id = ? AND tool_id = ? AND state = ?"  # noqa: S608
        " AND (expires_at_ms IS NULL OR expires_at_ms > ? OR ? <> 'approved')"
    )
    changed = connection.execute(statement, (*changes.values(), session_id, tool_id, before, now_ms, changes["state"]))
    return changed.rowcount == 1

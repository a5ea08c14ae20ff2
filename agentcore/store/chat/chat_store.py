"""Chat sessions, their messages and their pending calls, written to disk before anyone is notified."""

import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from agentcore.store.chat.chat_rows import (
    BroughtRow,
    ChatCallRow,
    ChatCallState,
    ChatMessageRow,
    ChatSessionRow,
    ContextMessage,
    NewMessage,
    StoredCompaction,
    UsedTokens,
)
from agentcore.store.chat.compaction import STANDING_NOTICE, earlier_summary, save_compaction
from agentcore.store.chat.message_queue import QueueStore, delete_queue, delete_queued_messages
from agentcore.store.chat.owners import SessionOwners
from agentcore.store.chat.session_hosts import SessionHosts
from agentcore.store.chat.stored_messages import insert_message, load_context_messages
from agentcore.store.database.database import Database

_MARK_BYTES = 8
_SESSION = ", ".join(ChatSessionRow._fields)
_CHANGEABLE = frozenset(ChatSessionRow._fields) - {"session_id", "owner", "user_id", "created_at_ms"}
_CALL = ", ".join(ChatCallRow._fields)
_CALL_CHANGEABLE = frozenset(
    (
        "state",
        "arguments",
        "call_id",
        "definition_digest",
        "answered_by",
        "result",
        "envelope",
        "needs_approval",
        "words",
    )
)


class ChatStore:
    """The chat tables. Each method is one transaction; what it wrote survives a power cut once it returns.

    Attributes:
        queue: Messages waiting for their turn.
        owners: Owners of sessions, cached in memory.
        hosts: Hosts of sessions, cached in memory.
    """

    def __init__(self, database: Database, now: Callable[[], float] = time.time) -> None:
        self._database = database
        self._now = now
        self.queue = QueueStore(database)
        self.owners = SessionOwners(database)
        self.hosts = SessionHosts(database)

    # -- sessions ----------------------------------------------------------------------------------------------

    async def get_or_create(
        self,
        session_id: str,
        *,
        owner: str,
        user_id: str = "",
        agent_id: str = "default",
        model: str = "",
        mode: str | None = None,
        host: str | None = None,
    ) -> ChatSessionRow:
        """Return the session with this id, creating it if it does not exist; the row names its owner."""
        now_ms = self._now_ms()
        row = ChatSessionRow(session_id, owner, user_id, agent_id, model, "", None, None, 0, 0, 0, now_ms, now_ms, mode)
        row = row._replace(host=host, mark=secrets.token_hex(_MARK_BYTES))
        made = await self._database.write(partial(_get_or_create, row), is_durable=True)
        self.owners.add_session(made.session_id, made.owner)
        self.hosts.set_host(made.session_id, made.host)
        return made

    async def find_session(self, session_id: str) -> ChatSessionRow | None:
        """Return the session, or None if it does not exist."""
        return await self._database.read(partial(_find_session, session_id))

    async def list_sessions(
        self, *, text: str = "", limit: int = 100, before: str | None = None, owner: str | None = None
    ) -> list[ChatSessionRow]:
        """Return sessions, most recently used first.

        Args:
            text: Text to find in the title, or words that all occur in one message.
            before: Start after the session with this id.
            owner: Only sessions created with this credential; None: all.
        """
        return await self._database.read(partial(_list_sessions, text, limit, before, owner))

    async def filter_owned(self, owner: str, session_ids: Iterable[str]) -> set[str]:
        """Return those of these sessions that this credential created."""
        return await self._database.read(partial(_filter_owned, owner, tuple(session_ids)))

    async def load_titles(self, session_ids: Iterable[str]) -> dict[str, str]:
        """Return the titles of these sessions by id: empty before the first message; unknown sessions are omitted."""
        return await self._database.read(partial(_load_titles, tuple(session_ids)))

    async def delete_session(self, session_id: str) -> bool:
        """Delete a session with all its messages; return False if it does not exist."""
        self.hosts.set_host(session_id, None)
        return await self._database.write(partial(_delete_session, session_id), is_durable=True)

    async def find_interrupted_sessions(self) -> list[str]:
        """Return the ids of sessions whose turn was running, or about to, when the last process ended."""
        return await self._database.read(_find_interrupted_sessions)

    async def update_session(self, session_id: str, **values: str | int | None) -> None:
        """Update columns of a session.

        Raises:
            ValueError: A name is not an updatable column.
        """
        _check_columns(values, _CHANGEABLE)
        await self._database.write(partial(_update_session, session_id, values), is_durable=True)
        if "host" in values:
            await self.hosts.reload_host(session_id)

    # -- messages ----------------------------------------------------------------------------------------------

    async def load_context_messages(self, session_id: str) -> list[ContextMessage]:
        """Return the messages sent to the model, oldest first; shortened messages appear in their shorter form."""
        return await self._database.read(partial(load_context_messages, session_id))

    async def save_compaction(self, session_id: str, compaction: StoredCompaction) -> int | None:
        """Replace messages with shorter forms in the model's context; the user still sees everything.

        Returns:
            The number of the notice; None: the session has changed since the compaction was made, and nothing was
            stored.
        """
        work = partial(save_compaction, session_id, compaction, self._now_ms())
        return await self._database.write(work, is_durable=True)

    async def load_history(
        self, session_id: str, *, before: int | None = None, limit: int = -1
    ) -> list[ChatMessageRow]:
        """Return what the user sees of a session: the newest messages below a number, oldest first."""
        return await self._database.read(partial(_load_history, session_id, before, limit))

    async def load_message_context(self, session_id: str, number: int) -> BroughtRow:
        """Return the page and the client's tools that accompanied a user message."""
        return await self._database.read(partial(_load_message_context, session_id, number))

    async def append_messages(
        self,
        session_id: str,
        messages: Sequence[NewMessage] = (),
        *,
        calls: Sequence[ChatCallRow] = (),
        settles: Iterable[str] = (),
        unqueues: Iterable[str] = (),
        usage: UsedTokens | None = None,
        **values: str | int | None,
    ) -> list[int]:
        """Append messages, store the calls requested by the last one, and settle calls whose results are in them.

        Args:
            settles: Ids of calls whose results are in the messages.
            unqueues: Ids of queued messages that are now among these.
            usage: Token usage to add to the session's.
        Returns:
            The numbers of the messages.
        """
        _check_columns(values, _CHANGEABLE)
        changes = {"last_used_at_ms": self._now_ms(), **values}
        work = partial(
            _append_messages,
            session_id,
            messages=messages,
            calls=calls,
            settles=tuple(settles),
            unqueues=tuple(unqueues),
            usage=usage,
            values=changes,
            now_ms=self._now_ms(),
        )
        return await self._database.write(work, is_durable=True)

    async def replace_message(self, session_id: str, number: int, message: NewMessage | None) -> None:
        """Replace a message with another; None removes it."""
        await self._database.write(partial(_replace_message, session_id, number, message), is_durable=True)

    async def rewind(self, session_id: str, number: int, replacement: NewMessage | None = None) -> None:
        """Delete or replace a message, and delete all later ones and the calls they requested, in one transaction."""
        await self._database.write(partial(_rewind, session_id, number, replacement), is_durable=True)

    # -- calls -------------------------------------------------------------------------------------------------

    async def load_open_calls(self, session_id: str) -> list[ChatCallRow]:
        """Return the calls of a session whose results have not been sent to the model, in the model's order."""
        return await self._database.read(partial(_load_open_calls, session_id))

    async def find_call(self, session_id: str, tool_id: str) -> ChatCallRow | None:
        """Return one call of a session, or None if it does not exist."""
        return await self._database.read(partial(_find_call, session_id, tool_id))

    async def load_calls(self, session_id: str, tool_ids: Iterable[str]) -> dict[str, ChatCallRow]:
        """Return calls of a session by their ids."""
        return await self._database.read(partial(_load_calls, session_id, tuple(tool_ids)))

    async def load_waiting_calls(self, session_ids: Iterable[str]) -> dict[str, list[str]]:
        """Return the ids of waiting calls by session."""
        return await self._database.read(partial(_load_waiting_calls, tuple(session_ids)))

    async def find_waiting_call(self, call_id: str) -> ChatCallRow | None:
        """Return the waiting chat call that has this core call id."""
        return await self._database.read(partial(_find_waiting_call, call_id))

    async def load_asked_calls(self) -> list[tuple[str, str]]:
        """Return the session and the core's id of each server tool call, in any session, that waits for a decision."""
        return await self._database.read(_load_asked_calls)

    async def move_call(
        self, session_id: str, tool_id: str, before: ChatCallState, after: ChatCallState, **values: str | int | None
    ) -> bool:
        """Move a call from one state to the next; return False if it is not in the `before` state.

        If two callers attempt the same move, only one gets True.
        """
        _check_columns(values, _CALL_CHANGEABLE)
        changes = {"state": after, **values}
        work = partial(_move_call, session_id, tool_id, before=before, changes=changes)
        return await self._database.write(work, is_durable=True)

    def _now_ms(self) -> int:
        return int(self._now() * 1000)


def _check_columns(values: Iterable[str], known: frozenset[str]) -> None:
    if unknown := set(values) - known:
        raise ValueError(f"no column to change: {sorted(unknown)}")


def _get_or_create(row: ChatSessionRow, connection: sqlite3.Connection) -> ChatSessionRow:
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT OR IGNORE INTO chat_sessions ({_SESSION}) VALUES ({marks})", row)  # noqa: S608
    found = _find_session(row.session_id, connection)
    assert found is not None  # noqa: S101 - inserted just before
    return found


def _find_session(session_id: str, connection: sqlite3.Connection) -> ChatSessionRow | None:
    query = f"SELECT {_SESSION} FROM chat_sessions WHERE session_id = ?"  # noqa: S608 - names of columns
    row = connection.execute(query, (session_id,)).fetchone()
    return None if row is None else ChatSessionRow(*row)


def _filter_owned(owner: str, session_ids: tuple[str, ...], connection: sqlite3.Connection) -> set[str]:
    marks = ", ".join("?" * len(session_ids))
    query = f"SELECT session_id FROM chat_sessions WHERE owner = ? AND session_id IN ({marks})"  # noqa: S608 - marks
    return {session_id for (session_id,) in connection.execute(query, (owner, *session_ids))}


def _load_titles(session_ids: tuple[str, ...], connection: sqlite3.Connection) -> dict[str, str]:
    marks = ", ".join("?" * len(session_ids))
    query = f"SELECT session_id, title FROM chat_sessions WHERE session_id IN ({marks})"  # noqa: S608 - marks
    return dict(connection.execute(query, session_ids))


def _list_sessions(
    text: str, limit: int, before: str | None, owner: str | None, connection: sqlite3.Connection
) -> list[ChatSessionRow]:
    conditions = ["1"]
    values = []
    if owner is not None:
        conditions.append("owner = ?")
        values.append(owner)
    if text.strip():
        found = matching_sessions(connection, text)
        conditions.append(f"session_id IN ({', '.join('?' * len(found))})")
        values += found
    if before is not None:
        conditions.append(
            "(last_used_at_ms, session_id) < (SELECT last_used_at_ms, session_id FROM chat_sessions"
            " WHERE session_id = ?)"
        )
        values.append(before)
    query = (
        f"SELECT {_SESSION} FROM chat_sessions WHERE {' AND '.join(conditions)}"  # noqa: S608 - our own words
        " ORDER BY last_used_at_ms DESC, session_id DESC LIMIT ?"
    )
    return [ChatSessionRow(*row) for row in connection.execute(query, (*values, limit))]


def _delete_session(session_id: str, connection: sqlite3.Connection) -> bool:
    _delete_messages(session_id, 0, connection)
    delete_queue(connection, session_id)
    connection.execute("DELETE FROM chat_calls WHERE session_id = ?", (session_id,))
    return connection.execute("DELETE FROM chat_sessions WHERE session_id = ?", (session_id,)).rowcount == 1


def _find_interrupted_sessions(connection: sqlite3.Connection) -> list[str]:
    query = (
        "SELECT session_id FROM chat_sessions WHERE is_running = 1"
        " UNION SELECT session_id FROM chat_calls WHERE state IN ('approved', 'rejected')"
        " UNION SELECT session_id FROM chat_queue JOIN chat_sessions USING (session_id) WHERE queue_paused = 0"
    )
    return [row[0] for row in connection.execute(query)]


def _update_session(session_id: str, values: dict[str, str | int | None], connection: sqlite3.Connection) -> None:
    sets = ", ".join(f"{name} = ?" for name in values)
    statement = f"UPDATE chat_sessions SET {sets} WHERE session_id = ?"  # noqa: S608 - names were checked
    connection.execute(statement, (*values.values(), session_id))


def _load_history(
    session_id: str, before: int | None, limit: int, connection: sqlite3.Connection
) -> list[ChatMessageRow]:
    query = (
        "SELECT number, time_ms, kind, message, page_shown FROM chat_messages WHERE session_id = ? AND kind <> 'told'"
        " AND (? IS NULL OR number < ?) ORDER BY number DESC LIMIT ?"
    )
    rows = connection.execute(query, (session_id, before, before, limit)).fetchall()
    return [ChatMessageRow(*row) for row in reversed(rows)]


def _load_message_context(session_id: str, number: int, connection: sqlite3.Connection) -> BroughtRow:
    query = "SELECT page, client_tools, page_shown FROM chat_messages WHERE session_id = ? AND number = ?"
    row = connection.execute(query, (session_id, number)).fetchone()
    return BroughtRow() if row is None else BroughtRow(*row)


def _append_messages(
    session_id: str,
    connection: sqlite3.Connection,
    *,
    messages: Sequence[NewMessage],
    calls: Sequence[ChatCallRow],
    settles: Sequence[str],
    unqueues: Sequence[str],
    usage: UsedTokens | None,
    values: dict[str, str | int | None],
    now_ms: int,
) -> list[int]:
    numbers = [insert_message(connection, session_id, now_ms, message) for message in messages]
    marks = ", ".join("?" * len(ChatCallRow._fields))
    connection.executemany(f"INSERT INTO chat_calls ({_CALL}) VALUES ({marks})", calls)  # noqa: S608
    settled = [(session_id, tool_id) for tool_id in settles]
    # results are in the messages now: do not store them twice
    statement = "UPDATE chat_calls SET state = 'settled', result = NULL WHERE session_id = ? AND tool_id = ?"
    connection.executemany(statement, settled)
    delete_queued_messages(connection, unqueues)
    _update_session(session_id, values, connection)
    if usage is not None and any(usage):
        sets = ", ".join(f"{name} = {name} + ?" for name in UsedTokens._fields)
        statement = f"UPDATE chat_sessions SET {sets} WHERE session_id = ?"  # noqa: S608 - names of columns
        connection.execute(statement, (*usage, session_id))
    return numbers


def _delete_messages(session_id: str, number: int, connection: sqlite3.Connection, but: str = "0") -> None:
    """Delete messages from a number on. Not by a trigger, which may not use the index with `trusted_schema = OFF`."""
    where = f"session_id = :session AND number >= :number AND NOT ({but})"
    found = f"DELETE FROM chat_search WHERE rowid IN (SELECT number FROM chat_messages WHERE {where})"  # noqa: S608
    connection.execute(found, {"session": session_id, "number": number})
    statement = f"DELETE FROM chat_messages WHERE {where}"  # noqa: S608 - our own words
    connection.execute(statement, {"session": session_id, "number": number})


def _replace_message(session_id: str, number: int, message: NewMessage | None, connection: sqlite3.Connection) -> None:
    query = "SELECT time_ms FROM chat_messages WHERE session_id = ? AND number = ?"
    row = connection.execute(query, (session_id, number)).fetchone()
    if row is None:
        return
    connection.execute("DELETE FROM chat_search WHERE rowid = ?", (number,))
    connection.execute("DELETE FROM chat_messages WHERE number = ?", (number,))
    if message is not None:
        insert_message(connection, session_id, row[0], message, number)


def _rewind(session_id: str, number: int, replacement: NewMessage | None, connection: sqlite3.Connection) -> None:
    query = (
        "DELETE FROM chat_calls WHERE session_id = ? AND tool_id IN ("
        "SELECT json_extract(part.value, '$.tool_call_id')"
        " FROM chat_messages, json_each(chat_messages.message, '$[0].parts') AS part"
        " WHERE chat_messages.session_id = ? AND number >= ? AND kind <> 'notice'"
        " AND json_extract(part.value, '$.part_kind') = 'tool-call')"
    )
    connection.execute(query, (session_id, session_id, number))
    _delete_messages(session_id, number if replacement is None else number + 1, connection, but=STANDING_NOTICE)
    if replacement is not None:
        _replace_message(session_id, number, replacement, connection)
    # what the summary was made from still exists
    statement = (
        "UPDATE chat_sessions SET summary = ?, summarised_before = ? WHERE session_id = ? AND summarised_before > ?"
    )
    connection.execute(statement, (*earlier_summary(session_id, number, connection), session_id, number))


def _load_open_calls(session_id: str, connection: sqlite3.Connection) -> list[ChatCallRow]:
    """Return the calls of a session that are not settled yet."""
    query = (
        f"SELECT {_CALL} FROM chat_calls"  # noqa: S608 - names of columns
        " WHERE session_id = ? AND state <> 'settled' ORDER BY number"
    )
    return [ChatCallRow(*row) for row in connection.execute(query, (session_id,))]


def _find_call(session_id: str, tool_id: str, connection: sqlite3.Connection) -> ChatCallRow | None:
    """Return one call of a session, or None if it does not exist."""
    query = f"SELECT {_CALL} FROM chat_calls WHERE session_id = ? AND tool_id = ?"  # noqa: S608
    row = connection.execute(query, (session_id, tool_id)).fetchone()
    return None if row is None else ChatCallRow(*row)


def _load_calls(session_id: str, tool_ids: tuple[str, ...], connection: sqlite3.Connection) -> dict[str, ChatCallRow]:
    """Return calls of a session by their `tool_id`."""
    marks = ", ".join("?" * len(tool_ids))
    query = f"SELECT {_CALL} FROM chat_calls WHERE session_id = ? AND tool_id IN ({marks})"  # noqa: S608
    rows = (ChatCallRow(*row) for row in connection.execute(query, (session_id, *tool_ids)))
    return {row.tool_id: row for row in rows}


def _load_waiting_calls(session_ids: tuple[str, ...], connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the ids of waiting calls by session."""
    marks = ", ".join("?" * len(session_ids))
    where = f"state = 'waiting' AND session_id IN ({marks})"
    query = f"SELECT session_id, tool_id FROM chat_calls WHERE {where} ORDER BY number"  # noqa: S608
    found: dict[str, list[str]] = {}
    for session_id, tool_id in connection.execute(query, session_ids):
        found.setdefault(session_id, []).append(tool_id)
    return found


def _find_waiting_call(call_id: str, connection: sqlite3.Connection) -> ChatCallRow | None:
    """Return the waiting chat call that has this core call id."""
    query = f"SELECT {_CALL} FROM chat_calls WHERE state = 'waiting' AND call_id = ?"  # noqa: S608
    row = connection.execute(query, (call_id,)).fetchone()
    return None if row is None else ChatCallRow(*row)


def _load_asked_calls(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the session and the core's id of each server tool call that waits for a decision."""
    query = "SELECT session_id, call_id FROM chat_calls WHERE state = 'waiting' AND kind = 'server' ORDER BY number"
    return list(connection.execute(query))


def _move_call(
    session_id: str,
    tool_id: str,
    connection: sqlite3.Connection,
    *,
    before: ChatCallState,
    changes: dict[str, str | int | None],
) -> bool:
    """Move a call from one state to another; return False if it is not in the `before` state."""
    sets = ", ".join(f"{name} = ?" for name in changes)
    statement = f"UPDATE chat_calls SET {sets} WHERE session_id = ? AND tool_id = ? AND state = ?"  # noqa: S608
    changed = connection.execute(statement, (*changes.values(), session_id, tool_id, before))
    return changed.rowcount == 1


_INDEXED_CHARS = 3
"""Minimum length of an indexed word; shorter ones have no trigram and need a scan."""

_FOUND = 10_000


def matching_sessions(connection: sqlite3.Connection, text: str) -> list[str]:
    """Return the ids of sessions whose title contains the text, or with a message that contains all of its words."""
    words = text.split()
    query = "SELECT session_id FROM chat_sessions WHERE instr(lower(title), lower(?)) > 0 LIMIT ?"
    found = [row[0] for row in connection.execute(query, (text.strip(), _FOUND))]
    return list(dict.fromkeys([*found, *_find_by_text(connection, words)]))


def _find_by_text(connection: sqlite3.Connection, words: list[str]) -> list[str]:
    indexed = [word for word in words if len(word) >= _INDEXED_CHARS]
    conditions = []
    values = []
    if indexed:
        conditions.append("chat_search MATCH ?")
        values.append(" AND ".join(f'"{_quote_word(word)}"' for word in indexed))
    for word in words:
        if len(word) < _INDEXED_CHARS:
            conditions.append("instr(lower(text), lower(?)) > 0")
            values.append(word)
    query = f"SELECT DISTINCT session_id FROM chat_search WHERE {' AND '.join(conditions)} LIMIT ?"  # noqa: S608
    return [row[0] for row in connection.execute(query, (*values, _FOUND))]


def _quote_word(word: str) -> str:
    return word.replace('"', '""').replace("\0", "")

"""Queries on the calls of chats, and their state transitions."""

import sqlite3

from agentcore.store.chat.rows import ChatCallRow, ChatCallState

CALL_COLUMNS = ", ".join(ChatCallRow._fields)
"""The columns of a call, in the order of its row."""


def load_open_calls(session_id: str, connection: sqlite3.Connection) -> list[ChatCallRow]:
    """Return the calls of a session that are not settled yet."""
    query = (
        f"SELECT {CALL_COLUMNS} FROM chat_calls"  # noqa: S608 - names of columns
        " WHERE session_id = ? AND state <> 'settled' ORDER BY number"
    )
    return [ChatCallRow(*row) for row in connection.execute(query, (session_id,))]


def find_call(session_id: str, tool_id: str, connection: sqlite3.Connection) -> ChatCallRow | None:
    """Return one call of a session, or None if it does not exist."""
    query = f"SELECT {CALL_COLUMNS} FROM chat_calls WHERE session_id = ? AND tool_id = ?"  # noqa: S608
    row = connection.execute(query, (session_id, tool_id)).fetchone()
    return None if row is None else ChatCallRow(*row)


def load_calls(session_id: str, tool_ids: tuple[str, ...], connection: sqlite3.Connection) -> dict[str, ChatCallRow]:
    """Return calls of a session by their `tool_id`."""
    marks = ", ".join("?" * len(tool_ids))
    query = f"SELECT {CALL_COLUMNS} FROM chat_calls WHERE session_id = ? AND tool_id IN ({marks})"  # noqa: S608
    rows = (ChatCallRow(*row) for row in connection.execute(query, (session_id, *tool_ids)))
    return {row.tool_id: row for row in rows}


def load_waiting_calls(session_ids: tuple[str, ...], connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the ids of waiting calls by session."""
    marks = ", ".join("?" * len(session_ids))
    where = f"state = 'waiting' AND session_id IN ({marks})"
    query = f"SELECT session_id, tool_id FROM chat_calls WHERE {where} ORDER BY number"  # noqa: S608
    found: dict[str, list[str]] = {}
    for session_id, tool_id in connection.execute(query, session_ids):
        found.setdefault(session_id, []).append(tool_id)
    return found


def find_waiting_call(call_id: str, connection: sqlite3.Connection) -> ChatCallRow | None:
    """Return the waiting chat call that has this core call id."""
    query = f"SELECT {CALL_COLUMNS} FROM chat_calls WHERE state = 'waiting' AND call_id = ?"  # noqa: S608
    row = connection.execute(query, (call_id,)).fetchone()
    return None if row is None else ChatCallRow(*row)


def load_asked_calls(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the session and the core's id of each server tool call that waits for a decision."""
    query = "SELECT session_id, call_id FROM chat_calls WHERE state = 'waiting' AND kind = 'server' ORDER BY number"
    return list(connection.execute(query))


def move_call(
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

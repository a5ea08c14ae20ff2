"""Compaction of the model's context: stored in one transaction, so that a session is never half compacted."""

import json
import sqlite3

from agentcore.store.chat.chat_rows import StoredCompaction
from agentcore.store.chat.stored_messages import insert_message

STANDING_NOTICE = "kind = 'notice' AND coalesce(json_extract(message, '$.told.before') < :number, 0)"
"""SQL condition: notices of summaries that remain valid when the messages from `:number` on are removed."""


def earlier_summary(session_id: str, number: int, connection: sqlite3.Connection) -> tuple[str | None, int]:
    """Return the last summary of messages before a number, and the first message sent beside it."""
    query = (
        "SELECT json_extract(message, '$.told.summary'), json_extract(message, '$.told.before') FROM chat_messages"
        " WHERE session_id = ? AND kind = 'notice' AND json_extract(message, '$.told.before') <= ?"
        " ORDER BY number DESC LIMIT 1"
    )
    row = connection.execute(query, (session_id, number)).fetchone()
    return (None, 0) if row is None else (row[0], row[1])


def save_compaction(
    session_id: str, compaction: StoredCompaction, now_ms: int, connection: sqlite3.Connection
) -> int | None:
    """Store shorter forms, a summary and their notice; return the notice's number.

    Return None and store nothing if messages were removed or another summary was stored in the meantime.
    """
    if not _is_unchanged(session_id, compaction, connection):
        return None
    shortened = [(message, session_id, number) for number, message in compaction.shortened.items()]
    statement = "UPDATE chat_messages SET short = ? WHERE session_id = ? AND number = ?"
    connection.executemany(statement, shortened)
    notice = compaction.notice
    if compaction.summary is not None:
        statement = "UPDATE chat_sessions SET summary = ?, summarised_before = ? WHERE session_id = ?"
        connection.execute(statement, (compaction.summary, compaction.before, session_id))
        # including what rewinding needs to restore it
        told = {"summary": compaction.summary, "before": compaction.before}
        notice = notice._replace(message=json.dumps({**json.loads(notice.message), "told": told}, ensure_ascii=False))
    return insert_message(connection, session_id, now_ms, notice)


def _is_unchanged(session_id: str, compaction: StoredCompaction, connection: sqlite3.Connection) -> bool:
    query = "SELECT summarised_before FROM chat_sessions WHERE session_id = ?"
    row = connection.execute(query, (session_id,)).fetchone()
    if row is None or row[0] != compaction.known_before:
        return False
    query = "SELECT count(*) FROM chat_messages WHERE session_id = ? AND number = ?"
    (count,) = connection.execute(query, (session_id, compaction.last_replaced)).fetchone()
    return compaction.last_replaced == 0 or count == 1

"""Messages of a session: insertion, and loading for the model."""

import sqlite3

from agentcore.store.artifacts.message_references import pin_for_message
from agentcore.store.chat.chat_rows import BroughtRow, ContextMessage, NewMessage


def load_context_messages(session_id: str, connection: sqlite3.Connection) -> list[ContextMessage]:
    """Return what is sent to the model: the summary, and the messages after it in their shorter forms."""
    query = (
        "SELECT 0, summary FROM chat_sessions WHERE session_id = :session AND summary IS NOT NULL UNION ALL"
        " SELECT number, told FROM (SELECT number, coalesce(short, message) AS told FROM chat_messages"
        " WHERE session_id = :session AND kind IN ('said', 'told') AND number >= (SELECT summarised_before"
        " FROM chat_sessions WHERE session_id = :session) ORDER BY number)"
    )
    return [ContextMessage(*row) for row in connection.execute(query, {"session": session_id})]


def insert_message(
    connection: sqlite3.Connection, session_id: str, now_ms: int, message: NewMessage, number: int | None = None
) -> int:
    """Insert a message and its searchable text; return its number."""
    statement = (
        "INSERT INTO chat_messages (number, session_id, time_ms, message, kind, page, client_tools, page_shown)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    )
    brought = message.brought or BroughtRow()
    values = (number, session_id, now_ms, message.message, message.kind, *brought)
    given = connection.execute(statement, values).lastrowid
    assert given is not None  # noqa: S101 - a row was inserted
    if message.said:
        found = "INSERT INTO chat_search (rowid, session_id, text) VALUES (?, ?, ?)"
        connection.execute(found, (given, session_id, message.said))
    pin_for_message(message.attachments, session_id, given, connection)
    return given

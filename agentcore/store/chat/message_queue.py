"""User messages waiting for their turn, stored on disk in order until a turn has consumed them."""

import json
import sqlite3
from collections.abc import Iterable
from functools import partial
from typing import Literal, NamedTuple

from agentcore.store.database.database import Database

MessageTime = Literal["queue", "steer"]
"""When a message is sent: in a turn of its own, or with the next request of the running turn."""


class UserMessage(NamedTuple):
    """A message of the user, with what accompanies it.

    Args:
        text: The text that the user wrote.
        message_id: Its id while it is queued, unique over all sessions; empty: it is not queued.
        attachments: Ids of the attached artifacts.
        when: When it is sent.
        created_at_ms: Milliseconds since 1970.
        model: The model to use from this message on; empty: unchanged.
        agent_id: The agent to use from this message on; empty: unchanged.
        page: The page that the user looks at, as JSON text; None: none.
        client_tools: The tools that the client runs, as JSON text; None: none.
    """

    text: str
    message_id: str = ""
    attachments: tuple[str, ...] = ()
    when: MessageTime = "queue"
    created_at_ms: int = 0
    model: str = ""
    agent_id: str = ""
    page: str | None = None
    client_tools: str | None = None


class StoredQueue(NamedTuple):
    """The queue of one session.

    Args:
        messages: The queued messages, next one first.
        is_paused: True if the messages wait until the user resumes the queue.
    """

    messages: tuple[UserMessage, ...] = ()
    is_paused: bool = False


class QueueStore:
    """The table of queued messages. Each method is one transaction that survives a power cut once it returns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_queue(self, session_id: str) -> StoredQueue:
        """Return the queue of a session."""
        return await self._database.read(partial(_load_queue, session_id))

    async def add_message(self, session_id: str, message: UserMessage, *, limit: int, limit_chars: int) -> bool:
        """Append a message; return False if the queue would exceed a limit of messages or text."""
        work = partial(_insert_message, session_id, message, limit, limit_chars)
        return await self._database.write(work, is_durable=True)

    async def update_message(
        self, session_id: str, message_id: str, *, text: str | None, when: MessageTime | None, limit_chars: int
    ) -> bool | None:
        """Change a message; return None if it is not queued (any more), False if there would be too much text."""
        work = partial(_update_message, session_id, message_id, text=text, when=when, limit_chars=limit_chars)
        return await self._database.write(work, is_durable=True)

    async def delete_message(self, session_id: str, message_id: str) -> bool:
        """Remove a message; return False if it is not queued (any more)."""
        return await self._database.write(partial(_delete_message, session_id, message_id), is_durable=True)

    async def set_paused(self, session_id: str, *, is_paused: bool) -> bool:
        """Pause or resume a queue; return False if nothing changes, for instance because it is empty.

        Paused messages are later sent in turns of their own, even those meant for the next request of a turn.
        """
        return await self._database.write(partial(_set_paused, session_id, is_paused), is_durable=True)


def delete_queued_messages(connection: sqlite3.Connection, message_ids: Iterable[str]) -> None:
    """Delete messages consumed by a turn, in the same transaction that stores them in the session."""
    connection.executemany("DELETE FROM chat_queue WHERE message_id = ?", [(each,) for each in message_ids])


def delete_queue(connection: sqlite3.Connection, session_id: str) -> None:
    """Delete the queue of a session."""
    connection.execute("DELETE FROM chat_queue WHERE session_id = ?", (session_id,))


def _load_queue(session_id: str, connection: sqlite3.Connection) -> StoredQueue:
    query = (
        "SELECT message_id, text, attachments, is_steering, created_at_ms, model, agent_id, page, client_tools"
        " FROM chat_queue WHERE session_id = ? ORDER BY position"
    )
    messages = tuple(
        UserMessage(row[1], row[0], tuple(json.loads(row[2])), "steer" if row[3] else "queue", *row[4:])
        for row in connection.execute(query, (session_id,))
    )
    row = connection.execute("SELECT queue_paused FROM chat_sessions WHERE session_id = ?", (session_id,)).fetchone()
    return StoredQueue(messages, bool(messages and row and row[0]))


def _insert_message(
    session_id: str, message: UserMessage, limit: int, limit_chars: int, connection: sqlite3.Connection
) -> bool:
    count, chars = _measure_queue(session_id, "", connection)
    if count >= limit or (count and chars + _count_chars(message) > limit_chars):
        return False
    connection.execute(
        "INSERT INTO chat_queue"
        " (session_id, message_id, text, attachments, is_steering, created_at_ms, model, agent_id, page, client_tools)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session_id,
            message.message_id,
            message.text,
            json.dumps(message.attachments),
            message.when == "steer",
            message.created_at_ms,
            message.model,
            message.agent_id,
            message.page,
            message.client_tools,
        ),
    )
    return True


def _count_chars(message: UserMessage) -> int:
    return len(message.text) + len(message.page or "") + len(message.client_tools or "")


def _measure_queue(session_id: str, but: str, connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the number of queued messages except one, and their characters."""
    chars_of_one = "length(text) + coalesce(length(page), 0) + coalesce(length(client_tools), 0)"
    query = (
        f"SELECT count(*), coalesce(sum({chars_of_one}), 0) FROM chat_queue"  # noqa: S608 - our own words
        " WHERE session_id = ? AND message_id <> ?"
    )
    count, chars = connection.execute(query, (session_id, but)).fetchone()
    return count, chars


def _update_message(
    session_id: str,
    message_id: str,
    connection: sqlite3.Connection,
    *,
    text: str | None,
    when: MessageTime | None,
    limit_chars: int,
) -> bool | None:
    where = (session_id, message_id)
    query = "SELECT 1 FROM chat_queue WHERE session_id = ? AND message_id = ?"
    if connection.execute(query, where).fetchone() is None:
        return None
    if text is not None:
        count, chars = _measure_queue(session_id, message_id, connection)
        if count and chars + len(text) > limit_chars:
            return False
        connection.execute("UPDATE chat_queue SET text = ? WHERE session_id = ? AND message_id = ?", (text, *where))
    if when is not None:
        statement = "UPDATE chat_queue SET is_steering = ? WHERE session_id = ? AND message_id = ?"
        connection.execute(statement, (when == "steer", *where))
    return True


def _delete_message(session_id: str, message_id: str, connection: sqlite3.Connection) -> bool:
    statement = "DELETE FROM chat_queue WHERE session_id = ? AND message_id = ?"
    return connection.execute(statement, (session_id, message_id)).rowcount == 1


def _set_paused(session_id: str, is_paused: bool, connection: sqlite3.Connection) -> bool:
    if is_paused:
        connection.execute("UPDATE chat_queue SET is_steering = 0 WHERE session_id = ?", (session_id,))
        is_paused = (
            _measure_queue(session_id, "", connection)[0] > 0
        )  # an empty queue is not paused, or messages added later would wait
    statement = "UPDATE chat_sessions SET queue_paused = ? WHERE session_id = ? AND queue_paused <> ?"
    return connection.execute(statement, (is_paused, session_id, is_paused)).rowcount == 1

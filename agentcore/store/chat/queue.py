"""Messages of a person that wait for their turn: on the disk, in their order, until a turn has taken them."""

import json
import sqlite3
from collections.abc import Iterable
from functools import partial
from typing import Literal, NamedTuple

from agentcore.store.database.database import Database

MessageTime = Literal["queue", "steer"]
"""When a message goes out: in a turn of its own, or with the next request of the turn that goes on."""


class UserMessage(NamedTuple):
    """What a person says, and with what.

    Args:
        text: What the person wrote.
        message_id: Its name while it waits, unique over all sessions; empty: it does not wait.
        attachments: Ids of artifacts that go with it.
        when: When it goes out.
        created_at_ms: Milliseconds since 1970.
        model: The model that counts from it on; empty: as it is then.
        agent_id: The agent that counts from it on; empty: as it is then.
        page: The page that the person looks at, as JSON text; None: it brings none.
        client_tools: The tools that the client runs, as JSON text; None: it brings none.
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
        messages: Those that wait, the next one first.
        is_paused: Whether they wait for a person to let them go on.
    """

    messages: tuple[UserMessage, ...] = ()
    is_paused: bool = False


class QueueStore:
    """The table of messages that wait. Each method is one transaction, and survives a power cut when it returns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_queue(self, session_id: str) -> StoredQueue:
        """The queue of a session."""
        return await self._database.read(partial(_load_queue, session_id))

    async def add_message(self, session_id: str, message: UserMessage, *, limit: int, limit_chars: int) -> bool:
        """Put a message at the end; False: with it there would be too many, or too much text."""
        work = partial(_insert_message, session_id, message, limit, limit_chars)
        return await self._database.write(work, is_durable=True)

    async def update_message(
        self, session_id: str, message_id: str, *, text: str | None, when: MessageTime | None, limit_chars: int
    ) -> bool | None:
        """Change a message; None: it does not wait (any more). False: there would be too much text."""
        work = partial(_update_message, session_id, message_id, text=text, when=when, limit_chars=limit_chars)
        return await self._database.write(work, is_durable=True)

    async def delete_message(self, session_id: str, message_id: str) -> bool:
        """Take a message out; False: it does not wait (any more)."""
        return await self._database.write(partial(_delete_message, session_id, message_id), is_durable=True)

    async def set_paused(self, session_id: str, *, is_paused: bool) -> bool:
        """Hold what waits, or let it go on; False: nothing is changed by that, as where nothing waits.

        What is held goes out in turns of its own afterwards, also what was to go with the next request.
        """
        return await self._database.write(partial(_set_paused, session_id, is_paused), is_durable=True)


def delete_queued_messages(connection: sqlite3.Connection, message_ids: Iterable[str]) -> None:
    """Take out messages that a turn has taken, in the transaction in which it keeps them."""
    connection.executemany("DELETE FROM chat_queue WHERE message_id = ?", [(each,) for each in message_ids])


def delete_queue(connection: sqlite3.Connection, session_id: str) -> None:
    """Forget what waits in a session."""
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
    """How many messages wait, but for one, and how many characters they have."""
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
        )  # what comes later is not held with what is not there
    statement = "UPDATE chat_sessions SET queue_paused = ? WHERE session_id = ? AND queue_paused <> ?"
    return connection.execute(statement, (is_paused, session_id, is_paused)).rowcount == 1

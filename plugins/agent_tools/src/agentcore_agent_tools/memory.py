"""`MemoryStore`: short texts under keys that agents store across sessions, with full-text search."""

import re
import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agentcore.api import ToolError
from agentcore_agent_tools.results import StoredMemory

MEMORIES = 10_000
"""Maximum number of memories; beyond it, saving a new one fails."""

CONTENT_CHARS = 50_000
"""Maximum length of one memory."""

_TRIGRAM_CHARS = 3
_SCHEMA = """
CREATE TABLE IF NOT EXISTS memories (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    content TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
) STRICT;
CREATE VIRTUAL TABLE IF NOT EXISTS memory_words USING fts5(
    key, content, content='memories', content_rowid='id', tokenize='trigram'
);
CREATE TRIGGER IF NOT EXISTS memory_added AFTER INSERT ON memories BEGIN
    INSERT INTO memory_words (rowid, key, content) VALUES (new.id, new.key, new.content);
END;
CREATE TRIGGER IF NOT EXISTS memory_deleted AFTER DELETE ON memories BEGIN
    INSERT INTO memory_words (memory_words, rowid, key, content) VALUES ('delete', old.id, old.key, old.content);
END;
CREATE TRIGGER IF NOT EXISTS memory_changed AFTER UPDATE ON memories BEGIN
    INSERT INTO memory_words (memory_words, rowid, key, content) VALUES ('delete', old.id, old.key, old.content);
    INSERT INTO memory_words (rowid, key, content) VALUES (new.id, new.key, new.content);
END;
"""


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory.

    Args:
        key: Its name.
        content: The text.
        updated_at_ms: When it was last saved, in milliseconds since 1970.
    """

    key: str
    content: str
    updated_at_ms: int

    def to_json(self) -> StoredMemory:
        """Return the structured result."""
        return {"key": self.key, "content": self.content, "updatedAt": self.updated_at_ms}


class MemoryStore:
    """The memories of one installation in an SQLite file; thread-safe, and saved memories survive a kill."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False, timeout=10)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.executescript(_SCHEMA)

    def save(self, key: str | None, content: str) -> Memory:
        """Save a text; an existing one under the key is replaced.

        Args:
            key: Its name; None to create one from its first words.
            content: The text.
        Raises:
            ToolError: `memory_full`.
        """
        now = time.time_ns() // 1_000_000
        with self._lock, self._connection as connection:
            name = key if key is not None else _free_key(connection, content)
            (count,) = connection.execute("SELECT count(*) FROM memories WHERE key <> ?", (name,)).fetchone()
            if count >= MEMORIES:
                message = f"{MEMORIES:,} memories are kept at most; delete some that are not needed any more"
                raise ToolError("memory_full", message, limit=MEMORIES)
            connection.execute(
                "INSERT INTO memories (key, content, created_at_ms, updated_at_ms) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (key) DO UPDATE SET content = excluded.content, updated_at_ms = excluded.updated_at_ms",
                (name, content, now, now),
            )
        return Memory(name, content, now)

    def search(self, query: str, limit: int) -> list[Memory]:
        """Return memories that contain every word of the query, in any language, best match first."""
        words = query.split()
        long = [word for word in words if len(word) >= _TRIGRAM_CHARS]
        short = [word for word in words if len(word) < _TRIGRAM_CHARS]  # too short for the trigram index, such as 天气
        conditions = [r"(m.key LIKE ? ESCAPE '\' OR m.content LIKE ? ESCAPE '\')"] * len(short)
        values: list[object] = [pattern for word in short for pattern in [_escape_like(word)] * 2]
        if long:
            table = "memory_words JOIN memories m ON m.id = memory_words.rowid"
            conditions.insert(0, "memory_words MATCH ?")
            values.insert(0, " AND ".join('"' + word.replace('"', '""') + '"' for word in long))
            order = "rank"
        else:
            table = "memories m"
            order = "m.updated_at_ms DESC"
        where = " AND ".join(conditions) or "1"
        return self._query(f"FROM {table} WHERE {where} ORDER BY {order} LIMIT ?", [*values, limit])

    def list_newest(self, limit: int) -> list[Memory]:
        """Return the most recently saved memories, newest first."""
        return self._query("FROM memories m ORDER BY m.updated_at_ms DESC, m.id DESC LIMIT ?", [limit])

    def delete(self, key: str) -> None:
        """Delete a memory.

        Raises:
            ToolError: `memory_not_found`.
        """
        with self._lock, self._connection as connection:
            if connection.execute("DELETE FROM memories WHERE key = ?", (key,)).rowcount == 0:
                raise ToolError("memory_not_found", f"there is no memory {key!r}; list or search them", key=key)

    def count(self) -> int:
        """Return the number of memories."""
        with self._lock:
            (count,) = self._connection.execute("SELECT count(*) FROM memories").fetchone()
        return int(count)

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._connection.close()

    def _query(self, query: str, values: list[object]) -> list[Memory]:
        with self._lock, closing(self._connection.cursor()) as cursor:
            rows = cursor.execute(f"SELECT m.key, m.content, m.updated_at_ms {query}", values).fetchall()
        return [Memory(*row) for row in rows]


def _escape_like(word: str) -> str:
    escaped = word.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{escaped}%"


def _free_key(connection: sqlite3.Connection, content: str) -> str:
    words = re.findall(r"\w+", content.lower())[:6]
    stem = "_".join(words)[:60] or "memory"
    for number in range(MEMORIES + 1):
        key = stem if number == 0 else f"{stem}_{number + 1}"
        if connection.execute("SELECT 1 FROM memories WHERE key = ?", (key,)).fetchone() is None:
            return key
    raise AssertionError("more keys are taken than there can be memories")

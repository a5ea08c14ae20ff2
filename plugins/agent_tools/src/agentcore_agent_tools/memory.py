"""`MemoryStore`: short texts under keys that agents store across sessions, found by their words, best match first."""

import json
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

PREFERENCE_CHARS = 1_000
"""Maximum length of a memory that is a preference: new chats begin with its text."""

_VERSION = 2
_SCHEMA = """
CREATE TABLE IF NOT EXISTS memories (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    content TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    is_preference INTEGER NOT NULL DEFAULT 0,
    sources TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE VIRTUAL TABLE IF NOT EXISTS memory_terms USING fts5(
    key, content, tokenize='porter unicode61 remove_diacritics 2'
);
"""
_DROP_FIRST_INDEX = """
DROP TRIGGER IF EXISTS memory_added;
DROP TRIGGER IF EXISTS memory_deleted;
DROP TRIGGER IF EXISTS memory_changed;
DROP TABLE IF EXISTS memory_words;
"""
"""The index of version 0 found only texts that hold every word of a query as it is written."""
_NEW_COLUMNS = (
    "is_preference INTEGER NOT NULL DEFAULT 0",
    "sources TEXT NOT NULL DEFAULT '[]'",
)
"""Columns that versions 0 and 1 did not have."""
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
"""Scripts that write words without spaces between them."""
_COMMON = re.compile(
    "an?|and|are|at|be|by|did|do|does|for|from|has|have|how|i|in|is|it|me|my|of|on|or|our|that|the|their|to|was|we|were|"
    "what|when|where|which|who|why|with|you|your"
)
"""Words that say nothing of what is sought."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory.

    Args:
        key: Its name.
        content: The text.
        updated_at_ms: When it was last saved, in milliseconds since 1970.
        is_preference: True if it is a wish of the person that holds in every chat.
        sources: The untrusted content that the model had read when it saved it, by the names of its sources; none: it
            was saved by the person, or before anything of the kind was read.
    """

    key: str
    content: str
    updated_at_ms: int
    is_preference: bool = False
    sources: tuple[str, ...] = ()

    @property
    def is_trusted(self) -> bool:
        """True if no untrusted content can have caused it."""
        return not self.sources

    def to_json(self) -> StoredMemory:
        """Return the structured result."""
        return {
            "key": self.key,
            "content": self.content,
            "updatedAt": self.updated_at_ms,
            "preference": self.is_preference,
            "savedAfter": list(self.sources),
        }


@dataclass(frozen=True, slots=True)
class Change:
    """What is saved under a key.

    Args:
        content: The text; None: the one that is there stays.
        is_preference: Whether it is a preference; None: as it is, and False for a new one.
        sources: The sources of untrusted content that may have caused the change.
        is_by_person: True if the person makes it: what is there is then trusted as well.
    """

    content: str | None
    is_preference: bool | None = None
    sources: tuple[str, ...] = ()
    is_by_person: bool = False


class MemoryStore:
    """The memories of one installation in an SQLite file; thread-safe, and saved memories survive a kill."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False, timeout=10)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.executescript(_SCHEMA)
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version < _VERSION:
            self._build_index()

    def save(self, key: str | None, change: Change) -> Memory:
        """Save a text; an existing one under the key is replaced.

        Args:
            key: Its name; None to create one from its first words.
            change: The text, and what is known of it.
        Raises:
            ToolError: `memory_full`, `memory_not_found` (there is no text, and none is given), `invalid_arguments` (it
                is too long for a preference).
        """
        now = time.time_ns() // 1_000_000
        with self._lock, self._connection as connection:
            name = key if key is not None else _free_key(connection, change.content or "")
            memory = _apply_change(name, change, _find_memory(connection, name), now)
            (count,) = connection.execute("SELECT count(*) FROM memories WHERE key <> ?", (name,)).fetchone()
            if count >= MEMORIES:
                message = f"{MEMORIES:,} memories are kept at most; delete some that are not needed any more"
                raise ToolError("memory_full", message, limit=MEMORIES)
            connection.execute(
                "INSERT INTO memories (key, content, created_at_ms, updated_at_ms, is_preference, sources)"
                " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET content = excluded.content,"
                " updated_at_ms = excluded.updated_at_ms, is_preference = excluded.is_preference,"
                " sources = excluded.sources",
                (name, memory.content, now, now, memory.is_preference, json.dumps(memory.sources)),
            )
            (memory_id,) = connection.execute("SELECT id FROM memories WHERE key = ?", (name,)).fetchone()
            connection.execute("DELETE FROM memory_terms WHERE rowid = ?", (memory_id,))
            _add_terms(connection, memory_id, name, memory.content)
        return memory

    def search(self, query: str, limit: int) -> list[Memory]:
        """Return memories that contain words of the query, in any form and language, best match first."""
        terms = _query_terms(query)
        table = "memory_terms JOIN memories m ON m.id = memory_terms.rowid"
        ranked = f"FROM {table} WHERE memory_terms MATCH ? ORDER BY rank LIMIT ?"
        return (self._query(ranked, [" OR ".join(terms), limit]) if terms else []) or self._search_parts(query, limit)

    def _search_parts(self, query: str, limit: int) -> list[Memory]:
        """Return memories that contain each part of the query literally, such as signs and parts of words."""
        parts = query.split()
        where = " AND ".join([r"(m.key LIKE ? ESCAPE '\' OR m.content LIKE ? ESCAPE '\')"] * len(parts)) or "1"
        values: list[object] = [pattern for part in parts for pattern in [_escape_like(part)] * 2]
        return self._query(f"FROM memories m WHERE {where} ORDER BY m.updated_at_ms DESC LIMIT ?", [*values, limit])

    def list_newest(self, limit: int) -> list[Memory]:
        """Return the most recently saved memories, newest first."""
        return self._query("FROM memories m ORDER BY m.updated_at_ms DESC, m.id DESC LIMIT ?", [limit])

    def list_preferences(self) -> list[Memory]:
        """Return the preferences, newest first."""
        return self._query("FROM memories m WHERE m.is_preference ORDER BY m.updated_at_ms DESC, m.id DESC", [])

    def delete(self, key: str) -> None:
        """Delete a memory.

        Raises:
            ToolError: `memory_not_found`.
        """
        with self._lock, self._connection as connection:
            connection.execute("DELETE FROM memory_terms WHERE rowid = (SELECT id FROM memories WHERE key = ?)", (key,))
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

    def _build_index(self) -> None:
        """Index what a former version saved, and give it the columns of this one."""
        with self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            known = {row[1] for row in connection.execute("PRAGMA table_info(memories)")}
            for column in _NEW_COLUMNS:
                if column.split()[0] not in known:
                    connection.execute(f"ALTER TABLE memories ADD COLUMN {column}")
            for statement in _DROP_FIRST_INDEX.split(";"):
                connection.execute(statement)
            connection.execute("DELETE FROM memory_terms")
            for row in connection.execute("SELECT id, key, content FROM memories").fetchall():
                _add_terms(connection, *row)
            connection.execute(f"PRAGMA user_version = {_VERSION}")

    def _query(self, query: str, values: list[object]) -> list[Memory]:
        with self._lock, closing(self._connection.cursor()) as cursor:
            rows = cursor.execute(f"SELECT {_COLUMNS} {query}", values).fetchall()
        return [_read_memory(*row) for row in rows]


_COLUMNS = "m.key, m.content, m.updated_at_ms, m.is_preference, m.sources"

_OF_KEY = "FROM memories m WHERE m.key = ?"


def _read_memory(key: str, content: str, updated_at_ms: int, is_preference: int, sources: str) -> Memory:
    return Memory(key, content, updated_at_ms, bool(is_preference), tuple(json.loads(sources)))


def _find_memory(connection: sqlite3.Connection, key: str) -> Memory | None:
    row = connection.execute(f"SELECT {_COLUMNS} {_OF_KEY}", (key,)).fetchone()
    return None if row is None else _read_memory(*row)


def _apply_change(name: str, change: Change, before: Memory | None, now_ms: int) -> Memory:
    """Return a memory after a change.

    Raises:
        ToolError: `memory_not_found`, `invalid_arguments`.
    """
    content = change.content
    inherited: tuple[str, ...] = ()
    if content is None:
        if before is None:
            message = f"there is no memory {name!r} whose text could stay; give its content"
            raise ToolError("memory_not_found", message, key=name)
        # a text that stays keeps its mark, or a model could remove it without having read the text
        content = before.content
        inherited = () if change.is_by_person else before.sources
    was_preference = before is not None and before.is_preference
    is_preference = was_preference if change.is_preference is None else change.is_preference
    if is_preference and len(content) > PREFERENCE_CHARS:
        message = (
            f"a preference has at most {PREFERENCE_CHARS:,} characters, because every chat begins with it; this one "
            f"has {len(content):,}: shorten it, or save it with preference=false"
        )
        raise ToolError("invalid_arguments", message, limit=PREFERENCE_CHARS)
    sources = tuple(dict.fromkeys([*inherited, *change.sources]))
    return Memory(name, content, now_ms, is_preference, sources)


def _add_terms(connection: sqlite3.Connection, memory_id: int, key: str, content: str) -> None:
    terms = (memory_id, _with_pairs(key), _with_pairs(content))
    connection.execute("INSERT INTO memory_terms (rowid, key, content) VALUES (?, ?, ?)", terms)


def _with_pairs(text: str) -> str:
    """Return a text in which each pair of characters of unspaced scripts is a word: 晴天气 as 晴天 天气."""
    return _UNSPACED.sub(lambda found: f" {' '.join(_pairs(found[0]))} ", text)


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(max(1, len(run) - 1))]


def _query_terms(query: str) -> list[str]:
    """Return the terms of a query for the index: words, and pairs of characters of unspaced scripts."""
    runs = _UNSPACED.findall(query)
    pairs = [f'"{pair}"' if len(pair) > 1 else f'"{pair}"*' for run in runs for pair in _pairs(run)]
    words = re.findall(r"[^\W_]+", _UNSPACED.sub(" ", query.lower()))
    telling = [word for word in words if not _COMMON.fullmatch(word)]
    return [*pairs, *(f'"{word}"' for word in telling or ([] if pairs else words))]


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

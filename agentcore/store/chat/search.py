"""Full-text search of sessions, by parts of words and in languages without spaces."""

import sqlite3

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

"""Approvals on disk: each method is one transaction that survives a power cut once it returns."""

import sqlite3
from collections.abc import Sequence
from functools import partial

from agentcore.store.approvals.approval_rows import ApprovalRow, GrantRow, SourceRow
from agentcore.store.database.database import Database

_GRANT = ", ".join(GrantRow._fields)
_SOURCE = ", ".join(SourceRow._fields)


class ApprovalStore:
    """The tables of approvals. When an approved call starts, the same transaction removes its row."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- calls -------------------------------------------------------------------------------------------------

    async def save_call(self, row: ApprovalRow) -> None:
        """Store a waiting call."""
        await self._database.write(partial(_save_call, row), is_durable=True)

    async def save_decision(self, row: ApprovalRow, grants: Sequence[GrantRow], sources: Sequence[SourceRow]) -> None:
        """Store a decision with its grants and accepted sources; a call that is not stored is ignored.

        The request is stored as decided, because the user may have edited it.
        """
        work = partial(_save_decision, row, grants=grants, sources=sources)
        await self._database.write(work, is_durable=True)

    async def delete_call(self, call_id: str) -> None:
        """Delete a call, if it is stored."""
        await self._database.write(partial(_delete_call, call_id), is_durable=True)

    async def load_calls(self, now_ms: int) -> list[ApprovalRow]:
        """Return waiting calls and unexpired decisions, oldest first; delete the expired ones."""
        return await self._database.write(partial(_load_calls, now_ms))

    # -- grants ------------------------------------------------------------------------------------------------

    async def load_grants(self) -> list[GrantRow]:
        """Return all grants, oldest first."""
        return await self._database.read(_load_grants)

    async def delete_grant(self, grant_id: str) -> None:
        """Revoke a grant."""
        await self._database.write(partial(_delete_grant, grant_id), is_durable=True)

    async def save_grant_use(self, grant_id: str, used_at_ms: int) -> None:
        """Store when a grant let a call run last."""
        await self._database.write(partial(_save_grant_use, grant_id, used_at_ms))

    # -- untrusted sources -------------------------------------------------------------------------------------

    async def add_source(self, row: SourceRow) -> None:
        """Store a source; an existing one stays unchanged."""
        await self._database.write(partial(_insert_source, row), is_durable=True)

    async def load_sources(self) -> list[SourceRow]:
        """Return all sources in the order in which they were seen."""
        return await self._database.read(_load_sources)

    async def delete_session_rows(self, session_id: str) -> None:
        """Delete all rows of a session that has ended."""
        await self._database.write(partial(_delete_session_rows, session_id), is_durable=True)


def _save_call(row: ApprovalRow, connection: sqlite3.Connection) -> None:
    # the column is NOT NULL, and its value is meaningless while there is no verdict
    values = row._replace(expires_at_ms=row.expires_at_ms or 0)
    connection.execute("INSERT OR REPLACE INTO approvals VALUES (?, ?, ?, ?, ?)", values)


def _save_decision(
    row: ApprovalRow,
    connection: sqlite3.Connection,
    *,
    grants: Sequence[GrantRow],
    sources: Sequence[SourceRow],
) -> None:
    connection.execute(
        "UPDATE approvals SET verdict = ?, request = ?, expires_at_ms = ? WHERE call_id = ?",
        (row.verdict, row.request, row.expires_at_ms, row.call_id),
    )
    marks = ", ".join("?" * len(GrantRow._fields))
    connection.executemany(f"INSERT INTO approval_grants ({_GRANT}) VALUES ({marks})", grants)  # noqa: S608
    for source in sources:
        connection.execute(
            "UPDATE untrusted_sources SET accepted_by = ? WHERE session_id = ? AND source = ?",
            (source.accepted_by, source.session_id, source.source),
        )


def _delete_call(call_id: str, connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM approvals WHERE call_id = ?", (call_id,))


def _load_calls(now_ms: int, connection: sqlite3.Connection) -> list[ApprovalRow]:
    connection.execute("DELETE FROM approvals WHERE verdict IS NOT NULL AND expires_at_ms <= ?", (now_ms,))
    # earlier versions also set an expiry for waiting calls, which is ignored
    query = (
        "SELECT call_id, session_id, request, verdict, iif(verdict IS NULL, NULL, expires_at_ms) FROM approvals"
        " ORDER BY CASE WHEN json_valid(request) THEN json_extract(request, '$.requested_at_ms') END, call_id"
    )
    return [ApprovalRow(*row) for row in connection.execute(query)]


def _load_grants(connection: sqlite3.Connection) -> list[GrantRow]:
    query = f"SELECT {_GRANT} FROM approval_grants ORDER BY granted_at_ms, grant_id"  # noqa: S608 - names of columns
    return [GrantRow(*row) for row in connection.execute(query)]


def _delete_grant(grant_id: str, connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM approval_grants WHERE grant_id = ?", (grant_id,))


def _save_grant_use(grant_id: str, used_at_ms: int, connection: sqlite3.Connection) -> None:
    query = "UPDATE approval_grants SET last_used_at_ms = ? WHERE grant_id = ?"
    connection.execute(query, (used_at_ms, grant_id))


def _insert_source(row: SourceRow, connection: sqlite3.Connection) -> None:
    connection.execute("INSERT OR IGNORE INTO untrusted_sources VALUES (?, ?, ?, ?)", row)


def _load_sources(connection: sqlite3.Connection) -> list[SourceRow]:
    query = f"SELECT {_SOURCE} FROM untrusted_sources ORDER BY seen_at_ms, source"  # noqa: S608 - names of columns
    return [SourceRow(*row) for row in connection.execute(query)]


def _delete_session_rows(session_id: str, connection: sqlite3.Connection) -> None:
    for table in ("approvals", "approval_grants", "untrusted_sources"):
        connection.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))  # noqa: S608 - from above

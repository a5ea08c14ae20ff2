"""Artifacts pinned by chat messages: they exist as long as the messages, and calls of the session can read them."""

import sqlite3
from collections.abc import Iterable, Sequence

from agentcore.errors import ToolError
from agentcore.store.artifacts.artifact_rows import ARTIFACT_COLUMNS, IS_OWNERS, Artifact, quota_of
from agentcore.store.artifacts.files import unknown_artifact

_NOT_SENT = 0
"""Placeholder for the number of a message that has not been sent yet."""


def pin_artifacts(
    artifact_ids: Sequence[str], session_id: str, owner: str | None, quota_bytes: int, connection: sqlite3.Connection
) -> list[Artifact]:
    """Pin artifacts for a message about to be sent; return their metadata.

    Raises:
        ToolError: `artifact_not_found`, `attachments_full`.
    """
    rows = [_load_artifact(artifact_id, session_id, owner, connection) for artifact_id in artifact_ids]
    held = [(artifact_id, session_id, _NOT_SENT) for artifact_id in artifact_ids]
    connection.executemany("INSERT OR IGNORE INTO artifact_holds VALUES (?, ?, ?)", held)
    for account in {row.account for row in rows}:
        _check_pinned_bytes(account, quota_of(account, quota_bytes) // 2, connection)
    return rows


def _check_pinned_bytes(account: str, limit_bytes: int, connection: sqlite3.Connection) -> None:
    """Check that pinned artifacts leave room for results of calls.

    Raises:
        ToolError: `attachments_full`.
    """
    (taken,) = connection.execute(
        "SELECT coalesce(sum(charged_bytes), 0) FROM artifacts"
        " WHERE account = ? AND artifact_id IN (SELECT artifact_id FROM artifact_holds)",
        (account,),
    ).fetchone()
    if taken > limit_bytes:
        message = f"attachments of chats may take {limit_bytes:,} bytes together, and these are more; delete old chats"
        raise ToolError("attachments_full", message, limit_bytes=limit_bytes)


def pin_for_message(artifact_ids: Iterable[str], session_id: str, number: int, connection: sqlite3.Connection) -> None:
    """Pin artifacts for a stored message, replacing the pins made before it was sent."""
    for artifact_id in artifact_ids:
        connection.execute("INSERT OR IGNORE INTO artifact_holds VALUES (?, ?, ?)", (artifact_id, session_id, number))
        unpin_artifacts((artifact_id,), session_id, connection)


def unpin_artifacts(artifact_ids: Iterable[str], session_id: str, connection: sqlite3.Connection) -> None:
    """Release artifacts pinned for a message that has not been sent."""
    statement = "DELETE FROM artifact_holds WHERE artifact_id = ? AND session_id = ? AND number = ?"
    connection.executemany(statement, [(artifact_id, session_id, _NOT_SENT) for artifact_id in artifact_ids])


def is_artifact_pinned(artifact_id: str, session_id: str, connection: sqlite3.Connection) -> bool:
    """Return True if a message of the session pins the artifact."""
    query = "SELECT 1 FROM artifact_holds WHERE artifact_id = ? AND session_id = ? LIMIT 1"
    return connection.execute(query, (artifact_id, session_id)).fetchone() is not None


def _load_artifact(artifact_id: str, session_id: str, owner: str | None, connection: sqlite3.Connection) -> Artifact:
    query = (
        f"SELECT {ARTIFACT_COLUMNS} FROM artifacts WHERE artifact_id = :artifact"  # noqa: S608 - names
        f" AND (:owner IS NULL OR {IS_OWNERS} OR (session_id <> '' AND session_id = :session))"
    )
    row = connection.execute(query, {"artifact": artifact_id, "owner": owner, "session": session_id}).fetchone()
    if row is None:
        raise unknown_artifact(artifact_id)
    return Artifact(*row)

"""What is known about each artifact, and the tables that say so; the sum of all stays within the quota."""

import sqlite3
from dataclasses import astuple, dataclass

import structlog

from agentcore.errors import ToolError

log = structlog.get_logger(__name__)

ARTIFACT_COLUMNS = "artifact_id, mime, name, size_bytes, created_at_ms, session_id, call_id, is_untrusted, owner"
IS_OWNERS = "(owner = :owner OR session_id IN (SELECT session_id FROM chat_sessions WHERE owner = :owner))"
"""Holds for the artifacts that somebody has sent, and for those that were made in their sessions."""

# what a small file takes on the disk; charged, so that the quota bounds the number of files too
_CHARGE_BYTES = 4096
_TEXT_MIMES = frozenset(
    f"application/{kind}" for kind in ("json", "xml", "javascript", "x-ndjson", "yaml", "x-sh", "sql", "toml")
)


@dataclass(frozen=True, slots=True)
class Artifact:
    """What is known about a stored artifact.

    Args:
        artifact_id: Opaque and random.
        name: A file name to show and to save under; never a place in the state folder.
        created_at_ms: Milliseconds since 1970.
        is_untrusted: Whether it holds, or may hold, what comes from the open world.
        owner: The credential that sent it; empty: a call has stored it.
    """

    artifact_id: str
    mime: str
    name: str
    size_bytes: int
    created_at_ms: int
    session_id: str
    call_id: str
    is_untrusted: bool
    owner: str = ""

    @property
    def is_text(self) -> bool:
        """Whether lines can be searched in it."""
        mime = self.mime.partition(";")[0].strip().lower()
        return mime.startswith("text/") or mime in _TEXT_MIMES or mime.endswith(("+json", "+xml"))


def too_large(size_bytes: int, quota_bytes: int) -> ToolError:
    """The error for more than all artifacts may take."""
    return ToolError(
        "result_too_large",
        f"{size_bytes} bytes are more than the {quota_bytes} that all artifacts may take; ask for less",
        size_bytes=size_bytes,
        limit_bytes=quota_bytes,
    )


def charge_of(size_bytes: int) -> int:
    """What an artifact takes of the quota."""
    return max(1, -(-size_bytes // _CHARGE_BYTES)) * _CHARGE_BYTES


def find_artifact(artifact_id: str, owner: str | None, connection: sqlite3.Connection) -> Artifact | None:
    """The artifact of an id, if there is one that an owner may see.

    Args:
        artifact_id: Which.
        owner: Who sent it, or whose sessions it must be of: made there, or held by a message; None: anybody.
        connection: Reads.
    """
    query = (
        f"SELECT {ARTIFACT_COLUMNS} FROM artifacts WHERE artifact_id = :artifact"  # noqa: S608 - names
        f" AND (:owner IS NULL OR {IS_OWNERS} OR EXISTS (SELECT 1 FROM artifact_holds AS held"
        " WHERE held.artifact_id = :artifact"
        " AND held.session_id IN (SELECT session_id FROM chat_sessions WHERE owner = :owner)))"
    )
    row = connection.execute(query, {"artifact": artifact_id, "owner": owner}).fetchone()
    return None if row is None else Artifact(*row)


def newest_artifacts(
    limit: int, session_id: str | None, before: int | None, connection: sqlite3.Connection
) -> list[tuple[int, Artifact]]:
    """Artifacts that calls have stored, the newest first, each with its number."""
    query = (
        f"SELECT number, {ARTIFACT_COLUMNS} FROM artifacts WHERE owner = ''"  # noqa: S608 - names
        " AND (:session IS NULL OR session_id = :session) AND (:before IS NULL OR number < :before)"
        " ORDER BY number DESC LIMIT :limit"
    )
    found = connection.execute(query, {"session": session_id, "before": before, "limit": limit})
    return [(number, Artifact(*row)) for number, *row in found]


def insert_artifact(artifact: Artifact, quota_bytes: int, connection: sqlite3.Connection) -> list[str]:
    """Enter an artifact and take out as many of the oldest as the quota asks for; gives their ids.

    What messages hold stays. It takes half of the quota at most, so that there is room for what calls give.
    """
    charge = charge_of(artifact.size_bytes)
    excess = used_bytes(connection) + charge - quota_bytes
    evicted = []
    oldest = connection.execute(
        "SELECT artifact_id, charged_bytes FROM artifacts WHERE NOT EXISTS"
        " (SELECT 1 FROM artifact_holds AS held WHERE held.artifact_id = artifacts.artifact_id) ORDER BY number"
    )
    while excess > 0:
        row = oldest.fetchone()
        if row is None:
            raise too_large(artifact.size_bytes, quota_bytes)
        evicted.append(row[0])
        excess -= row[1]
    oldest.close()
    for artifact_id in evicted:
        remove_artifact(artifact_id, connection)
    connection.execute(
        f"INSERT INTO artifacts ({ARTIFACT_COLUMNS}, charged_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        (*astuple(artifact), charge),
    )
    return evicted


def remove_artifact(artifact_id: str, connection: sqlite3.Connection) -> bool:
    """Take an artifact out; False: there is none."""
    return connection.execute("DELETE FROM artifacts WHERE artifact_id = ?", (artifact_id,)).rowcount > 0


def used_bytes(connection: sqlite3.Connection) -> int:
    """What is taken of the quota."""
    (used,) = connection.execute("SELECT charged_bytes FROM artifact_usage").fetchone()
    return int(used)


def forget_incomplete(sizes: dict[str, int], connection: sqlite3.Connection) -> set[str]:
    """Take out rows whose file is gone or has another size; gives the ids that stay."""
    known = dict(connection.execute("SELECT artifact_id, size_bytes FROM artifacts"))
    incomplete = [artifact_id for artifact_id, size in known.items() if sizes.get(artifact_id) != size]
    for artifact_id in incomplete:
        remove_artifact(artifact_id, connection)
    if incomplete:
        log.warning("artifacts_incomplete", artifacts=len(incomplete))
    return known.keys() - set(incomplete)

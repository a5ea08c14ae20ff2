"""Artifact metadata and its tables, and the quotas."""

import sqlite3
from dataclasses import astuple, replace

import structlog

from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass

log = structlog.get_logger(__name__)

ARTIFACT_COLUMNS = (
    "artifact_id, mime, name, size_bytes, created_at_ms, session_id, call_id, is_untrusted, owner, account"
)
IS_OWNERS = "(owner = :owner OR session_id IN (SELECT session_id FROM chat_sessions WHERE owner = :owner))"
"""SQL condition: the artifact was sent by the owner, or made in one of the owner's sessions."""

# disk usage of a small file; charged so that the quota also limits the number of files
_CHARGE_BYTES = 4096
_OWN_SHARE = 8
"""A client, a mounted server or another machine may use 1/8 of the user's quota, in addition to it."""
_SHARE_OF_OTHERS = 2
"""All of them together may use 1/2 of it."""
_CLIENT = "client:"
_TEXT_MIMES = frozenset(
    f"application/{kind}" for kind in ("json", "xml", "javascript", "x-ndjson", "yaml", "x-sh", "sql", "toml")
)


@dataclass(frozen=True, slots=True)
class Artifact:
    """Metadata of a stored artifact.

    Args:
        artifact_id: Opaque and random.
        name: A file name for display and saving; never a path in the state folder.
        created_at_ms: Milliseconds since 1970.
        is_untrusted: True if it contains, or may contain, content from the open world.
        owner: The credential that sent it; empty: stored by a call.
        account: The account whose quota it uses: `mcp:NAME`, `client:NAME`, `module:NAME`, `host:NAME`; empty: the
            user's.
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
    account: str = ""

    @property
    def is_text(self) -> bool:
        """True if its lines can be searched."""
        mime = self.mime.partition(";")[0].strip().lower()
        return mime.startswith("text/") or mime in _TEXT_MIMES or mime.endswith(("+json", "+xml"))


def too_large(size_bytes: int, quota_bytes: int) -> ToolError:
    """Return the error for an artifact larger than its quota."""
    return ToolError(
        "result_too_large",
        f"{size_bytes} bytes are more than the {quota_bytes} that these artifacts may take; ask for less",
        size_bytes=size_bytes,
        limit_bytes=quota_bytes,
    )


def charge_of(size_bytes: int) -> int:
    """Return the bytes that an artifact is charged against its quota."""
    return max(1, -(-size_bytes // _CHARGE_BYTES)) * _CHARGE_BYTES


def find_artifact(artifact_id: str, owner: str | None, connection: sqlite3.Connection) -> Artifact | None:
    """Return the artifact with this id, or None if there is none that the owner may see.

    Args:
        artifact_id: Its id.
        owner: Credential that sent it, or owns a session that made it or pins it by a message; None: any.
        connection: Connection to read with.
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
    """Return artifacts stored by calls, newest first, each with its number."""
    query = (
        f"SELECT number, {ARTIFACT_COLUMNS} FROM artifacts WHERE owner = ''"  # noqa: S608 - names
        " AND (:session IS NULL OR session_id = :session) AND (:before IS NULL OR number < :before)"
        " ORDER BY number DESC LIMIT :limit"
    )
    found = connection.execute(query, {"session": session_id, "before": before, "limit": limit})
    return [(number, Artifact(*row)) for number, *row in found]


def quota_of(account: str, quota_bytes: int) -> int:
    """Return the quota of one account.

    Args:
        account: As in `Artifact.account`.
        quota_bytes: The user's quota.
    """
    return quota_bytes // _OWN_SHARE if account else quota_bytes


def insert_artifact(artifact: Artifact, quota_bytes: int, connection: sqlite3.Connection) -> list[str]:
    """Insert an artifact and evict as many of the oldest as the quotas require; return their ids.

    An account evicts from its own artifacts. The accounts other than the user's also share a quota, for which the
    largest of them evicts. Artifacts of the user only evict artifacts of the user.

    Artifacts pinned by messages are not evicted. They may use half of a quota, so that results of calls have room.

    Raises:
        ToolError: `result_too_large`: not enough can be evicted.
    """
    charge = charge_of(artifact.size_bytes)
    account = artifact.account or client_account(artifact, connection)
    evicted: list[str] = []
    own_quota = quota_of(account, quota_bytes)
    excess = account_bytes(account, connection) + charge - own_quota
    evicted += _evict_oldest(account, excess, artifact, own_quota, connection)
    others_quota = quota_bytes // _SHARE_OF_OTHERS
    while account and (excess := _bytes_of_others(connection) + charge - others_quota) > 0:
        query = (
            "SELECT account FROM artifact_account_usage WHERE account <> '' AND charged_bytes > 0"
            " ORDER BY charged_bytes DESC LIMIT 1"
        )
        (largest,) = connection.execute(query).fetchone()
        # one at a time: another account may be the largest afterwards
        evicted += _evict_oldest(largest, 1, artifact, others_quota, connection)
    connection.execute(
        f"INSERT INTO artifacts ({ARTIFACT_COLUMNS}, charged_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        (*astuple(replace(artifact, account=account)), charge),
    )
    return evicted


def _evict_oldest(
    account: str, excess_bytes: int, artifact: Artifact, quota_bytes: int, connection: sqlite3.Connection
) -> list[str]:
    """Remove the oldest unpinned artifacts of an account until enough room is free; return their ids."""
    evicted = []
    oldest = connection.execute(
        "SELECT artifact_id, charged_bytes FROM artifacts WHERE account = ? AND NOT EXISTS"
        " (SELECT 1 FROM artifact_holds AS held WHERE held.artifact_id = artifacts.artifact_id) ORDER BY number",
        (account,),
    )
    while excess_bytes > 0:
        row = oldest.fetchone()
        if row is None:
            raise too_large(artifact.size_bytes, quota_bytes)
        evicted.append(row[0])
        excess_bytes -= row[1]
    oldest.close()
    for artifact_id in evicted:
        remove_artifact(artifact_id, connection)
    return evicted


def client_account(artifact: Artifact, connection: sqlite3.Connection) -> str:
    """Return the account of the paired client that sent an artifact or owns its chat; empty: none."""
    if artifact.owner.startswith(_CLIENT):
        return artifact.owner
    query = "SELECT owner FROM chat_sessions WHERE session_id = ?"
    row = connection.execute(query, (artifact.session_id,)).fetchone()
    return str(row[0]) if row is not None and row[0].startswith(_CLIENT) else ""


def account_bytes(account: str, connection: sqlite3.Connection) -> int:
    """Return the bytes charged to an account."""
    query = "SELECT charged_bytes FROM artifact_account_usage WHERE account = ?"
    row = connection.execute(query, (account,)).fetchone()
    return 0 if row is None else int(row[0])


def _bytes_of_others(connection: sqlite3.Connection) -> int:
    query = "SELECT coalesce(sum(charged_bytes), 0) FROM artifact_account_usage WHERE account <> ''"
    return int(connection.execute(query).fetchone()[0])


def remove_artifact(artifact_id: str, connection: sqlite3.Connection) -> bool:
    """Remove an artifact's row; return False if there is none."""
    return connection.execute("DELETE FROM artifacts WHERE artifact_id = ?", (artifact_id,)).rowcount > 0


def used_bytes(connection: sqlite3.Connection) -> int:
    """Return the bytes charged to all accounts."""
    (used,) = connection.execute("SELECT charged_bytes FROM artifact_usage").fetchone()
    return int(used)


def delete_incomplete_rows(sizes: dict[str, int], connection: sqlite3.Connection) -> set[str]:
    """Remove rows whose file is missing or has another size; return the remaining ids."""
    known = dict(connection.execute("SELECT artifact_id, size_bytes FROM artifacts"))
    incomplete = [artifact_id for artifact_id, size in known.items() if sizes.get(artifact_id) != size]
    for artifact_id in incomplete:
        remove_artifact(artifact_id, connection)
    if incomplete:
        log.warning("artifacts_incomplete", artifacts=len(incomplete))
    return known.keys() - set(incomplete)

"""What is known about each artifact, and the tables that say so; the sum of all stays within the quota."""

import sqlite3
from dataclasses import astuple, dataclass, replace

import structlog

from agentcore.errors import ToolError

log = structlog.get_logger(__name__)

ARTIFACT_COLUMNS = (
    "artifact_id, mime, name, size_bytes, created_at_ms, session_id, call_id, is_untrusted, owner, account"
)
IS_OWNERS = "(owner = :owner OR session_id IN (SELECT session_id FROM chat_sessions WHERE owner = :owner))"
"""Holds for the artifacts that somebody has sent, and for those that were made in their sessions."""

# what a small file takes on the disk; charged, so that the quota bounds the number of files too
_CHARGE_BYTES = 4096
_OWN_SHARE = 8
"""A client, a mounted server or another machine may take this part of the user's quota, beside that."""
_SHARE_OF_OTHERS = 2
"""All of them together may take this part."""
_CLIENT = "client:"
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
        account: Whose quota it takes: `mcp:NAME`, `client:NAME`, `module:NAME`, `host:NAME`; empty: the user's.
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
        """Whether lines can be searched in it."""
        mime = self.mime.partition(";")[0].strip().lower()
        return mime.startswith("text/") or mime in _TEXT_MIMES or mime.endswith(("+json", "+xml"))


def too_large(size_bytes: int, quota_bytes: int) -> ToolError:
    """The error for more than all artifacts may take."""
    return ToolError(
        "result_too_large",
        f"{size_bytes} bytes are more than the {quota_bytes} that these artifacts may take; ask for less",
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


def quota_of(account: str, quota_bytes: int) -> int:
    """What the artifacts of one account may take.

    Args:
        account: As `Artifact.account` has it.
        quota_bytes: The user's quota.
    """
    return quota_bytes // _OWN_SHARE if account else quota_bytes


def insert_artifact(artifact: Artifact, quota_bytes: int, connection: sqlite3.Connection) -> list[str]:
    """Enter an artifact and remove as many of the oldest as the quotas ask for; returns their ids.

    An account makes room among its own. The accounts of others than the user have a quota together as well, where the
    one that takes most makes room. The user's artifacts make room for the user's alone.

    What messages hold stays. It takes half of a quota at most, so that there is room for what calls give.

    Raises:
        ToolError: `result_too_large`: there is no room that can be made.
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
        # one at a time: after it another account may be the largest
        evicted += _evict_oldest(largest, 1, artifact, others_quota, connection)
    connection.execute(
        f"INSERT INTO artifacts ({ARTIFACT_COLUMNS}, charged_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        (*astuple(replace(artifact, account=account)), charge),
    )
    return evicted


def _evict_oldest(
    account: str, excess_bytes: int, artifact: Artifact, quota_bytes: int, connection: sqlite3.Connection
) -> list[str]:
    """Remove the oldest artifacts of an account that nothing holds, until so much room is made; returns their ids."""
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
    """The account of the paired client that sent an artifact, or in whose chat it was made; empty: none."""
    if artifact.owner.startswith(_CLIENT):
        return artifact.owner
    query = "SELECT owner FROM chat_sessions WHERE session_id = ?"
    row = connection.execute(query, (artifact.session_id,)).fetchone()
    return str(row[0]) if row is not None and row[0].startswith(_CLIENT) else ""


def account_bytes(account: str, connection: sqlite3.Connection) -> int:
    """What an account takes of its quota."""
    query = "SELECT charged_bytes FROM artifact_account_usage WHERE account = ?"
    row = connection.execute(query, (account,)).fetchone()
    return 0 if row is None else int(row[0])


def _bytes_of_others(connection: sqlite3.Connection) -> int:
    query = "SELECT coalesce(sum(charged_bytes), 0) FROM artifact_account_usage WHERE account <> ''"
    return int(connection.execute(query).fetchone()[0])


def remove_artifact(artifact_id: str, connection: sqlite3.Connection) -> bool:
    """Take an artifact out; False: there is none."""
    return connection.execute("DELETE FROM artifacts WHERE artifact_id = ?", (artifact_id,)).rowcount > 0


def used_bytes(connection: sqlite3.Connection) -> int:
    """What is taken of the quota."""
    (used,) = connection.execute("SELECT charged_bytes FROM artifact_usage").fetchone()
    return int(used)


def delete_incomplete_rows(sizes: dict[str, int], connection: sqlite3.Connection) -> set[str]:
    """Take out rows whose file is gone or has another size; gives the ids that stay."""
    known = dict(connection.execute("SELECT artifact_id, size_bytes FROM artifacts"))
    incomplete = [artifact_id for artifact_id, size in known.items() if sizes.get(artifact_id) != size]
    for artifact_id in incomplete:
        remove_artifact(artifact_id, connection)
    if incomplete:
        log.warning("artifacts_incomplete", artifacts=len(incomplete))
    return known.keys() - set(incomplete)

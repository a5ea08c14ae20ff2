"""The SQLite file before use: checked after an unclean shutdown, quarantined if broken, and migrated."""

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import structlog

from agentcore.store.database.schema import MIGRATIONS, run_migrations
from agentcore.store.state.state_errors import DatabaseTooNewError, DatabaseUnusableError

log = structlog.get_logger(__name__)

_BUSY_TIMEOUT_MS = 5_000
_FINDINGS = 100_000
_FINDINGS_SHOWN = 10
_NO_DAMAGE = "NULL value in "
"""SQLite 3.40 also reports this for sound tables without a rowid; rows that violate a constraint are still readable."""
_SIDE_FILES = ("", "-wal", "-shm")


def open_connection(path: Path, *, is_read_only: bool = False) -> sqlite3.Connection:
    """Open a connection in autocommit mode.

    Raises:
        sqlite3.Error: The file does not exist or is not a database.
    """
    mode = "ro" if is_read_only else "rw"
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)
    try:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
        connection.execute("PRAGMA trusted_schema = OFF")
        if not is_read_only:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def prepare_database(path: Path, *, must_check: bool, was_used: bool) -> Path | None:
    """Prepare the file for use: existing, sound, private, and with the current schema.

    Args:
        path: The file; it is created if missing.
        must_check: Check the whole file first, because its last user did not close it cleanly or another program wrote
            it.
        was_used: It has had content, so an empty file counts as broken.
    Returns:
        Where a broken file was quarantined; None: nothing was broken.
    Raises:
        DatabaseTooNewError: A later version wrote it.
        DatabaseUnusableError: It is not a file, or its schema is not of any version of agentcore.
        sqlite3.Error: It cannot be opened or written for a reason other than its content.
    """
    try:
        if was_used and path.is_file() and path.stat().st_size == 0:
            raise _corruption_error("the file is empty")
        _open_and_migrate(path, must_check=must_check)
    except sqlite3.DatabaseError as exc:
        if not is_corruption(exc):
            raise
        kept = _quarantine_files(path)
        log.error("database_broken", path=str(path), kept_as=str(kept), reason=str(exc))  # noqa: TRY400 - no defect of ours
        _open_and_migrate(path, must_check=False)
        return kept
    return None


def is_corruption(error: sqlite3.Error) -> bool:
    """Return True if the file's content is the cause, and not the disk, a limit or a lock."""
    # the lower byte is the primary code: https://www.sqlite.org/rescode.html
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _open_and_migrate(path: Path, *, must_check: bool) -> None:
    if path.is_dir():
        raise DatabaseUnusableError(path, "it is a folder")
    # created here and not by SQLite, for its mode: the side files inherit it
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    connection = open_connection(path)
    try:
        if must_check:
            _check_integrity(connection)
        _migrate(connection, path)
    finally:
        connection.close()


def _check_integrity(connection: sqlite3.Connection) -> None:
    found = (str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({_FINDINGS})"))
    damage = [finding for finding in found if finding != "ok" and not finding.startswith(_NO_DAMAGE)]
    if damage:
        raise _corruption_error("; ".join(damage[:_FINDINGS_SHOWN]))


def _corruption_error(reason: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(reason)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise DatabaseTooNewError(
            f"{path} has schema {version}, and this agentcore knows up to {len(MIGRATIONS)};"
            " install the later version again, or set AGENTCORE_STATE_DIR to another folder"
        )
    if version == len(MIGRATIONS):
        return
    if version == 0 and _is_empty(connection) and hasattr(connection, "deserialize"):
        _copy_empty_database(connection)
        return
    if version < 0:
        raise DatabaseUnusableError(path, f"its schema has the number {version}")
    try:
        with connection:
            connection.execute("BEGIN EXCLUSIVE")
            run_migrations(connection, version)
    except sqlite3.Error as exc:
        if not _is_about_schema(exc):
            raise
        raise DatabaseUnusableError(path, f"its schema {version} is not agentcore's ({exc})") from exc


def _is_about_schema(error: sqlite3.Error) -> bool:
    """Return True if a step failed because of the tables or their content, and not because of a disk or a lock."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    return code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH)


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema").fetchone() is None


def _copy_empty_database(target: sqlite3.Connection) -> None:
    """Fill an empty file with the current schema, as one transaction."""
    with closing(sqlite3.connect(":memory:")) as source:
        source.deserialize(_empty_database())
        source.backup(target)


@lru_cache(maxsize=1)
def _empty_database() -> bytes:
    """Return the content of a database without rows; a process that opens several runs the steps once."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("BEGIN")
        run_migrations(connection, 0)
        connection.execute("COMMIT")
        return connection.serialize()


def _quarantine_files(path: Path) -> Path:
    """Rename the file and the side files of SQLite, so that repair tools find all of them."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    kept = path.with_name(f"{path.stem}.broken-{stamp}{path.suffix}")
    for suffix in _SIDE_FILES:
        side_file = path.with_name(path.name + suffix)
        if side_file.exists():
            side_file.rename(kept.with_name(kept.name + suffix))
    return kept

"""The database in use: one connection that writes and one that reads, each in its own thread."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

import aiosqlite
import structlog

from agentcore.errors import AgentcoreError
from agentcore.store.database.database_file import is_corruption, open_connection, prepare_database

log = structlog.get_logger(__name__)

Outcome = TypeVar("Outcome")
Work = Callable[[sqlite3.Connection], Outcome]

_ITERATION_CHUNK = 64


class _Connection(aiosqlite.Connection):
    """aiosqlite's connection, which runs a whole unit of work in its thread.

    A transaction that is one unit cannot be left half done by a cancelled task or mixed with another one, and costs one
    hop between threads.
    """

    async def run(self, work: Work[Outcome]) -> Outcome:
        if (connection := self._connection) is None or not self._running:
            raise sqlite3.ProgrammingError("the database is closed")  # aiosqlite's own is a ValueError

        def unit() -> Outcome:
            return work(connection)

        # a plain function, not a partial: the driver logs its repr at debug level, and values must not be in the log
        outcome: Outcome = await self._execute(unit)  # type: ignore[no-untyped-call]
        return outcome


class DatabaseDamagedError(AgentcoreError, sqlite3.DatabaseError):
    """Damaged database content was found in use; the next start quarantines the file and creates a new one."""

    def __init__(self, path: Path, error: sqlite3.Error, /) -> None:
        super().__init__(
            f"the database {path} is damaged ({error}); start agentcore again: it keeps this file beside a new one"
        )


class Database:
    """One SQLite file in WAL mode with a single writer.

    `path` is the file; `broken_path` is where a broken predecessor was quarantined when this one was created, or None.
    `was_left_open` is True if the last process that used it was killed.
    """

    def __init__(
        self,
        path: Path,
        broken_path: Path | None,
        writer: _Connection,
        reader: _Connection,
        *,
        was_left_open: bool = False,
    ) -> None:
        self.path = path
        self.was_left_open = was_left_open
        self.broken_path = broken_path
        self._writer = writer
        self._reader = reader
        self._is_sound = True

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path) -> AsyncIterator[Self]:
        """Open the file, and close it cleanly at the end.

        It is created if missing, and checked if its last user was killed.

        Raises:
            DatabaseTooNewError: A later version wrote it.
            DatabaseUnusableError: It is not a file, or its schema is not of any version of agentcore.
            sqlite3.Error: The disk or the permissions do not allow it.
        """
        was_left_open = _in_use_path(path).exists()
        broken_path = await asyncio.to_thread(_prepare_file, path)
        writer = _Connection(partial(open_connection, path), _ITERATION_CHUNK)
        reader = _Connection(partial(open_connection, path, is_read_only=True), _ITERATION_CHUNK)
        database = cls(path, broken_path, writer, reader, was_left_open=was_left_open)
        async with writer, reader:
            try:
                yield database
            finally:
                await database._close()

    async def write(self, work: Work[Outcome], *, is_durable: bool = False) -> Outcome:
        """Run a unit of work as one transaction; it is committed when this returns.

        A commit always survives the end of this process, even kill -9. With `is_durable` it also survives a power cut,
        at the cost of waiting for the disk.

        Args:
            work: Runs in the writer's thread, so it must not touch objects of the event loop.
            is_durable: Wait until it is synced to disk.
        Raises:
            sqlite3.Error: Everything was rolled back, or the database is closed; `DatabaseDamagedError`: the content is
                damaged.
        """
        return await self._run(self._writer, partial(_run_transaction, work, is_durable))

    async def read(self, work: Work[Outcome]) -> Outcome:
        """Run queries in the reader's thread, concurrently with a write."""
        return await self._run(self._reader, work)

    async def _run(self, connection: _Connection, work: Work[Outcome]) -> Outcome:
        try:
            return await connection.run(work)
        except sqlite3.DatabaseError as exc:
            if not is_corruption(exc):
                raise
            if self._is_sound:
                log.error("database_damaged", path=str(self.path), reason=str(exc))  # noqa: TRY400 - no defect of ours
            self._is_sound = False
            raise DatabaseDamagedError(self.path, exc) from exc

    async def _close(self) -> None:
        try:
            await self._writer.run(partial(_checkpoint, self.path if self._is_sound else None))
        except sqlite3.Error:
            log.exception("database_not_closed_cleanly", path=str(self.path))


def _prepare_file(path: Path) -> Path | None:
    """Prepare the file for use; check it unless it is unchanged since its last user closed it cleanly."""
    marker = _in_use_path(path)
    was_used = marker.exists() or _stamp_path(path).exists()
    broken_path = prepare_database(path, must_check=marker.exists() or _was_touched(path), was_used=was_used)
    marker.touch(mode=0o600)
    _stamp_path(path).unlink(missing_ok=True)
    return broken_path


def _in_use_path(path: Path) -> Path:
    """Return the path of the marker that exists while the database is in use."""
    return path.with_name(path.name + ".in-use")


def _stamp_path(path: Path) -> Path:
    """Return the path of the stamp that records the state in which the database was closed."""
    return path.with_name(path.name + ".left")


def _read_stamp(path: Path) -> str:
    status = path.stat()
    return f"{status.st_size} {status.st_mtime_ns}"


def _was_touched(path: Path) -> bool:
    """Return True if the file changed since agentcore closed it, or if that is unknown, as for a copy."""
    if not path.is_file():
        return False
    try:
        return _stamp_path(path).read_text() != _read_stamp(path)
    except OSError:
        return True


def _run_transaction(work: Work[Outcome], is_durable: bool, connection: sqlite3.Connection) -> Outcome:
    # FULL syncs the log at the commit: https://www.sqlite.org/pragma.html#pragma_synchronous
    connection.execute(f"PRAGMA synchronous = {'FULL' if is_durable else 'NORMAL'}")
    connection.execute("BEGIN IMMEDIATE")
    try:
        outcome = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        # after some errors, such as a full disk, SQLite has already rolled back
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return outcome


def _checkpoint(path: Path | None, connection: sqlite3.Connection) -> None:
    """Move the log into the file, and only then mark the shutdown as clean; None: the file is damaged."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if path is None:
        return
    # If this cannot be written (full disk, removed folder), the next start checks the file.
    with suppress(OSError):
        left = _stamp_path(path)
        left.touch(mode=0o600)
        left.write_text(_read_stamp(path))
        _in_use_path(path).unlink(missing_ok=True)

"""What the state folder holds, how large it is, and what limits it."""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from agentcore.config.app_json import LimitsConfig
from agentcore.late_dataclasses import dataclass
from agentcore.limits import CHATS_BYTES
from agentcore.store.artifacts.artifact_store import QUOTA_BYTES
from agentcore.store.record.retention import RecordKeeper
from agentcore.store.state.log_file import FILE_BYTES, FILES_KEPT, log_files
from agentcore.store.state.state_dir import StateDir
from agentcore.store.store import Store

StorageKind = Literal["chats", "artifacts", "record", "log", "module_data", "page_sessions"]


@dataclass(frozen=True, slots=True)
class StoredPart:
    """One kind of stored data.

    Args:
        used_bytes: Its size; of rows in the database, that of their text.
        limit_bytes: Size at which `at_limit` happens; None: nothing limits the size.
        count: Number of chats, artifacts, rows, files or log-ins; None: not counted.
        limit_days: Age at which `at_limit` happens; None: nothing limits the age.
        at_limit: `oldest_deleted`: the oldest are deleted without asking; `reported`: it is only reported.
        oldest_ms: Time of the oldest one, in milliseconds since 1970; None: unknown, or there are none.
        problems: What is wrong with it.
    """

    kind: StorageKind
    used_bytes: int
    limit_bytes: int | None = None
    count: int | None = None
    limit_days: int | None = None
    at_limit: Literal["oldest_deleted", "reported"] = "oldest_deleted"
    oldest_ms: int | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StorageUse:
    """The state folder, the free space of its disk, and what is stored."""

    folder: Path
    database_bytes: int
    free_bytes: int
    parts: tuple[StoredPart, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as in `GET /api/storage`."""
        parts = [
            {
                "kind": part.kind,
                "usedBytes": part.used_bytes,
                "limitBytes": part.limit_bytes,
                "limitDays": part.limit_days,
                "atLimit": part.at_limit,
                "count": part.count,
                "oldestMs": part.oldest_ms,
                "problems": list(part.problems),
            }
            for part in self.parts
        ]
        return {
            "folder": str(self.folder),
            "databaseBytes": self.database_bytes,
            "freeBytes": self.free_bytes,
            "parts": parts,
        }


async def measure_storage(store: Store, state: StateDir, keeper: RecordKeeper, limits: LimitsConfig) -> StorageUse:
    """Measure what is stored; takes longer the more chats there are."""
    chats, artifacts, log_ins = await store.database.read(_count_rows)
    record = await keeper.measure()
    artifact_bytes = await store.artifacts.used_bytes()
    log_bytes, data_bytes, database_bytes, free_bytes = await asyncio.to_thread(_measure_files, state)
    too_many_chats = (
        (f"chats take more than {CHATS_BYTES >> 20} MiB; delete those that you do not need",)
        if chats.used_bytes > CHATS_BYTES
        else ()
    )
    parts = (
        StoredPart(
            "chats",
            chats.used_bytes,
            CHATS_BYTES,
            chats.count,
            at_limit="reported",
            oldest_ms=chats.oldest_ms,
            problems=too_many_chats,
        ),
        StoredPart("artifacts", artifact_bytes, QUOTA_BYTES, artifacts.count, oldest_ms=artifacts.oldest_ms),
        StoredPart(
            "record",
            record.used_bytes,
            limits.record_bytes,
            record.rows,
            limit_days=limits.record_days,
            oldest_ms=record.oldest_ms,
            problems=tuple(keeper.problems.values()),
        ),
        StoredPart("log", log_bytes, FILE_BYTES * FILES_KEPT),
        StoredPart("module_data", data_bytes, at_limit="reported"),
        StoredPart("page_sessions", log_ins.used_bytes, None, log_ins.count, oldest_ms=log_ins.oldest_ms),
    )
    return StorageUse(state.path, database_bytes, free_bytes, parts)


@dataclass(frozen=True, slots=True)
class _Rows:
    count: int
    used_bytes: int
    oldest_ms: int | None


def _count_rows(connection: sqlite3.Connection) -> tuple[_Rows, _Rows, _Rows]:
    """Return the chats, artifacts and log-ins of browsers."""
    (chats, oldest_chat) = connection.execute("SELECT count(*), min(created_at_ms) FROM chat_sessions").fetchone()
    (message_bytes,) = connection.execute("SELECT coalesce(sum(length(message)), 0) FROM chat_messages").fetchone()
    (call_bytes,) = connection.execute(
        "SELECT coalesce(sum(length(arguments) + coalesce(length(result), 0)), 0) FROM chat_calls"
    ).fetchone()
    artifacts = connection.execute("SELECT count(*), 0, min(created_at_ms) FROM artifacts").fetchone()
    log_ins = connection.execute("SELECT count(*), 0, min(created_at_ms) FROM page_sessions").fetchone()
    return _Rows(chats, message_bytes + call_bytes, oldest_chat), _Rows(*artifacts), _Rows(*log_ins)


def _measure_files(state: StateDir) -> tuple[int, int, int, int]:
    """Return the bytes of the log, of the modules' data and of the database, and the free bytes of the disk."""
    database = (state.database_path.with_name(state.database_path.name + suffix) for suffix in ("", "-wal", "-shm"))
    return (
        _sum_sizes(log_files(state.path)),
        _sum_folder(state.path / "data"),
        _sum_sizes(database),
        shutil.disk_usage(state.path).free,
    )


def _sum_folder(folder: Path) -> int:
    return sum(_sum_sizes(Path(parent, name) for name in names) for parent, _, names in os.walk(folder))


def _sum_sizes(paths: Iterable[Path]) -> int:
    size = 0
    for path in paths:
        with suppress(OSError):
            size += path.lstat().st_size
    return size

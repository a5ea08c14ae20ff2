"""What the tests of the store share: a database in a folder of its own, and rows."""

import itertools
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from agentcore.store.database.database import Database
from agentcore.store.record.call_row import CallRow


@pytest.fixture
def database_path(tmp_path: Path) -> Path:
    return tmp_path / "state.sqlite3"


@pytest.fixture
async def database(database_path: Path) -> AsyncIterator[Database]:
    async with Database.open(database_path) as database:
        yield database


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small file system cannot be mounted here (that takes root)")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.fixture
def make_row() -> Callable[..., CallRow]:
    """Rows that differ, each with every field set; any field may be chosen."""
    numbers = itertools.count(1)

    def make(**fields: object) -> CallRow:
        number = next(numbers)
        row = CallRow(
            time_ms=1_700_000_000_000 + number,
            call_id=f"call_{number}",
            tool="read_file",
            parent_call_id="call_0",
            module="fs_tools",
            session_id="s1",
            principal_kind="token",
            principal_id="t1",
            arguments_digest="ab" * 32,
            decision="allow",
            decided_by="mode",
            outcome="ok",
            duration_ms=1.25,
            resource_id="r1",
            arguments='{"path":"a.txt"}',
        )
        return row._replace(**fields)

    return make

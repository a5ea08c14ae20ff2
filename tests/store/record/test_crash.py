"""What is left when a process that records is killed in the middle of it."""

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentcore.store.record.verification import verify_record
from agentcore.store.state.state_dir import StateDir
from agentcore.store.store import Store

pytestmark = pytest.mark.more

# appends as fast as it may, with open calls, durable ones, decisions and artifacts in between, and moves older rows to
# files and deletes some, until it is killed
WRITER = """
import asyncio, itertools, sys
from pathlib import Path
import structlog
structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
from agentcore.store.record.call_row import CallRow
from agentcore.store.record.retention import RecordKeeper, RecordLimits
from agentcore.store.state.state_dir import StateDir
from agentcore.store.store import Store

async def main():
    with StateDir.open(Path("app.json")) as state:
        async with Store.open(state) as store:
            record = store.record
            keeper = RecordKeeper(store.database, record, RecordLimits(60_000, 1000), 50)
            record.add_open_call(CallRow(1, "stays_open", "bash", outcome="executing"))
            for number in itertools.count():
                row = CallRow(number, f"call_{number}", "read_file", arguments="x" * 300)
                record.add_open_call(row)
                record.append(row._replace(outcome="ok", duration_ms=0.5))
                if number % 200 == 0:
                    durable = CallRow(number, f"durable_{number}", "bash", outcome="executing")
                    await record.commit_open_call(durable, is_durable=True)
                    record.append(CallRow(number, f"durable_{number}", "bash", kind="decision"))
                    await record.flush(is_durable=True)
                    link = await store.artifacts.save(b"kept" * 1000, mime="text/plain", name="out.txt")
                    print(number, link.artifact_id, flush=True)
                    await keeper.tidy()

asyncio.run(main())
"""


def environ(folder: Path) -> dict[str, str]:
    return os.environ | {"AGENTCORE_STATE_DIR": str(folder / "state")}


def run_until_killed(folder: Path, after_lines: int) -> list[tuple[int, str]]:
    """Let the writer work, kill it at an arbitrary moment, and give what it said that was committed."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER], cwd=folder, env=environ(folder), stdout=subprocess.PIPE, text=True
    )
    with process:
        said = list(itertools.islice(process.stdout, after_lines))
        process.send_signal(signal.SIGKILL)
        said += process.stdout.readlines()
    whole = [line.split() for line in said if line.endswith("\n")]
    return [(int(number), artifact_id) for number, artifact_id in whole]


@pytest.mark.spec("K2", "S7")
async def test_kill_in_the_middle_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """Kill the writer three times over one state folder; look at it from outside, then open it again."""
    acknowledged = [run_until_killed(tmp_path, after_lines) for after_lines in (3, 7, 1)]
    assert all(acknowledged)
    assert verify_record(tmp_path / "state" / "state.sqlite3").is_intact

    with StateDir.open(tmp_path / "app.json", environ=environ(tmp_path)) as state:
        async with Store.open(state) as store:
            assert store.database.broken_path is None
            assert (await store.record.verify()).is_intact
            interrupted = {row.call_id for row in store.record.interrupted}
            assert {"stays_open", *(f"durable_{number}" for number, _ in acknowledged[-1])} <= interrupted
            for _, artifact_id in itertools.chain.from_iterable(acknowledged):
                assert await store.artifacts.load(artifact_id) == b"kept" * 1000


@pytest.mark.spec("K2")
async def test_call_open_at_the_kill_ends_as_interrupted_exactly_once(tmp_path: Path) -> None:
    run_until_killed(tmp_path, 1)
    for _ in range(2):
        with StateDir.open(tmp_path / "app.json", environ=environ(tmp_path)) as state:
            async with Store.open(state) as store:
                found = await store.database.read(
                    lambda c: c.execute("SELECT outcome FROM record WHERE call_id = 'stays_open'").fetchall()
                )
                assert found == [("interrupted",)]

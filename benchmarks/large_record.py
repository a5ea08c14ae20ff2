"""A record of ten million calls: reading it, a start after kill -9, and its verification.

`make bench ARGS=large_record` fills a record, which is most of the time that it takes. ROWS in the environment is
another number of rows.
"""

import asyncio
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from agentcore.store.record.call_row import CallRow
from agentcore.store.record.record import MANY_ROWS
from agentcore.store.record.retention import RecordKeeper, RecordLimits
from agentcore.store.state.state_dir import StateDir
from agentcore.store.store import Store
from benchmarks import servers
from benchmarks.calls import NOOP
from benchmarks.http_client import Connection, request_bytes
from benchmarks.measure import Row

_ROWS = int(os.environ.get("ROWS", "10000000"))
_APP = {"limits": {"record_bytes": 1 << 44, "record_days": 36_500}}
_A_WEEK = 7 * 86_400_000
_TOOLS = ("read_file", "write_file", "bash", "browser_click", "web_fetch", "grep")


def run() -> list[Row]:
    """Fill a record and measure what it costs."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as temporary:
        folder = Path(temporary) / "app"
        folder.mkdir()
        (folder / "app.json").write_text(json.dumps(_APP))
        state = folder.with_name("app-state")
        asyncio.run(_fill(folder / "app.json", state))
        rows = []
        with servers.agentcore(folder, {"noop": NOOP.format(name="noop_call")}, _APP) as server:
            rows += _read_pages(server)
            os.kill(server.pid, 9)
        with servers.agentcore(folder, {"noop": NOOP.format(name="noop_call")}, _APP) as server:
            rows.append(Row("large record: start after kill -9 to the first 200", server.ready_ms, 0, None))
            size = sum(file.stat().st_size for file in (state / "record").iterdir()) / 1e6
            began = time.perf_counter()
            _verify(folder, state)
            seconds = time.perf_counter() - began
    return [
        *rows,
        Row("large record: verification of 10 million rows", seconds * 10_000_000 / _ROWS, 0, 60, "s"),
        Row("large record: compressed, for 10 million rows", size * 10_000_000 / _ROWS, 0, None, "MB"),
    ]


async def _fill(config: Path, state_folder: Path) -> None:
    now_ms = int(time.time() * 1000)
    with StateDir.open(config, environ={**os.environ, "AGENTCORE_STATE_DIR": str(state_folder)}) as state:
        async with Store.open(state) as store:
            keeper = RecordKeeper(store.database, store.record, RecordLimits(1 << 44, 36_500))
            async with keeper.run():
                for number in range(_ROWS):
                    store.record.append(_make_row(number, now_ms - _A_WEEK + number * _A_WEEK // _ROWS))
                    if store.record.is_full:
                        await store.record.drain()
                    if number % 500_000 == 0:
                        print(f"{number:,} rows", file=sys.stderr)
                await store.record.flush()
                while store.record.live_rows >= MANY_ROWS:  # the keeper moves them to files
                    await asyncio.sleep(0.5)


def _make_row(number: int, time_ms: int) -> CallRow:
    digest = hashlib.sha256(str(number).encode()).hexdigest()
    return CallRow(
        time_ms=time_ms,
        call_id=f"call_{digest[:20]}",
        tool=_TOOLS[number % len(_TOOLS)],
        module="fs_tools",
        session_id=f"session_{number // 1000}",
        principal_kind="page",
        principal_id="local",
        arguments_digest=digest,
        decision="allow",
        decided_by="mode:ask",
        outcome="ok" if number % 50 else "invalid_arguments",
        duration_ms=number % 997 / 10,
        arguments=json.dumps({"path": f"src/folder_{number % 311}/file_{number % 5003}.py", "offset": number % 400}),
    )


def _read_pages(server: servers.Running) -> list[Row]:
    connection = Connection(server.port)

    def read(query: str) -> tuple[float, Any]:
        request = request_bytes("GET", f"/api/calls?limit=50&{query}", server.port, token=server.token)
        times = []
        for _ in range(11):
            began = time.perf_counter()
            answer = connection.send(request)
            times.append((time.perf_counter() - began) * 1000)
        return statistics.median(times), json.loads(answer.partition(b"\r\n\r\n")[2] or answer)

    rows = []
    for name, query in (
        ("the newest page with total", "total=true"),
        ("a page that a text selects, with total", "q=folder_17&total=true"),
        ("a page that a text selects that no row has", "q=there_is_no_such_text"),
    ):
        elapsed_ms, answer = read(query)
        assert "calls" in answer, answer
        rows.append(Row(f"large record: {name}", elapsed_ms, 0, 100))
    connection.close()
    return rows


def _verify(folder: Path, state: Path) -> None:
    command = [sys.executable, "-m", "agentcore", "audit", "verify", "--config", str(folder / "app.json"), "--json"]
    environ = os.environ | {"AGENTCORE_STATE_DIR": str(state)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    assert report["broken_seq"] is None, report
    assert report["rows"] >= _ROWS, report

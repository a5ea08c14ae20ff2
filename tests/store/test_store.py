"""The stores of a state folder, opened and closed together."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentcore.store.record.call_row import CallRow
from agentcore.store.record.query import RecordFilter
from agentcore.store.state.state_dir import StateDir
from agentcore.store.store import Store


@pytest.fixture
def state_dir(tmp_path: Path) -> Iterator[StateDir]:
    environ = {"AGENTCORE_STATE_DIR": str(tmp_path / "state")}
    with StateDir.open(tmp_path / "app.json", environ=environ) as state_dir:
        yield state_dir


async def test_everything_is_there_after_a_restart(state_dir: StateDir, make_row: Callable[..., CallRow]) -> None:
    async with Store.open(state_dir) as store:
        store.record.append(make_row())
        link = await store.artifacts.save(b"kept", mime="text/plain", name="a.txt")
        page = await store.page_sessions.exchange_code(store.page_sessions.create_code())
        approval = await store.approval_sessions.exchange_code(store.approval_sessions.create_code())
    async with Store.open(state_dir) as store:
        assert await store.record.count_rows() == 1
        assert await store.artifacts.load(link.artifact_id) == b"kept"
        assert await store.page_sessions.authenticate([page.cookie], page.header) == page.session_id
        assert await store.approval_sessions.authenticate([approval.cookie], approval.header) == approval.session_id


@pytest.mark.spec("S2")
async def test_nothing_in_the_state_folder_is_open_to_others(state_dir: StateDir) -> None:
    old_mask = os.umask(0)
    try:
        async with Store.open(state_dir) as store:
            await store.artifacts.save(b"x", mime="text/plain", name="a")
            open_to_others = [path for path in state_dir.path.rglob("*") if stat.S_IMODE(path.stat().st_mode) & 0o077]
    finally:
        os.umask(old_mask)
    assert open_to_others == []


@pytest.mark.spec("S7")
async def test_broken_database_is_kept_with_its_artifacts_and_the_new_record_tells(state_dir: StateDir) -> None:
    async with Store.open(state_dir) as store:
        link = await store.artifacts.save(b"kept", mime="text/plain", name="a.txt")
    state_dir.database_path.write_bytes(b"not a database" * 1000)
    async with Store.open(state_dir) as store:
        broken = store.database.broken_path
        [notice] = await store.record.read_page(RecordFilter(kind="notice"))
        assert (notice.row.outcome, notice.row.arguments) == ("database_broken", f'{{"kept_as": "{broken.name}"}}')
        assert (broken.parent / f"{broken.stem}-artifacts" / link.artifact_id).read_bytes() == b"kept"
        assert (await store.record.verify()).is_intact

"""Hosts of a kind that a distribution adds with nothing but the public API."""

import contextlib
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.hosts.pool_of_hosts import member_place
from tests.hosts.two_machines import Place, dialling, serving


def _install_racks(folder: Path) -> dict[str, str]:
    """Return the environment of programs in which a distribution with the kind `rack` is installed."""
    site = folder / "site"
    info = site / "added_rack-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text("[agentcore.host_kinds]\nrack = added_rack:Racks\n")
    shutil.copy(Path(__file__).with_name("added_kind.py"), site / "added_rack.py")
    return {"PYTHONPATH": str(site)}


@pytest.fixture
def short_folder():
    with tempfile.TemporaryDirectory(prefix="rack") as folder:
        yield folder


async def test_hosts_of_an_added_kind_are_found_reviewed_called_and_lost(tmp_path, short_folder):
    environ = _install_racks(tmp_path)
    # the path of a Unix socket is short, and that of a test's folder need not be
    socket = str(Path(short_folder) / "rack.sock")
    rack = {"kind": "rack", "socket": socket, "modules": ["counting"]}
    near = Place(tmp_path / "near", modules=[], hosts={"rack": rack}, approvals={"mode": "allow"})
    near.environ |= environ
    async with contextlib.AsyncExitStack() as held:
        server = await held.enter_async_context(serving(near))
        await server.host_is("rack", "away")
        slot = dialling(member_place(tmp_path / "one"), socket, "one", "--in-rack", **environ)
        machine = await held.enter_async_context(slot)
        await machine.said("in the rack as one")
        await server.host_is("rack.one", "running")
        async with server.person.get("/api/approvals") as response:
            (change,) = (await response.json())["changes"]
        await server.decide(f"/api/policy-changes/{change['changeId']}/decision", approved=True)

        for count in (1, 2):
            said = await server.call("count")
            assert said["ok"], said
            assert said["data"]["count"] == count
        drawn = await server.call("draw", size=300_000)  # a blob, in chunks
        assert drawn["ok"], drawn
        assert (await server.host("rack"))["address"] == socket

        await machine.kill()
        await server.host_is("rack.one", "away")
        said = await server.call("count")
        assert said["error"]["type"] in ("host_away", "pool_full"), said

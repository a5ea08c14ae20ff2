"""What the guard of control files knows is known to the next server, too."""

import shutil
from pathlib import Path

import pytest

from tests.hosts.two_machines import Place, Server, serving

pytestmark = [
    pytest.mark.spec("S2", "S5"),
    pytest.mark.source_tree,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="commands cannot be confined without bubblewrap"),
]


async def run_command(server: Server, command: str) -> list[str]:
    """Run a command; returns the paths that were quarantined after it."""
    done = await server.call("bash", command=command)
    return sorted(each["path"] for each in done["data"]["put_aside"])


@pytest.mark.parametrize("is_killed", [False, True], ids=["stopped", "killed"])
async def test_folder_that_was_moved_away_before_a_restart_stays_the_users(tmp_path: Path, *, is_killed: bool) -> None:
    place = Place(tmp_path / "server", modules=["shell_tools"], config={"shell_tools": {"sandbox": "require"}})
    (place.workspace / "mine/sub").mkdir(parents=True)
    async with serving(place) as server:
        assert await run_command(server, "mv mine away; mkdir made") == []
        if is_killed:
            await server.kill()
    async with serving(place) as server:
        planted = await run_command(server, "cp -r away mine; echo x > mine/AGENTS.md; echo x > made/AGENTS.md")
        assert planted == ["mine/AGENTS.md"]
        assert await run_command(server, "echo x > mine/sub/CLAUDE.md; mkdir new; echo x > new/AGENTS.md") == [
            "mine/sub/CLAUDE.md"
        ]
    assert (place.workspace / "made/AGENTS.md").exists()

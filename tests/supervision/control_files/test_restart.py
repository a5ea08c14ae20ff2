"""What the guard of control files knows is known to the next server, too."""

import shutil
from pathlib import Path

import pytest

from tests.hosts.two_machines import Place, Server, serving
from tests.support.waiting import wait_until

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


async def test_what_the_user_makes_between_a_command_and_the_end_of_the_server_is_the_users(tmp_path: Path) -> None:
    place = Place(tmp_path / "server", modules=["shell_tools"], config={"shell_tools": {"sandbox": "require"}})
    (place.workspace / "CLAUDE.md").write_text("before\n")
    async with serving(place) as server:
        assert await run_command(server, "true") == []
        (place.workspace / "AGENTS.md").write_text("mine\n")
        (place.workspace / "CLAUDE.md").write_text("changed\n")
        await server.kill()
    async with serving(place) as server:
        assert await run_command(server, "true") == []
    assert (place.workspace / "AGENTS.md").read_text() == "mine\n"
    assert (place.workspace / "CLAUDE.md").read_text() == "changed\n"


async def test_what_a_command_makes_while_its_server_is_killed_is_quarantined_by_the_next_one(tmp_path: Path) -> None:
    place = Place(tmp_path / "server", modules=["shell_tools"], config={"shell_tools": {"sandbox": "require"}})
    place.workspace.mkdir(parents=True, exist_ok=True)
    async with serving(place) as server:
        await run_command(server, "true")
        await server.call("bash", command="echo x > AGENTS.md; touch made; sleep 600", background=True)
        await wait_until((place.workspace / "made").exists)
        await server.kill()
    async with serving(place) as server:
        await run_command(server, "true")
    assert not (place.workspace / "AGENTS.md").exists()

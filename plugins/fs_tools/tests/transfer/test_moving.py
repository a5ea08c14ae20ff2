import os
import stat
import subprocess
from pathlib import Path

import pytest

HOST = {"modules": ["fs_tools"]}


async def test_file_is_renamed_and_folders_above_are_made(call, text, root: Path) -> None:
    (root / "a.txt").write_text("A")
    assert text(await call("file_move", source="a.txt", destination="x/y/b.txt")) == "Moved a.txt to x/y/b.txt."
    assert (root / "x/y/b.txt").read_text() == "A"
    assert not (root / "a.txt").exists()


async def test_existing_target_is_kept_unless_overwriting_is_asked(call, failure, root: Path) -> None:
    (root / "a.txt").write_text("A")
    (root / "b.txt").write_text("B")
    for tool in ("file_move", "file_copy"):
        assert (await failure(tool, source="a.txt", destination="b.txt")).type == "file_exists"
    assert (root / "b.txt").read_text() == "B"
    assert (await call("file_move", source="a.txt", destination="b.txt", overwrite=True)).data["overwrote"] is True
    assert (root / "b.txt").read_text() == "A"


async def test_link_is_moved_as_a_link(call, root: Path) -> None:
    (root / "out").symlink_to("/etc/passwd")
    await call("file_move", source="out", destination="sub/moved")
    assert os.readlink(root / "sub/moved") == "/etc/passwd"


@pytest.mark.parametrize("tool", ["file_move", "file_copy"])
async def test_places_that_cannot_be_a_target_are_refused(failure, root: Path, tool: str) -> None:
    (root / "folder/sub").mkdir(parents=True)
    (root / "full").mkdir()
    (root / "full/x").touch()
    (root / "a.txt").write_text("A")
    (root / "alias").symlink_to("folder")
    cases = [
        ("a.txt", "folder", "is_a_directory"),
        ("folder", "a.txt", "not_a_directory"),
        ("folder", "full", "directory_not_empty"),
        ("folder", "folder/sub/new", "destination_inside_source"),
        ("folder", "alias/sub/new", "destination_inside_source"),
        ("a.txt", "a.txt", "same_path"),
        ("gone", "b", "path_not_found"),
        ("a.txt", "../b", "path_outside_workspace"),
        ("../b", "a.txt", "path_outside_workspace"),
        ("a.txt", "a.txt/b", "not_a_directory"),
        ("a.txt", ".", "path_is_root"),
        ("a.txt", "folder/" + "n" * 300, "name_too_long"),
    ]
    for source, destination, expected in cases:
        assert (await failure(tool, source=source, destination=destination, overwrite=True)).type == expected
    assert sorted(os.listdir(root)) == ["a.txt", "alias", "folder", "full"]
    assert os.listdir(root / "folder") == ["sub"]


async def test_folder_takes_the_place_of_an_empty_one(call, root: Path) -> None:
    (root / "a/x").mkdir(parents=True)
    (root / "empty").mkdir()
    await call("file_move", source="a", destination="empty", overwrite=True)
    assert os.listdir(root / "empty") == ["x"]


async def test_folder_is_copied_with_all_in_it(call, text, root: Path) -> None:
    (root / "a/sub").mkdir(parents=True)
    (root / "a/run.sh").write_text("#!/bin/sh\n")
    (root / "a/run.sh").chmod(0o751)
    os.utime(root / "a/run.sh", (0, 1_000))
    (root / "a/sub/b.txt").write_text("B")
    (root / "a/link").symlink_to("sub/b.txt")
    (root / "a/out").symlink_to("/etc/passwd")
    os.mkfifo(root / "a/fifo")
    (root / "a").chmod(0o750)
    result = await call("file_copy", source="a", destination="x/copy")
    assert text(result) == (
        "Copied a to x/copy (2 files, 11 B, 2 links). Left out: 1 entry other than files, folders and links."
    )
    assert (result.data["files"], result.data["folders"], result.data["links"], result.data["skipped"]) == (2, 2, 2, 1)
    copy = root / "x/copy"
    assert sorted(os.listdir(copy)) == ["link", "out", "run.sh", "sub"]
    assert os.readlink(copy / "out") == "/etc/passwd"
    assert stat.S_IMODE((copy / "run.sh").stat().st_mode) == 0o751
    assert (copy / "run.sh").stat().st_mtime == 1_000
    assert stat.S_IMODE(copy.stat().st_mode) == 0o750
    assert os.listdir(root / "x") == ["copy"]


async def test_single_file_and_link_are_copied(call, root: Path) -> None:
    (root / "a.txt").write_bytes(b"x" * 3_000_000)
    (root / "link").symlink_to("a.txt")
    assert (await call("file_copy", source="a.txt", destination="b.txt")).data["size_bytes"] == 3_000_000
    await call("file_copy", source="link", destination="b.txt", overwrite=True)
    assert os.readlink(root / "b.txt") == "a.txt"
    await call("file_copy", source="a.txt", destination="b.txt", overwrite=True)
    assert (root / "b.txt").read_bytes() == (root / "a.txt").read_bytes()


async def test_special_file_is_not_copied(failure, root: Path) -> None:
    os.mkfifo(root / "fifo")
    assert (await failure("file_copy", source="fifo", destination="b")).type == "not_a_file"


@pytest.fixture
def other_disk(tmp_path: Path):
    """A root on a small file system of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    if os.geteuid() != 0 or subprocess.call(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]):
        pytest.skip("mounting needs root")
    yield place
    subprocess.check_call(["umount", "-l", str(place)])


async def test_folder_is_moved_to_another_file_system(start, root: Path, other_disk: Path) -> None:
    (root / "a/sub").mkdir(parents=True)
    (root / "a/sub/b.txt").write_text("B")
    (root / "a/link").symlink_to("sub")
    host = await start(root, other_disk)
    await host.call("file_move", source="a", destination=str(other_disk / "x/a"))
    assert (other_disk / "x/a/sub/b.txt").read_text() == "B"
    assert os.readlink(other_disk / "x/a/link") == "sub"
    assert os.listdir(root) == []
    (root / "c.txt").write_text("C")
    await host.call("file_move", source="c.txt", destination=str(other_disk / "c.txt"))
    assert (other_disk / "c.txt").read_text() == "C"
    outcome = await host.outcome("file_move", {"source": str(other_disk / "c.txt"), "destination": "c.txt"})
    assert outcome.error is None


async def test_full_disk_leaves_source_and_target_as_they_were(start, root: Path, other_disk: Path) -> None:
    (root / "a").mkdir()
    (root / "a/small.txt").write_text("s")
    (root / "a/big.txt").write_bytes(b"x" * 1_000_000)
    host = await start(root, other_disk)
    for tool in ("file_move", "file_copy"):
        outcome = await host.outcome(tool, {"source": "a", "destination": str(other_disk / "a")})
        assert (outcome.error.type, outcome.error.retryable) == ("disk_full", True)
    assert os.listdir(other_disk) == []
    assert sorted(os.listdir(root / "a")) == ["big.txt", "small.txt"]


async def test_folder_with_special_files_does_not_cross_file_systems(start, root: Path, other_disk: Path) -> None:
    (root / "a").mkdir()
    os.mkfifo(root / "a/fifo")
    host = await start(root, other_disk)
    outcome = await host.outcome("file_move", {"source": "a", "destination": str(other_disk / "a")})
    assert outcome.error.type == "not_a_file"
    assert os.listdir(other_disk) == []
    assert os.listdir(root / "a") == ["fifo"]


async def test_source_that_cannot_be_deleted_after_the_copy_is_reported(start, root: Path, other_disk: Path) -> None:
    (root / "a").mkdir()
    (root / "a/x").write_text("x")
    if subprocess.call(["chattr", "+i", str(root / "a/x")]):
        pytest.skip("this file system has no immutable files")
    try:
        host = await start(root, other_disk)
        outcome = await host.outcome("file_move", {"source": "a", "destination": str(other_disk / "a")})
    finally:
        subprocess.check_call(["chattr", "-i", str(root / "a/x")])
    assert outcome.error.type == "move_incomplete"
    assert (other_disk / "a/x").read_text() == "x"

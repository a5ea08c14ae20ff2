import os
import subprocess
from pathlib import Path

import pytest
from agentcore_fs_tools.transfer.deleting import DEPTH_LIMIT

HOST = {"modules": ["fs_tools"]}


async def test_file_is_deleted(call, text, root: Path) -> None:
    (root / "a.txt").touch()
    assert text(await call("file_delete", path="a.txt")) == "Deleted a.txt."
    assert os.listdir(root) == []


async def test_link_is_deleted_and_not_its_target(call, root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a").touch()
    (root / "out").symlink_to("../outside")
    (root / "self").symlink_to(".")
    await call("file_delete", path="out", recursive=True)
    await call("file_delete", path="self")
    assert os.listdir(root) == []
    assert (tmp_path / "outside/a").exists()


@pytest.mark.more
async def test_full_folder_goes_only_recursively(call, failure, text, root: Path, tmp_path: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/c").touch()
    (tmp_path / "outside").touch()
    (root / "a/link").symlink_to("../../outside")
    error = await failure("file_delete", path="a")
    assert (error.type, error.context["count"]) == ("directory_not_empty", 2)
    (root / "many").mkdir()
    for number in range(1_100):
        (root / f"many/{number}").touch()
    assert "at least 1,000 entries" in str(await failure("file_delete", path="many"))
    assert "set `recursive`" in error.message
    assert text(await call("file_delete", path="a", recursive=True)) == "Deleted a with all in it (4 entries)."
    assert (tmp_path / "outside").exists()


async def test_empty_folder_is_deleted(call, root: Path) -> None:
    (root / "a").mkdir()
    await call("file_delete", path="a")
    assert os.listdir(root) == []


async def test_root_and_what_holds_one_stay(start, tmp_path: Path) -> None:
    (tmp_path / "outer/inner").mkdir(parents=True)
    host = await start(tmp_path / "outer")
    for path in (".", str(tmp_path / "outer")):
        assert (await host.outcome("file_delete", {"path": path, "recursive": True})).error.type == "path_is_root"
    assert (await host.outcome("file_move", {"source": ".", "destination": "x"})).error.type == "path_is_root"
    assert (tmp_path / "outer/inner").is_dir()


async def test_missing_and_outside_paths_are_errors(failure, root: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    (root / "sub").mkdir()
    assert (await failure("file_delete", path="gone")).type == "path_not_found"
    assert (await failure("file_delete", path="../a.txt")).type == "path_outside_workspace"
    assert (await failure("file_delete", path="sub/..")).type == "path_is_root"
    (root / "sub/x").mkdir()
    assert (await failure("file_delete", path="sub/x/..", recursive=True)).type == "invalid_path"


async def test_what_cannot_be_deleted_is_reported_and_the_rest_is_gone(failure, root: Path) -> None:
    (root / "a/locked").mkdir(parents=True)
    (root / "a/locked/x").touch()
    (root / "a/free").touch()
    if os.geteuid() != 0:
        (root / "a/locked").chmod(0o500)
    elif subprocess.call(["chattr", "+i", str(root / "a/locked")]):
        pytest.skip("as root only an immutable folder resists, and this file system has none")
    try:
        error = await failure("file_delete", path="a", recursive=True)
    finally:
        if os.geteuid() == 0:
            subprocess.check_call(["chattr", "-i", str(root / "a/locked")])
        else:
            (root / "a/locked").chmod(0o700)
    assert (error.type, error.context["deleted"]) == ("delete_incomplete", 1)
    assert [failed["path"] for failed in error.context["failed"]] == ["a/locked/x"]
    assert os.listdir(root / "a") == ["locked"]


@pytest.fixture
def deep_tree(root: Path) -> int:
    """A tree `d` of folders in folders, more than are worked on at once, with a file at its end; how many entries."""
    depth = 2 * DEPTH_LIMIT + 20
    here = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    return depth + 1


@pytest.mark.more
async def test_tree_of_any_depth_is_deleted(start, text, root: Path, deep_tree: int) -> None:
    host = await start()
    host.answer_approvals(approve=True)  # a tree that cannot be looked through in time is asked about
    result = await host.call("file_delete", path="d", recursive=True)
    assert text(result) == f"Deleted d with all in it ({deep_tree} entries)."
    assert os.listdir(root) == []


@pytest.mark.more
async def test_copy_of_a_tree_that_is_too_deep_is_one_error_and_leaves_nothing(start, root: Path, deep_tree) -> None:
    host = await start()
    host.answer_approvals(approve=True)
    copied = await host.outcome("file_copy", {"source": "d", "destination": "e"})
    assert copied.error.type == "tree_too_deep"
    assert os.listdir(root) == ["d"]


async def test_bin_takes_what_is_deleted_when_so_set(start, root: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    (root / "a.txt").write_text("A")
    (root / "full").mkdir()
    (root / "full/x").touch()
    host = await start(trash=True)
    await host.call("file_delete", path="a.txt")
    (root / "a.txt").write_text("second")
    await host.call("file_delete", path="a.txt")
    assert (await host.outcome("file_delete", {"path": "full"})).error.type == "directory_not_empty"
    assert (await host.call("file_delete", path="full", recursive=True)).data["trashed"] is True
    trash = tmp_path / "home/Trash"
    assert sorted(os.listdir(trash / "files")) == ["a.txt", "a.txt.1", "full"]
    assert (trash / "files/a.txt").read_text() == "A"
    record = (trash / "info/a.txt.trashinfo").read_text().split("\n")
    assert record[:2] == ["[Trash Info]", f"Path={root}/a.txt"]
    assert record[2].startswith("DeletionDate=20")
    assert os.listdir(root) == []


@pytest.fixture
def other_disk(tmp_path: Path):
    """A small file system of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    if os.geteuid() != 0 or subprocess.call(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]):
        pytest.skip("mounting needs root")
    yield place
    subprocess.check_call(["umount", "-l", str(place)])


async def test_bin_of_another_file_system_is_at_its_top(start, other_disk: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    (other_disk / "root/sub").mkdir(parents=True)
    (other_disk / "root/sub/a b.txt").write_text("A")
    host = await start(other_disk / "root", trash=True)
    await host.call("file_delete", path="sub/a b.txt")
    trash = other_disk / f".Trash-{os.getuid()}"
    assert (trash / "files/a b.txt").read_text() == "A"
    assert "Path=root/sub/a%20b.txt\n" in (trash / "info/a b.txt.trashinfo").read_text()


async def test_file_system_without_a_bin_is_an_error(start, other_disk: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    (other_disk / "root").mkdir()
    (other_disk / "root/a.txt").touch()
    (other_disk / f".Trash-{os.getuid()}").touch()
    host = await start(other_disk / "root", trash=True)
    assert (await host.outcome("file_delete", {"path": "a.txt"})).error.type == "no_trash"
    assert (other_disk / "root/a.txt").exists()

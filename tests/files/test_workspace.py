import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentcore.api import ToolError, Workspace


@pytest.fixture(params=["kernel", "walk"])
def space(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    """A workspace of two roots, `one` and `two`; once with the kernel's resolution and once with the walk."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    roots = [tmp_path / "one", tmp_path / "two"]
    with Workspace(roots, use_openat2=request.param == "kernel") as workspace:
        yield workspace


def read(workspace: Workspace, path: str) -> bytes:
    with workspace.open_file(workspace.locate(path)) as file:
        return file.read(1 << 20)


def failure(workspace: Workspace, path: str) -> str:
    with pytest.raises(ToolError) as caught:
        read(workspace, path)
    assert "secret.txt" not in caught.value.message or "secret.txt" in path
    return caught.value.type


def test_relative_path_starts_at_the_first_root(space: Workspace, tmp_path: Path) -> None:
    (tmp_path / "one/a.txt").write_text("A")
    assert read(space, "a.txt") == b"A"


def test_absolute_path_works_inside_any_root(space: Workspace, tmp_path: Path) -> None:
    (tmp_path / "two/b.txt").write_text("B")
    assert read(space, str(tmp_path / "two/b.txt")) == b"B"


def test_shown_path_of_each_root_is_accepted_again(space: Workspace, tmp_path: Path) -> None:
    for path in ("sub/a.txt", str(tmp_path / "two/b.txt"), ".", str(tmp_path / "two")):
        place = space.locate(path)
        assert space.locate(space.show(place)) == place
    assert space.show(space.locate(str(tmp_path / "one/sub"))) == "sub"


def test_root_given_through_a_link_accepts_both_spellings(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.txt").write_text("A")
    (tmp_path / "alias").symlink_to("real")
    with Workspace([tmp_path / "alias"]) as workspace:
        assert workspace.roots == (tmp_path / "real",)
        assert read(workspace, str(tmp_path / "alias/a.txt")) == b"A"
        assert read(workspace, str(tmp_path / "real/a.txt")) == b"A"


@pytest.mark.spec("S3")
def test_path_that_leaves_the_roots_is_refused(space: Workspace, tmp_path: Path) -> None:
    (tmp_path / "one/out").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "one/up").symlink_to("..")
    (tmp_path / "one/sub").mkdir()
    paths = [
        "../secret.txt",
        "sub/../../secret.txt",
        "out",
        "up/secret.txt",
        str(tmp_path / "secret.txt"),
        "/etc/passwd",
    ]
    assert {failure(space, path) for path in paths} == {"path_outside_workspace"}


def test_links_that_stay_inside_work(space: Workspace, tmp_path: Path) -> None:
    one = tmp_path / "one"
    (one / "sub/deep").mkdir(parents=True)
    (one / "a.txt").write_text("A")
    (tmp_path / "two/b.txt").write_text("B")
    (one / "relative").symlink_to("sub/../a.txt")
    (one / "absolute").symlink_to(one / "a.txt")
    (one / "sub/folder").symlink_to(one)
    (one / "other").symlink_to(tmp_path / "two")
    (one / "chain").symlink_to("sub/folder/absolute")
    (one / "sub/deep/back").symlink_to("../..")
    for path in ("relative", "absolute", "sub/folder/a.txt", "chain", "sub/deep/back/a.txt", "sub/deep/back/absolute"):
        assert read(space, path) == b"A"
    assert read(space, "other/b.txt") == b"B"


def test_dots_after_a_link_are_those_of_its_target(space: Workspace, tmp_path: Path) -> None:
    (tmp_path / "one/x/y").mkdir(parents=True)
    (tmp_path / "one/x/a.txt").write_text("in x")
    (tmp_path / "one/a.txt").write_text("in root")
    (tmp_path / "one/link").symlink_to("x/y")
    assert read(space, "link/../a.txt") == b"in x"


def test_links_in_a_circle_are_an_error(space: Workspace, tmp_path: Path) -> None:
    (tmp_path / "one/a").symlink_to("b")
    (tmp_path / "one/b").symlink_to("a")
    assert failure(space, "a") == "too_many_links"
    assert failure(space, "a/x") == "too_many_links"


@pytest.mark.spec("S3")
def test_only_regular_files_are_opened(space: Workspace, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "one/fifo")
    os.mkdir(tmp_path / "one/folder")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "one/socket"))
        assert failure(space, "socket") == "not_a_file"
    assert failure(space, "fifo") == "not_a_file"
    assert failure(space, "folder") == "is_a_directory"
    if os.geteuid() == 0:
        os.mknod(tmp_path / "one/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        assert failure(space, "null") == "not_a_file"


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800"])
def test_path_that_no_file_can_have_is_invalid(space: Workspace, path: str) -> None:
    assert failure(space, path) == "invalid_path"


def test_missing_and_misplaced_paths_are_told_apart(space: Workspace, tmp_path: Path) -> None:
    (tmp_path / "one/a.txt").write_text("A")
    assert failure(space, "nowhere/a.txt") == "path_not_found"
    assert failure(space, "a.txt/x") == "not_a_directory"
    assert failure(space, "x" * 300) == "name_too_long"
    with pytest.raises(ToolError) as caught:
        space.open_folder(space.locate("a.txt"))
    assert caught.value.type == "not_a_directory"


def test_name_that_is_not_utf8_is_shown_and_read_back(space: Workspace, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"one/caf\xe9.txt")).write_text("latin")
    with space.open_folder(space.locate(".")) as folder:
        shown = [space.show(space.locate(".").child(entry.name)) for entry in folder.entries()]
    assert shown == ["caf\\xE9.txt"]
    assert read(space, shown[0]) == b"latin"


def test_stat_tells_a_link_from_its_target(space: Workspace, tmp_path: Path) -> None:
    (tmp_path / "one/a.txt").write_text("12345")
    (tmp_path / "one/link").symlink_to("a.txt")
    (tmp_path / "one/out").symlink_to("/etc/passwd")
    assert space.stat(space.locate("link")).st_size == 5
    assert stat.S_ISLNK(space.stat(space.locate("link"), follow=False).st_mode)
    assert stat.S_ISLNK(space.stat(space.locate("out"), follow=False).st_mode)
    with pytest.raises(ToolError, match="leads out"):
        space.stat(space.locate("out"))


def test_working_folder_of_a_command_is_the_opened_one(space: Workspace, tmp_path: Path) -> None:
    (tmp_path / "one/sub").mkdir()
    with space.working_folder("sub") as folder:
        assert folder.real_path() == os.fsencode(tmp_path / "one/sub")
        assert os.path.samestat(os.stat(folder.path_for_child()), os.stat(tmp_path / "one/sub"))
    with space.working_folder() as folder:
        assert folder.real_path() == os.fsencode(tmp_path / "one")


def test_root_and_folders_above_a_root_are_never_to_be_removed(tmp_path: Path) -> None:
    (tmp_path / "outer/middle/inner").mkdir(parents=True)
    (tmp_path / "outer/other").mkdir()
    with Workspace([tmp_path / "outer", tmp_path / "outer/middle/inner"]) as workspace:
        kept = [
            path
            for path in (".", "middle", "middle/inner", "other", "gone")
            if workspace.is_root(workspace.locate(path))
        ]
    assert kept == [".", "middle", "middle/inner"]


def test_workspace_needs_roots_that_exist(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one root"):
        Workspace([])
    with pytest.raises(FileNotFoundError):
        Workspace([tmp_path / "nowhere"])
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        Workspace([tmp_path / "file"])


def test_closing_twice_is_harmless_and_frees_the_descriptors(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    workspace = Workspace([tmp_path])
    workspace.open_folder(workspace.locate(".")).close()
    workspace.close()
    workspace.close()
    assert (os.listdir("/proc/self/fd") if before else []) == before

import os
import resource
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentcore.api import ToolError, Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.fixture(params=["kernel", "walk"])
def space(request: pytest.FixtureRequest, root: Path) -> Iterator[Workspace]:
    with Workspace([root], use_openat2=request.param == "kernel") as workspace:
        yield workspace


def error_of(workspace: Workspace, path: str, content: bytes = b"new", **options: object) -> ToolError:
    with pytest.raises(ToolError) as caught:
        workspace.write_file(workspace.locate(path), content, **options)
    return caught.value


def test_new_file_gets_the_permissions_of_a_new_file(space: Workspace, root: Path) -> None:
    (root / "like").touch()
    assert space.write_file(space.locate("a.txt"), b"A") is True
    assert (root / "a.txt").read_bytes() == b"A"
    assert (root / "a.txt").stat().st_mode == (root / "like").stat().st_mode


def test_overwriting_keeps_permissions_and_leaves_no_other_file(space: Workspace, root: Path) -> None:
    (root / "run.sh").write_text("old")
    (root / "run.sh").chmod(0o751)
    assert space.write_file(space.locate("run.sh"), [b"ne", memoryview(b"w")]) is False
    assert (root / "run.sh").read_text() == "new"
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o751
    assert os.listdir(root) == ["run.sh"]


def test_writing_through_a_link_changes_its_target_and_keeps_the_link(space: Workspace, root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub/real.txt").write_text("old")
    (root / "link").symlink_to("sub/real.txt")
    (root / "absolute").symlink_to(root / "link")
    space.write_file(space.locate("absolute"), b"new")
    assert (root / "sub/real.txt").read_text() == "new"
    assert (root / "link").is_symlink()
    assert (root / "absolute").is_symlink()


@pytest.mark.spec("S3")
def test_writing_through_a_link_that_leads_out_is_refused(space: Workspace, root: Path, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("old")
    (root / "link").symlink_to("../victim")
    (root / "new").symlink_to(tmp_path / "made")
    (root / "folder").symlink_to("..")
    for path in ("link", "new", "folder/victim", "folder/made"):
        assert error_of(space, path).type == "path_outside_workspace"
    assert (tmp_path / "victim").read_text() == "old"
    assert not (tmp_path / "made").exists()


def test_missing_folders_are_made_only_when_asked(space: Workspace, root: Path) -> None:
    assert error_of(space, "a/b/c.txt").type == "path_not_found"
    space.write_file(space.locate("a/b/c.txt"), b"C", create_parents=True)
    assert (root / "a/b/c.txt").read_bytes() == b"C"
    (root / "file").touch()
    assert error_of(space, "file/x", create_parents=True).type == "not_a_directory"


def test_folders_fifos_and_roots_are_not_replaced(space: Workspace, root: Path) -> None:
    (root / "folder").mkdir()
    (root / "to_folder").symlink_to("folder")
    (root / "to_root").symlink_to(".")
    os.mkfifo(root / "fifo")
    assert error_of(space, "folder").type == "is_a_directory"
    assert error_of(space, "to_folder").type == "is_a_directory"
    assert error_of(space, "to_root").type == "is_a_directory"
    assert error_of(space, "fifo").type == "not_a_file"
    assert error_of(space, ".").type == "invalid_path"
    assert error_of(space, "folder/..").type == "invalid_path"


def test_existing_file_is_kept_when_overwriting_is_not_asked(space: Workspace, root: Path) -> None:
    (root / "a.txt").write_text("old")
    assert error_of(space, "a.txt", overwrite=False).type == "file_exists"
    assert (root / "a.txt").read_text() == "old"
    assert os.listdir(root) == ["a.txt"]


def test_file_that_changed_since_it_was_read_is_left_alone(space: Workspace, root: Path) -> None:
    (root / "a.txt").write_text("old")
    with space.open_file(space.locate("a.txt")) as file:
        seen = file.stat
    (root / "a.txt").write_text("changed by somebody")
    error = error_of(space, "a.txt", expected=seen)
    assert (error.type, error.retryable) == ("file_changed", True)
    assert (root / "a.txt").read_text() == "changed by somebody"


def test_change_during_the_write_is_noticed_before_the_file_is_replaced(space: Workspace, root: Path) -> None:
    """The content is a generator, so that the other writer comes between the first look and the replacement."""
    (root / "a.txt").write_text("old")
    seen = (root / "a.txt").stat()

    def content() -> Iterator[bytes]:
        yield b"ours"
        (root / "a.txt").write_text("theirs, meanwhile")

    assert error_of(space, "a.txt", content(), expected=seen).type == "file_changed"
    assert (root / "a.txt").read_text() == "theirs, meanwhile"
    assert os.listdir(root) == ["a.txt"]


def test_failure_while_writing_leaves_the_old_file_and_no_remains(space: Workspace, root: Path) -> None:
    (root / "a.txt").write_text("old")

    def content() -> Iterator[bytes]:
        yield b"half of the"
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError):
        space.write_file(space.locate("a.txt"), content())
    assert (root / "a.txt").read_text() == "old"
    assert os.listdir(root) == ["a.txt"]


def test_folders_are_made_with_those_above(space: Workspace, root: Path) -> None:
    space.make_folder(space.locate("a/b/c"))
    space.make_folder(space.locate("a/b"))
    assert (root / "a/b/c").is_dir()


@pytest.mark.more
def test_limit_of_file_size_leaves_the_old_file(root: Path) -> None:
    (root / "a.txt").write_text("old")
    code = (
        "import sys; from pathlib import Path; from agentcore.api import Workspace, ToolError\n"
        "w = Workspace([Path(sys.argv[1])])\n"
        "try: w.write_file(w.locate('a.txt'), b'x' * 100_000)\n"
        "except ToolError as e: print(e.type)\n"
    )

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    command = [sys.executable, "-c", code, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, preexec_fn=limit)
    assert done.stdout == "file_too_large\n"
    assert (root / "a.txt").read_text() == "old"
    assert os.listdir(root) == ["a.txt"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if os.geteuid() != 0 or not shutil.which("mount") or subprocess.call(mount):
        pytest.skip("mounting needs root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_full_disk_leaves_the_old_file_and_no_remains(small_disk: Path) -> None:
    (small_disk / "a.txt").write_text("old")
    with Workspace([small_disk]) as workspace:
        error = error_of(workspace, "a.txt", b"x" * 1_000_000)
    assert (error.type, error.retryable) == ("disk_full", True)
    assert (small_disk / "a.txt").read_text() == "old"
    assert os.listdir(small_disk) == ["a.txt"]


def test_read_only_file_system_is_named(small_disk: Path) -> None:
    (small_disk / "a.txt").write_text("old")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with Workspace([small_disk]) as workspace:
        assert error_of(workspace, "a.txt").type == "read_only_file_system"


def test_missing_right_is_permission_denied(root: Path) -> None:
    (root / "locked").mkdir()
    (root / "locked/a.txt").write_text("old")
    if os.geteuid() != 0:
        (root / "locked").chmod(0o500)
    elif not shutil.which("chattr") or subprocess.call(["chattr", "+i", str(root / "locked")]):
        pytest.skip("as root only an immutable folder refuses, and this file system has none")
    try:
        with Workspace([root]) as workspace:
            assert error_of(workspace, "locked/a.txt").type == "permission_denied"
    finally:
        if os.geteuid() == 0:
            subprocess.run(["chattr", "-i", str(root / "locked")], check=True)
        else:
            (root / "locked").chmod(0o700)


@pytest.mark.skipif(os.geteuid() != 0, reason="changing owners needs root")
def test_root_writes_files_of_another_user_and_their_owner_stays(space: Workspace, root: Path) -> None:
    for number, mode in enumerate((0o644, 0o600, 0o664, 0o640)):
        file = root / f"{number}.txt"
        file.write_text("old")
        os.chown(file, 1000, 1000)
        file.chmod(mode)
        space.write_file(space.locate(file.name), b"new")
        status = file.stat()
        assert file.read_text() == "new"
        assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1000, 1000, mode)


def test_file_that_nobody_may_write_is_read_only_for_root_too(space: Workspace, root: Path) -> None:
    (root / "a.txt").write_text("old")
    (root / "a.txt").chmod(0o444)
    assert error_of(space, "a.txt").type == "permission_denied"
    assert not space.can_write(space.locate("a.txt"), (root / "a.txt").stat())


def test_read_only_mount_is_not_writable(small_disk: Path) -> None:
    (small_disk / "a.txt").write_text("old")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with Workspace([small_disk]) as workspace:
        place = workspace.locate("a.txt")
        assert not workspace.can_write(place, workspace.stat(place))


_AS_ANOTHER_USER = """
import os, sys
from pathlib import Path
from agentcore.api import ToolError, Workspace
workspace = Workspace([Path(sys.argv[1])])
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
for path in sys.argv[2:]:
    place = workspace.locate(path)
    status = workspace.stat(place)
    try:
        workspace.write_file(place, b"new content", expected=status)
        print(path, "written", workspace.can_write(place, status))
    except ToolError as error:
        print(path, error.type, workspace.can_write(place, status))
"""


@pytest.mark.more
@pytest.mark.skipif(os.geteuid() != 0, reason="changing the user needs root")
def test_other_users_write_what_the_kernel_permits_and_the_owner_stays(root: Path) -> None:
    root.chmod(0o777)
    for name, mode in (("open.txt", 0o666), ("closed.txt", 0o644), ("own.txt", 0o600), ("acl.txt", 0o640)):
        (root / name).write_text("old")
        os.chown(root / name, 65534 if name == "own.txt" else 1000, 1000)
        (root / name).chmod(mode)
    names = ["open.txt", "closed.txt", "own.txt"]
    expected = ["open.txt written True", "closed.txt permission_denied False", "own.txt written True"]
    if shutil.which("setfacl") and not subprocess.call(["setfacl", "-m", "u:65534:rw", str(root / "acl.txt")]):
        names.append("acl.txt")
        expected.append("acl.txt written True")
    command = [sys.executable, "-c", _AS_ANOTHER_USER, str(root), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == expected
    assert (root / "open.txt").read_text() == "new content"
    assert (root / "open.txt").stat().st_uid == 1000
    assert (root / "own.txt").stat().st_uid == 65534
    assert (root / "acl.txt").stat().st_uid == 1000
    assert not [name for name in os.listdir(root) if name.startswith(".agentcore")]

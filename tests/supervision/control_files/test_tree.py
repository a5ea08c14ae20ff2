"""Finding control files: what the kernel reports of changes leads to what a look at everything would find."""

import os
import random
import shutil
import sys
from pathlib import Path

import pytest

from agentcore.files.workspace import Workspace
from agentcore.supervision.control_files.tree import TooLargeError, Tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="folders are watched by inotify")

_NAMES = ("a", "b", ".git", "hooks", "objects", "HEAD", ".vscode", "modules", "AGENTS.md", "notes.md")


def found_by(tree: Tree) -> tuple[object, ...]:
    found = tree.scan({})
    return sorted(found.folders), found.controls, found.guarded, found.git


def change(root: Path, chance: random.Random) -> None:
    """Do one of the things that a program does in a folder."""
    folders = [Path(above) for above, _, _ in os.walk(root)]
    path = chance.choice(folders) / chance.choice(_NAMES)
    match chance.randrange(6):
        case 0 | 1:
            shutil.rmtree(path, ignore_errors=True)
            path.unlink(missing_ok=True)
            path.mkdir()
        case 2:
            if not path.is_dir():
                path.write_text("x")
        case 3:
            other = chance.choice(folders) / chance.choice(_NAMES)
            if path.exists() and not other.exists() and path not in (*other.parents, other):
                path.rename(other)
        case 4:
            shutil.rmtree(path, ignore_errors=True)
        case 5:
            if path.is_dir():
                path.chmod(chance.choice((0o700, 0o755)))


@pytest.mark.parametrize("seed", range(20))
def test_what_has_changed_is_found_as_by_a_look_at_everything(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with Workspace([tmp_path]) as workspace:
        tree = Tree(workspace, 10_000)
        tree.scan({})
        assert not tree.slow_reason
        for _ in range(25):
            for _ in range(chance.randrange(1, 8)):
                change(tmp_path, chance)
            fresh = Tree(workspace, 10_000)
            assert found_by(tree) == found_by(fresh)
            fresh.close()
        tree.close()


def test_only_folders_that_have_changed_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(50):
        (tmp_path / str(number)).mkdir()
    listed: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: (listed.append(str(path)), scandir(path))[1])
    with Workspace([tmp_path]) as workspace:
        tree = Tree(workspace, 10_000)
        tree.scan({})
        assert len(listed) == 51
        listed.clear()
        tree.scan({})
        assert listed == []
        (tmp_path / "7/AGENTS.md").touch()
        (tmp_path / "8/new/deep").mkdir(parents=True)
        assert list(tree.scan({}).controls) == [str(tmp_path / "7/AGENTS.md")]
        assert listed == [str(tmp_path / each) for each in ("7", "8", "8/new", "8/new/deep")]
        tree.close()


@pytest.mark.more
def test_more_changes_than_the_kernel_remembers_are_found(tmp_path: Path) -> None:
    count = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text()) // 2 + 100
    if count > 10_000:
        pytest.skip("the kernel remembers very many")
    for number in range(count):
        (tmp_path / str(number)).mkdir()
    with Workspace([tmp_path]) as workspace:
        tree = Tree(workspace, 100_000)
        tree.scan({})
        for number in range(count):
            (tmp_path / str(number) / "AGENTS.md").touch()
        assert len(tree.scan({}).controls) == count
        tree.close()


def test_tree_that_was_too_large_is_looked_at_whole_once_it_is_smaller(tmp_path: Path) -> None:
    with Workspace([tmp_path]) as workspace:
        tree = Tree(workspace, 3)
        tree.scan({})
        for number in range(5):
            (tmp_path / str(number)).mkdir()
            (tmp_path / str(number) / "AGENTS.md").touch()
        with pytest.raises(TooLargeError):
            tree.scan({})
        for number in range(4):
            shutil.rmtree(tmp_path / str(number))
        assert list(tree.scan({}).controls) == [str(tmp_path / "4/AGENTS.md")]
        tree.close()


def test_where_folders_cannot_be_watched_all_are_looked_at_and_the_reason_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentcore.supervision.control_files.folder_watch._read_limit", lambda: 1)
    (tmp_path / "a").mkdir()
    with Workspace([tmp_path]) as workspace:
        tree = Tree(workspace, 100)
        tree.scan({})
        assert "watches for all of your programs are too few" in tree.slow_reason
        (tmp_path / "a/AGENTS.md").touch()
        assert list(tree.scan({}).controls) == [str(tmp_path / "a/AGENTS.md")]

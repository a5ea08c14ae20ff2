"""Tools against a process that exchanges a folder for a link to the outside, and back, as fast as it can."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from agentcore_fs_tools.search.glob_search import find_files
from agentcore_fs_tools.search.grep_output import search_files
from agentcore_fs_tools.search.grep_search import SearchRequest
from agentcore_fs_tools.search.ripgrep import find_ripgrep
from agentcore_fs_tools.transfer.copying import copy_path
from agentcore_fs_tools.transfer.deleting import delete_path
from agentcore_fs_tools.transfer.targets import destination_for, locate_existing, locate_removable

from agentcore.api import ToolError, Workspace

pytestmark = pytest.mark.more
ROUNDS = 60


# until its input ends
SWAP = """
import os, select
print("begun", flush=True)
while not select.select([0], [], [], 0)[0]:
    os.rename("tree/door", "tree/folder")
    os.rename("tree/way_out", "tree/door")
    os.rename("tree/door", "tree/way_out")
    os.rename("tree/folder", "tree/door")
"""


@pytest.fixture
def contested(root: Path) -> Iterator[Path]:
    (root / "tree/door").mkdir(parents=True)
    (root / "tree/door/f.txt").write_text("needle inside\n")
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "f.txt").write_text("needle outside\n")
    (outside / "secret.txt").write_text("needle outside\n")
    (root / "tree/way_out").symlink_to("../../outside")
    command = [sys.executable, "-I", "-S", "-c", SWAP]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as swapper:
        assert swapper.stdout.readline() == b"begun\n"
        yield root
    assert swapper.returncode == 0
    assert sorted(os.listdir(outside)) == ["f.txt", "secret.txt"]


def never() -> bool:
    return False


@pytest.mark.spec("S3")
def test_searches_show_nothing_of_the_outside(contested: Path) -> None:
    program = find_ripgrep()
    seen = set()
    with Workspace([contested]) as workspace:
        for _ in range(ROUNDS):
            for path in ("tree", "tree/door"):
                try:
                    result = search_files(workspace, SearchRequest("needle", path), 1, program, never)
                    found = find_files(
                        workspace, "**", path, order="none", no_ignore=False, program=program, is_cancelled=never
                    )
                except ToolError as error:
                    seen.add(error.type)
                    continue
                assert "outside" not in str(result)
                assert "secret" not in str(found)
    assert seen <= {"path_outside_workspace", "path_not_found", "not_a_directory", "search_failed"}


@pytest.mark.spec("S3")
def test_copies_and_deletions_touch_nothing_of_the_outside(contested: Path) -> None:
    seen = set()
    with Workspace([contested]) as workspace:
        for number in range(ROUNDS):
            try:
                source = locate_existing(workspace, "tree")
                target = destination_for(workspace, source, f"copy{number}", overwrite=False)
                copy_path(workspace, source, target, overwrite=False, is_cancelled=never)
            except ToolError as error:
                seen.add(error.type)
                continue
            copied = {
                path.read_text() for path in (contested / f"copy{number}").rglob("*.txt") if not path.is_symlink()
            }
            assert copied <= {"needle inside\n"}
            victim = locate_removable(workspace, f"copy{number}")
            delete_path(workspace, victim, recursive=True, trash=False, is_cancelled=never)
    assert seen <= {"path_not_found", "not_a_directory", "is_a_directory", "too_many_links", "invalid_path"}

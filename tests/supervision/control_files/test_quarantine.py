"""Taking files out of effect, also those that a program has made hard to move."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentcore.files.workspace import Workspace
from agentcore.supervision.control_files.quarantine import Mover
from agentcore.supervision.control_files.quarantine_names import quarantine_name

pytestmark = pytest.mark.spec("S2")
_NOBODY = 65534


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace of somebody who is not root: permissions count for nothing with root."""
    root = tmp_path / "root"
    root.mkdir()
    with Workspace([root]) as workspace:
        if os.geteuid() != 0:
            yield workspace
            return
        os.chown(root, _NOBODY, -1)
        yield workspace
        os.seteuid(0)


def become_owner(root: Path) -> None:
    """Go on as the owner of all in a folder, where the tests run as root."""
    if os.geteuid() != 0:
        return
    for above, folders, files in os.walk(root):
        for name in (*folders, *files):
            os.chown(os.path.join(above, name), _NOBODY, -1)
    os.seteuid(_NOBODY)


def test_file_in_a_folder_that_forbids_changes_is_moved_and_replaced(workspace: Workspace) -> None:
    hooks = workspace.roots[0] / "p/hooks"
    hooks.mkdir(parents=True)
    (hooks / "pre-commit").write_text("evil")
    hooks.chmod(0o555)
    become_owner(workspace.roots[0])
    moved = Mover(workspace).quarantine(str(hooks / "pre-commit"), "git would run it", b"mine", "what was there before")
    if os.getresuid()[0] == 0:
        os.seteuid(0)
    assert moved.aside == "p/hooks/pre-commit.agentcore-aside"
    assert (hooks / "pre-commit").read_text() == "mine"
    assert (hooks / "pre-commit.agentcore-aside").read_text() == "evil"
    assert hooks.stat().st_mode & 0o777 == 0o555


@pytest.mark.parametrize("letter", ["x", "\N{SNOWMAN}"])
def test_file_with_the_longest_name_is_moved(workspace: Workspace, letter: str) -> None:
    ending = ".code-workspace"
    name = letter * ((255 - len(ending)) // len(letter.encode())) + ending
    (workspace.roots[0] / name).write_text("{}")
    moved = Mover(workspace).quarantine(str(workspace.roots[0] / name), "why", None)
    again = workspace.roots[0] / name
    assert moved.aside.endswith(".agentcore-aside")
    assert not again.exists()
    again.write_text("{}")
    assert Mover(workspace).quarantine(str(again), "why", None).aside.endswith(".agentcore-aside-2")


def test_file_is_moved_where_a_program_has_taken_the_names_for_it(workspace: Workspace) -> None:
    planted = workspace.roots[0] / ".envrc"
    planted.write_text("evil")
    for number in range(1, 200):
        (workspace.roots[0] / quarantine_name(".envrc", number)).touch()
    moved = Mover(workspace).quarantine(str(planted), "why", None)
    assert (workspace.roots[0] / moved.aside).read_text() == "evil"
    assert not planted.exists()

"""Judging what a program made: how much work that is."""

from pathlib import Path

import pytest

from agentcore.files.workspace import Workspace
from agentcore.supervision.control_files.change_checker import ChangeChecker, Known
from agentcore.supervision.control_files.control_file_entry import Entry, read_entries
from agentcore.supervision.control_files.control_files import choose_pause
from agentcore.supervision.control_files.guard_limits import LONGEST_PAUSE_S, LOOK_SECONDS
from agentcore.supervision.control_files.tree import Found, Tree

pytestmark = pytest.mark.spec("S2")


@pytest.mark.more
def test_each_file_is_held_against_what_was_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def is_held(path: str, _: Entry, __: Found) -> bool:
        asked.append(path)
        return False

    with Workspace([tmp_path]) as workspace:
        tree = Tree(workspace, 1000)
        tree.scan({})
        tree.set_baseline()
        (tmp_path / ".vscode").mkdir()
        for number in range(900):
            (tmp_path / f".vscode/{number}").touch()
        found = tree.scan({})
        entries = read_entries(found.controls, lambda _: None)
        judge = ChangeChecker(Known(), found, entries, distrusted=(), roots={str(tmp_path)}, is_held=is_held)
        assert [each.path for each in judge.find_verdicts()] == [str(tmp_path / ".vscode")]
        assert len(asked) == 900
        tree.close()


def test_slow_look_makes_the_pause_longer_up_to_a_bound() -> None:
    assert choose_pause(0.001) == LOOK_SECONDS
    assert LOOK_SECONDS < choose_pause(0.2) < LONGEST_PAUSE_S
    assert choose_pause(60) == LONGEST_PAUSE_S

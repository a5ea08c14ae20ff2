"""Finding files by name: what `.gitignore` leaves out, and what a broken one does not."""

from pathlib import Path

import pytest

from agentcore.api import Workspace
from agentcore.files.listing import WorkspaceFiles


def found_in(root: Path) -> set[str]:
    with Workspace([root]) as workspace:
        files, _ = WorkspaceFiles(workspace).find_files("", 100)
        return {file.path for file in files}


def test_folder_whose_gitignore_is_no_file_is_listed_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "odd/.gitignore").mkdir(parents=True)
    (tmp_path / "odd/notes.txt").touch()
    assert "odd/notes.txt" in found_in(tmp_path)


@pytest.mark.parametrize(
    ("rule", "left"), [("note\\ ", {"note", "b"}), ("note ", {"note ", "b"}), ("note\\ \r", {"note", "b"})]
)
def test_rule_may_end_in_an_escaped_space(tmp_path: Path, rule: str, left: set[str]) -> None:
    (tmp_path / ".gitignore").write_text(f"{rule}\n", newline="")
    for name in ("note", "note ", "b"):
        (tmp_path / name).touch()
    assert found_in(tmp_path) - {".gitignore"} == left

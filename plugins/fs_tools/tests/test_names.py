"""Paths that are spelled almost like those of existing files."""

import unicodedata
from pathlib import Path

import pytest

HOST = {"modules": ["fs_tools"]}

NBSP = "\N{NO-BREAK SPACE}"
NFD = unicodedata.normalize("NFD", "Übersicht/résumé.txt")
NFC = unicodedata.normalize("NFC", NFD)


@pytest.mark.parametrize(
    ("there", "given"),
    [(NFD, NFC), (NFC, NFD), (f"my{NBSP}notes/a{NBSP}b.txt", "my notes/a b.txt"), ("a b.txt", f"a{NBSP}b.txt")],
)
async def test_name_that_looks_the_same_is_found(call, root: Path, there: str, given: str) -> None:
    file = root / there
    file.parent.mkdir(exist_ok=True)
    file.write_text("needle\n")
    assert (await call("read_file", path=given)).data["path"] == there
    assert (await call("read_file", path=f"{root}/{given}")).data["path"] == there
    assert (await call("file_stat", path=given)).data["path"] == there
    assert (await call("grep", pattern="needle", path=given)).data["files"] == [there]
    assert repr(there) in (await call("glob", pattern=given)).blocks()[0].text
    await call("edit", path=given, edits=[{"old": "needle", "new": "thread"}])
    await call("write_file", path=given, content="new\n")
    assert file.read_text() == "new\n"
    await call("file_copy", source=given, destination="copy.txt")
    await call("file_delete", path=given)
    assert not file.exists()
    assert [path.name for path in root.rglob("*.txt")] == ["copy.txt"]


async def test_new_file_goes_into_the_folder_that_looks_the_same(call, root: Path) -> None:
    (root / unicodedata.normalize("NFD", "Übersicht")).mkdir()
    await call("write_file", path="Übersicht/new.txt", content="new\n")
    assert len(list(root.iterdir())) == 1
    assert (await call("list_dir", path="Übersicht")).data["count"] == 1


async def test_exact_name_wins_and_two_that_look_the_same_are_not_mixed_up(call, failure, root: Path) -> None:
    for name in ("a b.txt", f"a{NBSP}b.txt"):
        (root / name).write_text(f"{name}\n")
    for name in ("a b.txt", f"a{NBSP}b.txt"):
        assert (await call("read_file", path=name)).data["path"] == name
    error = await failure("read_file", path="a\N{THIN SPACE}b.txt")
    assert error.type == "path_not_found"
    assert sorted(error.context["near"]) == sorted(["a b.txt", f"a{NBSP}b.txt"])


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ("src/mian.py", "src/main.py"),
        ("src/Main.PY", "src/main.py"),
        ("scr/main.py", "src"),
        ("src/main", "src/main.py"),
    ],
)
@pytest.mark.parametrize("tool", ["read_file", "edit", "file_stat", "list_dir", "file_delete", "grep"])
async def test_missing_path_names_the_nearest_one(failure, root: Path, tool: str, given: str, near: str) -> None:
    (root / "src").mkdir()
    for name in ("src/main.py", "src/other.txt", "readme.md"):
        (root / name).write_text("x\n")
    arguments = {"edit": {"edits": [{"old": "x", "new": "y"}]}, "grep": {"pattern": "x"}}.get(tool, {})
    error = await failure(tool, path=given, **arguments)
    assert error.type == "path_not_found"
    assert f"did you mean {near!r}" in error.message
    assert near in error.context["near"]


async def test_missing_path_without_a_near_one_says_where_to_look(failure, root: Path) -> None:
    (root / "a.txt").touch()
    error = await failure("read_file", path="something/else.py")
    assert "list its folder" in error.message
    assert "near" not in error.context

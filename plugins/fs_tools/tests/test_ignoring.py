"""The law of `.gitignore`: a walk in Python leaves out what ripgrep leaves out, from wherever the search begins."""

import tempfile
from pathlib import Path

import pytest
from agentcore_fs_tools.globbing import Globbing
from agentcore_fs_tools.ignoring import Rule, parse_rules
from agentcore_fs_tools.ripgrep import find_ripgrep
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentcore.api import Workspace

FOLDERS = ["", "a/", "b/", "a/b/", "a/b/c/", "b/a/", ".h/", "a [x]/"]
FILES = ["f", "g.log", "a.py", ".hidden", "b c", "é.log"]

line = st.sampled_from(
    ["*.log", "/a", "a/", "b", "!b", "/a/b/", "*.py", "!a.py", "!*.log", "**/c", "a/**", "b/*", "!/a/b/g.log", "# f",
     "f ", "\\#x", "/b/a/f", ".h", "*", "!*/", "!.gitignore", "a/**/f", "[ab]",
     "{f,g.log}", "b c", "é*", "a*/", "*.l?g", "["]
)  # fmt: skip
ignore_files = st.dictionaries(st.sampled_from(FOLDERS[:6]), st.lists(line, min_size=1, max_size=4), max_size=4)


@settings(max_examples=200, deadline=None)
@given(
    ignore=ignore_files,
    repositories=st.sets(st.sampled_from(["", "a/", "a/b/"])),
    start=st.sampled_from(["", "a/", "a/b/"]),
)
@example(ignore={"": ["a/b/"], "a/": ["!b"]}, repositories=set(), start="a/")
@example(ignore={"": ["*.log"]}, repositories={"", "a/"}, start="")
def test_walk_and_ripgrep_leave_out_the_same(ignore: dict[str, list[str]], repositories: set[str], start: str) -> None:
    with tempfile.TemporaryDirectory() as made:
        root = Path(made).resolve()
        for folder in FOLDERS:
            (root / folder).mkdir(parents=True, exist_ok=True)
            for name in FILES:
                (root / folder / name).touch()
        for folder in repositories:
            (root / folder / ".git").mkdir()
            (root / folder / ".git/config").touch()
        for folder, lines in ignore.items():
            (root / folder / ".gitignore").write_text("\n".join(lines) + "\n")
        with Workspace([root]) as workspace:
            place = workspace.locate(start or ".")
            search = Globbing(
                workspace, place, "**", no_ignore=False, program=find_ripgrep(), is_cancelled=lambda: False
            )
            assert sorted(search._walk(None)) == sorted(search._by_ripgrep())


def test_rules_are_read_as_git_writes_them() -> None:
    content = (
        b"\xef\xbb\xbf# comment\r\n\r\n*.log\r\n!keep.log\n/build/\nsrc/*.o\nblank\\ \ntrailing  \n!\n/\n"
        + b"x" * 2_000
    )
    assert parse_rules(content) == [
        Rule("*.log"),
        Rule("keep.log", is_kept=True),
        Rule("build", is_folder_only=True, is_anchored=True),
        Rule("src/*.o", is_anchored=True),
        Rule("blank\\ "),
        Rule("trailing"),
    ]


@pytest.fixture
def tree(root: Path) -> Path:
    (root / "pkg/node_modules").mkdir(parents=True)
    (root / "pkg/node_modules/x.js").touch()
    (root / "pkg/a.js").touch()
    (root / ".gitignore").write_text("node_modules/\n")
    return root


async def test_folder_that_is_asked_for_is_searched_although_it_is_ignored(call, tree: Path) -> None:
    assert (await call("glob", pattern="**", path="pkg")).data["paths"] == ["pkg/a.js"]
    assert (await call("glob", pattern="**", path="pkg/node_modules")).data["paths"] == ["pkg/node_modules/x.js"]


async def test_rules_above_the_workspace_have_no_say(call, tree: Path) -> None:
    (tree.parent / ".gitignore").write_text("*\n")
    (tree.parent / ".git").mkdir()
    assert (await call("glob", pattern="**/*.js")).data["paths"] == ["pkg/a.js"]


async def test_ignored_files_are_found_when_told(call, tree: Path) -> None:
    found = (await call("glob", pattern="**/*.js", no_ignore=True, sort="path")).data["paths"]
    assert found == ["pkg/a.js", "pkg/node_modules/x.js"]

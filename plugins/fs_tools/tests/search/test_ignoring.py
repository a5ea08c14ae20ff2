"""The law of `.gitignore`: it leaves out the same files wherever a search begins."""

import os
import subprocess
from pathlib import Path

import pytest
from agentcore_fs_tools.search.glob_search import Globbing
from agentcore_fs_tools.search.ignoring import folder_glob, rules_for_root
from agentcore_fs_tools.search.ripgrep import COMMON_ARGUMENTS, find_ripgrep
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentcore.api import Workspace

HOST = {"modules": ["fs_tools"]}

FOLDERS = ["", "a/", "b/", "a/b/", "a/b/c/", "b/a/", ".h/", "a [x]/", "caf\udce9\n/"]
FILES = ["f", "g.log", "a.py", ".hidden", "b c", "é.log"]

line = st.sampled_from(
    ["*.log", "/a", "a/", "b", "!b", "/a/b/", "*.py", "!a.py", "!*.log", "**/c", "a/**", "b/*", "!/a/b/g.log", "# f",
     "f ", "\\#x", "/b/a/f", ".h", "*", "!*/", "!.gitignore", "a/**/f", "[ab]",
     "{f,g.log}", "b c", "é*", "a*/", "*.l?g", "["]
)  # fmt: skip
ignore_files = st.dictionaries(st.sampled_from(FOLDERS), st.lists(line, min_size=1, max_size=4), max_size=4)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each file in each folder."""
    root = tmp_path_factory.mktemp("files")
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
        for name in FILES:
            (root / folder / name).touch()
    return root


@pytest.mark.more
@settings(max_examples=80, deadline=None)
@given(
    ignore=ignore_files,
    repositories=st.sets(st.sampled_from(["", "a/", "a/b/"])),
    start=st.sampled_from([folder for folder in FOLDERS if folder]),
)
@example(ignore={"": ["a/b/"], "a/": ["!b"]}, repositories=set(), start="a/")
@example(ignore={"": ["*.log"]}, repositories={"", "a/"}, start="a/b/")
@example(ignore={"": ["*.log"], "a [x]/": ["/a*", "!g.log"]}, repositories=set(), start="a [x]/")
@example(ignore={"caf\udce9\n/": ["f"]}, repositories=set(), start="caf\udce9\n/")
def test_search_below_the_root_leaves_out_what_one_of_the_root_does(
    files: Path, ignore: dict[str, list[str]], repositories: set[str], start: str
) -> None:
    program = find_ripgrep()
    assert program is not None
    made = [files / folder / ".git" for folder in repositories]
    for folder in made:
        folder.mkdir()
        (folder / "config").touch()
    written = [files / folder / ".gitignore" for folder in ignore]
    for path, lines in zip(written, ignore.values(), strict=True):
        path.write_text("\n".join(lines) + "\n")
    try:
        command = [program, *COMMON_ARGUMENTS, "--files", "--null", "--glob=!.git"]
        done = subprocess.run(command, cwd=files, capture_output=True, check=False)
        with Workspace([files]) as workspace:
            place = workspace.Place(workspace.locate(".").root, tuple(os.fsencode(start).split(b"/")[:-1]))
            found = Globbing(
                workspace, place, "**", no_ignore=False, program=program, is_cancelled=lambda: False
            ).find_paths()
    finally:
        for path in written:
            path.unlink()
        for folder in made:
            (folder / "config").unlink()
            folder.rmdir()
    listed = {Workspace.show_name(path) for path in done.stdout.split(b"\0")}
    shown = Workspace.show_name(os.fsencode(start))
    expected = {path.removeprefix(shown) for path in listed if path.startswith(shown)}
    if expected:  # else the folder itself is ignored, and is searched because it was asked for
        assert set(found) == expected


def test_rules_are_read_as_git_writes_them() -> None:
    content = (
        b"\xef\xbb\xbf# comment\r\n\r\n*.log\r\n!keep.log\n/build/\nsrc/*.o\nblank\\ \ntrailing  \n!\n/\n"
        + b"x" * 2_000
    )
    assert list(rules_for_root(content, folder_glob((b"a", b"[b] \xe9\n")))) == [
        "/a/\\[b\\] ??/**/*.log",
        "!/a/\\[b\\] ??/**/keep.log",
        "/a/\\[b\\] ??/build/",
        "/a/\\[b\\] ??/src/*.o",
        "/a/\\[b\\] ??/**/blank\\ ",
        "/a/\\[b\\] ??/**/trailing",
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

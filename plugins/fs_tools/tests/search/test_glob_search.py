import os
from pathlib import Path

import pytest
from agentcore_fs_tools.search.glob_search import PATH_LIMIT, find_files
from agentcore_fs_tools.search.ripgrep import find_ripgrep

from agentcore.api import ToolError, Workspace

HOST = {"modules": ["fs_tools"]}


@pytest.fixture
def tree(root: Path) -> Path:
    """A few files of different ages."""
    for index, name in enumerate(["old.py", "sub/new.py", "sub/deep/mid.py", "note.txt", ".hidden.py"]):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
        os.utime(root / name, (index, [10, 30, 20, 40, 5][index]))
    return root


async def test_newest_file_comes_first(call, text, tree: Path) -> None:
    result = await call("glob", pattern="**/*.py")
    assert text(result) == "4 files\nsub/new.py\nsub/deep/mid.py\nold.py\n.hidden.py"
    assert result.data["count"] == 4


async def test_newest_files_are_chosen_before_the_limit_and_those_of_one_age_by_path(call, root: Path) -> None:
    names = ["b.py", "a\\b.py", "sub/ä b.py", "sub/a.py", "c.py"]
    for name, age in zip(names, (20, 20, 20, 30, 10), strict=True):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).touch()
        os.utime(root / name, (age, age))
    result = await call("glob", pattern="**/*.py", limit=3)
    assert (result.data["paths"], result.data["count"]) == (["sub/a.py", "a\\b.py", "b.py"], 5)


async def test_order_of_paths_can_be_asked_for(call, tree: Path) -> None:
    paths = (await call("glob", pattern="**/*.py", sort="path")).data["paths"]
    assert paths == [".hidden.py", "old.py", "sub/deep/mid.py", "sub/new.py"]
    assert sorted((await call("glob", pattern="**/*.py", sort="none")).data["paths"]) == paths


async def test_pattern_is_relative_to_the_folder(call, tree: Path) -> None:
    assert (await call("glob", pattern="*.py", path="sub")).data["paths"] == ["sub/new.py"]
    assert (await call("glob", pattern="deep/*.py", path=str(tree / "sub"))).data["paths"] == ["sub/deep/mid.py"]


async def test_absolute_pattern_works_inside_the_roots(call, failure, tree: Path) -> None:
    assert (await call("glob", pattern=f"{tree}/sub/**/*.py")).data["paths"] == ["sub/new.py", "sub/deep/mid.py"]
    assert (await call("glob", pattern=f"{tree}/old.py")).data["paths"] == ["old.py"]
    assert (await failure("glob", pattern="/etc/*")).type == "path_outside_workspace"


async def test_nothing_found_gives_a_hint(call, text, tree: Path) -> None:
    assert "try '**/mid.py'" in text(await call("glob", pattern="mid.py"))
    assert text(await call("glob", pattern="**/nix")) == "No file matches '**/nix' in '.'."


async def test_links_are_not_followed_and_special_files_left_out(call, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.py").touch()
    (tree / "out").symlink_to("..")
    (tree / "link.py").symlink_to("old.py")
    os.mkfifo(tree / "fifo.py")
    assert len((await call("glob", pattern="**/*.py")).data["paths"]) == 4


async def test_search_that_finds_nothing_says_which_links_it_did_not_follow(
    call, text, tree: Path, tmp_path: Path
) -> None:
    """Claude Code's Glob was reported to skip linked folders without a word, so that files seemed not to exist."""
    (tmp_path / "outside").mkdir()
    (tree / "sub" / "link").symlink_to("deep")
    (tree / "out").symlink_to("../outside")
    (tree / "alias.txt").symlink_to("note.txt")
    (tree / "dangling").symlink_to("gone")
    result = await call("glob", pattern="**/gone.py")
    assert text(result) == (
        "No file matches '**/gone.py' in '.'.\n"
        "[Not followed: 1 link to a folder, 'sub/link' (search it as `path`); "
        "1 link that leads out of the workspace, 'out'.]"
    )
    assert result.data["skipped_links"] == ["out", "sub/link"]
    assert "1 link to a file, 'alias.txt'" in text(await call("glob", pattern="alias.*"))
    assert "skipped_links" not in (await call("glob", pattern="*.py")).data


async def test_pattern_that_begins_with_a_link_is_searched_behind_it(call, failure, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tree / "link").symlink_to("sub")
    (tree / "out").symlink_to("../outside")
    assert (await call("glob", pattern="link/**/*.py")).data["paths"] == ["link/new.py", "link/deep/mid.py"]
    assert (await call("glob", pattern="link/deep/mid.py")).data["paths"] == ["link/deep/mid.py"]
    assert (await failure("glob", pattern="out/*")).type == "path_outside_workspace"


async def test_link_that_leads_nowhere_hides_no_other_file(call, tree: Path) -> None:
    """OpenCode's glob was reported to find nothing where any link is broken, or any folder may not be read."""
    (tree / "dangling.py").symlink_to("/nowhere/x")
    (tree / "loop").symlink_to("loop")
    (tree / "sub" / "gone").symlink_to("../gone")
    (tree / "closed").mkdir(mode=0)
    try:
        assert len((await call("glob", pattern="**/*.py")).data["paths"]) == 4
    finally:
        (tree / "closed").chmod(0o700)


async def test_search_through_a_link_shows_paths_through_it(call, tree: Path) -> None:
    (tree / "link").symlink_to("sub/deep")
    assert (await call("glob", pattern="*", path="link")).data["paths"] == ["link/mid.py"]


async def test_name_that_is_not_utf8_is_spelled_and_found(call, tree: Path) -> None:
    (tree / os.fsdecode(b"caf\xe9\n.py")).touch()
    assert (await call("glob", pattern="caf*.py")).data["paths"] == ["caf\\xE9\\x0A.py"]
    assert (await call("file_stat", path="caf\\xE9\\x0A.py")).data["type"] == "file"


async def test_wrong_folders_and_patterns_are_errors(failure, tree: Path) -> None:
    assert (await failure("glob", pattern="*", path="note.txt")).type == "not_a_directory"
    assert (await failure("glob", pattern="*", path="gone")).type == "path_not_found"
    assert (await failure("glob", pattern="*", path="..")).type == "path_outside_workspace"
    assert (await failure("glob", pattern="[a")).type == "invalid_glob"


@pytest.mark.parametrize("sort", ["modified", "path", "none"])
async def test_number_of_paths_is_capped_with_a_notice(call, text, root: Path, sort: str) -> None:
    for number in range(PATH_LIMIT + 5):
        (root / f"{number}.txt").touch()
    result = await call("glob", pattern="*.txt", sort=sort)
    assert (len(result.data["paths"]), result.data["count"], result.truncated) == (PATH_LIMIT, PATH_LIMIT + 5, True)
    assert text(result).endswith("[5 more are left out; use a narrower pattern or a folder.]")


@pytest.mark.spec("S3")
def test_path_that_ripgrep_reports_but_that_is_not_there_is_dropped(tree: Path, tmp_path: Path) -> None:
    (tree / "out").symlink_to(tmp_path)
    (tmp_path / "secret.py").touch()
    liar = tmp_path / "rg"
    liar.write_text("#!/bin/sh\nprintf 'old.py\\0gone.py\\0out/secret.py\\0sub\\0'\n")
    liar.chmod(0o755)
    with Workspace([tree]) as workspace:
        for order in ("modified", "path", "none"):
            result = find_files(
                workspace, "**", ".", order=order, no_ignore=False, program=str(liar), is_cancelled=lambda: False
            )
            assert result.data["paths"] == ["old.py"]


def test_failing_ripgrep_is_an_error(root: Path, tmp_path: Path) -> None:
    broken = tmp_path / "rg"
    broken.write_text("#!/bin/sh\necho 'rg: out of order' >&2\nexit 2\n")
    broken.chmod(0o755)
    with Workspace([root]) as workspace, pytest.raises(ToolError, match="out of order") as caught:
        find_files(workspace, "**", ".", order="none", no_ignore=False, program=str(broken), is_cancelled=lambda: False)
    assert caught.value.type == "search_failed"


async def test_git_is_left_out_at_any_depth(call, tree: Path) -> None:
    for name in (".git/a.py", "sub/.git/b.py", "sub/deep/.git"):
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).touch()
    paths = (await call("glob", pattern="**", sort="path", no_ignore=True)).data["paths"]
    assert paths == [".hidden.py", "note.txt", "old.py", "sub/deep/mid.py", "sub/new.py"]


def test_missing_ripgrep_is_an_error_that_says_what_to_do(root: Path) -> None:
    with Workspace([root]) as workspace, pytest.raises(ToolError, match="pip install ripgrep") as caught:
        find_files(workspace, "**", ".", order="none", no_ignore=False, program=None, is_cancelled=lambda: False)
    assert (caught.value.type, caught.value.retryable) == ("search_failed", False)


def test_cancelled_search_ends(tree: Path) -> None:
    with Workspace([tree]) as workspace, pytest.raises(ToolError) as caught:
        find_files(
            workspace, "**", ".", order="modified", no_ignore=False, program=find_ripgrep(), is_cancelled=lambda: True
        )
    assert caught.value.type == "cancelled"


@pytest.mark.more
@pytest.mark.spec("S7")
async def test_model_gets_as_many_paths_as_fit_and_how_many_are_left_out(start, text, root: Path) -> None:
    for number in range(1_100):
        (root / f"file-with-a-longer-name-{number:05}.txt").touch()
    host = await start()
    for tool, arguments in (("glob", {"pattern": "*", "limit": 1_000}), ("list_dir", {})):
        result = await host.told(tool, **arguments)
        heading, *lines, rest = text(result).split("\n")
        assert heading.startswith("1,100 ")
        assert 20_000 < len(text(result)) <= 25_000
        assert rest.startswith(f"[{1_100 - len(lines):,} ")
        assert result.truncated


async def test_model_gets_a_hundred_paths_unless_it_sets_a_limit(start, text, root: Path) -> None:
    for number in range(150):
        (root / f"{number}.txt").touch()
    host = await start()
    result = await host.told("glob", pattern="*")
    assert (result.data["count"], len(result.data["paths"])) == (150, 100)
    assert "[50 more are left out; use a narrower pattern or a folder, or a higher `limit`.]" in text(result)
    assert len((await host.told("glob", pattern="*", limit=150)).data["paths"]) == 150
    assert len((await host.call("glob", pattern="*")).data["paths"]) == 150
    assert len((await host.call("glob", pattern="*", limit=7)).data["paths"]) == 7


async def test_ignored_files_that_match_are_counted(start, text, root: Path) -> None:
    (root / ".gitignore").write_text("*.log\nbuild/\n")
    (root / "build").mkdir()
    for path in ("a.log", "b.txt", "build/b.txt"):
        (root / path).touch()
    host = await start()
    shown = text(await host.call("glob", pattern="a.log"))
    assert "[Left out: 1 ignored file that matches (`no_ignore` includes them).]" in shown
    result = await host.told("glob", pattern="**/b.txt")
    assert (result.data["paths"], result.data["skipped_ignored"]) == (["b.txt"], 1)
    assert "1 ignored file that matches" in text(result)
    assert "Left out" not in text(await host.told("glob", pattern="**/b.txt", no_ignore=True))
    assert "Left out" not in text(await host.told("glob", pattern="*.md"))


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("app/[id]/page.tsx", ["app/[id]/page.tsx", "app/d/page.tsx"]),
        ("app/[user-id]/page.tsx", ["app/[user-id]/page.tsx"]),
        ("app/[...slug]/*.tsx", ["app/[...slug]/page.tsx"]),
        ("app/[[...rest]]/page.tsx", ["app/[[...rest]]/page.tsx"]),
        ("**/[id]/*", ["app/[id]/page.tsx", "app/d/page.tsx"]),
    ],
)
async def test_brackets_in_the_name_of_a_file_match_themselves(call, root: Path, pattern: str, found: list) -> None:
    for folder in ("[id]", "[user-id]", "[...slug]", "[[...rest]]", "d", "x"):
        (root / "app" / folder).mkdir(parents=True)
        (root / "app" / folder / "page.tsx").write_text("needle\n")
    assert sorted((await call("glob", pattern=pattern)).data["paths"]) == sorted(found)
    assert (await call("grep", pattern="needle", glob=pattern)).data["files"] == sorted(found)
    absolute = await call("glob", pattern=f"{root}/{pattern}")
    assert sorted(absolute.data["paths"]) == sorted(found)


async def test_names_that_differ_only_in_capitals_or_unicode_form_are_offered(call, text, root: Path) -> None:
    for name in ("README.md", "cafe\N{COMBINING ACUTE ACCENT}.txt"):
        (root / name).touch()
    assert "'README.md'" in text(await call("glob", pattern="readme.md"))
    assert "'cafe\N{COMBINING ACUTE ACCENT}.txt'" in text(await call("glob", pattern="café.*"))

import subprocess
from pathlib import Path

import pytest
from agentcore_fs_tools.search.glob_patterns import FileFilter, compile_glob
from agentcore_fs_tools.search.ripgrep import find_ripgrep
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentcore.api import ToolError

FILES = [
    "a.py",
    "b.js",
    "src/a.py",
    "src/b.txt",
    "src/deep/a.py",
    "src/deep/test_x.ts",
    "docs/[x].md",
    "é.py",
    "src.py/z",
    "ab",
    "src/ab/c",
]


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("*.py", ["a.py", "é.py"]),
        ("**/*.py", ["a.py", "src/a.py", "src/deep/a.py", "é.py"]),
        ("src/**", ["src/a.py", "src/b.txt", "src/deep/a.py", "src/deep/test_x.ts", "src/ab/c"]),
        ("src/**/a.py", ["src/a.py", "src/deep/a.py"]),
        ("**/deep/*", ["src/deep/a.py", "src/deep/test_x.ts"]),
        ("**/test_*.{ts,js}", ["src/deep/test_x.ts"]),
        ("{a,b}.{py,js}", ["a.py", "b.js"]),
        ("?.py", ["a.py", "é.py"]),
        ("[!a].*", ["b.js", "é.py"]),
        ("docs/\\[x\\].md", ["docs/[x].md"]),
        ("docs/[[]x].md", ["docs/[x].md"]),
        ("**/ab", ["ab"]),
        ("./a.py", ["a.py"]),
        ("**", FILES),
        ("a.p", []),
    ],
)
def test_glob_matches_whole_paths(pattern: str, matching: list[str]) -> None:
    matches = compile_glob(pattern)
    assert [path for path in FILES if matches(path)] == matching


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("*.py", ["a.py", "src/a.py", "src/deep/a.py", "é.py", "src.py/z"]),
        ("/*.py", ["a.py", "é.py", "src.py/z"]),
        ("src/*.py", ["src/a.py"]),
        ("deep", ["src/deep/a.py", "src/deep/test_x.ts"]),
        ("!*.py", ["b.js", "src/b.txt", "src/deep/test_x.ts", "docs/[x].md", "ab", "src/ab/c"]),
        ("*.{js,ts}", ["b.js", "src/deep/test_x.ts"]),
    ],
)
def test_filter_without_slash_matches_at_any_depth(pattern: str, matching: list[str]) -> None:
    accepts = FileFilter(pattern)
    assert [path for path in FILES if accepts(path)] == matching


@pytest.mark.parametrize(
    ("pattern", "position"),
    [("[a", 0), ("x{a,b", 1), ("a\\", 1), ("[z-a]", 0), ("[/]", 0), ("{" + "a," * 300 + "}", 0)],
)
def test_glob_that_cannot_be_read_is_an_error_with_its_place(pattern: str, position: int) -> None:
    with pytest.raises(ToolError) as caught:
        compile_glob(pattern)
    assert (caught.value.type, caught.value.context["position"]) == ("invalid_glob", position)


@pytest.mark.parametrize(("pattern", "position"), [("!x[a", 2), ("/x{a,b", 2), ("src/[z-a]/", 4), ("[a", 0)])
def test_filter_that_cannot_be_read_is_an_error_with_its_place(pattern: str, position: int) -> None:
    with pytest.raises(ToolError) as caught:
        FileFilter(pattern)
    assert (caught.value.type, caught.value.context["position"]) == ("invalid_glob", position)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("**/" + "*a" * 60 + "b", "a" * 250),
        ("{" * 30 + "a*" + "}" * 30 + "*" * 50 + "x", "a" * 250),
        ("{" * 500 + "}" * 500, "a"),
        ("**/*a*a*b/" * 60 + "x", ("a" * 200 + "/") * 20),
        ("**/a*/" * 60 + "x", "aaa/" * 1_000),
    ],
)
def test_glob_that_would_take_a_backtracking_engine_forever_is_answered(pattern: str, path: str) -> None:
    assert not compile_glob(pattern)(path)


NAMES = ["a", "b", "ab", "a.py", ".x", "é", "a b", "bab", "a}", "a,b"]
ABOVE = ["", "a_/", "b_/", "a_/b_/", "b_/a_/b_/"]
parts = st.sampled_from(
    ["*", "a", "b", "?", "[ab]", "[!a/]", "[!a-b/]", ".x", "{a,b}", "{a.*,b}", "py", "*b", "_", "*_", "{a,*/b}", "\\a",
     ",", "\\}"]
)  # fmt: skip
segments = st.sampled_from(["**", "{**/a,b}"]) | st.lists(parts, min_size=1, max_size=3).map("".join)
globs = st.tuples(st.lists(segments, min_size=1, max_size=3).map("/".join), st.sampled_from(["", "", "", "/{b_/**,a}"]))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each name in each folder."""
    folder = tmp_path_factory.mktemp("tree")
    for above in ABOVE:
        (folder / above).mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            (folder / above / name).touch()
    return folder


@pytest.mark.more
@settings(max_examples=150, deadline=None)
@given(pattern=globs.map("".join))
@example(pattern="*a*b/**/*a*")
@example(pattern="**/a_/**/b_/*b")
def test_glob_finds_what_ripgrep_finds(tree: Path, pattern: str) -> None:
    """ripgrep takes a byte for `?` and sets, so these are compared on ASCII names only; `[!a]` takes a slash."""
    program = find_ripgrep()
    assert program is not None
    command = [program, "--no-config", "--files", "--hidden", "--no-ignore", f"--glob=/{pattern}", "./"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    expected = {path.removeprefix("./") for path in done.stdout.splitlines()}
    found = set(filter(compile_glob(pattern), (above + name for above in ABOVE for name in NAMES)))
    assert all("é" in path and not {"?", "["}.isdisjoint(pattern) for path in expected ^ found)

import subprocess
import tempfile
from pathlib import Path

import pytest
from agentcore_fs_tools.globs import compile_filter, compile_glob
from agentcore_fs_tools.ripgrep import find_ripgrep
from hypothesis import given, settings
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
    accepts = compile_filter(pattern)
    assert [path for path in FILES if accepts(path)] == matching


@pytest.mark.parametrize(
    ("pattern", "position"),
    [("[a", 0), ("x{a,b", 1), ("a\\", 1), ("[z-a]", 0), ("[/]", 0), ("{" + "a," * 300 + "}", 0)],
)
def test_glob_that_cannot_be_read_is_an_error_with_its_place(pattern: str, position: int) -> None:
    with pytest.raises(ToolError) as caught:
        compile_glob(pattern)
    assert (caught.value.type, caught.value.context["position"]) == ("invalid_glob", position)


def test_glob_that_would_take_a_backtracking_engine_forever_is_answered() -> None:
    assert not compile_glob("**/" + "*a" * 60 + "b")("a" * 250)
    assert not compile_glob("{" * 30 + "a*" + "}" * 30 + "*" * 50 + "x")("a" * 250)


names = st.sampled_from(["a", "b", "ab", "a.py", ".x", "é", "a b"])
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
globs = st.lists(
    st.sampled_from(
        ["*", "**", "a", "b", "?", "[ab]", "[!a/]", ".x", "{a,b}", "{a.*,b}", "py", "*b", "{**/a,b}", "{a/**,b}"]
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=250, deadline=None)
@given(
    parts=globs,
    separators=st.lists(st.sampled_from(["/", ""]), min_size=3, max_size=3),
    files=st.lists(paths, max_size=6),
)
def test_glob_finds_what_ripgrep_finds(parts: list[str], separators: list[str], files: list[str]) -> None:
    """ripgrep takes a byte for `?` and sets, so these are compared on ASCII names only; `[!a]` takes a slash."""
    pattern = "".join(part + separator for part, separator in zip(parts, separators, strict=False)).strip("/")
    program = find_ripgrep()
    assert program is not None
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            target = Path(folder, path)
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.touch()
            except OSError:
                continue
        command = [program, "--no-config", "--files", "--hidden", "--no-ignore", f"--glob=/{pattern}", "./"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        below = sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())
    matches = compile_glob(pattern)
    if any(character in pattern for character in "?["):
        below = [path for path in below if path.isascii()]
    expected = sorted(path.removeprefix("./") for path in done.stdout.splitlines())
    if any(character in pattern for character in "?["):
        expected = [path for path in expected if path.isascii()]
    assert [path for path in below if matches(path)] == expected

"""The law of the two engines: what the subset takes, ripgrep reads the same way."""

import subprocess
import tempfile
from pathlib import Path

import pytest
from agentcore_fs_tools.candidates import read_candidates
from agentcore_fs_tools.regex_subset import compile_subset
from agentcore_fs_tools.ripgrep import find_ripgrep
from hypothesis import given, settings
from hypothesis import strategies as st

atoms = st.sampled_from(
    ["a", "b", "k", "S", "é", "中", " ", "_", "-", ":", "/", ".", r"\.", r"\(", r"\\", r"\t", "^", "$", "[a-c]", "[^a]",
     "[^ab ]", "[ .:]", "[0-9A-Z]", "(a|b)", "(?:k|é|)", "(^a)", "(b$)", "0", "\t", "ſ", "#", "&", "~", "<"]
)  # fmt: skip
repeats = st.sampled_from(["", "", "", "*", "+", "?", "*?", "+?", "{2}", "{1,3}", "{0,2}?", "{,2}", "{", "**"])
pieces = st.tuples(atoms, repeats).map("".join)
patterns = st.lists(pieces, min_size=1, max_size=5).map("".join) | st.text(
    "ab()[]|*+?.^${}12,\\-&w", min_size=1, max_size=7
)
texts = st.text("aabbkKsSéÉ中 .:_-09\t\\(/\nſK#&~<\r", max_size=40)


def lines_by_ripgrep(pattern: str, content: bytes, ignore_case: bool) -> list[tuple[int, bytes, int]] | None:
    program = find_ripgrep()
    assert program is not None
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "f").write_bytes(content)
        options = ["--no-config", "--json", *["--ignore-case"] * ignore_case]
        done = subprocess.run(
            [program, *options, f"--regexp={pattern}", "--", "./"], cwd=folder, capture_output=True, check=False
        )
    if done.returncode > 1:
        return None
    return [(m.offset, m.content, m.column) for found in read_candidates([done.stdout]) for m in found.matches]


@settings(max_examples=600, deadline=None)
@given(pattern=patterns, text=texts, ignore_case=st.booleans())
def test_subset_finds_the_lines_that_ripgrep_finds(pattern: str, text: str, ignore_case: bool) -> None:
    search = compile_subset(pattern, ignore_case=ignore_case)
    if search is None:
        return
    content = text.encode()
    found = [(start, content[start:end], at - start) for start, end, at in search.lines(content, 1_000)]
    assert found == lines_by_ripgrep(pattern, content, ignore_case)


@pytest.mark.parametrize(
    "pattern", ["foo", "def main(", "a.b", r"x\.y", "[a-z]+_[0-9]{2,4}", "^import (os|sys)$", "日本", "a b"]
)
def test_ordinary_patterns_are_in_the_subset(pattern: str) -> None:
    if pattern == "def main(":
        assert compile_subset(pattern, ignore_case=False) is None
        pattern = r"def main\("
    assert compile_subset(pattern, ignore_case=False) is not None


@pytest.mark.parametrize(
    "pattern",
    [r"\w", r"\d+", r"a\sb", r"\bfoo\b", "[a&&b]", "[[:alpha:]]", "(?i)a", "a*", "", "(?=a)", r"\p{L}", "x{101}",
     "[é]", r"\n", "(?P<n>a)", "a{3,2}", r"\x41", "[b-a]", "(a", "a)", "[a", "a**", "^*"],
)  # fmt: skip
def test_other_patterns_are_left_to_ripgrep(pattern: str) -> None:
    assert compile_subset(pattern, ignore_case=False) is None


def test_case_of_letters_beyond_ascii_is_left_to_ripgrep() -> None:
    assert compile_subset("é", ignore_case=True) is None
    assert compile_subset("é", ignore_case=False) is not None


def test_number_of_lines_is_bounded() -> None:
    search = compile_subset("a", ignore_case=False)
    assert search is not None
    assert search.lines(b"a\na\na\n", 2) == [(0, 1, 0), (2, 3, 2)]

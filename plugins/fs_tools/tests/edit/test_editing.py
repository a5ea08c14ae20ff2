import difflib
import os
from pathlib import Path
from typing import Any

import pytest
from agentcore_fs_tools.edit.editing import Edit, apply_edits
from agentcore_fs_tools.edit.hunks import apply_hunks
from agentcore_fs_tools.edit.limits import EDIT_LIMIT_BYTES
from agentcore_fs_tools.edit.unified_diff import make_diff, parse_diff
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcore.api import ToolError
from agentcore.api.tool_context import Principal

HOST = {"modules": ["fs_tools"]}


@pytest.mark.spec("T2")
async def test_exact_text_is_replaced_and_the_difference_shown(call, text, root: Path) -> None:
    (root / "a.py").write_text("def f():\n    return 1\n")
    result = await call("edit", path="a.py", edits=[{"old": "return 1", "new": "return 2"}])
    assert (root / "a.py").read_text() == "def f():\n    return 2\n"
    assert text(result) == (
        "Changed a.py in 1 place:\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2\n"
    )
    assert result.data["changed"] is True


@pytest.mark.parametrize("new", ['log("$& $1 $$ ok");', r"\1 \g<0> \n \\", "%s {0} ${x}"])
async def test_new_text_is_written_exactly_as_it_is_given(call, root: Path, new: str) -> None:
    """OpenCode's edit was reported to expand `$&` and `$1` in new texts, as its programming language does."""
    (root / "a.js").write_text('log("done");\nlog("done");\n')
    await call("edit", path="a.js", edits=[{"old": 'log("done");', "new": new, "all": True}])
    assert (root / "a.js").read_text() == f"{new}\n{new}\n"


async def test_empty_old_text_is_refused_for_all_occurrences_too(failure, root: Path) -> None:
    """Deep Agents' edit was reported to put the new text between all characters of the file."""
    (root / "a.txt").write_text("abc")
    error = await failure("edit", path="a.txt", edits=[{"old": "", "new": "X", "all": True}])
    assert error.type == "invalid_arguments"
    assert (root / "a.txt").read_text() == "abc"


async def test_edits_are_made_one_after_the_other(call, root: Path) -> None:
    (root / "a.txt").write_text("a b c")
    result = await call("edit", path="a.txt", edits=[{"old": "a", "new": "x y"}, {"old": "y b", "new": "z"}])
    assert (root / "a.txt").read_text() == "x z c"
    assert result.data["replacements"] == 2


async def test_all_replaces_every_occurrence(call, root: Path) -> None:
    (root / "a.txt").write_text("aaa a")
    assert (await call("edit", path="a.txt", edits=[{"old": "a", "new": "aa", "all": True}])).data["replacements"] == 4
    assert (root / "a.txt").read_text() == "aaaaaa aa"


@pytest.mark.spec("T2")
async def test_ambiguous_text_is_an_error_with_its_lines(failure, root: Path) -> None:
    (root / "a.txt").write_text("x\ny\nx\n")
    error = await failure("edit", path="a.txt", edits=[{"old": "x", "new": "z"}])
    assert (error.type, error.context["lines"]) == ("edit_ambiguous", [1, 3])
    assert (root / "a.txt").read_text() == "x\ny\nx\n"


async def test_overlapping_occurrences_are_ambiguous(failure, root: Path) -> None:
    (root / "a.txt").write_text("aaa")
    assert (await failure("edit", path="a.txt", edits=[{"old": "aa", "new": "b"}])).context["count"] == 2


@pytest.mark.parametrize(
    ("old", "line"),
    [("def g():\n        return 2", 4), ("    retrun 22", 5), ("def h():\n    return 22\n", 4)],
)
async def test_text_that_is_not_there_is_an_error_with_the_nearest_place(
    failure, root: Path, old: str, line: int
) -> None:
    (root / "a.py").write_text("def f():\n    pass\n\ndef g():\n    return 22\n")
    error = await failure("edit", path="a.py", edits=[{"old": old, "new": "x"}])
    assert (error.type, error.context["line"]) == ("edit_not_found", line)
    assert "return 22" in error.context["nearest"]


@pytest.mark.parametrize(
    "old", ["     4\tdef g():\n     5\t    return 22", "4→def g():", "4: def g():\n5:     return 22"]
)
async def test_old_text_with_line_numbers_is_told_to_be_given_without_them(failure, root: Path, old: str) -> None:
    (root / "a.py").write_text("def f():\n    pass\n\ndef g():\n    return 22\n")
    error = await failure("edit", path="a.py", edits=[{"old": old, "new": "x"}])
    assert (error.type, error.context["line"]) == ("edit_not_found", 4)
    assert "begin with line numbers" in error.message


async def test_new_text_of_a_model_with_line_numbers_is_refused(agentcore_host, root: Path) -> None:
    """OpenCode's edit was reported to write the line marks of its read tool into files."""
    host = await agentcore_host(modules=["fs_tools"], config={"approvals": {"mode": "allow"}}, roots=[root])
    (root / "a.py").write_text("def f():\n    pass\n")
    (root / "numbered.txt").write_text("     1\tone\n     2\ttwo\n")

    async def call(tool: str, kind: str = "chat", **arguments: object) -> Any:
        return await host.outcome(tool, arguments, principal=Principal(kind, "s1"), session_id="s1")

    numbered = "     1\tdef f():\n     2\t    return 1\n"
    edits = [{"old": "def f():\n    pass\n", "new": numbered}]
    for refused in (
        await call("edit", path="a.py", edits=edits),
        await call("edit", "mcp", path="a.py", edits=edits),
        await call("write_file", path="b.py", content=numbered),
    ):
        assert refused.error.type == "invalid_arguments"
        assert "line number as `read_file` shows it" in refused.error.message
    assert (root / "a.py").read_text() == "def f():\n    pass\n"
    assert not (root / "b.py").exists()
    # numbers that are part of the file, tables of numbers, and what people write
    listed = [{"old": "     2\ttwo", "new": "     2\tzwei"}]
    assert (await call("edit", path="numbered.txt", edits=listed)).error is None
    assert (await call("write_file", path="c.tsv", content="1\tone\n2\ttwo\n")).error is None
    assert (await call("write_file", "cli", path="d.txt", content=numbered)).error is None


async def test_text_without_any_resemblance_is_not_found(failure, root: Path) -> None:
    (root / "a.py").write_text("pass\n")
    error = await failure("edit", path="a.py", edits=[{"old": "0123456789 ABCDEF", "new": "x"}])
    assert error.type == "edit_not_found"
    assert "line" not in error.context
    assert (await failure("edit", path="a.py", edits=[{"old": "\n\n", "new": "x"}])).type == "edit_not_found"


@pytest.mark.spec("T2")
async def test_failing_edit_leaves_those_before_it_undone(failure, root: Path) -> None:
    (root / "a.txt").write_text("a b")
    await failure("edit", path="a.txt", edits=[{"old": "a", "new": "x"}, {"old": "nope", "new": "y"}])
    assert (root / "a.txt").read_text() == "a b"


async def test_dry_run_changes_nothing(call, text, root: Path) -> None:
    (root / "a.txt").write_text("a\n")
    result = await call("edit", path="a.txt", edits=[{"old": "a", "new": "b"}], dry_run=True)
    assert text(result).startswith("Would change a.txt in 1 place:\n--- a/a.txt")
    assert (root / "a.txt").read_text() == "a\n"


async def test_edit_that_changes_nothing_says_so(call, text, root: Path) -> None:
    (root / "a.txt").write_text("a\n")
    before = (root / "a.txt").stat().st_ino
    assert "stays as it is" in text(await call("edit", path="a.txt", edits=[{"old": "a", "new": "a"}]))
    assert (root / "a.txt").stat().st_ino == before


async def test_either_edits_or_a_diff_is_needed(failure, root: Path) -> None:
    (root / "a.txt").write_text("a\n")
    for arguments in ({}, {"edits": []}, {"edits": [{"old": "a", "new": "b"}], "diff": "@@ -1 +1 @@\n-a\n+b\n"}):
        assert (await failure("edit", path="a.txt", **arguments)).type == "invalid_arguments"


@pytest.mark.parametrize(
    ("content", "old", "new", "expected"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n"),
        (b"a\nb\r\nc\nd\r\n", "b\nc", "b\nnew\nc", b"a\nb\r\nnew\r\nc\nd\r\n"),
        (b"a\nb\r\nc\n", "a\nb\nc", "a\nnew\nb\nc", b"a\nnew\nb\r\nc\n"),
        (b"a\r\nb\n", "b", "b\nc", b"a\r\nb\nc\n"),
        (b"a\r\nb", "b", "c\nd", b"a\r\nc\r\nd"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        ("grün\n".encode("utf-16"), "grün", "blau", "blau\n".encode("utf-16")),
        (b"no end", "no", "yes", b"yes end"),
    ],
)
async def test_all_but_the_edit_stays_byte_for_byte(
    call, root: Path, content: bytes, old: str, new: str, expected: bytes
) -> None:
    (root / "a.txt").write_bytes(content)
    await call("edit", path="a.txt", edits=[{"old": old, "new": new}])
    assert (root / "a.txt").read_bytes() == expected


async def test_file_in_a_guessed_encoding_stays_in_it(call, failure, root: Path) -> None:
    text = "中文字符编码的检测需要足够长的文本，否则统计没有意义。" * 8 + "\n"
    (root / "a.txt").write_bytes((text + "旧\n").encode("gb18030"))
    await call("edit", path="a.txt", edits=[{"old": "旧", "new": "新"}])
    assert (root / "a.txt").read_bytes() == (text + "新\n").encode("gb18030")


async def test_file_that_cannot_be_decoded_or_encoded_is_left_alone(failure, root: Path) -> None:
    (root / "a.txt").write_bytes("naïve\n".encode("cp1252"))
    edits = [{"old": "na", "new": "中"}]
    assert (await failure("edit", path="a.txt", edits=edits, encoding="utf-8")).type == "cannot_decode"
    assert (await failure("edit", path="a.txt", edits=edits, encoding="cp1252")).type == "cannot_encode"
    (root / "a.bin").write_bytes(b"a\0b")
    assert (await failure("edit", path="a.bin", edits=edits)).type == "binary_file"
    assert (root / "a.txt").read_bytes() == "naïve\n".encode("cp1252")


async def test_encoding_that_does_not_write_back_the_same_bytes_is_refused(failure, root: Path) -> None:
    (root / "a.txt").write_bytes(b"+AGE- b\n")  # UTF-7 has several spellings of `a`
    assert (
        await failure("edit", path="a.txt", edits=[{"old": "b", "new": "c"}], encoding="utf-7")
    ).type == "cannot_decode"


async def test_file_beyond_the_bound_is_not_edited(failure, root: Path) -> None:
    (root / "big.txt").touch()
    os.truncate(root / "big.txt", EDIT_LIMIT_BYTES + 1)
    assert (await failure("edit", path="big.txt", edits=[{"old": "a", "new": "b"}])).type == "file_too_large"


async def test_diff_is_applied_also_where_its_line_numbers_are_off(call, root: Path) -> None:
    (root / "a.txt").write_text("1\n2\n3\n4\n5\n6\n")
    diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n 3\n-4\n+four\n 5\n@@ -6 +6,2 @@\n 6\n+7\n"
    result = await call("edit", path="a.txt", diff=diff)
    assert (root / "a.txt").read_text() == "1\n2\n3\nfour\n5\n6\n7\n"
    assert result.data["replacements"] == 2


async def test_diff_that_does_not_fit_is_refused(failure, root: Path) -> None:
    (root / "a.txt").write_text("x\ny\nx\n")
    errors = [
        await failure("edit", path="a.txt", diff=diff)
        for diff in ("@@ -1 +1 @@\n-z\n+a\n", "@@ -2 +2 @@\n-x\n+a\n", "@@ -9,0 +10 @@\n+a\n")
    ]
    assert [error.type for error in errors] == ["edit_not_found", "edit_ambiguous", "edit_not_found"]
    assert (root / "a.txt").read_text() == "x\ny\nx\n"


@pytest.mark.parametrize(
    "diff",
    [
        "@@ -3,9 +3,2 @@\n 3\n-4\n+four\n",  # wrong counts
        "@@ -3,1 +3,1 @@\n 3\n-4\n+four\n 5\n",
        "@@\n 3\n-4\n+four\n",
        "@@ @@\n-4\n+four\n",
        "@@ def number():\n 3\n-4\n+four\n\n",
        "--- a\n+++ b\n@@ -30,7 +30 @@\n 3\n-4\n+four\n 5\n\n",
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-4\n+four\n*** End Patch\n",
        "@@ -4,5 +4,5 @@\n-4\n+four\n@@ -6,5 +6,5 @@\n 6\n",
    ],
)
async def test_hunks_without_or_with_wrong_numbers_are_applied_where_they_are_unambiguous(
    call, root: Path, diff: str
) -> None:
    (root / "a.txt").write_text("1\n2\n3\n4\n5\n6\n")
    await call("edit", path="a.txt", diff=diff)
    assert (root / "a.txt").read_text() == "1\n2\n3\nfour\n5\n6\n"


async def test_hunk_without_numbers_is_refused_where_its_text_occurs_twice(failure, root: Path) -> None:
    (root / "a.txt").write_text("x\ny\nx\n")
    error = await failure("edit", path="a.txt", diff="@@\n-x\n+a\n")
    assert error.type == "edit_ambiguous"
    assert (root / "a.txt").read_text() == "x\ny\nx\n"


@pytest.mark.parametrize(
    ("content", "old", "named"),
    [
        ("a = 1\nx =\N{NO-BREAK SPACE}2\n", "x = 2", "line 2 of the file has U+00A0 (NO-BREAK SPACE) at column 4"),
        ("x = “a”\n", 'x = "a"', "U+201C (LEFT DOUBLE QUOTATION MARK)"),
        ("\tif x:\n\t\treturn\n", "    if x:\n        return", "U+0009 (TAB) at column 1"),
        ("cafe\N{COMBINING ACUTE ACCENT} noir\n", "café noir", "decomposed (NFD)"),
        ("café noir\n", "cafe\N{COMBINING ACUTE ACCENT} noir", "composed (NFC)"),
        ("a\N{ZERO WIDTH SPACE}b\n", "ab", "U+200B (ZERO WIDTH SPACE) at column 2"),
        ("a – b\n", "a - b", "U+2013 (EN DASH)"),
        ("x = '2'\n", "x = ’2’", "the given text has U+2019 (RIGHT SINGLE QUOTATION MARK)"),
        ("one\nx =  2\n", "one\nx = 2", "line 2 of the file has another number or order of blanks"),
    ],
)
async def test_differences_that_cannot_be_seen_are_named(
    failure, root: Path, content: str, old: str, named: str
) -> None:
    (root / "a.txt").write_text(content, "utf-8")
    error = await failure("edit", path="a.txt", edits=[{"old": old, "new": "x"}])
    assert error.type == "edit_not_found"
    assert named in error.message
    diff = "@@\n" + "".join(f"-{line}\n" for line in old.split("\n")) + "+x\n"
    assert named in (await failure("edit", path="a.txt", diff=diff)).message


@pytest.mark.parametrize(
    "diff",
    ["", "no diff", "@@ -1 +1 @@\n*a\n", "@@\n", "@@\n+a\n", "@@ -1,x @@\n-a\n+b\n",
     "*** Update File: a\n@@\n-a\n+b\n*** Update File: b\n@@\n-a\n+b\n",
     "--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n--- b\n+++ b\n@@ -1 +1 @@\n-a\n+b\n"],
)  # fmt: skip
def test_diff_that_cannot_be_read_is_an_error(diff: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_diff(diff)
    assert caught.value.type == "invalid_diff"


lines = st.lists(st.sampled_from(["a", "b", "", " x", "é", "-", "+", "\\"]), max_size=9)
contents = st.tuples(lines, st.sampled_from(["\n", "\r\n"]), st.booleans()).map(
    lambda made: made[1].join(made[0]) + (made[1] if made[2] and made[0] else "")
)


@pytest.mark.more
@settings(max_examples=600, deadline=None)
@given(old=contents, new=contents)
def test_diff_of_two_texts_turns_the_one_into_the_other(old: str, new: str) -> None:
    if old == new:
        return
    flat_old, flat_new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if flat_old == flat_new:
        return
    result, _ = apply_hunks(flat_old, parse_diff(make_diff(flat_old, flat_new, "f")), "f")
    assert result == flat_new


@settings(max_examples=200, deadline=None)
@given(old=contents, new=contents)
def test_diff_agrees_with_the_standard_library(old: str, new: str) -> None:
    flat_old, flat_new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    made = make_diff(flat_old, flat_new, "f")
    kept = [line for line in made.splitlines()[2:] if line.startswith(("+", " "))]
    expected = difflib.unified_diff(flat_old.splitlines(), flat_new.splitlines(), lineterm="", n=3)
    if not made:
        assert flat_old == flat_new
    elif flat_old.endswith("\n") == flat_new.endswith("\n"):
        assert (
            sum(line.startswith("+") for line in kept) <= sum(line.startswith("+") for line in list(expected)[2:]) + 9
        )


@pytest.mark.more
@settings(max_examples=300, deadline=None)
@given(
    text=st.text("ab\n\r é", max_size=30),
    old=st.text("ab\n é", min_size=1, max_size=4),
    new=st.text("xy\n", max_size=4),
)
def test_edit_keeps_everything_around_it(text: str, old: str, new: str) -> None:
    text = text.replace("\r", "\r\n")
    flat = text.replace("\r\n", "\n")
    places = [at for at in range(len(flat)) if flat.startswith(old, at)]
    if len(places) != 1:
        with pytest.raises(ToolError) as caught:
            apply_edits(text, [Edit(old=old, new=new)], "f")
        assert caught.value.type == ("edit_ambiguous" if places else "edit_not_found")
        return
    result, _ = apply_edits(text, [Edit(old=old, new=new)], "f")
    assert result.replace("\r\n", "\n") == flat[: places[0]] + new + flat[places[0] + len(old) :]


def test_very_different_texts_have_a_difference_at_once() -> None:
    old, new = "".join(f"{n}\n" for n in range(5_000)), "".join(f"x{n}\n" for n in range(5_000))
    diff = make_diff(f"same\n{old}end\n", f"same\n{new}end\n", "f")
    assert apply_hunks(f"same\n{old}end\n", parse_diff(diff), "f")[0] == f"same\n{new}end\n"


def test_very_many_replacements_are_made_at_once() -> None:
    text = "ab\r\n" * 200_000
    result, count = apply_edits(text, [Edit(old="b", new="x\ny", all=True)], "f")
    assert (result, count) == ("ax\r\ny\r\n" * 200_000, 200_000)

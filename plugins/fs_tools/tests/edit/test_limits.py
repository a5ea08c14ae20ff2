"""What an edit would make is known, and bounded, before it is made."""

import asyncio
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from agentcore_fs_tools.edit.changes import DIFF_LIMIT_CHARS, plan_edit
from agentcore_fs_tools.edit.editing import Edit, apply_edits
from agentcore_fs_tools.edit.hunks import apply_hunks
from agentcore_fs_tools.edit.limits import EDIT_LIMIT_BYTES, IsCancelled, never_cancelled
from agentcore_fs_tools.edit.line_ends import fit_line_ends
from agentcore_fs_tools.edit.unified_diff import make_diff, parse_diff

from agentcore.api import ToolError, Workspace
from agentcore.api.tool_context import Principal

HOST = {"modules": ["fs_tools"]}
MIB = 1 << 20
MODEL = Principal("chat", "s1")
DOUBLING = {"old": "a", "new": "aa", "all": True}


@pytest.fixture
def peak() -> Iterator[Callable[[], int]]:
    """The most memory that was in use since the test began, in bytes."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


class CancelledAfter:
    """Says that a call has ended, once it was asked a number of times."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.mark.more
async def test_edit_that_would_make_a_huge_file_is_refused_before_it_is_made(call, failure, root: Path) -> None:
    (root / "a.txt").write_text("a")
    error = await failure("edit", path="a.txt", edits=[DOUBLING] * 34)
    assert error.type == "file_too_large"
    assert error.context["size_bytes"] == 2 * EDIT_LIMIT_BYTES
    assert (root / "a.txt").read_text() == "a"
    assert (await call("edit", path="a.txt", edits=[DOUBLING] * 10)).data["size_bytes"] == 1024


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("a" * MIB, Edit(old="a", new="b", all=True)),
        ("a\n" * (MIB // 2), Edit(old="a\n", new="b\n", all=True)),
        ("a\r\n" * (MIB // 3), Edit(old="a\n", new="b\n", all=True)),
    ],
    ids=["one line", "lines", "CRLF"],
)
def test_replacing_takes_a_few_times_the_memory_of_the_text(text: str, edit: Edit, peak) -> None:
    new, count = apply_edits(text, [edit], "f")
    assert count == new.count("b") == text.count("a")
    assert peak() < 6 * MIB


def test_very_many_places_across_mixed_line_ends_are_replaced() -> None:
    text = "a\r\nc\n" * 25_000
    assert apply_edits(text, [Edit(old="a\nc", new="b", all=True)], "f") == ("b\n" * 25_000, 25_000)
    assert apply_edits(text, [Edit(old="c\na", new="c\n-\na", all=True)], "f")[0].startswith("a\r\nc\n-\na\r\n")


@pytest.mark.parametrize("old", ["a", "aa", "aba", "ab" * 40_000, "b" + "a" * 65_535, "ba"])
@pytest.mark.parametrize("unit", ["a", "ab", "aab", "b" + "a" * 65_535])
def test_replacing_in_slices_is_replacing(old: str, unit: str) -> None:
    text = unit * (300_000 // len(unit))
    if old in text:
        assert apply_edits(text, [Edit(old=old, new="xyz", all=True)], "f") == (
            text.replace(old, "xyz"),
            text.count(old),
        )


def test_growth_across_line_ends_is_bounded_as_well() -> None:
    text = "a\r\nc\n" * 1000
    with pytest.raises(ToolError) as caught:
        apply_edits(text, [Edit(old="a\nc", new="b" * MIB, all=True)], "f")
    assert caught.value.type == "file_too_large"
    assert apply_edits(text, [Edit(old="a\nc", new="b" * 1024, all=True)], "f")[1] == 1000


def test_result_is_measured_in_the_bytes_of_its_encoding(root: Path) -> None:
    (root / "a.txt").write_text("x")
    edit = Edit(old="x", new="\N{PILE OF POO}" * (EDIT_LIMIT_BYTES // 4 + 1))
    with Workspace([root]) as workspace:
        with pytest.raises(ToolError) as caught:
            plan_edit(workspace, "a.txt", [edit], None, None, is_cancelled=never_cancelled)
        assert caught.value.type == "file_too_large"
        edit = Edit(old="x", new="é" * 100)
        assert (
            len(plan_edit(workspace, "a.txt", [edit], None, None, is_cancelled=never_cancelled).encode_content()) == 200
        )


def test_diff_of_large_texts_takes_little_more_memory_than_they_do(peak) -> None:
    old, new = "a\n" * (2 * MIB), "b\n" * (2 * MIB)
    diff = make_diff(old, new, "f", limit_chars=DIFF_LIMIT_CHARS)
    shown = diff.count("\n") - 3
    assert diff.startswith("--- a/f\n+++ b/f\n@@ -1,2097152 +1,2097152 @@\n-a\n")
    assert diff.endswith(f"[{4 * MIB - shown + 1:,} more lines of the diff left out]\n")
    assert peak() < 12 * MIB


def test_difference_in_the_middle_of_large_texts_is_found(peak) -> None:
    start, end = "a\n" * MIB, "z\n" * MIB
    diff = make_diff(f"{start}old\n{end}", f"{start}new\n{end}", "f")
    assert diff == ("--- a/f\n+++ b/f\n@@ -1048574,7 +1048574,7 @@\n a\n a\n a\n-old\n+new\n z\n z\n z\n")
    assert peak() < 16 * MIB


async def test_hunk_is_searched_in_a_time_that_grows_with_the_text(call, failure, root: Path) -> None:
    (root / "a.txt").write_text("a\n" * 20_000 + "end\n")
    old = "".join(" a\n" for _ in range(10_000))
    # compared line by line at each place, this takes minutes
    diff = f"@@ -200,10001 +200,10001 @@\n{old}-b\n+c\n"
    assert (await failure("edit", path="a.txt", diff=diff)).type == "edit_not_found"
    diff = f"@@ -2,10001 +2,10001 @@\n{old}-end\n+END\n"
    assert (await call("edit", path="a.txt", diff=diff)).data["changed"] is True
    assert (root / "a.txt").read_text() == "a\n" * 20_000 + "END\n"


def test_file_of_very_many_lines_is_not_changed_by_a_diff() -> None:
    hunks = parse_diff("@@ -1 +1 @@\n-a\n+b\n")
    with pytest.raises(ToolError) as caught:
        apply_hunks("a\n" * 1_000_001, hunks, "f")
    assert caught.value.type == "file_too_large"
    assert apply_hunks("a\n" * 1_000, hunks, "f")[0].startswith("b\na\n")


def test_line_ends_of_long_texts_are_not_compared_line_by_line() -> None:
    old = "a\r\nb\n" * 2_000
    assert fit_line_ends("a\n" * 4_000, old, "\n") == "a\n" * 4_000
    assert fit_line_ends("a\nb\nc\n", "a\r\nb\n", "\n") == "a\r\nb\nc\n"


def test_repeated_text_is_counted_up_to_a_bound() -> None:
    with pytest.raises(ToolError, match="at least 100 times"):
        apply_edits("a" * MIB, [Edit(old="a", new="b")], "f")


MIXED = "a\r\nc\n" * 100
LINES = "".join(f"{number}\n" for number in range(90))
OTHER = "".join(f"{number % 3 and number}\n" for number in range(90))


@pytest.mark.parametrize(
    "work",
    [
        lambda stop: apply_edits("a", [Edit(old="a", new="a")] * 50, "f", stop),
        lambda stop: apply_edits(MIXED, [Edit(old="a\nc", new="b", all=True)], "f", stop),
        lambda stop: apply_edits("word\n" * 50, [Edit(old="w 1", new="b")], "f", stop),
        lambda stop: apply_hunks("a\n" * 20, parse_diff("@@ -1 +1 @@\n-a\n+a\n" * 20), "f", stop),
        lambda stop: make_diff(LINES, OTHER, "f", is_cancelled=stop),
        lambda stop: fit_line_ends(LINES, f"{OTHER}\r\n", "\n", stop),
    ],
    ids=["edits", "places", "nearest place", "hunks", "diff", "line ends"],
)
def test_thread_stops_working_out_an_edit_that_nobody_waits_for(work: Callable[[IsCancelled], object]) -> None:
    asked = CancelledAfter(1_000_000)
    with suppress(ToolError):
        work(asked)
    assert 1_000_000 - asked.left > 10
    stop = CancelledAfter(3)
    with pytest.raises(ToolError) as caught:
        work(stop)
    assert caught.value.type == "cancelled"
    assert stop.left == -1  # it is not asked again


async def test_encodings_whose_time_grows_with_the_square_are_unknown(call, failure, root: Path) -> None:
    (root / "a.txt").write_text("a\n")
    edits = [{"old": "a", "new": "é" * 300_000}]
    for encoding in ("punycode", "idna"):
        assert (await failure("edit", path="a.txt", edits=edits, encoding=encoding)).type == "unknown_encoding"
        assert (await failure("read_file", path="a.txt", encoding=encoding)).type == "unknown_encoding"
    assert (await call("edit", path="a.txt", edits=edits, encoding="cp1252")).data["size_bytes"] == 300_001


@pytest.mark.more
async def test_flood_of_growing_edits_takes_no_memory_and_holds_up_nobody(start, root: Path) -> None:
    (root / "a.txt").write_text("a")
    host = await start()
    grown = [{"path": "a.txt", "edits": [DOUBLING] * 34}] * 4
    before_bytes = psutil.Process().memory_info().rss
    most_bytes = before_bytes
    refused = 0
    served = 0

    async def flood() -> None:
        nonlocal refused
        while True:
            outcomes = await asyncio.gather(*(host.outcome("edit", each, principal=MODEL) for each in grown))
            # on a busy machine the preview may take too long, and is cancelled
            assert {outcome.error and outcome.error.type for outcome in outcomes} <= {
                "file_too_large",
                "approval_required",
            }
            refused += len(outcomes)

    with suppress(TimeoutError):
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            group.create_task(flood())
            while True:
                assert (await host.outcome("read_file", {"path": "a.txt"})).ok
                served += 1
                most_bytes = max(most_bytes, psutil.Process().memory_info().rss)
    assert refused >= 4
    assert served >= 10
    # each of the four holds some texts of the limit; one without a limit would make a thousand of them
    assert most_bytes - before_bytes < 4 * 10 * EDIT_LIMIT_BYTES
    assert {waiting.rule for waiting in host.host.approvals.waiting} <= {"preview:timed_out"}

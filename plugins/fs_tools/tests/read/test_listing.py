import os
from pathlib import Path

import pytest
from agentcore_fs_tools.read.listing import LISTED_ENTRIES
from agentcore_fs_tools.text.formatting import show_count, show_size

HOST = {"modules": ["fs_tools"]}


async def test_folder_is_listed_sorted_with_sizes(call, text, root: Path) -> None:
    (root / "b.txt").write_bytes(b"x" * 1_536)
    (root / "a").mkdir()
    (root / "c.bin").write_bytes(b"")
    result = await call("list_dir", path=".")
    assert text(result) == "3 entries in .\n[DIR]  a\n[FILE] b.txt (1.5 KB)\n[FILE] c.bin (0 B)"
    assert result.data["entries"][1] == {"name": "b.txt", "type": "file", "size_bytes": 1_536}


async def test_depth_lists_what_is_below(call, text, root: Path) -> None:
    (root / "a/b/c").mkdir(parents=True)
    (root / "a/b/d.txt").write_text("x")
    assert text(await call("list_dir", depth=3)).split("\n") == [
        "4 entries in .", "[DIR]  a", "[DIR]  a/b", "[DIR]  a/b/c", "[FILE] a/b/d.txt (1 B)"
    ]  # fmt: skip
    assert text(await call("list_dir", path="a", depth=1)) == "1 entry in a\n[DIR]  b"


async def test_empty_folder_says_so(call, text, root: Path) -> None:
    (root / "a").mkdir()
    assert text(await call("list_dir", path="a")) == "0 entries in a: the folder is empty."


async def test_links_and_special_files_are_named_and_not_followed(call, text, root: Path) -> None:
    (root / "loop").symlink_to(".")
    (root / "out").symlink_to("/etc")
    os.mkfifo(root / "pipe")
    shown = text(await call("list_dir", depth=5))
    assert shown == "3 entries in .\n[LINK] loop -> .\n[LINK] out -> /etc\n[FIFO] pipe"


async def test_names_that_would_break_the_lines_are_spelled(call, text, root: Path) -> None:
    (root / "a\n[DIR]  fake").touch()
    (root / os.fsdecode(b"caf\xe9")).touch()
    assert text(await call("list_dir")).split("\n")[1:] == ["[FILE] a\\x0A[DIR]  fake (0 B)", "[FILE] caf\\xE9 (0 B)"]


async def test_what_is_no_folder_is_an_error(failure, root: Path) -> None:
    (root / "a.txt").touch()
    (root / "out").symlink_to("/etc")
    assert (await failure("list_dir", path="a.txt")).type == "not_a_directory"
    assert (await failure("list_dir", path="gone")).type == "path_not_found"
    assert (await failure("list_dir", path="out")).type == "path_outside_workspace"


@pytest.mark.more
async def test_long_listing_is_capped_with_a_notice(call, text, root: Path) -> None:
    for number in range(LISTED_ENTRIES + 3):
        (root / f"{number:05}").touch()
    result = await call("list_dir")
    assert (result.data["count"], len(result.data["entries"])) == (LISTED_ENTRIES + 3, LISTED_ENTRIES)
    assert text(result).startswith("2,003 entries in .")
    assert text(result).endswith("[3 entries are left out; list a folder below, or use glob.]")


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 B"),
        (1_023, "1023 B"),
        (1_024, "1.0 KB"),
        (1_048_575, "1.0 MB"),
        (5 << 30, "5.0 GB"),
        (3 << 50, "3072.0 TB"),
    ],
)
def test_sizes_are_shown_in_units(size: int, shown: str) -> None:
    assert show_size(size) == shown


def test_counts_are_shown_with_their_noun() -> None:
    assert (show_count(1, "line"), show_count(2_000, "line"), show_count(0, "entry", "entries")) == (
        "1 line", "2,000 lines", "0 entries"
    )  # fmt: skip

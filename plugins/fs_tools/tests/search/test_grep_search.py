import base64
import json
import os
import re
from pathlib import Path

import psutil
import pytest
from agentcore_fs_tools.search.grep_output import TEXT_LIMIT_CHARS, search_files
from agentcore_fs_tools.search.grep_search import MATCH_LIMIT, SearchRequest
from agentcore_fs_tools.search.ripgrep import find_ripgrep

from agentcore.api import ToolError, Workspace

HOST = {"modules": ["fs_tools"]}


@pytest.mark.spec("T3")
async def test_matching_lines_are_grouped_by_file(call, text, root: Path) -> None:
    (root / "b.txt").write_text("x\na needle here\n")
    (root / "a").mkdir()
    (root / "a/c.txt").write_text("needle\n\nneedle two")
    result = await call("grep", pattern="needle")
    assert text(result) == "3 matching lines in 2 files\n\na/c.txt\n1:needle\n3:needle two\n\nb.txt\n2:a needle here"
    assert result.data["matches"][2] == {"path": "b.txt", "line": 2, "column": 3}
    assert result.data["files"] == ["a/c.txt", "b.txt"]


async def test_line_of_many_megabytes_is_found_and_shown_around_its_match(call, text, root: Path) -> None:
    with (root / "a.txt").open("wb") as file:
        file.write(b"first\n" + b'"\\' * (5 << 20) + b"needle" + b"\xe4" * (5 << 20) + b"\nneedle\nlast\n")
    (root / "b.txt").write_text("needle\n")
    result = await call("grep", pattern="needle", context=1)
    shown = text(result).split("\n")
    assert shown[0] == "3 matching lines in 2 files"
    assert shown[3] == "1-first"
    assert shown[4].startswith('2:(10,485,632 bytes) …"\\"\\')
    assert "needle" in shown[4]
    assert shown[4].endswith("… (the rest of this very long line is left out)")
    assert shown[5:] == ["3:needle", "4-last", "", "b.txt", "1:needle"]
    assert [match["column"] for match in result.data["matches"]] == [(10 << 20) + 1, 1, 1]
    assert not result.truncated


async def test_line_that_matches_all_over_is_found(call, text, root: Path) -> None:
    (root / "a.txt").write_bytes(b"x" * (1 << 20) + b"\nxy\n")
    for pattern in ("x", "x+", r"\bx+"):
        shown = text(await call("grep", pattern=pattern)).split("\n")
        assert shown[0] == "2 matching lines in 1 file"
        assert shown[3].startswith("1:xxx")
        assert shown[4] == "2:xy"


async def test_context_joins_groups_that_touch(call, text, root: Path) -> None:
    (root / "a.txt").write_text("1\n2\nneedle\n4\n5\nneedle\n7\n8\n9\n10\n11\nneedle")
    shown = text(await call("grep", pattern="needle", context=1)).split("\n")[3:]
    assert shown == ["2-2", "3:needle", "4-4", "5-5", "6:needle", "7-7", "--", "11-11", "12:needle"]


async def test_case_and_files_only(call, text, root: Path) -> None:
    (root / "a.txt").write_text("NEEDLE\nneedle\nNeedle\n")
    (root / "b.txt").write_text("hay\n")
    assert len((await call("grep", pattern="needle")).data["matches"]) == 1
    assert len((await call("grep", pattern="needle", ignore_case=True)).data["matches"]) == 3
    result = await call("grep", pattern="needle", files_only=True)
    assert text(result) == "1 file with a match\na.txt"
    assert "matches" not in result.data


async def test_glob_narrows_and_never_brings_back_ignored_files(call, root: Path) -> None:
    for name in ("a.py", "b.js", "c.log", "sub/d.py", "sub/e.log"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("needle\n")
    (root / ".gitignore").write_text("*.log\n!sub/e.log\n")
    assert (await call("grep", pattern="needle", glob="*.py")).data["files"] == ["a.py", "sub/d.py"]
    assert (await call("grep", pattern="needle", glob="/*.py")).data["files"] == ["a.py"]
    assert (await call("grep", pattern="needle", glob="!*.py")).data["files"] == ["b.js", "sub/e.log"]
    assert (await call("grep", pattern="needle", glob="*.log")).data["files"] == ["sub/e.log"]
    assert (await call("grep", pattern="needle", glob="*.log", no_ignore=True)).data["files"] == ["c.log", "sub/e.log"]
    assert (await call("grep", pattern="needle", path="sub", glob="d.*")).data["files"] == ["sub/d.py"]


@pytest.mark.parametrize(
    ("glob", "matching"),
    [
        ("*.{j,t}s", ["b.js", "sub/c.ts"]),
        ("{a b,{b,sub/c}}.{py,{j,t}s}", ["a b.py", "b.js", "sub/c.ts"]),
        ("?.t{,xt}", ["é.txt"]),
        ("[!a-z].*", ["é.txt"]),
        ("a b.*", ["a b.py"]),
        ("a b.* ", []),
        ("*}", ["d}"]),
        ("\\é.txt", ["é.txt"]),
        ("!*.{py,txt}", ["b.js", "d}", "sub/c.ts"]),
        ("!?.*", ["a b.py", "d}"]),
        ("!a b.py", ["b.js", "d}", "sub/c.ts", "é.txt"]),
        ("!sub/", ["a b.py", "b.js", "d}", "é.txt"]),
    ],
)
def test_glob_reads_names_as_the_tool_glob_does(root: Path, glob: str, matching: list[str]) -> None:
    (root / "sub").mkdir()
    for name in ("a b.py", "b.js", "sub/c.ts", "é.txt", "d}"):
        (root / name).write_text("needle\n")
    with Workspace([root]) as workspace:
        result = search_files(workspace, SearchRequest("needle", glob=glob), 0, find_ripgrep(), lambda: False)
    assert result.data["files"] == matching


async def test_glob_is_relative_to_the_folder(call, root: Path) -> None:
    for name in ("x/a.py", "sub/x/a.py", "sub/a.py"):
        (root / name).parent.mkdir(exist_ok=True, parents=True)
        (root / name).write_text("needle\n")
    assert (await call("grep", pattern="needle", path="sub", glob="x/*")).data["files"] == ["sub/x/a.py"]
    assert (await call("grep", pattern="needle", path="sub", glob="!/x")).data["files"] == ["sub/a.py"]


@pytest.mark.spec("T3")
async def test_match_over_several_lines(call, text, root: Path) -> None:
    (root / "a.txt").write_text("x\nfoo\nbar\ny\n")
    result = await call("grep", pattern=r"foo\nbar", multiline=True, context=1)
    assert text(result).split("\n")[3:] == ["1-x", "2:foo", "3:bar", "4-y"]


async def test_single_file_is_searched(call, failure, root: Path) -> None:
    (root / "a.txt").write_text("x\nneedle\n")
    (root / "link").symlink_to("a.txt")
    assert (await call("grep", pattern="needle", path="a.txt")).data["matches"] == [
        {"path": "a.txt", "line": 2, "column": 1}
    ]
    assert (await call("grep", pattern="needle", path="link")).data["files"] == ["a.txt"]
    assert (await failure("grep", pattern="needle", path="gone")).type == "path_not_found"
    os.mkfifo(root / "fifo")
    assert (await failure("grep", pattern="needle", path="fifo")).type == "not_a_file"


async def test_nothing_found_says_where(call, text, root: Path) -> None:
    assert text(await call("grep", pattern="needle", glob="*.x")) == "No match for 'needle' in '.' (*.x)."


async def test_nothing_found_with_letters_that_old_encodings_write_in_another_way_says_so(
    call, text, root: Path
) -> None:
    (root / "old.txt").write_bytes("naïve\n".encode("latin-1"))
    said = text(await call("grep", pattern="naïve"))
    assert said.startswith("No match for 'naïve' in '.'. Files that are neither UTF-8 nor UTF-16 have other bytes")
    assert (await call("grep", pattern="^na")).data["total_matches"] == 1


async def test_line_of_which_too_many_places_match_is_not_told_to_be_longer_than_it_is(call, text, root: Path) -> None:
    (root / "x.txt").write_text("x" * 300_000)
    said = text(await call("grep", pattern="x", path="x.txt"))
    assert said.endswith("x… (the rest of this very long line is left out)")


async def test_hidden_files_are_searched_but_not_git(call, root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git/x").write_text("needle\n")
    (root / ".hidden").write_text("needle\n")
    assert (await call("grep", pattern="needle")).data["files"] == [".hidden"]


@pytest.mark.parametrize("separator", ["\f", "\v", "\x1c", "\x85", "\u2028", "a\rb"])
async def test_lines_have_the_numbers_that_reading_and_editing_count(
    call, failure, text, root: Path, separator
) -> None:
    """Deep Agents' tools were reported to disagree on line numbers in files with form feeds and other separators."""
    (root / "a.py").write_bytes(f"def f():\n    return 1\n{separator}\ndef g():\n    return 2\n".encode())
    assert (await call("grep", pattern="return 2", path="a.py")).data["matches"][0]["line"] == 5
    assert "     5\t    return 2" in text(await call("read_file", path="a.py", offset=5, limit=1))
    assert (await call("file_stat", path="a.py")).data["lines"] == 5
    assert (await failure("edit", path="a.py", edits=[{"old": "return", "new": "x"}])).context["lines"] == [2, 5]
    await call("edit", path="a.py", diff="@@ -4,2 +4,2 @@\n def g():\n-    return 2\n+    return 3\n")
    assert (root / "a.py").read_bytes().endswith(f"{separator}\ndef g():\n    return 3\n".encode())


async def test_search_that_finds_nothing_says_which_links_it_did_not_follow(
    call, text, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (root / "real").mkdir()
    (root / "real" / "a.py").write_text("needle\n")
    (root / "link").symlink_to("real")
    (root / "out").symlink_to("../outside")
    result = await call("grep", pattern="needle", glob="link/*.py")
    assert "[Not followed: 1 link to a folder, 'link' (search it as `path`)" in text(result)
    assert "out of the workspace, 'out'" in text(result)
    assert result.data["skipped_links"] == ["link", "out"]
    assert "skipped_links" not in (await call("grep", pattern="needle")).data


async def test_binary_files_and_links_are_passed_over(call, root: Path, tmp_path: Path) -> None:
    (root / "a.bin").write_bytes(b"needle\n\0needle\n")
    (root / "late.bin").write_bytes(b"needle\n" + b"x" * 100_000 + b"\0")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text("needle\n")
    (root / "out").symlink_to("../outside")
    (root / "file").symlink_to("../outside/secret.txt")
    os.mkfifo(root / "fifo")
    assert (await call("grep", pattern="needle")).data["files"] == []


async def test_binary_file_that_is_named_is_an_error(failure, root: Path) -> None:
    (root / "late.bin").write_bytes(b"needle\n" + b"x" * 100_000 + b"\0")
    assert (await failure("grep", pattern="needle", path="late.bin")).type == "binary_file"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
async def test_text_with_a_mark_is_searched(call, text, root: Path, encoding: str) -> None:
    (root / "a.txt").write_bytes("grün\nneedle grün\nend\n".encode(encoding))
    result = await call("grep", pattern="needle", context=1)
    if encoding == "utf-32":  # ripgrep takes it for UTF-16, and what it reads there is no text
        assert result.data["files"] == []
    else:
        assert text(result).split("\n")[3:] == ["1-grün", "2:needle grün", "3-end"]


async def test_text_that_is_not_utf8_is_searched_and_shown_as_text(call, text, root: Path) -> None:
    (root / "a.txt").write_bytes("needle naïve\n".encode("cp1252"))
    assert text(await call("grep", pattern="needle")).split("\n")[3:] == ["1:needle na\ufffdve"]


async def test_name_that_is_not_utf8_is_spelled(call, root: Path) -> None:
    (root / os.fsdecode(b"caf\xe9.txt")).write_text("needle\n")
    assert (await call("grep", pattern="needle")).data["files"] == ["caf\\xE9.txt"]


async def test_long_line_is_cut_around_the_match(call, text, root: Path) -> None:
    (root / "a.txt").write_text("x" * 5_000 + "needle" + "y" * 5_000)
    line = text(await call("grep", pattern="needle")).split("\n")[3]
    assert re.fullmatch(r"1:\(4,875 characters\) …x+needley+… \(4,631 more characters\)", line)


async def test_number_of_matches_is_capped_with_a_notice(call, text, root: Path) -> None:
    (root / "a.txt").write_text("needle\n" * (MATCH_LIMIT + 5))
    result = await call("grep", pattern="needle")
    assert len(result.data["matches"]) == MATCH_LIMIT
    assert result.truncated
    assert text(result).startswith("1,005 matching lines in 1 file\n\na.txt (1,000 of 1,005)\n1:needle\n")
    assert text(result).endswith(
        "Here are 1,000 matching lines from 1 of these files. Search for something more special.]"
    )
    assert (result.data["total_matches"], result.data["is_total_exact"]) == (MATCH_LIMIT + 5, True)


@pytest.mark.more
async def test_number_of_files_is_capped_with_a_notice(call, root: Path) -> None:
    for number in range(MATCH_LIMIT + 5):
        (root / f"{number}.txt").write_text("needle\n")
    result = await call("grep", pattern="needle", files_only=True)
    assert (len(result.data["files"]), result.truncated) == (MATCH_LIMIT, True)
    assert (result.data["total_files"], result.data["is_total_exact"]) == (MATCH_LIMIT + 5, True)


@pytest.mark.spec("T3", "S7")
async def test_of_too_many_matches_some_of_each_file_are_given_and_all_are_counted(start, text, root: Path) -> None:
    (root / "a.txt").write_text("a needle of many\n" * 5_000)
    (root / "z").mkdir()
    for number in range(40):
        (root / f"z/{number:02}.txt").write_text("x\n\n" + "needle\n" * (number % 4 + 1))
    (root / ".gitignore").write_text("39.txt\n")
    host = await start()
    whole = await host.call("grep", pattern="needle")
    assert len(whole.data["files"]) == 40
    assert len(whole.data["matches"]) == MATCH_LIMIT
    assert (whole.data["total_matches"], whole.data["total_files"]) == (5_096, 40)
    told = text(await host.told("grep", pattern="needle", context=1))
    assert len(told) <= 25_000
    assert told.startswith("5,096 matching lines in 40 files\n\na.txt (")
    for number in range(39):
        lines = "".join(f"\n{line}:needle" for line in range(3, 4 + number % 4))
        assert f"\nz/{number:02}.txt\n2-{lines}\n" in told
    assert "Most are in a.txt (5,000), z (96)." in told


@pytest.mark.more
async def test_of_too_many_files_some_all_over_the_tree_are_shown(start, text, root: Path) -> None:
    for folder in ("a", "b", "c"):
        (root / folder).mkdir()
        for number in range(700):
            (root / folder / f"file-with-a-longer-name-{number:04}.txt").write_text("needle\n" * 2)
    host = await start()
    for files_only in (False, True):
        result = await host.told("grep", pattern="needle", files_only=files_only, limit=1_000)
        told = text(result)
        assert len(told) <= 25_000
        assert min(told.count(f"\n{folder}/file") for folder in ("a", "b", "c")) > 100
        assert result.data["total_files"] == 2_100
    assert told.startswith("2,100 files with a match\n")
    assert "Most are in a (700), b (700), c (700). Search a folder" in told


def test_name_with_a_line_end_is_counted(root: Path) -> None:
    (root / "a\nb.txt").write_text("needle\n" * (MATCH_LIMIT + 5))
    with Workspace([root]) as workspace:
        result = search_files(workspace, SearchRequest("needle"), 0, find_ripgrep(), lambda: False)
    assert result.data["total_matches"] == MATCH_LIMIT + 5
    assert len(result.data["files"]) == 1


@pytest.mark.more
def test_counting_that_takes_too_long_is_ended_and_said(root: Path, tmp_path: Path) -> None:
    """A ripgrep that never ends where it is to count."""
    (root / "a.txt").write_text("needle\n" * (MATCH_LIMIT + 5))
    slow = tmp_path / "rg"
    slow.write_text(f'#!/bin/sh\ncase "$*" in *--count\\ *) exec sleep 600;; esac\nexec {find_ripgrep()} "$@"\n')
    slow.chmod(0o755)
    with Workspace([root]) as workspace:
        result = search_files(workspace, SearchRequest("needle"), 0, str(slow), lambda: False)
    assert len(result.data["matches"]) == MATCH_LIMIT
    assert not result.data["is_total_exact"]
    assert str(result.content).startswith("at least 1,001 matching lines in 1 file\n")
    assert "Counting took too long" in str(result.content)


async def test_length_of_the_text_is_capped(call, text, root: Path) -> None:
    (root / "a.txt").write_text(("needle" + "x" * 494 + "\n") * 900)
    result = await call("grep", pattern="needle")
    assert result.truncated
    assert len(text(result)) < TEXT_LIMIT_CHARS + 500


@pytest.mark.parametrize(
    ("pattern", "position"),
    [("b(a", 1), ("a)b", 1), ("[z-a]", 1), (r"\p{Foo}", 0), ("(?=x)", 0), ("x{2,1}", 1), ("a\0", None), ("x\n", None)],
)
@pytest.mark.spec("S3")
async def test_bad_pattern_is_an_error_with_its_position(
    failure, root: Path, pattern: str, position: int | None
) -> None:
    error = await failure("grep", pattern=pattern)
    assert error.type == "invalid_regex"
    assert position is None or error.context["position"] == position


def test_ripgrep_that_breaks_is_an_error_that_can_be_tried_again(root: Path, tmp_path: Path) -> None:
    broken = tmp_path / "rg"
    broken.write_text("#!/bin/sh\necho 'thread main panicked at walk.rs' >&2\nexit 101\n")
    broken.chmod(0o755)
    with Workspace([root]) as workspace, pytest.raises(ToolError) as caught:
        search_files(workspace, SearchRequest("needle"), 0, str(broken), lambda: False)
    assert (caught.value.type, caught.value.retryable) == ("search_failed", True)


def test_pattern_with_half_of_a_character_is_an_error(root: Path) -> None:
    with Workspace([root]) as workspace:
        for pattern in ("\ud800", "\udc80"):
            with pytest.raises(ToolError) as caught:
                search_files(workspace, SearchRequest(pattern), 0, find_ripgrep(), lambda: False)
            assert caught.value.type == "invalid_regex"


async def test_bad_glob_is_an_error(failure, root: Path) -> None:
    assert (await failure("grep", pattern="needle", glob="{a")).type == "invalid_glob"


@pytest.mark.spec("S3")
@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", r"(\w+\s?)*z", "(.*)*(.*)*x"])
async def test_catastrophic_pattern_is_answered(call, root: Path, pattern: str) -> None:
    (root / "a.txt").write_text("a" * 50_000 + "!\n")
    assert (await call("grep", pattern=pattern)).data["files"] in ([], ["a.txt"])


def test_missing_ripgrep_is_an_error_that_says_what_to_do(root: Path) -> None:
    with Workspace([root]) as workspace, pytest.raises(ToolError, match="pip install ripgrep") as caught:
        search_files(workspace, SearchRequest("needle"), 0, None, lambda: False)
    assert (caught.value.type, caught.value.retryable) == ("search_failed", False)


def test_cancelled_search_ends(root: Path) -> None:
    (root / "a.txt").write_text("needle\n")
    with Workspace([root]) as workspace, pytest.raises(ToolError) as caught:
        search_files(workspace, SearchRequest("needle"), 0, find_ripgrep(), lambda: True)
    assert caught.value.type == "cancelled"


@pytest.mark.spec("S3")
def test_line_that_ripgrep_reports_but_that_is_not_there_is_dropped(root: Path, tmp_path: Path) -> None:
    """A ripgrep that was led out of the root by a swapped folder: it reports lines that the root does not hold."""
    (root / "a.txt").write_text("harmless\n")

    def message(kind: str, **content: object) -> str:
        return json.dumps({"type": kind, "data": content}, separators=(",", ":"))

    name = {"bytes": base64.b64encode(b"./a.txt").decode()}
    match = {"line_number": 1, "absolute_offset": 0, "submatches": []}

    def long_line(text: str) -> str:
        where = {"line_number": 1, "absolute_offset": 0}
        submatches = [{"match": {"text": text}, "start": 2, "end": 2 + len(text)}]
        return message("match", path=name, lines={"text": "secret" * (1 << 18)}, **where, submatches=submatches)

    lines = [
        message("begin", path=name),
        message("match", path=name, lines={"text": "secret!!"}, **match),
        message("match", path=name, lines={"text": "harmless"}, **match),
        long_line("cret"),
        long_line("rmless"),
        message("end", path=name, binary_offset=None),
        message("begin", path={"text": "./gone.txt"}),
        message("match", path=name, lines={"text": "secret"}, **match),
        message("end", path=name, binary_offset=None),
    ]
    liar = tmp_path / "rg"
    liar.write_text("#!/bin/sh\ncat <<'END'\n" + "\n".join(lines) + "\nEND\n")
    liar.chmod(0o755)
    with Workspace([root]) as workspace:
        result = search_files(workspace, SearchRequest("needle"), 0, str(liar), lambda: False)
    shown = "1:harmless\n1:harmless… (the rest of this very long line is left out)"  # and nothing of what is secret
    assert result.content == f"2 matching lines in 1 file\n\na.txt\n{shown}"


@pytest.mark.more
def test_search_whose_output_is_cut_before_a_match_says_so(root: Path, tmp_path: Path) -> None:
    """A ripgrep that writes without end, and never of a match."""
    (root / "a.txt").touch()
    endless = tmp_path / "rg"
    message = '{"type":"begin","data":{"path":{"text":"' + "x" * 10_000 + '"}}}'
    endless.write_text(f"#!/bin/sh\nexec yes '{message}'\n")
    endless.chmod(0o755)
    with Workspace([root]) as workspace:
        result = search_files(workspace, SearchRequest("needle"), 0, str(endless), lambda: False)
    assert "in the part of '.' that was searched" in str(result.content)
    assert result.truncated


async def test_search_leaves_no_process_behind(call, root: Path) -> None:
    for number in range(300):  # more than fits into the pipe
        (root / f"{number}.txt").write_text("needle\n" * 50)
    assert (await call("grep", pattern="needle")).truncated
    children = [process.name() for process in psutil.Process().children()]
    assert "rg" not in children


@pytest.mark.parametrize(
    ("pattern", "lines"), [("hello$", [1]), ("^hello$", [1]), ("^$", [2]), ("d\\r$", [3]), ("(hello|world)$", [1, 3])]
)
async def test_end_of_a_line_is_before_crlf(call, root: Path, pattern: str, lines: list) -> None:
    (root / "a.txt").write_bytes(b"hello\r\n\r\nworld\r\n")
    result = await call("grep", pattern=pattern)
    assert [match["line"] for match in result.data["matches"]] == lines


async def test_files_with_a_nul_are_named_as_skipped(start, text, root: Path) -> None:
    (root / "late.log").write_bytes(b"needle\n" + b"line\n" * 40_000 + b"\0\n")
    (root / "early.log").write_bytes(b"\0needle\n")
    host = await start()
    shown = text(await host.call("grep", pattern="needle"))
    assert "2 binary files with a match, early.log, late.log (`binary` searches them)" in shown
    (root / "a.txt").write_text("needle\n")
    result = await host.call("grep", pattern="needle")
    assert (result.data["files"], result.data["skipped_binary"]) == (["a.txt"], ["late.log"])
    assert (await host.told("grep", pattern="needle")).data["skipped_binary"] == ["early.log", "late.log"]
    searched = await host.told("grep", pattern="needle", binary=True)
    assert searched.data["files"] == ["a.txt", "early.log", "late.log"]
    assert "\0" not in text(searched)
    assert (await host.call("grep", pattern="needle", path="early.log", binary=True)).data["files"] == ["early.log"]
    assert "Left out" not in text(await host.call("grep", pattern="needle", glob="*.txt"))


async def test_ignored_files_with_a_match_are_counted(start, text, root: Path) -> None:
    (root / ".gitignore").write_text("*.log\n")
    (root / "a.log").write_text("needle\n")
    (root / "b.log").write_text("nothing\n")
    host = await start()
    shown = text(await host.call("grep", pattern="needle"))
    assert (
        shown == "No match for 'needle' in '.'.\n[Left out: 1 ignored file with a match (`no_ignore` searches them).]"
    )
    (root / "a.txt").write_text("needle\n")
    assert (await host.told("grep", pattern="needle")).data["skipped_ignored"] == 1
    assert "Left out" not in text(await host.told("grep", pattern="needle", no_ignore=True))
    assert "Left out" not in text(await host.told("grep", pattern="needle", glob="*.txt"))


async def test_model_gets_a_hundred_lines_unless_it_sets_a_limit(start, text, root: Path) -> None:
    (root / "a.txt").write_text("needle\n" * 200)
    (root / "b.txt").write_text("needle\n")
    host = await start()
    result = await host.told("grep", pattern="needle")
    assert (len(result.data["matches"]), result.data["total_matches"], result.truncated) == (100, 201, True)
    assert result.data["files"] == ["a.txt", "b.txt"]
    assert "`limit` gives more than 100." in text(result)
    assert len((await host.told("grep", pattern="needle", limit=201)).data["matches"]) == 201
    assert len((await host.call("grep", pattern="needle")).data["matches"]) == 201
    assert (await host.call("grep", pattern="needle", files_only=True, limit=1)).data["files"] == ["a.txt"]

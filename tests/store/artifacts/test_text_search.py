"""Searching lines: the same lines as by looking at all of them, wherever blocks begin and end."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.store.artifacts.text_search import search_lines

MEBIBYTE = 1024 * 1024


@given(
    st.lists(st.text(st.sampled_from("abAB\rß日 "), max_size=12)),
    st.text(st.sampled_from("abAB日"), min_size=1, max_size=3),
)
def test_same_lines_are_found_as_by_looking_at_each(lines: list[str], query: str) -> None:
    content = "\n".join(lines).encode()
    expected, offset = [], 0
    for number, line in enumerate(lines, 1):
        if query in line:
            expected.append((number, offset, line.rstrip("\r")))
        offset += len(line.encode()) + 1
    found = [(match.line, match.offset, match.text) for match in search_lines(io.BytesIO(content), query)]
    assert found == expected


def test_lines_and_offsets_hold_over_many_blocks() -> None:
    content = b"a line of thirty-two characters\n" * 100_000
    position = 70_000 * 32
    content = content[:position] + b"needle\n" + content[position:] + b"needle"
    found = [(match.line, match.offset) for match in search_lines(io.BytesIO(content), "needle")]
    assert found == [(70_001, position), (100_002, len(content) - 6)]


@pytest.mark.parametrize("position", [0, MEBIBYTE, 2 * MEBIBYTE - 9, 3 * MEBIBYTE - 9, 5 * MEBIBYTE])
def test_one_line_of_many_megabytes_is_searched_throughout_and_named_once(position: int) -> None:
    content = b"first\n" + b"." * position + b"needle" + b"." * (6 * MEBIBYTE - position) + b"\nneedle"
    found = list(search_lines(io.BytesIO(content), "needle"))
    assert [match.line for match in found] == [2, 3]
    assert "needle" in found[0].text
    assert len(found[0].text) == 500


@pytest.mark.parametrize(("line", "query"), [("STRASSE", "straße"), ("ΣΑΣ", "σας"), ("Привет", "ПРИВЕТ")])
def test_case_is_ignored_in_any_alphabet(line: str, query: str) -> None:
    assert [match.text for match in search_lines(io.BytesIO(line.encode()), query, ignore_case=True)] == [line]
    assert list(search_lines(io.BytesIO(line.encode()), query)) == []


def test_bytes_that_are_no_text_do_not_stop_the_search() -> None:
    found = list(search_lines(io.BytesIO(b"\xff\xfe\n\x80needle\x00\n"), "needle"))
    assert [(match.line, match.offset) for match in found] == [(2, 3)]

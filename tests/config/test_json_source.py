"""JSON with positions: what is read, what is refused, and where."""

import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.config.json_source import DEPTH_LIMIT, JsonPath, JsonSource, JsonSyntaxError, format_path

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)


def dumped(document: Any, indent: int | str | None) -> str:
    return json.dumps(document, ensure_ascii=False, indent=indent)


def refused(text: str) -> JsonSyntaxError:
    with pytest.raises(JsonSyntaxError) as caught:
        JsonSource(text)
    return caught.value


@given(DOCUMENTS, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_reads_what_json_writes(document: Any, indent: int | str | None, escape: bool) -> None:
    text = json.dumps(document, ensure_ascii=escape, indent=indent)
    assert repr(JsonSource(text).value) == repr(document)


@given(DOCUMENTS, st.sampled_from([None, 2, "\t"]))
def test_every_span_holds_the_text_of_its_value(document: Any, indent: int | str | None) -> None:
    source = JsonSource(dumped(document, indent))
    for path, span in source.spans.items():
        assert json.loads(source.text[span.start : span.end]) == source.get_value(path)
    for path, span in source.key_spans.items():
        assert json.loads(source.text[span.start : span.end]) == path[-1]


@given(st.text(max_size=40) | DOCUMENTS.map(json.dumps).flatmap(lambda text: st.sampled_from([text[:-1], text + ","])))
def test_accepts_nothing_that_json_refuses(text: str) -> None:
    with contextlib.suppress(JsonSyntaxError):
        assert JsonSource(text).value == json.loads(text)


@pytest.mark.spec("M3")
@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("", 1, 1, "ends where a value"),
        ("{\n", 1, 1, "'{' is never closed"),
        ("[1", 1, 1, "'[' is never closed"),
        ("[", 1, 1, "'[' is never closed"),
        ('{"a": 1', 1, 1, "'{' is never closed"),
        ("{} {}", 1, 4, "follows the end of the document"),
        ('{\n  "a": 1,\n  "b": 2,\n}', 3, 9, "comma before the closing '}'"),
        ("[1,\r\n 2,]", 2, 3, "comma before the closing ']'"),
        ('{"a": 1 "b": 2}', 1, 9, "expected ',' or '}'"),
        ('{"a" 1}', 1, 6, "expected ':'"),
        ("{a: 1}", 1, 2, "key in double quotes"),
        ("['a']", 1, 2, "double quotes"),
        ("[True]", 1, 2, "write 'true'"),
        ("[None]", 1, 2, "write 'null'"),
        ("[truer]", 1, 2, "not a number or a word"),
        ("[NaN]", 1, 2, "no NaN"),
        ("[-Infinity]", 1, 2, "no -Infinity"),
        ("[1e999]", 1, 2, "too large"),
        ("[" + "9" * 5000 + "]", 1, 2, "too many digits"),
        ("[012]", 1, 2, "not a number"),
        ("[1.]", 1, 2, "not a number"),
        ("[.5]", 1, 2, "expected a value"),
        ('{"a": 1} // why', 1, 10, "no comments"),
        ("{\n  /* why */\n}", 2, 3, "no comments"),
        ("# why\n{}", 1, 1, "no comments"),
        ('["a\nb"]', 1, 4, "escape such as"),
        ('["a]', 1, 2, "no closing quote"),
        (r'["C:\x"]', 1, 5, "backslash"),
        (r'["\ud800"]', 1, 2, "surrogate"),
        ('{"é": 1,\n "é": 2}', 2, 2, "the key 'é' stands twice in one object, first in line 1"),
        ("[" * (DEPTH_LIMIT + 1), 1, DEPTH_LIMIT + 1, "more than 100"),
    ],
)
def test_fault_is_named_with_line_and_column(text: str, line: int, column: int, says: str) -> None:
    error = refused(text)
    assert (error.line, error.column) == (line, column)
    assert says in error.message
    assert str(error).startswith(f"line {line}, column {column}: ")


def test_nesting_up_to_the_limit_is_read() -> None:
    assert JsonSource("[" * DEPTH_LIMIT + "]" * DEPTH_LIMIT).locate((0,) * 99) == (1, 100)


@pytest.mark.parametrize(
    ("data", "line", "column", "says"),
    [
        (b'\xef\xbb\xbf{"a": 1}', 1, 1, "byte order mark"),
        ('{"a": 1}'.encode("utf-16"), 1, 1, "UTF-16"),
        ('{"ä": 1,\n "b": "ü'.encode() + b"\xff", 2, 9, "0xff is not UTF-8"),
    ],
)
def test_bytes_that_are_not_plain_utf8_are_refused(data: bytes, line: int, column: int, says: str) -> None:
    with pytest.raises(JsonSyntaxError) as caught:
        JsonSource.from_bytes(data)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert says in caught.value.message


def test_fault_does_not_show_text_that_may_be_a_secret() -> None:
    assert "hunter2" not in str(refused('{"password": hunter2}'))


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_positions_count_lines_of_every_kind(line_end: str) -> None:
    source = JsonSource(line_end.join(["{", '  "wörter": [1,', "    2]", "}"]))
    assert source.locate(("wörter",)) == (2, 13)
    assert source.locate_key(("wörter",)) == (2, 3)
    assert source.locate(("wörter", 1)) == (3, 5)


def test_position_of_what_is_missing_is_that_of_what_is_around_it() -> None:
    source = JsonSource('{\n "server": {}}')
    assert source.locate(("server", "port")) == (2, 12)
    assert source.locate_key(("server", "hosts", 3)) == (2, 12)
    assert source.locate(("models",)) == (1, 1)


def test_value_at_a_path_that_is_missing_is_a_key_error() -> None:
    with pytest.raises(KeyError, match=r"server\.port"):
        JsonSource("{}").get_value(("server", "port"))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("workspace", "roots", 1), "workspace.roots[1]"),
        ((0, "a"), "[0].a"),
        (("config", "odd key"), 'config."odd key"'),
    ],
)
def test_paths_are_shown_as_people_write_them(path: JsonPath, text: str) -> None:
    assert format_path(path) == text


def test_floats_keep_their_kind() -> None:
    assert math.copysign(1, JsonSource("-0.0").value) == -1

"""The JSON reader's text level: what is taken is what `json` reads, and every fault is said."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.server.http.json_text import JsonTextError, parse_json

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
DOCUMENTS = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30)


@pytest.mark.more
@given(DOCUMENTS, st.booleans())
def test_what_can_be_written_is_read_back(document, ascii_only):
    assert parse_json(json.dumps(document, ensure_ascii=ascii_only).encode()) == document


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_and_nothing_else(data):
    with suppress(JsonTextError):
        assert json.dumps(parse_json(data))


@given(st.text(alphabet='{}[]",:0123456789.eE+-\\u dntrfalse', max_size=60))
def test_what_is_read_is_what_json_reads(text):
    try:
        value = parse_json(text.encode())
    except JsonTextError:
        return
    assert value == json.loads(text)


@pytest.mark.spec("S1")
@pytest.mark.parametrize(
    ("data", "said", "line", "column"),
    [
        (b"", "empty", 1, 1),
        (b'{"a": 1,\n "a": 2}', "'a' stands twice", 2, 2),
        (b'{"b": {"a": 1, "a": 1}}', "'a' stands twice", 1, 16),
        (b"[1, NaN]", "NaN", 1, 5),
        (b"[-Infinity]", "Infinity", 1, 2),
        (b"[1e999]", "out of range", 1, 2),
        (b'{"a": 1, b}', "expecting property name", 1, 10),
        (b"[" + b"{}," * 200_000 + b"{}]", "more than 200,000 values", None, None),
        (b"[1] 2", "extra data", 1, 5),
        (b'["\\ud800"]', "surrogate", 1, 2),
        (b"1" * 5000, "more than 4300 digits", 1, 1),
        (b'["a\tb"]', "control character", 1, 4),
        (b"\xef\xbb\xbf{}", "expecting value", 1, 1),
    ],
)
def test_fault_is_said_with_its_place(data, said, line, column):
    with pytest.raises(JsonTextError) as caught:
        parse_json(data)
    assert said in caught.value.message.lower() or said in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)


def test_trailing_comma_is_refused_with_its_place():
    with pytest.raises(JsonTextError) as caught:
        parse_json(b'{"a":\n 1,}')
    assert caught.value.line == 2
    assert caught.value.column in {3, 4}, "the comma, which Python 3.13 names, or what is expected after it"


def test_bytes_that_are_no_text_are_said_with_their_offset():
    with pytest.raises(JsonTextError, match="0xff is not UTF-8") as caught:
        parse_json(b'{"a": "\xff"}')
    assert caught.value.offset == 7


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [101, 5_000, 200_000])
def test_nesting_beyond_the_bound_is_refused(opening, depth):
    closing = "]" if opening == "[" else "}"
    with pytest.raises(JsonTextError, match="nested more than 100 deep"):
        parse_json((opening * depth + "1" + closing * depth).encode())


def test_nesting_up_to_the_bound_and_brackets_in_text_are_taken():
    deepest = "[" * 100 + "]" * 100
    assert json.dumps(parse_json(deepest.encode())) == deepest
    assert parse_json(json.dumps(["[" * 1000, "{" * 1000]).encode()) == ["[" * 1000, "{" * 1000]
    assert parse_json(json.dumps([[]] * 1000).encode()) == [[]] * 1000


def test_key_that_stands_twice_among_very_many_is_found_at_once():
    """Comparing each key with all others would take minutes."""
    keys = ",".join(f'"{number}":0' for number in range(100_000))
    with pytest.raises(JsonTextError, match="'99999' stands twice"):
        parse_json(f'{{{keys},"99999":0}}'.encode())

"""JSON with comments and last commas: read over, and all else stands where it stood."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.config.comments import without_comments

pytestmark = pytest.mark.spec("P3")

PIECES = st.sampled_from(["//", "/*", "*/", ",", "]", "}", '"', "\\", " ", "\n", "a", ",}", ", ]"])
TEXTS = st.lists(PIECES, max_size=12).map("".join)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1} // end', {"a": 1}),
        ('{"a": [1, 2,], /* "b": 3, */}', {"a": [1, 2]}),
        ('{"url": "http://x/*y*/", "c": ",}"}', {"url": "http://x/*y*/", "c": ",}"}),
        ('{"a": 1, // last\n}', {"a": 1}),
    ],
)
def test_comments_and_last_commas_mean_nothing(text: str, value: Any) -> None:
    assert json.loads(without_comments(text)) == value


@given(st.dictionaries(TEXTS, TEXTS, max_size=4))
def test_json_without_comments_stays_as_it_is(value: dict[str, str]) -> None:
    text = json.dumps(value, indent=2)
    assert without_comments(text) == text


@given(TEXTS)
def test_each_line_and_column_stays_where_it_was(text: str) -> None:
    read = without_comments(text)
    assert [len(line) for line in read.split("\n")] == [len(line) for line in text.split("\n")]

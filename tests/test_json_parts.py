"""Counting the values of JSON text without reading it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.json_parts import JsonParts, has_more_json_parts

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab"\\,[{', max_size=8),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text('a"\\,{', max_size=4), inner, max_size=5),
    max_leaves=30,
)


def _count(value: object) -> int:
    """Objects, lists, and what is beside the first in each."""
    if not isinstance(value, dict | list):
        return 0
    inner = list(value.values()) if isinstance(value, dict) else value
    return 1 + max(len(inner) - 1, 0) + sum(map(_count, inner))


@given(value=values, cut=st.integers(1, 7))
def test_values_are_counted_however_the_text_arrives(value: object, cut: int) -> None:
    data = json.dumps(value).encode()
    parts = JsonParts(1_000_000)
    for start in range(0, len(data), cut):
        parts.feed(data[start : start + cut])
    assert parts.count == _count(value)


@pytest.mark.parametrize("item", ["{}", "[]", "0", '""', '{"type":"text","text":""}'])
def test_many_values_are_over_the_limit(item: str) -> None:
    many = f"[{','.join([item] * 1_001)}]".encode()
    assert has_more_json_parts(many, 1_000)
    assert not has_more_json_parts(many, 10_000)


@pytest.mark.parametrize("text", ["a,b\n" * 100_000, '{"a": [1, 2]}' * 50_000, "\\" * 100_000 + "," * 2_000])
def test_text_of_any_length_is_one_value(text: str) -> None:
    assert not has_more_json_parts(json.dumps({"text": text}).encode(), 100)
    assert not has_more_json_parts(json.dumps(text).encode(), 0)

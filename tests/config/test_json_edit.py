"""Edits of one value that keep the rest of the text."""

import json
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentcore.config.json_edit import with_value, without_value
from agentcore.config.json_source import JsonPath, JsonSource

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | NAMES
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
INDENTS = st.sampled_from([None, 0, 2, 4, "\t"])
SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")])


@st.composite
def sources(draw: st.DrawFn, documents: st.SearchStrategy[Any] = VALUES) -> JsonSource:
    text = json.dumps(draw(documents), ensure_ascii=False, indent=draw(INDENTS), separators=draw(SEPARATORS))
    line_end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    around = draw(st.text(" \t\n", max_size=3))
    return JsonSource((around + text + around).replace("\n", line_end))


@given(sources(), st.data())
def test_replacing_a_value_by_itself_keeps_the_text(source: JsonSource, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(source.spans, key=repr)))
    assert with_value(source, path, source.get_value(path)) == source.text


@given(sources(), st.data(), VALUES)
def test_replacing_a_value_changes_it_and_nothing_around_it(
    source: JsonSource, data: st.DataObject, value: Any
) -> None:
    path = data.draw(st.sampled_from(sorted(source.spans, key=repr)))
    edited = JsonSource(with_value(source, path, value))
    before, after = source.spans[path], edited.spans[path]
    assert repr(edited.get_value(path)) == repr(value)
    assert edited.text[: after.start] == source.text[: before.start]
    assert edited.text[after.end :] == source.text[before.end :]


@given(sources(st.dictionaries(NAMES, VALUES, max_size=4)), NAMES, VALUES)
def test_added_member_comes_last_and_leaves_the_others_alone(source: JsonSource, key: str, value: Any) -> None:
    assume(key not in source.value)
    edited = JsonSource(with_value(source, (key,), value))
    assert repr(edited.value) == repr({**source.value, key: value})
    for path, span in source.spans.items():
        if path:
            assert edited.spans[path] == span


@pytest.mark.more
@given(sources(st.dictionaries(NAMES, VALUES, max_size=2)), VALUES)
def test_objects_missing_on_the_way_are_added(source: JsonSource, value: Any) -> None:
    edited = JsonSource(with_value(source, ("long key", "b", "c"), value))
    assert repr(edited.value) == repr({**source.value, "long key": {"b": {"c": value}}})


def edited(text: str, path: JsonPath, value: Any) -> str:
    return with_value(JsonSource(dedent(text)), path, value)


def test_list_on_one_line_stays_on_one_line() -> None:
    text = '{\n    "modules": ["a", "b"],\n    "x" :1 }\n'
    assert edited(text, ("modules",), ["b"]) == '{\n    "modules": ["b"],\n    "x" :1 }\n'


def test_list_over_several_lines_keeps_the_indentation_of_the_file() -> None:
    text = '{\n\t"modules": [\n\t\t"a"\n\t],\n\t"locale": "zh"\n}'
    assert edited(text, ("modules",), ["a", "ä"]) == text.replace('"a"', '"a",\n\t\t"ä"')


def test_windows_line_ends_are_kept() -> None:
    text = '{\r\n  "modules": [\r\n    "a"\r\n  ]\r\n}\r\n'
    assert edited(text, ("modules",), ["a", "b"]) == text.replace('"a"', '"a",\r\n    "b"')


def test_first_member_of_an_empty_document_gets_a_line_of_its_own() -> None:
    assert edited("{}\n", ("modules",), ["a"]) == '{\n  "modules": [\n    "a"\n  ]\n}\n'


def test_member_is_added_in_the_manner_of_its_neighbours() -> None:
    text = '{\n   "modules" : []\n\n}'
    assert edited(text, ("server", "port"), 1) == ('{\n   "modules" : [],\n   "server" : {\n      "port": 1\n   }\n\n}')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":1}', '{"a":1,"b":[1,2]}'),
        ('{"a": 1}', '{"a": 1, "b": [1, 2]}'),
        ('{ "a": 1 }', '{ "a": 1, "b": [1, 2] }'),
    ],
)
def test_member_is_added_on_the_line_of_an_object_on_one_line(text: str, expected: str) -> None:
    assert edited(text, ("b",), [1, 2]) == expected


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0, False)])
def test_values_that_python_takes_for_equal_are_told_apart(one: Any, other: Any) -> None:
    source = JsonSource(json.dumps({"a": one}))
    assert with_value(source, ("a",), other) == json.dumps({"a": other})


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("a", "b"), 1, "a is not an object that could get a.b"),
        (("l", "b", "c"), 1, "l is not an object that could get l.b"),
        (("l", 5), 1, "no list element l\\[5\\]"),
        (("m", 0, "c"), 1, "no list element m\\[0\\]"),
        (("a",), float("nan"), "not JSON compliant"),
    ],
)
def test_edit_that_cannot_be_made_says_why(path: JsonPath, value: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        edited('{"a": 1, "l": [1]}', path, value)


@given(sources(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4)), st.data())
def test_removed_member_goes_with_its_comma_and_leaves_the_others_as_they_were(
    source: JsonSource, data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(sorted(source.value)))
    edited = JsonSource(without_value(source, (key,)))
    assert repr(edited.value) == repr({name: value for name, value in source.value.items() if name != key})
    for name in edited.value:
        before, after = source.spans[name,], edited.spans[name,]
        assert edited.text[after.start : after.end] == source.text[before.start : before.end]


@pytest.mark.parametrize(
    ("key", "left"),
    [
        ("a", '{\n    "b": [1],\n    "c": {}\n}\n'),
        ("b", '{\n    "a": 1,\n    "c": {}\n}\n'),
        ("c", '{\n    "a": 1,\n    "b": [1]\n}\n'),
    ],
)
def test_removed_member_leaves_no_empty_line(key: str, left: str) -> None:
    source = JsonSource('{\n    "a": 1,\n    "b": [1],\n    "c": {}\n}\n')
    assert without_value(source, (key,)) == left


def test_removing_what_is_not_there_keeps_the_text() -> None:
    source = JsonSource('{ "a" : 1 }')
    assert without_value(source, ("b", "c")) == source.text


@pytest.mark.parametrize("path", [(), ("a", 0)])
def test_only_members_of_objects_can_be_removed(path: JsonPath) -> None:
    with pytest.raises(ValueError, match="is no member of an object"):
        without_value(JsonSource('{"a": [1]}'), path)

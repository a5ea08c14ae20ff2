"""Arguments of calls that arrive in chunks."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.chat.model.call_arguments import CallArguments

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text('a"\\{}[]\n é', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('a"{\\', max_size=3), inner, max_size=3),
    max_leaves=8,
)


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@given(st.data())
def test_end_of_the_json_is_found_however_it_is_cut(data):
    text = data.draw(st.sampled_from(["", " \n"])) + json.dumps(data.draw(JSON), ensure_ascii=data.draw(st.booleans()))
    text += data.draw(st.sampled_from(["", "\n ", "}", " x"]))
    places = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    arguments = CallArguments()
    so_far = ""
    for start, end in itertools.pairwise((0, *places, len(text))):
        chunk = text[start:end]
        # a chunk that begins with all that was sent before is a repetition
        if arguments.is_json_object or (so_far.startswith("{") and chunk.startswith(so_far)):
            return
        arguments.add(chunk)
        so_far += chunk
        assert (arguments.text, arguments.is_json) == (so_far, is_json(so_far))
        assert arguments.is_json_object == (so_far.lstrip()[:1] == "{" and is_json(so_far))


@pytest.mark.parametrize(
    "text", ["}", "{]", "[}{", '{"a": tru}', "{'a': 1}", '{"a"}', "nul", "[" * 100_000 + "]" * 100_000]
)
def test_text_that_only_looks_like_json_is_not_json(text):
    arguments = CallArguments()
    arguments.add(text)
    assert not arguments.is_json
    arguments.add("}")
    assert not arguments.is_json


@given(st.lists(st.integers(1, 20), max_size=5))
def test_repeated_totals_are_one_text(ends):
    whole = '{"text": "a {b}"}\n'
    arguments = CallArguments()
    for end in [*sorted(ends), len(whole), len(whole), 3]:
        arguments.add(whole[:end])
    assert arguments.text.strip() == whole.strip()
    assert arguments.is_json_object


NESTED = st.recursive(
    st.integers(0, 9), lambda inner: st.dictionaries(st.sampled_from(["a", "{", ":"]), inner, max_size=2), max_leaves=5
)


@given(st.dictionaries(st.just("a"), NESTED, min_size=1), st.data())
def test_arguments_that_begin_like_a_part_of_them_are_read_whole_however_they_are_cut(value, data):
    text = json.dumps(value, separators=(",", ":"))
    places = sorted(data.draw(st.sets(st.integers(1, len(text) - 1)))) if len(text) > 1 else []
    arguments = CallArguments()
    for start, end in itertools.pairwise((0, *places, len(text))):
        arguments.add(text[start:end])
    assert arguments.is_json_object
    assert json.loads(arguments.text) == value


@given(st.dictionaries(st.just("a"), NESTED, min_size=1), st.data())
def test_whole_that_is_sent_again_after_a_cut_is_the_arguments(value, data):
    text = json.dumps(value, separators=(",", ":"))
    begun = text[: data.draw(st.integers(1, len(text) - 1))]
    arguments = CallArguments()
    arguments.add(begun)
    arguments.add(text)
    assert json.loads(arguments.text) == value

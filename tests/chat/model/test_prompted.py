"""The tolerant parser of calls that a model writes into its text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.chat.bounds import CALLS_IN_A_TURN
from agentcore.chat.model.prompted import WrittenCallFilter, parse_written

pytestmark = pytest.mark.spec("C3")

names = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(st.text(), values, max_size=4)
calls = st.tuples(names, arguments, st.booleans(), st.booleans())
prose = st.text(st.characters(exclude_characters="`{", exclude_categories=["Cs"]), max_size=40)


def written(name, given_arguments, as_text, fenced):
    inner = json.dumps(given_arguments) if as_text else given_arguments
    text = json.dumps({"tool_call": {"tool_name": name, "arguments": inner}}, ensure_ascii=False)
    return f"```json\n{text}\n```" if fenced else text


@given(st.lists(st.tuples(prose, calls), min_size=1, max_size=4), prose)
def test_calls_are_found_whatever_stands_around_them(parts, tail):
    content = "".join(before + "\n" + written(*call) + "\n" for before, call in parts) + tail
    found = parse_written(content)
    assert found.fault is None
    assert [(call.tool_name, json.loads(call.arguments)) for call in found.calls] == [call[:2] for _, call in parts]
    assert "tool_call" not in found.text or any("tool_call" in before for before, _ in parts) or "tool_call" in tail


@given(st.text())
def test_any_text_is_taken(content):
    found = parse_written(content)
    assert found.calls or found.text == content


@given(st.text(alphabet='{}"`:,[]\\ntool_calrgumes ', max_size=80))
def test_any_text_near_a_call_is_taken(content):
    found = parse_written('{"tool_call"' + content)
    assert found.calls or found.fault is not None


@given(st.lists(st.text(alphabet='ab{}"`_tool_cal \n', max_size=8), max_size=20))
def test_text_without_a_call_is_shown_whole_and_in_order(pieces):
    holder = WrittenCallFilter()
    shown = "".join(holder.add_text(piece) for piece in pieces)
    content = "".join(pieces)
    found = parse_written(content)
    if not found.calls:
        assert shown + holder.flush(found) == content


@given(prose, calls, st.integers(1, 9))
def test_nothing_of_a_call_is_shown_while_it_streams(before, call, size):
    content = before + "\n" + written(*call)
    holder = WrittenCallFilter()
    shown = "".join(holder.add_text(content[start : start + size]) for start in range(0, len(content), size))
    assert (before + "\n").startswith(shown)


def test_deep_nesting_is_a_fault_and_no_crash():
    found = parse_written('{"tool_call": {"tool_name": "a", "arguments": ' + "[" * 100_000)
    assert found.fault is not None


def test_more_calls_than_the_bound_are_a_fault():
    found = parse_written(written("a", {}, True, False) * (CALLS_IN_A_TURN + 1))
    assert found.calls == []
    assert str(CALLS_IN_A_TURN) in found.fault


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"tool_call": 7}', "tool_name"),
        ('{"tool_call": {"tool_name": "a", "arguments": "[1]"}}', "JSON object"),
        ('{"tool_call": {"tool_name": "a", "arguments": "{"}}', "line 1"),
        ('{"tool_call": {"tool_name": "a"', "delimiter"),
    ],
)
def test_fault_says_what_is_wrong(content, reason):
    assert reason in parse_written(content).fault

"""The tolerant parser of calls that a model writes into its text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.chat.chat_limits import CALLS_IN_A_TURN
from agentcore.chat.model.text_tool_call_parsing import WrittenCallFilter, parse_written

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


@pytest.mark.more
@given(st.lists(st.tuples(prose, calls), min_size=1, max_size=4), prose)
def test_calls_are_found_whatever_stands_around_them(parts, tail):
    content = "".join(before + "\n" + written(*call) + "\n" for before, call in parts) + tail
    found = parse_written(content)
    assert found.fault is None
    assert [(call.tool_name, json.loads(call.arguments)) for call in found.calls] == [call[:2] for _, call in parts]
    assert "tool_call" not in found.text or any("tool_call" in before for before, _ in parts) or "tool_call" in tail


READ = ("read_file", {"path": "a.txt"})
WRITTEN = (
    '<tool_call>{"name": "read_file", "arguments": {"path": "a.txt"}}</tool_call>',
    '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n</tool_call>',
    '<tool_call>{"name": "read_file", "arguments": {"path": "a.txt"}}',
    '<tool_call>{"name": "read_file", "arguments": {"path": "a.txt"}}}</tool_call>',
    '<tool_call>{"name": "read_file", "path": "a.txt"}</tool_call>',
    '<tool_call>{"tool_call": {"tool_name": "read_file", "arguments": {"path": "a.txt"}}}</tool_call>',
    '<tool_call>```json\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n```</tool_call>',
    '<function_call>{"name": "read_file", "parameters": {"path": "a.txt"}}</function_call>',
    '[TOOL_CALLS][{"name": "read_file", "arguments": {"path": "a.txt"}}]',
    '```json\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n```',
    '```\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n```',
    '```json {"name": "read_file", "arguments": {"path": "a.txt"}} ```',
    '```json\n{"name": "read_file", "arguments": {"path": "a.txt"}}',
    '```tool_call\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n```',
    '```json\n<tool_call>{"name": "read_file", "arguments": {"path": "a.txt"}}</tool_call>\n```',
    '```json\n[{"name": "read_file", "arguments": {"path": "a.txt"}}]\n```',
    '{"name": "read_file", "arguments": {"path": "a.txt"}}',
    '{"name": "read_file", "arguments": "{\\"path\\": \\"a.txt\\"}"}',
    '{"tool": "read_file", "args": {"path": "a.txt"}}',
    '{"arguments": {"path": "a.txt"}, "name": "read_file"}',
    '{"type": "function", "function": {"name": "read_file", "arguments": "{\\"path\\": \\"a.txt\\"}"}}',
    '{"tool_calls": [{"function": {"name": "read_file", "arguments": {"path": "a.txt"}}}]}',
    "{'name': 'read_file', 'arguments': {'path': 'a.txt'}}",
    "<tool_call>{'name': 'read_file', 'arguments': {'path': 'a.txt',},}</tool_call>",
    '{name: "read_file", arguments: {path: "a.txt"}}',
    "{'tool_call': {'tool_name': 'read_file', 'arguments': \"{'path': 'a.txt'}\"}}",
)


@pytest.mark.parametrize("content", WRITTEN)
@pytest.mark.parametrize(
    ("before", "after"), [("", ""), ("I will read it.\n\n", ""), ("Use `ls` or: ", "\n\nThen I will tell you.")]
)
def test_forms_of_small_models_are_read_also_between_prose(content, before, after):
    found = parse_written(before + content + after, {"read_file"})
    assert [(call.tool_name, json.loads(call.arguments)) for call in found.calls] == [READ]
    assert found.text == (before + after).strip()


@pytest.mark.parametrize(
    ("written_arguments", "expected"),
    [
        (
            "{'deep': True, 'none': None, 'size': -2, 'part': 0.5}",
            {"deep": True, "none": None, "size": -2, "part": 0.5},
        ),
        ("{'text': 'it\\'s', 'pair': ('a', 'b')}", {"text": "it's", "pair": ["a", "b"]}),
        ("{'text': 'it's here'}", {"text": "it's here"}),
        ('{"code": "print("hi")"}', {"code": 'print("hi")'}),
        ('{"text": "one\ntwo", "pattern": "\\d+"}', {"text": "one\ntwo", "pattern": "\\d+"}),
        ('{\'text\': """a \'quoted\' word"""}', {"text": "a 'quoted' word"}),
        ('{"text": "</tool_call> ``` {\'name\': 1}", }', {"text": "</tool_call> ``` {'name': 1}"}),
        ("{'text': '\\u4f60\\ud83d\\ude00'}", {"text": "你😀"}),
        ("{}", {}),
        ("None", {}),
    ],
)
def test_arguments_may_be_python_or_careless_json(written_arguments, expected):
    (call,) = parse_written(f'<tool_call>{{"name": "a", "arguments": {written_arguments}}}</tool_call>').calls
    assert json.loads(call.arguments) == expected


def test_several_calls_of_one_answer_keep_their_order_and_what_they_contain_is_no_call():
    inner = '{"name": "a", "arguments": {"n": 9}}'
    nested = json.dumps(
        {"name": "b", "arguments": {"text": f"<tool_call>{inner}</tool_call>", "list": [json.loads(inner)]}}
    )
    content = f'First:\n<tool_call>{{"name": "a", "arguments": {{"n": 1}}}}</tool_call> then\n{nested}\nand `{inner}`.'
    found = parse_written(content, {"a", "b"})
    assert [(call.tool_name, json.loads(call.arguments)) for call in found.calls] == [
        ("a", {"n": 1}),
        ("b", json.loads(nested)["arguments"]),
    ]
    assert found.text == f"First:\n then\n\nand `{inner}`."


TAGGED = WRITTEN[0]
BARE = WRITTEN[16]


@pytest.mark.parametrize(
    "content",
    [
        "I write calls between <tool_call> and </tool_call>.",
        "The form is <tool_call>{…}</tool_call>, or <tool_call>{...}</tool_call>.",
        'The form is <tool_call>{"name": ..., "arguments": {...}}</tool_call>.',
        'The form is {"name": <name>, "arguments": <object>}.',
        f"Write `{TAGGED}` to read it.",
        f"Write ``{BARE}`` to read it.",
        f"In Python:\n```python\nprint('{TAGGED}')\n```",
        f"In Python:\n```python\ncall = {BARE}\n```\nThat is all.",
        f"In a test:\n```\ncurl -d '{BARE}'\n```",
        f"As XML:\n```xml\n{TAGGED}\n```",
        f"An example:\n```\n{TAGGED}\n```",
        f"Shell:\n~~~~\n```sh\necho '{BARE}'\n```\n",
        '{"name": "agentcore", "version": "1.0", "tools": [{"name": "read_file", "arguments": {"path": "a"}}]}',
        '```json\n{"name": "agentcore", "private": true}\n```',
        'The person {"name": "Ann", "arguments": {"a": 1}} of the data set.',
        '[TOOL_CALLS] is a token of theirs, and [{"name": "x"}] a list.',
        "An arrow function is (a) => {name: a}.",
    ],
)
def test_what_is_only_mentioned_is_no_call(content):
    assert parse_written(content, {"read_file"}) == (content, [], None, ())


@pytest.mark.parametrize(
    "content",
    [
        '<tool_call>{"name": "read_file", "arguments": {"path": "a.txt"</tool_call>',
        '<tool_call>{"arguments": {"path": "a.txt"}}</tool_call>',
        'Now:\n```json\n{"name": "read_file", "arguments": {"path": "a.txt"\n```',
        '{"name": "read_file", "arguments": {"path": "a.txt"',
        f'{TAGGED}\n<tool_call>{{"name": "read_file", "arguments": [1]}}</tool_call>',
    ],
)
def test_call_that_is_broken_is_a_fault_and_none_of_the_answer_runs(content):
    found = parse_written(content, {"read_file"})
    assert (found.text, found.calls) == (content, [])
    assert found.fault


PARTS = (
    *(
        "`",
        "```",
        "```json\n",
        "```python\n",
        "<",
        "<tool_",
        "<tool_call>",
        "</tool_call>",
        "[TOOL_CALLS]",
        "<|tool_call|>",
    ),
    *("[", "{", "}", '"name"', '{"name": "read_file"', "{'", ": ", "'", '"', "text ", "\n", "  ", "天气"),
)
fragments = st.sampled_from([*WRITTEN, *PARTS])


@given(st.lists(fragments | prose, max_size=8), st.data())
def test_how_a_stream_is_cut_never_changes_its_meaning(parts, data):
    content = "".join(parts)
    whole = WrittenCallFilter()
    expected = whole.add_text(content)
    found = parse_written(content, {"read_file"})
    expected += whole.flush(found)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=12)))
    holder = WrittenCallFilter()
    shown = [holder.add_text(content[a:b]) for a, b in zip([0, *cuts], [*cuts, len(content)], strict=True)]
    assert parse_written(holder.text, {"read_file"}) == found
    assert "".join(shown) + holder.flush(found) == expected
    assert expected.strip() == found.text.strip()


@given(st.sampled_from(WRITTEN), prose)
def test_no_character_of_a_call_is_shown_however_it_is_cut(content, before):
    holder = WrittenCallFilter()
    shown = "".join(holder.add_text(char) for char in f"{before}\n{content}")
    assert f"{before}\n".startswith(shown)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ['{"name": [', "`", "```json\n", "<tool_call>", '<tool_call>{"name": "', "[{", "\\"])
def test_long_text_that_is_no_call_costs_little(piece):
    content = piece * 20_000
    holder = WrittenCallFilter()
    shown = "".join(
        holder.add_text(each) for each in (content[start : start + 50] for start in range(0, len(content), 50))
    )
    found = parse_written(content, {"read_file"})
    assert found.fault or shown + holder.flush(found) == content


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
        ('{"tool_calls": []}', "no tool call"),
        ('{"tool_call": {"tool_name": "a", "arguments": "[1]"}}', "JSON object"),
        ('{"tool_call": {"tool_name": "a", "arguments": "{"}}', "line 1"),
        ('{"tool_call": {"tool_name": "a"', "delimiter"),
    ],
)
def test_fault_says_what_is_wrong(content, reason):
    assert reason in parse_written(content).fault

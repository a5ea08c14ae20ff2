"""From `key=value` to the arguments of a tool."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.cli.arguments import describe_type, parse_arguments
from agentcore.cli.terminal.exit_codes import CliError

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "whole": {"type": "integer"},
        "number": {"type": "number"},
        "flag": {"type": "boolean"},
        "object": {"type": "object"},
        "words": {"type": "array", "items": {"type": "string"}},
        "wholes": {"type": "array", "items": {"type": "integer"}},
        "perhaps": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "edits": {"type": "array", "items": {"$ref": "#/$defs/Edit"}},
        "mode": {"enum": ["fast", "slow"]},
        "level": {"enum": [1, 2]},
        "several": {"type": ["boolean", "integer"]},
        "anything": {},
    },
    "$defs": {"Edit": {"type": "object", "properties": {"old": {"type": "string"}}}},
}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("text=5", {"text": "5"}),
        ("text=", {"text": ""}),
        ("text=a=b", {"text": "a=b"}),
        ("text:=5", {"text": 5}),
        ("whole=-7", {"whole": -7}),
        ("number=1.5", {"number": 1.5}),
        ("number=2", {"number": 2}),
        ("flag=yes", {"flag": True}),
        ("flag=False", {"flag": False}),
        ('object={"a": 1}', {"object": {"a": 1}}),
        ("words=a", {"words": ["a"]}),
        ('words=["a", "b"]', {"words": ["a", "b"]}),
        ("wholes=3", {"wholes": [3]}),
        ("perhaps=4", {"perhaps": 4}),
        ("perhaps=null", {"perhaps": None}),
        ("either=5", {"either": "5"}),
        ('edits={"old": "x"}', {"edits": [{"old": "x"}]}),
        ("mode=fast", {"mode": "fast"}),
        ("level=2", {"level": 2}),
        ("several=true", {"several": True}),
        ("several=3", {"several": 3}),
        ("anything=5", {"anything": 5}),
        ("anything=five", {"anything": "five"}),
        ("unknown=x", {"unknown": "x"}),
    ],
)
def test_value_is_taken_by_the_type_of_the_schema(word, expected):
    parsed = parse_arguments(SCHEMA, None, [word])
    assert parsed == expected
    assert [type(value) for value in parsed.values()] == [type(value) for value in expected.values()]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("whole=x", "a whole number"),
        ("whole=1.5", "a whole number"),
        ("whole=true", "a whole number"),
        ("number=NaN", "a number"),
        ("flag=perhaps", "true or false"),
        ("object=[]", "a JSON object"),
        ("text:={", "not valid JSON"),
        ("text:=NaN", "not valid JSON"),
        ("anything", "is no argument"),
        ("=x", "is no argument"),
        ("words=[", "not valid JSON"),
    ],
)
def test_value_of_another_type_is_refused(word, reason):
    with pytest.raises(CliError, match=reason) as caught:
        parse_arguments(SCHEMA, None, [word])
    assert caught.value.exit_code == 2


def test_key_given_again_adds_to_a_list():
    assert parse_arguments(SCHEMA, None, ["words=a", "words=b"]) == {"words": ["a", "b"]}


def test_key_given_again_is_refused_where_there_is_no_list():
    with pytest.raises(CliError, match="given twice"):
        parse_arguments(SCHEMA, None, ["text=a", "text=b"])


def test_words_override_the_object_that_they_begin_with():
    assert parse_arguments(SCHEMA, '{"text": "a", "whole": 1}', ["text=b"]) == {"text": "b", "whole": 1}


@pytest.mark.parametrize("base", ["[]", "{", '"text"'])
def test_arguments_that_are_no_object_are_refused(base):
    with pytest.raises(CliError, match="JSON"):
        parse_arguments(SCHEMA, base, [])


def test_file_gives_the_content(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("several\nlines\n")
    assert parse_arguments(SCHEMA, None, [f"text=@{path}"]) == {"text": "several\nlines\n"}


def test_file_gives_the_whole_object(tmp_path):
    path = tmp_path / "arguments.json"
    path.write_text('{"whole": 3}')
    assert parse_arguments(SCHEMA, f"@{path}", []) == {"whole": 3}


@pytest.mark.parametrize(("content", "reason"), [(b"\xff\xfe\x00", "not UTF-8"), (None, "cannot read")])
def test_file_that_is_no_text_or_missing_is_refused(tmp_path, content, reason):
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CliError, match=reason):
        parse_arguments(SCHEMA, None, [f"text=@{path}"])


def test_file_beyond_the_bound_is_refused(tmp_path):
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(5_000_000_000)
    with pytest.raises(CliError, match="larger than"):
        parse_arguments(SCHEMA, None, [f"text=@{path}"])


def test_schema_that_refers_to_itself_is_no_trap():
    schema = {
        "properties": {"tree": {"$ref": "#/$defs/Tree"}},
        "$defs": {"Tree": {"anyOf": [{"$ref": "#/$defs/Tree"}]}},
    }
    assert parse_arguments(schema, None, ["tree=5"]) == {"tree": 5}


@given(st.text().filter(lambda text: not text.startswith("@")))
def test_text_stays_what_it_is(text):
    assert parse_arguments(SCHEMA, None, [f"text={text}"]) == {"text": text}


@pytest.mark.parametrize(
    ("name", "expected"),
    [("text", "text"), ("perhaps", "whole number"), ("mode", '"fast" | "slow"'), ("anything", "any value")],
)
def test_types_are_described_for_people(name, expected):
    assert describe_type(SCHEMA, SCHEMA["properties"][name]) == expected

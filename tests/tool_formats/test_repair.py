"""Arguments that models send in another shape: put right where there is no doubt, and else left as they are."""

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.tool_formats.formats import LoweredSchema

TEXT = {"type": "string"}
SPOT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "note": TEXT, "tags": {"type": "array", "items": TEXT}},
    "required": ["x"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "$defs": {"Spot": SPOT},
    "properties": {
        "name": TEXT,
        "spots": {"type": "array", "items": {"$ref": "#/$defs/Spot"}},
        "area": {"allOf": [{"$ref": "#/$defs/Spot"}], "description": "One more."},
        "free": {"anyOf": [TEXT, {"type": "array", "items": TEXT}]},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 30},
        "headers": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Spot"}},
        "act": {
            "oneOf": [
                {"type": "object", "properties": {"op": {"const": "go"}, "to": SPOT, "why": TEXT}, "required": ["op"]},
                {"type": "object", "properties": {"op": {"const": "end"}, "to": TEXT}, "required": ["op"]},
            ]
        },
        "any": {},
    },
    "required": ["name"],
    "additionalProperties": False,
}
TOOL = LoweredSchema(SCHEMA)

texts = st.text(max_size=4) | st.sampled_from(['["a"]', '{"x": 1}', "null", "[", "7"])
spots = st.fixed_dictionaries({"x": st.integers(-9, 9)}, optional={"note": texts, "tags": st.lists(texts, max_size=2)})
acts = st.fixed_dictionaries({"op": st.just("go")}, optional={"to": spots, "why": texts}) | st.fixed_dictionaries(
    {"op": st.just("end")}, optional={"to": texts}
)
valid = st.fixed_dictionaries(
    {"name": texts},
    optional={
        "spots": st.lists(spots, max_size=3),
        "area": spots,
        "free": texts | st.lists(texts, max_size=2),
        "limit": st.none() | st.integers(0, 9),
        "headers": st.dictionaries(texts, spots, max_size=2),
        "act": acts,
        "any": texts | st.none() | st.lists(texts, max_size=2),
    },
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.sampled_from([*SCHEMA["properties"], "x"]), parts),
    max_leaves=8,
)


@pytest.mark.spec("K9")
@given(arguments=valid)
def test_valid_arguments_stay_as_they_are(arguments):
    jsonschema_rs.validate(SCHEMA, arguments)
    assert TOOL.repair_arguments(arguments) == arguments


@pytest.mark.spec("K9")
@given(arguments=valid, data=st.data())
def test_nulls_and_json_text_become_what_they_stand_for(arguments, data):
    sent = json.loads(json.dumps(arguments))
    for name in data.draw(st.sets(st.sampled_from(["spots", "area", "headers", "act"]))):
        if name in sent:
            sent[name] = json.dumps(sent[name])  # whole, as text
        elif data.draw(st.booleans()):
            sent[name] = None
    for spot in sent["spots"] if isinstance(sent.get("spots"), list) else ():
        spot.setdefault("note", None)
        if "tags" in spot:
            spot["tags"] = json.dumps(spot["tags"])
    before = json.dumps(sent)
    assert TOOL.repair_arguments(sent) == arguments
    assert json.dumps(sent) == before


@pytest.mark.more
@pytest.mark.spec("K9")
@given(arguments=st.dictionaries(st.sampled_from([*SCHEMA["properties"], "other"]), values))
def test_whatever_comes_is_put_right_once_and_nothing_valid_is_lost(arguments):
    repaired = TOOL.repair_arguments(arguments)
    assert TOOL.repair_arguments(repaired) == repaired
    for name, value in arguments.items():
        schema = {**SCHEMA["properties"].get(name, {"not": {}}), "$defs": SCHEMA["$defs"]}
        if jsonschema_rs.is_valid(schema, value):
            assert repaired[name] == value
        elif value is None and name == "name":
            assert repaired[name] is None  # it is required: that it is missing has to be said


@pytest.mark.spec("K9")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"name": '["a"]'}, {"name": '["a"]'}),
        ({"free": '["a"]'}, {"free": '["a"]'}),
        ({"any": "[1]"}, {"any": "[1]"}),
        ({"spots": "[1"}, {"spots": "[1"}),
        ({"spots": '{"x": 1}'}, {"spots": '{"x": 1}'}),
        ({"spots": '[{"x": NaN}]'}, {"spots": '[{"x": NaN}]'}),
        ({"area": "[" * 5000}, {"area": "[" * 5000}),
        ({"limit": None}, {"limit": None}),
        ({"other": None}, {"other": None}),
        ({"act": {"to": None}}, {"act": {"to": None}}),
        ({"spots": {"x": 1}}, {"spots": {"x": 1}}),
        ({"area": {"x": "7"}}, {"area": {"x": "7"}}),
    ],
)
def test_nothing_is_guessed(given, kept):
    assert TOOL.repair_arguments(given) == kept

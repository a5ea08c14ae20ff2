"""What is wrong with a value is said of the key that it is about, in the words of arguments that a model reads."""

import pytest

from agentcore.host.modules.json_schema import compile_schema

SCHEMA = {
    "type": "object",
    "properties": {
        "number": {"type": "integer"},
        "place": {
            "type": "object",
            "properties": {"street": {"type": "string"}},
            "required": ["street"],
            "additionalProperties": False,
        },
        "list": {"type": "array", "items": {"$ref": "#/$defs/entry"}},
    },
    "required": ["number"],
    "additionalProperties": False,
    "$defs": {"entry": {"type": "object", "properties": {"name": {}}, "additionalProperties": False}},
}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"number": 1}, {}),
        ({}, {"number": "is required"}),
        ({"number": 1, "numbr": 2}, {"numbr": "is not known; did you mean 'number'?"}),
        ({"number": 1, "x": 2, "y": 3}, {"x": "is not known", "y": "is not known"}),
        (
            {"number": 1, "place": {"stret": "a"}},
            {"place.street": "is required", "place.stret": "is not known; did you mean 'street'?"},
        ),
        ({"number": 1, "list": [{"nam": 1}]}, {"list[0].nam": "is not known; did you mean 'name'?"}),
        ({"number": "a"}, {"number": '"a" is not of type "integer"'}),
    ],
)
def test_missing_and_unknown_keys_are_named_where_they_are(value, said):
    errors = compile_schema(SCHEMA, unknown="is not known")(value)
    assert {error["path"]: error["message"] for error in errors} == said

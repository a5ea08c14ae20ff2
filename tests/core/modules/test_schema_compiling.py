"""What is wrong with a value is said of the key that it is about, in the words of arguments that a model reads."""

import functools

import pytest

from agentcore.core.modules.schema_compiling import compile_schema

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


def _tree(node):
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": node}}


REF = {"$ref": "#/$defs/n"}
DOUBLING = [{"type": "object", "properties": {"x": REF}, "required": [name]} for name in ("y", "z")]


@pytest.mark.parametrize(
    "node",
    [
        {"anyOf": DOUBLING},
        {"oneOf": DOUBLING},
        {"allOf": DOUBLING},
        {"if": DOUBLING[0], "then": DOUBLING[1]},
        {"not": DOUBLING[0], "properties": {"x": REF}},
        {"items": REF, "contains": REF},
        {"properties": {"x": REF}, "patternProperties": {"^x": REF}},
        {"properties": {"x": {"anyOf": [{"properties": {"y": REF}}, {"properties": {"y": REF}}]}}},
        {"properties": {"x": REF}, "unevaluatedProperties": False},
        {"allOf": [{"$id": "other", "$ref": "#"}]},
    ],
)
def test_schema_whose_work_doubles_with_each_level_is_refused(node):
    with pytest.raises(ValueError, match="no JSON Schema that can be used"):
        compile_schema(_tree(node))


@pytest.mark.parametrize(
    ("node", "value"),
    [
        ({"type": "object", "properties": {"left": REF, "right": REF}}, {"left": {"right": {}}}),
        ({"type": "object", "properties": {"next": {"anyOf": [REF, {"type": "null"}]}}}, {"next": {"next": None}}),
        (
            {
                "anyOf": [
                    {"type": "string"},
                    {"type": "array", "items": REF},
                    {"type": "object", "additionalProperties": REF},
                ]
            },
            {"x": ["a", {"y": "b"}]},
        ),
        (
            {"oneOf": [{"required": [name], "properties": {name: {"items": REF}}} for name in ("and", "or")]},
            {"and": [{"or": []}]},
        ),
    ],
)
def test_schema_that_holds_itself_is_taken(node, value):
    assert compile_schema(_tree(node))({"a": value}) == []


UUID = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"


@pytest.mark.parametrize(
    ("schema", "much"),
    [
        ({"patternProperties": {f"z{number}": {} for number in range(1_500)}}, {f"k{n}": 1 for n in range(90_000)}),
        ({"items": {"anyOf": [{"const": f"x{number}"} for number in range(3_000)]}}, ["x"] * 30_000),
        ({"allOf": [{"pattern": f"(a|b){{1,30}}[ab]*{number}$"} for number in range(300)]}, "ab" * 1_000_000),
        ({"pattern": "(a{1,60}b?){1,60}[cd]x"}, "a" * 100_000),
        ({"patternProperties": {"(a{1,60}b?){1,60}[cd]x": {}}}, {"a" * 100_000: 1}),
    ],
)
def test_value_that_is_too_much_work_is_refused_at_once(schema, much):
    validate = compile_schema({"properties": {"a": schema}})
    assert not any("too much" in error["message"] for error in validate({"a": type(much)()}))
    (error,) = validate({"a": much})
    assert "too much" in error["message"]


def test_large_values_are_taken_where_the_schema_asks_little_of_them():
    identity = {"type": "string", "pattern": UUID}
    row = {"type": "object", "properties": {f"p{number}": {"type": "integer"} for number in range(30)}}
    validate = compile_schema({"properties": {"id": identity, "text": {"type": "string"}, "rows": {"items": row}}})
    rows = [{f"p{number}": 1 for number in range(30)}] * 2_000
    ident = "01234567-0123-0123-0123-0123456789ab"
    assert validate({"id": ident, "text": "x" * 4_000_000, "rows": rows}) == []
    assert validate({"id": "x", "text": "", "rows": []})[0]["path"] == "id"


def test_deep_value_of_a_schema_that_holds_itself_takes_no_time():
    validate = compile_schema(_tree({"properties": {"x": {"anyOf": [REF, {"type": "null"}]}}, "required": ["y"]}))
    value = functools.reduce(lambda inner, _: {"x": inner}, range(60), {})
    assert validate({"a": value})


@pytest.mark.parametrize(("choices", "path"), [([], "a[0].p0"), ([{}, {"required": ["z"]}], "")])
def test_of_very_many_faults_no_more_are_collected_than_are_told(choices, path):
    row = {"required": [f"p{number}" for number in range(1_000)], **({"oneOf": choices} if choices else {})}
    validate = compile_schema({"properties": {"a": {"items": row}}})
    (error,) = validate({"a": [{}] * 1_000})
    assert error["path"] == path
    assert len(validate({"a": [{}]})) == 20

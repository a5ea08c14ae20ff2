"""What a provider takes of a schema: never more than that, and never less than a model needs to call the tool."""

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.api import ToolDefinition
from agentcore.tool_formats.check import check_tool
from agentcore.tool_formats.dialect_schema import lower_schema
from agentcore.tool_formats.dialects import DIALECTS
from agentcore.tool_formats.formats import FORMS, LoweredSchema
from agentcore.tool_formats.grammar_pattern import grammar_pattern
from agentcore.tool_formats.keywords import LISTS, MAPS, SINGLES

TEXT = {"type": "string"}
NAMES = st.sampled_from(["a", "b", "path", "Größe", "x-y"])


def object_of(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {}), **more}


def lowered(schema: dict[str, Any], dialect: Any) -> dict[str, Any]:
    return lower_schema(schema, DIALECTS[dialect]).schema


def argument(schema: Any, dialect: Any, **root: Any) -> dict[str, Any]:
    """One required argument as a dialect has it."""
    return lowered(object_of({"it": schema}, "it", **root), dialect)["properties"]["it"]


# -- laws ----------------------------------------------------------------------------------------------------------


def _plain() -> st.SearchStrategy[tuple[dict[str, Any], Any]]:
    """A schema without parts, and a value that it takes."""
    text = st.text(st.characters(codec="ascii", categories=["L", "Nd"]), min_size=1, max_size=5)
    return st.one_of(
        text.map(lambda value: ({"type": "string", "minLength": 1, "maxLength": 4096, "pattern": r"^\S+$"}, value)),
        text.map(lambda value: ({"const": value, "type": "string"}, value)),
        st.integers(-5, 5).map(lambda value: ({"type": "integer", "exclusiveMinimum": -6, "maximum": 2**60}, value)),
        st.integers(0, 3).map(lambda value: ({"enum": [0, 1, 2, 3, None]}, value)),
        st.integers(0, 9).map(lambda value: ({"type": "number", "minimum": 0, "multipleOf": 0.5}, value / 2)),
        st.booleans().map(lambda value: ({"type": ["boolean", "null"]}, value)),
        st.sampled_from([1, "x", None, {"k": [1]}]).map(lambda value: (True, value)),
    )


def _within(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas that hold others, with a value."""
    pairs = st.lists(parts, min_size=1, max_size=3)
    return st.one_of(
        pairs.map(lambda found: ({"type": "array", "items": {"anyOf": [each[0] for each in found]}, "maxItems": 5000},
                                 [each[1] for each in found])),
        pairs.map(lambda found: ({"type": "array", "prefixItems": [each[0] for each in found], "uniqueItems": False},
                                 [each[1] for each in found])),
        parts.map(lambda found: ({"oneOf": [found[0], {"type": "array", "minItems": 900}], "title": "T"}, found[1])),
        parts.map(lambda found: ({"$ref": "#/$defs/Any", "allOf": [found[0]], "title": "T", "x-mark": 1}, found[1])),
        st.dictionaries(NAMES, parts, max_size=3).map(_object),
    )  # fmt: skip


def _object(found: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    properties = {name: each[0] for name, each in found.items()}
    value = {name: each[1] for name, each in found.items()}
    return object_of({**properties, "none": {"type": "null", "default": None}}, *properties), value


SCHEMAS = st.recursive(_plain(), _within, max_leaves=6)


def keywords_of(schema: Any) -> set[str]:
    if not isinstance(schema, dict):
        return set()
    parts = [part for key in MAPS & set(schema) for part in schema[key].values()]
    parts += [part for key in LISTS & set(schema) for part in schema[key]]
    parts += [schema[key] for key in SINGLES & set(schema)]
    return set(schema).union(*map(keywords_of, parts))


@pytest.mark.spec("K9")
@pytest.mark.parametrize("name", [name for name in DIALECTS if name != "openai_strict"])
@given(found=SCHEMAS)
def test_what_the_tool_takes_its_lowered_schema_takes_in_words_that_the_provider_knows(name, found):
    schema, value = found
    whole = object_of({"it": schema}, "it", **{"$defs": {"Any": True}})
    jsonschema_rs.validate(whole, {"it": value})
    made = lowered(whole, name)
    jsonschema_rs.meta.validate(made)
    assert keywords_of(made) <= DIALECTS[name].keywords
    if DIALECTS[name].takes_any:  # where it is not, a value without a type becomes a choice of types
        jsonschema_rs.validate(made, {"it": value})


@pytest.mark.spec("K9")
@given(found=SCHEMAS)
def test_strict_schema_requires_all_and_is_closed_or_says_that_it_is_not_strict(found):
    made = lower_schema(
        object_of({"it": found[0], "other": found[0]}, "it", **{"$defs": {"Any": True}}), DIALECTS["openai_strict"]
    )
    if made.is_strict:
        _check_strict(made.schema)
    else:
        assert "without strict" in made.faults[-1]


def _check_strict(schema: dict[str, Any]) -> None:
    assert set(schema) <= DIALECTS["openai_strict"].keywords - {"default"}
    if schema.get("type") == "object" or "properties" in schema:
        assert schema["required"] == list(schema["properties"])
        assert schema["additionalProperties"] is False
    parts = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    for part in [*parts, schema["items"]] if "items" in schema else parts:
        _check_strict(part)


# -- single rules --------------------------------------------------------------------------------------------------

UNION = {
    "type": "object",
    "oneOf": [
        object_of({"op": {"const": "get", "type": "string"}, "id": TEXT}, "op", "id"),
        object_of({"op": {"const": "put", "type": "string"}, "id": TEXT, "body": TEXT}, "op", "id", "body"),
    ],
}  # fmt: skip


@pytest.mark.spec("K9")
@pytest.mark.parametrize("name", DIALECTS)
def test_choice_at_the_root_becomes_one_object_and_words_say_what_belongs_together(name):
    made = lowered(UNION, name)
    assert made["type"] == "object"
    assert not {"oneOf", "anyOf", "allOf"} & set(made)
    assert made["properties"]["op"]["enum"] == ["get", "put"]
    assert set(made["properties"]) == {"op", "id", "body"}
    assert made["description"] == "Give either op 'get', or op 'put' and body."
    if name != "openai_strict":
        assert made["required"] == ["op", "id"]


@pytest.mark.spec("K9")
def test_root_made_of_parts_becomes_one_object():
    base = {"$defs": {"Base": object_of({"a": {"type": "string", "maxLength": 9}}, "a")}}
    whole = base | {"allOf": [{"$ref": "#/$defs/Base"}, object_of({"a": {"minLength": 2}, "b": TEXT}, "b")]}
    made = lowered(whole, "anthropic")
    assert made == object_of({"a": {"type": "string", "maxLength": 9, "minLength": 2}, "b": TEXT}, "a", "b")


@pytest.mark.spec("K9")
def test_schema_that_holds_itself_ends_after_one_round():
    tree = object_of({"name": TEXT, "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}, "name")
    for name in DIALECTS:
        made = argument({"$ref": "#/$defs/Tree"}, name, **{"$defs": {"Tree": tree}})
        assert "$ref" not in json.dumps(made)
        assert "array" in made["properties"]["children"]["type"]
    bomb = {"a0": TEXT} | {f"a{n}": object_of({k: {"$ref": f"#/$defs/a{n - 1}"} for k in "xyz"}) for n in range(1, 20)}
    assert len(json.dumps(argument({"$ref": "#/$defs/a19"}, "portable", **{"$defs": bomb}))) < 500_000


@pytest.mark.spec("K9")
def test_null_of_an_argument_that_may_be_left_out_is_left_out():
    optional = {
        "anyOf": [{"type": "integer", "minimum": 2}, {"type": "null"}],
        "default": None,
        "description": "How many.",
    }
    made = lowered(object_of({"count": optional, "must": {**optional, "default": 3}}), "portable")["properties"]
    assert made["count"] == {"type": "integer", "minimum": 2, "description": "How many."}
    assert {"type": "null"} in made["must"]["anyOf"]


@pytest.mark.spec("K9")
def test_what_is_left_out_is_said_where_a_model_could_come_near_it():
    several = {"type": "array", "items": {"type": "string", "maxLength": 300, "pattern": "[.]png$"}, "maxItems": 500}
    assert argument(several, "portable") == {
        "type": "array",
        "items": {"type": "string", "description": "at most 300 characters; matches [.]png$"},
        "description": "at most 500 items",
    }
    assert argument({"type": "string", "maxLength": 100_000, "pattern": r"^\S+$"}, "portable") == TEXT
    assert argument({"type": "integer", "enum": [1, 2]}, "gemini") == {"type": "integer", "description": "one of 1, 2"}


@pytest.mark.spec("K9")
def test_argument_whose_name_the_provider_refuses_is_left_out_and_named():
    schema = object_of({"$filter": TEXT, "top": TEXT}, "top", "$filter")
    made = lower_schema(schema, DIALECTS["anthropic"])
    assert made.schema == object_of({"top": TEXT}, "top")
    assert "'$filter'" in made.faults[0]
    assert lower_schema(schema, DIALECTS["openai"]).schema == schema


@pytest.mark.spec("K9")
def test_map_is_the_text_of_an_object_where_a_schema_is_strict():
    made = lower_schema(
        object_of({"headers": {"type": "object", "additionalProperties": TEXT}}), DIALECTS["openai_strict"]
    )
    assert made.is_strict
    assert made.schema["properties"]["headers"]["type"] == ["string", "null"]
    assert "JSON object" in made.schema["properties"]["headers"]["description"]


@pytest.mark.spec("K9")
@pytest.mark.parametrize(
    ("pattern", "taken"),
    [
        ("^[a-z][a-z0-9_]{0,63}$", "^[a-z][a-z0-9_]{0,63}$"),
        (r"^\d{4}-\d\d$", "^[0-9]{4}-[0-9][0-9]$"),
        (r"^(?:ab|c\.)+$", "^(ab|c[.])+$"),
        (r"^v[\w.-]+$", "^v[A-Za-z0-9_.-]+$"),
        *((pattern, None) for pattern in (r"^\S+$", "abc", "^abc", "^a|b$", "^[^x]+$", "^.*$", "^(?=a)b$", "^()$")),
        *((pattern, None) for pattern in ("^a{1,2000}$", "^(a|)$", "^a**$", '^"$', r"^\\$", r"^\bx$", "^(a$", "^a)$")),
    ],
)  # fmt: skip
def test_pattern_is_kept_where_a_grammar_can_be_made_of_it(pattern, taken):
    assert grammar_pattern(pattern) == taken


@pytest.mark.spec("K9")
@pytest.mark.parametrize("dialect", ["openai", "anthropic", "portable", "gemini"])
def test_what_goes_without_saying_costs_no_model_anything(dialect):
    text = {"type": "string", "minLength": 1, "maxLength": 100_000, "pattern": r"^\S+$", "default": ""}
    places = {"type": "array", "items": {"type": "string"}, "maxItems": 2_000, "default": []}
    count = {"type": "integer", "minimum": 0, "maximum": 1_000_000, "default": 8}
    flag = {"type": "boolean", "default": False}
    few = {"type": "integer", "minimum": 3, "maximum": 20, "default": 3}
    schema = object_of({"text": text, "places": places, "count": count, "flag": flag, "few": few})
    made = lowered({**schema, "additionalProperties": False}, dialect)
    assert made == object_of(
        {
            "text": {"type": "string"},
            "places": {"type": "array", "items": {"type": "string"}},
            "count": {"type": "integer", "default": 8},
            "flag": {"type": "boolean"},
            "few": few,
        }
    )


@pytest.mark.spec("K9")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_mark_for_models_hides_an_argument_that_may_be_left_out_or_says_it_in_other_words(dialect):
    schema = object_of(
        {
            "limit": {"type": "integer", "default": 3, "x-model": False},
            "page": {"anyOf": [{"type": "string", "x-model": False}, {"type": "null"}], "default": None},
            "must": {"type": "string", "description": "For persons.", "x-model": False},
            "where": {"$ref": "#/$defs/Where", "x-model": "A place."},
            "path": {"type": "string", "description": "A path, for persons.", "x-model": ""},
        },
        "must",
        "where",
        "path",
        **{"$defs": {"Where": object_of({"x": TEXT}, "x", description="For persons.")}},
    )
    made = lowered(schema, dialect)["properties"]
    assert set(made) == {"must", "where", "path"}
    assert made["must"]["description"] == "For persons."
    assert made["where"]["description"] == "A place."
    assert "description" not in made["path"]
    assert "x-model" not in json.dumps(made)


@pytest.mark.spec("K9")
@pytest.mark.parametrize("dialect", ["openai", "anthropic", "portable", "gemini"])
def test_choice_by_a_fixed_text_becomes_one_object_and_words_say_what_goes_with_which(dialect):
    get, put = UNION["oneOf"]
    choice = {
        "oneOf": [{**get, "description": "Read it."}, object_of({**put["properties"], "if": TEXT}, *put["required"])]
    }
    made = argument({"type": "array", "items": choice, "description": "What to do."}, dialect)
    item = object_of({"op": {"enum": ["get", "put"]}, "id": TEXT, "body": TEXT, "if": TEXT}, "op", "id")
    item["properties"]["op"]["type"] = "string"
    assert made["items"] == {**item, "description": "op get (Read it): id; put: id, body, if?"}
    assert "anyOf" in json.dumps(argument(choice, "openai_strict"))


def test_description_that_openai_would_refuse_is_cut_between_words_and_said():
    schema, said = LoweredSchema(object_of({})), "word " * 300
    tool = ToolDefinition("a", said, schema.schema)
    sent = {name: form.write(tool, schema.lower_to(form.dialect)) for name, form in FORMS.items()}
    short = sent["openai"]["function"]["description"]
    assert len(short) <= 1024
    assert short.endswith("word …")
    assert sent["anthropic"]["description"] == sent["mcp"]["description"] == said
    found = check_tool("a", said, schema)
    assert {finding.form for finding in found} == {"openai", "openai_strict", "openai_compatible"}
    assert check_tool("a", said[:1024], schema) == []

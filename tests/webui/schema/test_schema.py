"""The page's look at a value says what the server's says, and leaves to it what it does not know."""

import itertools

import jsonschema_rs

REFERENCES = {
    "type": "object",
    "properties": {"next": {"$ref": "#"}, "size": {"$ref": "#/$defs/a~1b"}},
    "$defs": {"a/b": {"type": "integer", "minimum": 1}},
    "additionalProperties": False,
}
SCHEMAS = [
    {"type": "string", "minLength": 2, "maxLength": 3},
    {"type": "string", "pattern": "^a+$"},
    {"type": "integer", "minimum": 0, "exclusiveMaximum": 10},
    {"type": "number", "multipleOf": 0.1},
    {"type": "number", "exclusiveMinimum": 0, "maximum": 2},
    {"type": ["string", "null"]},
    {"type": "boolean"},
    {"enum": ["a", 1, None]},
    {"const": {"a": [1]}},
    {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2, "uniqueItems": True},
    {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
    {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}},
    {"type": "object", "additionalProperties": {"type": "integer"}},
    {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
    {"anyOf": [{"type": "integer"}, {"type": "object", "required": ["a"]}, {"type": "null"}]},
    {"allOf": [{"properties": {"a": {"type": "integer"}}, "type": "object"}, {"required": ["a"]}]},
    {"anyOf": [{"const": "a"}, {"const": "b"}]},
    REFERENCES,
]
VALUES = [
    *("", "a", "aa", "aaaa", "b", "ü", "😀", "😀😀"),
    *(0, 1, -1, 3, 10, 0.3, 0.35, 1.5, 2),
    *(True, False, None),
    *([], [1], [1, 1], [1, 2], [1, 2, 3], ["a", 1], ["a", "b"]),
    *({}, {"a": 1}, {"a": [1]}, {"a": "x"}, {"a": 1, "b": "x"}, {"b": 1}, {"z": 1}, {"next": {"size": 0}}),
    *({"next": {"next": {"size": 3}}}, {"size": "x"}),
]


async def test_page_and_server_agree_on_what_is_valid(bare_page):
    pairs = list(itertools.product(SCHEMAS, VALUES))
    page = await bare_page()
    found = await page.evaluate(
        """async (pairs) => {
          const {errorsOf} = await import('/static/schema/validate.js');
          return pairs.map(([schema, value]) => errorsOf(value, schema, schema).length === 0);
        }""",
        pairs,
    )
    expected = [jsonschema_rs.is_valid(schema, value) for schema, value in pairs]
    differences = [pair for pair, one, other in zip(pairs, found, expected, strict=True) if one != other]
    assert differences == []


async def test_pattern_of_another_dialect_and_too_large_numbers(bare_page):
    page = await bare_page()
    found = await page.evaluate("""async () => {
      const {errorsOf} = await import('/static/schema/validate.js');
      const pattern = {type: 'string', pattern: '(?P<year>[0-9]+)'};
      const number = {type: 'integer'};
      return [errorsOf('x', pattern, pattern), errorsOf(12345678901234567890, number, number).map(({key}) => key)];
    }""")
    assert found == [[], ["form.error.inexact"]]


async def test_values_are_changed_without_touching_the_old_one(bare_page):
    page = await bare_page()
    found = await page.evaluate("""async () => {
      const {parsePath, pathText, withValueAt} = await import('/static/schema/paths.js');
      const old = Object.freeze({a: Object.freeze({b: Object.freeze([1, 2])}), c: Object.freeze({})});
      const changed = withValueAt(old, ['a', 'b', 1], 3);
      const made = withValueAt(undefined, ['x', 0, 'y'], 1);
      return [changed, changed.c === old.c, withValueAt(old, ['a'], undefined), made,
        parsePath('edits.list[Edit][0].old'), pathText(['a', 0, 'b', 1])];
    }""")
    assert found == [
        {"a": {"b": [1, 3]}, "c": {}},
        True,
        {"c": {}},
        {"x": [{"y": 1}]},
        ["edits", "list[Edit]", 0, "old"],
        "a[0].b[1]",
    ]


async def test_secrets_are_taken_out_wherever_they_stand(bare_page):
    page = await bare_page()
    secret = {"type": "string", "format": "password", "writeOnly": True}
    login = {"type": "object", "properties": {"user": {"type": "string"}, "key": secret}}
    schema = {
        "type": "object",
        "properties": {
            "key": {"anyOf": [secret, {"type": "null"}]},
            "logins": {"type": "array", "items": {"$ref": "#/$defs/Login"}},
            "by_name": {"type": "object", "additionalProperties": secret},
            "either": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/Login"}]},
            "path": {"type": "string"},
        },
        "$defs": {"Login": login},
    }
    value = {
        "key": "s1",
        "logins": [{"user": "a", "key": "s2"}],
        "by_name": {"x": "s3"},
        "either": {"user": "b", "key": "s4"},
        "path": "p",
    }
    found = await page.evaluate(
        """async ([value, schema]) => (await import('/static/schema/secrets.js')).withoutSecrets(value, schema)""",
        [value, schema],
    )
    assert found == {"logins": [{"user": "a"}], "by_name": {}, "either": {"user": "b"}, "path": "p"}

"""Forms made from a JSON Schema: each kind of field, lists, unions, checks, errors, and JSON as the other view."""

import pytest
from playwright.async_api import expect

EDITS = {
    "type": "object",
    "required": ["path", "edits"],
    "properties": {
        "path": {"type": "string", "description": "File to change, such as `notes/a.md`."},
        "edits": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Edit"}},
        "dry_run": {"type": "boolean", "default": False},
    },
    "$defs": {
        "Edit": {
            "type": "object",
            "required": ["old", "new"],
            "properties": {"old": {"type": "string"}, "new": {"type": "string"}, "all": {"type": "boolean"}},
        }
    },
}


def schema_of(**properties):
    required = [name for name, part in properties.items() if part.pop("must", False)]
    return {"type": "object", "properties": properties, "required": required}


@pytest.fixture
def form(mount):
    async def make(schema, value=None, **properties):
        return await mount("ac-schema-form", schema=schema, value=value or {}, **properties)

    return make


async def test_only_what_was_said_is_in_the_value(form):
    shown = await form(schema_of(path={"type": "string", "must": True}, limit={"type": "integer", "default": 2000}))
    await expect(shown.page.get_by_label("limit")).to_have_attribute("placeholder", "Default: 2000")
    await shown.page.get_by_label("path").fill("a.txt")
    assert await shown.value() == {"path": "a.txt"}
    await shown.page.get_by_label("limit").fill("5")
    await shown.page.get_by_label("limit").fill("")
    assert await shown.value() == {"path": "a.txt"}


async def test_each_kind_of_value_has_its_field(form):
    shown = await form(
        schema_of(
            size={"type": "number"},
            deep={"type": "boolean", "default": True},
            level={"enum": ["low", "high", 3], "default": "low"},
            maybe={"anyOf": [{"type": "boolean"}, {"type": "null"}], "default": None},
            day={"type": "string", "format": "date"},
            flags={"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b", "c"]}},
            key={"type": "string", "format": "password", "writeOnly": True},
            any={},
        )
    )
    page = shown.page
    await page.get_by_label("size").fill("2.5")
    await page.get_by_label("deep").uncheck()
    await page.get_by_role("radio", name="3").check()
    await page.get_by_label("maybe").select_option("No")
    await page.get_by_label("day").fill("2026-02-28")
    await page.get_by_role("checkbox", name="c", exact=True).check()
    await page.get_by_role("checkbox", name="a", exact=True).check()
    await expect(page.get_by_label("key")).to_have_attribute("type", "password")
    await page.get_by_label("key").fill("hidden")
    await page.get_by_label("any").fill('{"free": [1, null]}')
    assert await shown.value() == {
        "size": 2.5,
        "deep": False,
        "level": 3,
        "maybe": False,
        "day": "2026-02-28",
        "flags": ["a", "c"],
        "key": "hidden",
        "any": {"free": [1, None]},
    }


@pytest.mark.more
async def test_moment_is_sent_with_the_offset_of_the_time_zone(form):
    schema = schema_of(at={"type": "string", "format": "date-time"})
    shown = await form(schema, options={"timezone_id": "Asia/Kolkata"})
    await shown.page.get_by_label("at").fill("2026-03-01T10:20:30")
    await shown.page.get_by_label("at").blur()
    assert await shown.value() == {"at": "2026-03-01T10:20:30+05:30"}
    await shown.put(value={"at": "2026-03-01T00:00:05Z"})
    await expect(shown.page.get_by_label("at")).to_have_value("2026-03-01T05:30:05")


async def test_entries_of_a_list_are_added_moved_and_removed_by_keyboard(form):
    shown = await form(schema_of(tags={"type": "array", "items": {"type": "string"}, "maxItems": 3}))
    page = shown.page
    for text in ("one", "two", "three"):
        await page.get_by_role("button", name="Add to tags").press("Enter")
        await expect(page.get_by_role("textbox").last).to_be_focused()
        await page.keyboard.type(text)
    await expect(page.get_by_role("button", name="Add to tags")).to_have_count(0)
    await page.get_by_role("button", name="Move tags 3 up").press("Enter")
    assert await shown.value() == {"tags": ["one", "three", "two"]}
    await expect(page.get_by_role("button", name="Move tags 2 up")).to_be_focused()
    await page.keyboard.press("Enter")
    assert await shown.value() == {"tags": ["three", "one", "two"]}
    await page.get_by_role("button", name="Remove tags 2").press("Enter")
    assert await shown.value() == {"tags": ["three", "two"]}
    for _ in range(2):
        await page.get_by_role("button", name="Remove tags 1").press("Enter")
    assert await shown.value() == {}


async def test_nested_objects_are_filled_in(form):
    shown = await form(EDITS, {"edits": [{}]})
    page = shown.page
    await page.get_by_label("path").fill("a.py")
    await page.get_by_label("old").fill("x\ny")
    await page.get_by_label("new").fill("z")
    await page.get_by_role("button", name="Add to edits").click()
    await expect(page.get_by_text("edits 2")).to_be_visible()
    await page.get_by_role("button", name="Remove edits 2").click()
    assert await shown.value() == {"path": "a.py", "edits": [{"old": "x\ny", "new": "z"}]}


async def test_union_shows_the_variant_that_the_value_is_and_changes_it(form):
    union = {
        "anyOf": [
            {"type": "string"},
            {"type": "integer"},
            {"type": "object", "title": "Region", "required": ["x"], "properties": {"x": {"type": "integer"}}},
        ]
    }
    shown = await form(schema_of(target={**union, "must": True}), {"target": {"x": 4}})
    page = shown.page
    kind = page.get_by_label("Kind of target")
    await expect(kind.locator("option:checked")).to_have_text("Region")
    await expect(page.get_by_label("x")).to_have_value("4")
    await kind.select_option("number")
    await page.get_by_label("target", exact=True).last.fill("7")
    assert await shown.value() == {"target": 7}
    await kind.select_option("text")
    await page.get_by_role("textbox", name="target").fill("left")
    assert await shown.value() == {"target": "left"}


async def test_variants_with_a_fixed_property_get_it_when_they_are_chosen(form):
    shapes = [
        {
            "type": "object",
            "required": ["kind", field],
            "properties": {"kind": {"const": kind}, field: {"type": "number"}},
        }
        for kind, field in (("circle", "radius"), ("square", "side"))
    ]
    shown = await form(schema_of(shape={"oneOf": shapes}))
    await shown.page.get_by_label("Kind of shape").select_option("square")
    await shown.page.get_by_label("side").fill("2")
    assert await shown.value() == {"shape": {"kind": "square", "side": 2}}
    await shown.page.get_by_label("Kind of shape").select_option("Not set")
    assert await shown.value() == {}


async def test_entries_under_free_names_are_added_once(form):
    shown = await form(schema_of(env={"type": "object", "additionalProperties": {"type": "string"}}))
    page = shown.page
    await page.get_by_role("button", name="Add env").click()
    await page.get_by_label("Name of the new entry").fill("__proto__")
    await page.keyboard.press("Enter")
    await page.get_by_role("textbox", name="__proto__").fill("plain")
    await page.get_by_label("Name of the new entry").fill("__proto__")
    await expect(page.get_by_text("There is an entry with this name already.")).to_be_visible()
    assert await shown.element.evaluate("({value}) => JSON.stringify(value)") == '{"env":{"__proto__":"plain"}}'
    await page.get_by_role("button", name="Remove __proto__").click()
    assert await shown.value() == {"env": {}}


async def test_null_can_be_sent_where_leaving_out_means_something_else(form):
    limit = {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 100}
    shown = await form(schema_of(limit=limit))
    await shown.page.get_by_role("button", name="Send null").click()
    assert await shown.value() == {"limit": None}
    await shown.page.get_by_role("button", name="Do not send null").click()
    assert await shown.value() == {}


async def test_recursive_schema_opens_step_by_step(form):
    schema = {
        "type": "object",
        "required": ["node"],
        "properties": {"node": {"$ref": "#/$defs/Node"}},
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "child": {"$ref": "#/$defs/Node"}},
            }
        },
    }
    shown = await form(schema)
    await shown.page.get_by_role("button", name="Add child").click()
    await shown.page.get_by_label("name").last.fill("inner")
    assert await shown.value() == {"node": {"child": {"name": "inner"}}}


async def test_form_and_json_are_in_step(form):
    shown = await form(EDITS, {"path": "a", "edits": []})
    page = shown.page
    await page.get_by_role("button", name="JSON").click()
    await page.get_by_role("textbox", name="JSON").fill('{"path": "b", "edits": [{"old": "1", "new": "2"}], "more": 1}')
    await page.get_by_role("button", name="Form").click()
    await expect(page.get_by_label("path")).to_have_value("b")
    await expect(page.get_by_label("old")).to_have_value("1")
    await expect(page.get_by_role("textbox", name="more")).to_have_value("1")
    await page.get_by_label("path").fill("c")
    await page.get_by_role("button", name="JSON").click()
    assert '"path": "c"' in await page.get_by_role("textbox", name="JSON").input_value()


async def test_text_that_is_no_json_keeps_the_last_value_and_says_where(form):
    shown = await form(EDITS, {"path": "a", "edits": []})
    page = shown.page
    await page.get_by_role("button", name="JSON").click()
    await page.get_by_role("textbox", name="JSON").fill('{"path": ')
    await expect(page.get_by_text("This is not valid JSON")).to_be_visible()
    assert not await shown.element.evaluate("(form) => form.check()")
    await page.get_by_role("button", name="Form").click()
    await expect(page.get_by_text("the form shows the last valid state")).to_be_visible()
    assert await shown.value() == {"path": "a", "edits": []}
    await page.get_by_role("button", name="JSON").click()
    await page.get_by_role("textbox", name="JSON").fill("[1]")
    await expect(page.get_by_text("This has to be a JSON object")).to_be_visible()


async def test_value_that_does_not_fit_its_field_is_shown_as_json_until_it_does(form):
    shown = await form(schema_of(limit={"type": "integer"}), {"limit": "ten"})
    page = shown.page
    await expect(page.get_by_text("does not fit the field")).to_be_visible()
    await page.get_by_label("limit").fill("10")
    await page.get_by_label("limit").blur()
    await expect(page.get_by_role("spinbutton", name="limit")).to_have_value("10")
    assert await shown.value() == {"limit": 10}


async def test_check_shows_what_is_wrong_and_puts_the_focus_there(form):
    shown = await form(EDITS, {"edits": [{"old": "x"}]})
    page = shown.page
    assert not await shown.element.evaluate("(form) => form.check()")
    await expect(page.get_by_label("path")).to_be_focused()
    await expect(page.get_by_label("path")).to_have_attribute("aria-invalid", "true")
    await expect(page.get_by_label("path")).to_have_accessible_description(
        "File to change, such as notes/a.md. This is required. Use an empty text"
    )
    await page.get_by_label("path").fill("a")
    assert not await shown.element.evaluate("(form) => form.check()")
    await expect(page.get_by_label("new")).to_be_focused()
    await page.get_by_role("button", name="Use an empty text").click()
    assert await shown.element.evaluate("(form) => form.check()")
    assert await shown.value() == {"path": "a", "edits": [{"old": "x", "new": ""}]}


async def test_errors_of_the_server_stand_at_their_fields_until_these_change(form):
    shown = await form(EDITS, {"path": "a", "edits": [{"old": "x", "new": "y"}]})
    page = shown.page
    errors = [
        {"path": "edits.list[Edit][0].old", "message": "does not occur in the file"},
        {"path": "pathh", "message": "is not a parameter"},
    ]
    await shown.put(errors=errors)
    await expect(page.get_by_label("old")).to_have_accessible_description("Does not occur in the file")
    await expect(page.get_by_text("Pathh: is not a parameter")).to_be_visible()
    await page.get_by_label("old").fill("z")
    await expect(page.get_by_text("Does not occur in the file")).to_have_count(0)
    await expect(page.get_by_text("Pathh: is not a parameter")).to_have_count(0)


async def test_what_is_no_number_is_marked_and_not_taken(form):
    shown = await form(schema_of(limit={"type": "integer"}))
    await shown.page.get_by_label("limit").press_sequentially("1e")
    await expect(shown.page.get_by_text("This is not a number.")).to_be_visible()
    assert await shown.value() == {}
    assert not await shown.element.evaluate("(form) => form.check()")
    await shown.page.get_by_label("limit").press_sequentially("2")
    await expect(shown.page.get_by_text("This is not a number.")).to_have_count(0)
    assert await shown.value() == {"limit": 100}


async def test_file_fills_a_text_field(form, tmp_path):
    (tmp_path / "a.txt").write_text("line 1\nzweite Zeile: ü\n", encoding="utf-8")
    (tmp_path / "b.bin").write_bytes(b"\xff\xfe\x00")
    shown = await form(schema_of(content={"type": "string"}))
    await shown.page.locator('input[type="file"]').set_input_files(tmp_path / "a.txt")
    await expect(shown.page.get_by_label("content")).to_have_value("line 1\nzweite Zeile: ü\n")
    await shown.page.locator('input[type="file"]').set_input_files(tmp_path / "b.bin")
    await expect(shown.page.get_by_text("The file is no UTF-8 text.")).to_be_visible()
    assert await shown.value() == {"content": "line 1\nzweite Zeile: ü\n"}


async def test_file_becomes_base64(form, tmp_path):
    (tmp_path / "a.bin").write_bytes(bytes(range(256)) * 300)
    shown = await form(schema_of(data={"type": "string", "contentEncoding": "base64"}))
    await shown.page.get_by_label("data").set_input_files(tmp_path / "a.bin")
    await expect(shown.page.get_by_text("a.bin, 75 KiB")).to_be_visible()
    length = await shown.element.evaluate("({value}) => atob(value.data).length")
    assert length == 256 * 300
    await shown.page.get_by_role("button", name="Remove").click()
    assert await shown.value() == {}


async def test_text_with_several_lines_that_is_pasted_keeps_them(form):
    shown = await form(schema_of(path={"type": "string"}))
    await shown.page.get_by_label("path").evaluate("""(input) => {
      const data = new DataTransfer();
      data.setData('text/plain', 'one\\ntwo');
      const options = {clipboardData: data, bubbles: true, composed: true, cancelable: true};
      input.dispatchEvent(new ClipboardEvent('paste', options));
    }""")
    await expect(shown.page.get_by_label("path")).to_have_value("one\ntwo")
    assert await shown.value() == {"path": "one\ntwo"}


async def test_field_that_its_owner_made_read_only_cannot_be_changed(form):
    notes = {"port": {"isReadOnly": True, "note": "from the environment"}, "key": {"isSet": True}}
    shown = await form(
        schema_of(port={"type": "integer"}, key={"type": "string", "format": "password"}), {"port": 80}, notes=notes
    )
    await expect(shown.page.get_by_label("port")).to_be_disabled()
    await expect(shown.page.get_by_text("from the environment")).to_be_visible()
    await expect(shown.page.get_by_label("key")).to_have_attribute(
        "placeholder", "A value is set; leave this empty to keep it."
    )


@pytest.mark.more
async def test_form_is_accessible(form, axe_problems):
    schema = {**EDITS, "properties": {**EDITS["properties"]}}
    schema["properties"] |= {
        "env": {"type": "object", "additionalProperties": {"type": "string"}},
        "target": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"x": {"type": "integer"}}}]},
        "mode": {"enum": ["a", "b"], "default": "a"},
        "level": {"enum": ["a", "b", "c", "d", "e"]},
        "flags": {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b", "c"]}},
        "file": {"type": "string", "contentEncoding": "base64"},
        "when": {"type": "string", "format": "date-time"},
        "key": {"type": "string", "format": "password"},
        "any": {},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
    }
    value = {"edits": [{"old": "a\nb"}], "env": {"HOME": "x"}, "target": {"x": 1}, "pair": ["a", 1]}
    shown = await form(schema, value)
    await shown.element.evaluate("(form) => form.check()")
    await expect(shown.page.get_by_text("This is required.").first).to_be_visible()
    assert await axe_problems(shown.page) == []

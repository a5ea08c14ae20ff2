"""`agentcore tools`."""

import pytest


@pytest.mark.spec("M5")
def test_tools_are_listed_in_aligned_columns(place):
    done = place.run("tools")
    header, *rows = done.out.splitlines()
    column = header.index("DESCRIPTION")
    assert [row.split()[0] for row in rows] == ["clock_now", "clock_text", "clock_set", "clock_wait"]
    assert rows[0][column:] == "Give the time in a zone."


def test_one_tool_is_shown_with_its_arguments(place):
    done = place.run("tools", "clock_now")
    assert "zone: text = 'UTC'\n      IANA name, such as UTC." in done.out
    assert 'precision: "seconds" | "minutes"' in done.out


def test_required_argument_is_marked(place):
    assert "text: text, required" in place.run("tools", "clock_text").out


@pytest.mark.spec("M5")
@pytest.mark.parametrize(
    ("form", "schema_key"), [("openai", "function"), ("anthropic", "input_schema"), ("mcp", "inputSchema")]
)
def test_definitions_are_given_in_the_forms_of_others(place, form, schema_key):
    done = place.run("tools", "--format", form)
    assert schema_key in done.json["tools"][0]


def test_json_of_one_tool_is_its_definition(place):
    assert place.run("tools", "clock_now", "--json").json["module"] == "clock"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("clock_nwo", "there is no tool 'clock_nwo'; did you mean 'clock_now' or"),
        ("wait", "there is no tool 'wait'; did you mean 'clock_wait'?"),
        ("nope", "there is no tool 'nope'\n  agentcore tools lists them"),
    ],
)
def test_unknown_tool_gets_the_same_suggestions_whether_it_is_shown_or_called(place, name, said):
    shown, called = place.run("tools", name), place.run("call", name)
    assert (shown.code, called.code) == (1, 1)
    assert said in shown.err
    assert said in called.err


def test_no_tools_are_said(empty_place):
    empty_place.write_app(modules=[])
    done = empty_place.run("tools")
    assert (done.code, done.out) == (0, "")
    assert "no module is running" in done.err


@pytest.mark.spec("K9")
def test_check_counts_for_each_provider_the_tools_that_it_takes(place):
    done = place.run("tools", "--check")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()[1:]] == [
        "openai",
        "openai_strict",
        "openai_compatible",
        "anthropic",
        "gemini",
        "mcp",
    ]
    assert all(line.endswith("4 of 4") for line in done.out.splitlines()[1:])
    assert place.run("tools", "--check", "--json").json["faults"] == []
    assert place.run("tools", "--check", "--format", "mcp").code == 2

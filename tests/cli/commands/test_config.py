"""`agentcore config`."""

import pytest


@pytest.mark.spec("K5")
def test_each_value_is_shown_with_its_origin(place):
    place.write_app(modules=["clock"], config={"clock": {"zone": "Bonn"}})
    (place.folder / "modules" / "clock.json").write_text('{"zone": "Rome"}')
    done = place.run("config", "show", "--json", environ={"AGENTCORE_SERVER__PORT": "9000"})
    values, origins = done.json["values"], done.json["origins"]
    assert (values["server"]["port"], origins["server.port"]) == (9000, "environment variable AGENTCORE_SERVER__PORT")
    assert values["config"]["clock"]["zone"] == "Rome"
    assert origins["config.clock.zone"].endswith("modules/clock.json:1")
    assert origins["locale"] == "default"


@pytest.mark.spec("M3")
def test_table_shows_key_value_and_place(place):
    rows = place.run("config", "show").out.splitlines()
    assert any(row.split()[:2] == ["server.port", "0"] and row.endswith("app.json:6") for row in rows)


@pytest.mark.spec("M8")
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_secrets_are_masked_whatever_they_are_called(place, as_json):
    place.write_app(
        modules=["clock"],
        config={"clock": {"code": "hunter2"}, "other": {"api_key": "hunter3", "list": [{"token": "hunter4"}]}},
    )
    done = place.run("config", "show", *as_json)
    assert done.code == 0
    assert "hunter" not in done.out + done.err
    assert done.out.count("•••") == 3


@pytest.mark.spec("M8")
def test_settings_of_a_module_that_cannot_be_imported_are_hidden(place, add_broken_module):
    add_broken_module()
    place.write_app(modules=["clock", "broken"], config={"broken": {"plain": "hunter2"}})
    done = place.run("config", "show")
    assert done.code == 0
    assert "hunter2" not in done.out
    assert "the settings of module broken are hidden: no network" in done.err


@pytest.mark.spec("M3")
def test_schema_holds_the_settings_of_installed_modules(place):
    schema = place.run("config", "schema").json
    assert schema["$defs"]["clock"]["properties"]["zone"]["default"] == "UTC"


@pytest.mark.spec("M3")
def test_schema_leaves_out_what_cannot_be_imported_and_says_so(place, add_broken_module):
    add_broken_module()
    done = place.run("config", "schema")
    assert done.code == 0
    assert done.json["properties"]["config"]["properties"]["broken"] == {"type": "object"}
    assert "no network" in done.err

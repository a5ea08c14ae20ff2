"""Families of modules on the command line: blocks of app.json beside other modules."""

import json
import os

import pytest

from tests.core.installing import Site
from tests.server.modules import bells

pytestmark = pytest.mark.spec("K10")

SMALL = {"sound": "ding", "env": {"PLACE": "s3cret-place"}, "token": "s3cret-token"}
BLOCKS = {"small": SMALL, "Big-Ben": {"sound": "dong"}}


@pytest.fixture
def ringing(place, tmp_path, monkeypatch):
    """A place whose interpreter has the family, with one block that is listed and one that is not."""
    site = Site(tmp_path / "site")
    bells.install(site)
    monkeypatch.syspath_prepend(site.path)
    place.write_app(modules=["clock", "bell_small"], bells=BLOCKS)
    return place


def app_json(place):
    return json.loads((place.folder / "app.json").read_text())


def test_blocks_are_listed_shown_called_enabled_and_disabled(ringing):
    listed = {module["name"]: module for module in ringing.run("modules", "list", "--json").json["modules"]}
    assert (listed["bell_small"]["state"], listed["bell_big_ben"]["state"]) == ("ready", "stopped")
    assert "to turn it on: agentcore modules enable bell_big_ben" in ringing.run("modules", "list").out
    assert ringing.run("call", "bell_small_ring").out.strip() == "ding"
    assert ringing.run("modules", "enable", "bell_big_ben").code == 0
    assert app_json(ringing)["modules"] == ["clock", "bell_small", "bell_big_ben"]
    assert ringing.run("call", "bell_big_ben_ring").out.strip() == "dong"
    assert ringing.run("modules", "disable", "bell_small").code == 0
    assert app_json(ringing)["modules"] == ["clock", "bell_big_ben"]


def test_block_is_shown_with_its_place_and_without_secrets(ringing):
    shown = ringing.run("modules", "info", "bell_small").out
    assert f"small of bells ({ringing.folder / 'app.json'}:" in shown
    assert '"PLACE": "•••"' in shown
    assert "s3cret" not in shown
    assert '"sound": "dong"' in ringing.run("modules", "info", "bell_big_ben").out


def test_configuration_is_shown_with_blocks_and_without_their_secrets(ringing):
    done = ringing.run("config", "show", "--json")
    assert done.json["values"]["bells"]["Big-Ben"] == {"sound": "dong"}
    assert done.json["values"]["bells"]["small"] == {"sound": "ding", "env": {"PLACE": "•••"}, "token": "•••"}
    assert "s3cret" not in done.out + ringing.run("config", "show").out
    assert done.json["values"]["config"]["bell_small"] == {"loud": False}


def test_schema_of_app_json_knows_the_key_and_what_a_block_may_be(ringing):
    schema = ringing.run("config", "schema").json
    entries = schema["properties"]["bells"]["additionalProperties"]
    block = schema["$defs"][entries["$ref"].removeprefix("#/$defs/")]
    assert (set(block["properties"]), block["required"]) == ({"sound", "times", "env", "token"}, ["sound"])
    assert "bell_big_ben" in schema["properties"]["modules"]["items"]["anyOf"][0]["enum"]
    assert "loud" in schema["$defs"]["bell_small"]["properties"]


@pytest.mark.more
def test_family_that_cannot_be_imported_leaves_its_blocks_open_in_the_schema(ringing, tmp_path):
    site = Site(tmp_path / "site")
    bells.install(site, "raise SystemExit('no bells')")
    ringing.environ["PYTHONPATH"] = str(site.path)  # in a process that has not imported it before
    done = ringing.run("config", "schema")
    assert done.json["properties"]["bells"]["additionalProperties"]["type"] == "object"
    assert "no bells" in done.err


@pytest.mark.more
@pytest.mark.parametrize("written", ["s3cret-place", "${BELL_SECRET}"])
def test_family_that_quotes_its_block_shows_no_secret_of_it(ringing, tmp_path, written):
    site = Site(tmp_path / "site")
    quoting = bells.SOURCE.replace(
        "    return Ringing(name, block)",
        "    raise ValueError(f\"no bell at {block.env['BELL_KEY'].get_secret_value()}\")",
    )
    bells.install(site, quoting)
    ringing.write_app(modules=["bell_small"], bells={"small": {"sound": "ding", "env": {"BELL_KEY": written}}})
    path = os.pathsep.join(filter(None, (str(site.path), os.environ.get("PYTHONPATH"))))
    ringing.environ |= {"PYTHONPATH": path, "BELL_SECRET": "s3cret-place"}
    for words in (("config", "show"), ("config", "schema"), ("doctor",), ("modules", "info", "bell_small")):
        done = ringing.run(*words)
        assert "no bell at •••" in done.out + done.err, words
        assert "s3cret" not in done.out + done.err, words


def test_doctor_names_each_block_that_is_no_module_and_why(ringing):
    wrong = {"wrong": {"sound": 3}, "@@": {"sound": "x"}, "A/b": {"sound": "x"}, "a-b": {"sound": "x"}, "text": "x"}
    ringing.write_app(modules=["bell_small", "bell_wrong"], bells=BLOCKS | wrong)
    done = ringing.run("doctor", "--json")
    assert done.code == 1
    said = [(each["subject"], each["said"]) for each in done.json["findings"] if each["level"] == "problem"]
    expected = {
        "app.json": "its key makes no module's name",
        "module bell_wrong": "bells.wrong.sound: expected text, found a whole number",
        "module bell_a_b": "'A/b' and 'a-b' of bells would each be module 'bell_a_b'",
        "module bell_text": "bells.text: expected an object, found text",
    }
    assert sorted(subject for subject, _ in said) == sorted(expected)
    assert [subject for subject, text in said if expected[subject] not in text] == []
    levels = {finding["subject"]: finding["level"] for finding in done.json["findings"]}
    assert (levels["module bell_small"], levels["module bell_big_ben"]) == ("ok", "note")


def test_key_of_a_family_that_is_not_installed_is_an_error(place):
    place.write_app(bells=BLOCKS)
    done = place.run("modules", "list")
    assert done.code == 2
    assert "bells: unknown key" in done.err


def test_block_refers_to_variables_and_secrets_and_is_shown_with_the_references(ringing):
    ringing.environ |= {"RING_TIMES": "2", "RING_SOUND": "ding"}
    block = {"sound": "${RING_SOUND}", "times": "${RING_TIMES}", "env": {"KEY": "${secret:bell.key}"}}
    ringing.write_app(modules=["clock", "bell_small"], bells={"small": block})
    assert ringing.run("secrets", "list", "--json").json["missing"] == {"bell.key": ["bell_small"]}
    assert "agentcore secrets set bell.key" in ringing.run("modules", "info", "bell_small").out
    ringing.run("secrets", "set", "bell.key", stdin="s3cret-value")
    assert ringing.run("call", "bell_small_ring").out.strip() == "ding ding"
    done = ringing.run("config", "show", "--json")
    assert done.err == ""
    assert done.json["values"]["bells"]["small"] == block
    assert "loud" in ringing.run("config", "schema").json["$defs"]["bell_small"]["properties"]
    shown = [ringing.run(*words).out for words in (("config", "show"), ("modules", "info", "bell_small"), ("doctor",))]
    assert "s3cret" not in "".join([done.out, *shown])

"""`agentcore modules` without a running server."""

import json
import sys

import pytest


@pytest.mark.spec("M4")
def test_modules_are_listed_with_state_and_reason(place, add_broken_module):
    add_broken_module()
    done = place.run("modules", "list", "--json")
    states = {module["name"]: (module["state"], module["listed"]) for module in done.json["modules"]}
    assert (states["clock"], states["broken"]) == (("ready", True), ("failed", True))
    assert "no network" in place.run("modules", "list").out


@pytest.mark.spec("M1")
def test_module_that_is_only_installed_is_listed_and_not_imported(place):
    place.add_module("idle", "raise SystemExit('imported')\n")
    done = place.run("modules", "list")
    assert "to turn it on: agentcore modules enable idle" in done.out


def test_one_module_is_shown(place):
    done = place.run("modules", "info", "clock")
    assert "clock_now, clock_text" in done.out
    assert str(place.folder / "modules" / "clock.py") in done.out


def test_unknown_module_is_an_error(place):
    done = place.run("modules", "info", "clok")
    assert done.code == 1
    assert "module_not_found" in done.err


@pytest.mark.spec("M4")
def test_enable_adds_the_module_and_keeps_the_rest_of_app_json(place):
    place.add_module("other", "def init(runtime): pass\n")
    path = place.folder / "app.json"
    path.write_text('{\n    "modules": ["clock"],\n    "locale": "zh"\n}\n')
    done = place.run("modules", "enable", "other")
    assert (done.code, done.out) == (0, "other is on from the next start.\n")
    assert path.read_text() == '{\n    "modules": ["clock", "other"],\n    "locale": "zh"\n}\n'


def test_enable_of_a_module_that_is_on_changes_nothing(place):
    before = (place.folder / "app.json").read_bytes()
    assert place.run("modules", "enable", "clock").out == "clock is on already.\n"
    assert (place.folder / "app.json").read_bytes() == before


@pytest.mark.spec("M1")
def test_enable_of_a_module_that_is_not_installed_names_the_pip_command(place):
    done = place.run("modules", "enable", "web_tools_of_nobody")
    assert done.code == 2
    assert f"{sys.executable} -m pip install agentcore-web-tools-of-nobody" in done.err


@pytest.mark.spec("K5")
@pytest.mark.parametrize("command", ["enable", "disable"])
def test_list_that_the_environment_fixes_is_not_changed(place, command):
    before = (place.folder / "app.json").read_bytes()
    done = place.run("modules", command, "clock", environ={"AGENTCORE_MODULES": '["clock"]'})
    assert done.code == 2
    assert "AGENTCORE_MODULES" in done.err
    assert (place.folder / "app.json").read_bytes() == before


@pytest.mark.spec("M4")
def test_disable_takes_the_module_out(place):
    assert place.run("modules", "disable", "clock").code == 0
    assert json.loads((place.folder / "app.json").read_text())["modules"] == []


def test_disable_of_a_module_that_is_off_is_an_error(place):
    done = place.run("modules", "disable", "other")
    assert done.code == 2
    assert "on are: clock" in done.err


@pytest.mark.spec("K4")
def test_reload_needs_a_running_server(place):
    done = place.run("modules", "reload", "clock")
    assert done.code == 3
    assert "agentcore serve" in done.err


SLIPS = {
    "title_dict": "title = {'en': 'Titled', 'zh': '标题'}",
    "title_number": "title = 3",
    "key_number": "config_key = 3",
    "note_none": "def init(self, runtime): runtime.note(3, None)",
    "route_body": "def init(self, runtime): runtime.add_route('GET', 'x', print, body=3)",
    "tools_odd": "def get_tool_definitions(self): return [{'name': 'odd', 'annotations': {'a': object()}}, 3]",
    "settings_odd": "Settings = 3",
}


@pytest.mark.spec("M4", "S4")
def test_slips_in_what_modules_say_leave_the_lists_whole(place):
    for name, line in SLIPS.items():
        place.add_module(name, f"from agentcore.api import Module\nclass M(Module):\n    {line}\n")
    (place.folder / "app.json").write_text(json.dumps({"modules": ["clock", *SLIPS]}))
    listed = {module["name"]: module for module in place.run("modules", "list", "--json").json["modules"]}
    assert {name: listed[name]["state"] for name in ("clock", *SLIPS)} == dict.fromkeys(SLIPS, "failed") | {
        "clock": "ready",
        "title_dict": "ready",
        "tools_odd": "ready",
    }
    assert listed["title_dict"]["title"] == "Titled"
    assert "title of module 'title_number' must be text" in listed["title_number"]["reason"]
    assert "subject of note in module 'note_none' must be text, not 3" in listed["note_none"]["reason"]
    assert len(listed["tools_odd"]["problems"]) == 2
    assert "clock_now" in place.run("tools").out
    assert "config_key of module 'key_number' must be text" in place.run("modules", "info", "key_number").out
    place.run("config", "schema")
    for name in SLIPS:
        assert place.run("modules", "disable", name).code == 0


@pytest.mark.spec("K6")
def test_enable_says_what_the_module_adds_to_the_page(place):
    place.add_module(
        "maps",
        "from agentcore.api import Module, WebComponent\nclass M(Module):\n    def get_web_component(self):\n"
        "        return WebComponent('maps-x', 'x.js', '.', 'Maps', csp={'img-src': ['https://tiles.example.org']})\n",
    )
    assert "It adds to the page: img-src https://tiles.example.org" in place.run("modules", "enable", "maps").out

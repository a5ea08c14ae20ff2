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

"""`agentcore doctor`."""

import socket

import pytest


def levels(done):
    return {finding["subject"]: finding["level"] for finding in done.json["findings"]}


def test_sound_installation_has_no_problem(place):
    done = place.run("doctor", "--json")
    found = levels(done)
    assert done.code == 0
    assert "problem" not in found.values()
    assert {found[subject] for subject in ("python", "packages", "app.json", "workspace", "state", "server")} == {"ok"}
    assert found["module clock"] == "ok"


def test_module_that_failed_is_a_problem_with_its_reason(place, add_broken_module):
    add_broken_module()
    done = place.run("doctor")
    assert done.code == 1
    assert "module broken: failed: no network" in done.out


def test_module_that_is_not_installed_is_a_problem(place):
    place.write_app(modules=["clock", "nowhere"])
    done = place.run("doctor", "--json")
    assert (done.code, levels(done)["module nowhere"]) == (1, "problem")


def test_invalid_app_json_is_a_problem(place):
    (place.folder / "app.json").write_text("{")
    done = place.run("doctor", "--json")
    assert (done.code, levels(done)["app.json"]) == (1, "problem")


@pytest.mark.spec("S1")
def test_token_that_others_can_read_is_a_problem(place):
    place.run("tools")
    (place.state / "token").chmod(0o644)
    done = place.run("doctor")
    assert done.code == 1
    assert "chmod go=" in done.out


def test_port_that_is_taken_is_a_problem(place):
    with socket.create_server(("127.0.0.1", 0)) as other:
        place.write_app(modules=["clock"], server={"port": other.getsockname()[1]})
        done = place.run("doctor", "--json")
    assert (done.code, levels(done)["server"]) == (1, "problem")


def test_root_that_is_missing_is_a_problem(place):
    place.write_app(modules=["clock"], workspace={"roots": ["nowhere"]})
    assert levels(place.run("doctor", "--json"))["workspace"] == "problem"


def test_missing_app_json_is_a_note_that_says_what_to_do(empty_place):
    done = empty_place.run("doctor")
    assert "agentcore init writes one" in done.out


def test_notes_of_modules_are_told_with_their_advice(place):
    source = (
        "from agentcore.api import Module\n\n"
        "class Needy(Module):\n    '''Needs a program.'''\n\n"
        "    def init(self, runtime):\n"
        "        runtime.note('a program', 'was not found', advice='install it')\n"
    )
    place.add_module("needy", source)
    place.write_app(modules=["needy"], server={"port": 0})
    done = place.run("doctor", "--json")
    noted = next(finding for finding in done.json["findings"] if finding["subject"] == "a program")
    assert (noted["level"], noted["said"], noted["advice"]) == ("note", "was not found", "install it")
    assert done.code == 0

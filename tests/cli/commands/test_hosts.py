"""`agentcore hosts`, and what other commands say of hosts."""

import json
import sys

import pytest

pytestmark = pytest.mark.spec("H2")

AWAY = {"kind": "process", "modules": ["clock"]}


def configure(place, **hosts):
    path = place.folder / "app.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "hosts": hosts}))


def finding(done, subject):
    return next(each for each in done.json["findings"] if each["subject"] == subject)


@pytest.mark.more
def test_hosts_are_listed_with_their_modules(place):
    configure(place, away=AWAY)
    lines = place.run("hosts").out.splitlines()
    assert lines[0].split() == ["HOST", "STATE", "MODULES", "PID", "MEMORY", "CALLS", "REMARK"]
    assert lines[1].split()[:3] == ["away", "running", "clock"]
    [host] = place.run("hosts", "--json").json["hosts"]
    assert (host["name"], host["state"]) == ("away", "running")


def test_without_hosts_it_says_what_would_make_one(place):
    done = place.run("hosts")
    assert (done.code, done.out) == (0, "")
    assert '"hosts"' in done.err


@pytest.mark.more
def test_modules_say_in_which_host_they_run(place):
    configure(place, away=AWAY)
    assert "in host away" in place.run("modules", "list").out
    assert "host away" in place.run("modules", "info", "clock").out


def test_restart_needs_a_running_server_and_a_host_of_that_name(place, start_server):
    configure(place, away=AWAY)
    assert place.run("hosts", "restart", "away").code == 3
    start_server()
    done = place.run("hosts", "restart", "away")
    assert (done.code, done.out) == (0, "away is running.\n")
    done = place.run("hosts", "restart", "nowhere")
    assert done.code == 1
    assert "host_not_found" in done.err


@pytest.mark.more
def test_host_that_runs_is_well(place):
    configure(place, away=AWAY | {"python": sys.executable})
    assert finding(place.run("doctor", "--json"), "host away")["level"] == "ok"


@pytest.mark.parametrize(
    ("python", "said"), [("/no/such/python", "does not exist"), ("/usr/bin/false", "has no agentcore-runtime")]
)
def test_python_that_cannot_run_a_host_is_a_problem(place, python, said):
    configure(place, away=AWAY | {"python": python})
    found = finding(place.run("doctor", "--json"), "host away")
    assert found["level"] == "problem"
    assert f"{python} {said}" in found["said"]


@pytest.mark.more
def test_module_that_is_claimed_and_not_listed_is_a_note(place):
    configure(place, away=AWAY | {"modules": ["clock", "other"]})
    found = finding(place.run("doctor", "--json"), "host away")
    assert (found["level"], found["advice"]) == ("note", "agentcore modules enable other")


def test_module_that_two_hosts_claim_is_a_problem_of_app_json(place):
    configure(place, away=AWAY, elsewhere=AWAY)
    found = finding(place.run("doctor", "--json"), "app.json")
    assert found["level"] == "problem"
    assert "'clock' runs in one host only, and is claimed by 'away' and 'elsewhere'" in found["said"]
    assert "app.json:1:" in found["said"]

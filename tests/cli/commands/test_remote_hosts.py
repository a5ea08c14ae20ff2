"""Hosts on other machines on the command line: let in at a terminal, listed, drained, disconnected, forgotten."""

import json
import re
from itertools import takewhile

import pytest

from agentcore.store.state.state_dir import read_server_info
from tests.cli.conftest import CLOCK, LIMIT_S, Place
from tests.support.waiting import wait_until_sync

pytestmark = pytest.mark.spec("H3")

_CODE = re.compile(r"approval view of \S+: ([0-9A-Z]{5}-[0-9A-Z]{5})")


@pytest.fixture
def terminal(on_terminal):
    """The terminal of a server."""
    terminal = on_terminal("serve")
    terminal.expect_server()
    return terminal


@pytest.fixture
def far(place, tmp_path):
    """Another machine, with a module to offer."""
    folder = tmp_path / "shed"
    folder.mkdir()
    far = Place(folder, place.environ | {"AGENTCORE_STATE_DIR": str(tmp_path / "shed-state")})
    far.add_module("clock", CLOCK)
    far.write_app(modules=["clock"])
    return far


@pytest.fixture
def dial(place, far):
    """Have another machine dial in; gives the code that it shows."""
    started = []

    def start(*arguments):
        address = read_server_info(place.state).addresses["page"]
        process = far.start("host", "--server", address, "--name", "shed", *arguments)
        started.append(process)
        for line in process.stdout:
            if (found := _CODE.search(line)) is not None:
                return found[1]
        raise AssertionError(process.stderr.read())

    yield start
    for process in started:
        process.terminate()
        process.communicate(timeout=LIMIT_S)


@pytest.fixture
def paired(terminal, dial, place):
    """A host that was let in at the server's terminal, and is connected."""
    terminal.type(f"pair {dial()}\n")
    terminal.expect_question()
    terminal.decide("yes")
    terminal.expect("shed is paired")
    return wait_for_host(place, "running")


def wait_for_host(place, state):
    """Wait until the host is in a state."""

    def found():
        hosts = place.run("hosts", "--json").json["hosts"]
        return next((each for each in hosts if each["state"] == state), None)

    return wait_until_sync(found)


def test_host_is_let_in_at_the_terminal_of_the_server_once_it_was_shown(place, terminal, dial):
    terminal.type(f"pair {dial().lower()}\n")
    shown = terminal.expect_question()
    for text in (
        "shed",
        "from 127.0.0.1",
        "agentcore 0.1.0",
        "works in",
        "offers     Clock (clock)",
        "clock_now [read]",
    ):
        assert text in shown
    terminal.decide("yes")
    terminal.expect("shed is paired and connects automatically.")
    assert wait_for_host(place, "running")["name"] == "shed"


def test_host_is_refused_at_the_terminal_by_anything_but_a_yes(place, terminal, dial):
    terminal.type(f"pair {dial()}\n")
    terminal.expect_question()
    terminal.decide("no")
    terminal.expect("Refused.")
    assert place.run("hosts", "--json").json["hosts"] == []


def test_wrong_code_lets_nothing_in(terminal):
    terminal.type("pair 7KQ2M-XW3RD\n")
    terminal.expect("no host shows this code")


def test_host_is_let_in_at_another_terminal_by_who_logs_in_to_the_approval_view(place, terminal, dial, on_terminal):
    code = dial()
    terminal.type("code\n")
    terminal.expect("approval view  ")
    address = terminal.expect("\r\n").strip()
    other = on_terminal("hosts", "pair", code)
    other.expect("Log-in code")
    other.type(f"{address}\n")
    assert "clock_set" in other.expect_question()
    other.decide("yes")
    code, said = other.end()
    assert (code, "shed is paired" in said) == (0, True), said
    assert wait_for_host(place, "running")["name"] == "shed"
    again = on_terminal("hosts", "pair", "7KQ2M-XW3RD")
    again.expect("Log-in code")
    again.type(f"{address}\n")
    code, said = again.end()
    assert (code, "log-in code is not valid" in said) == (2, True), said


def test_pairing_without_a_person_says_where_one_is(place, start_server):
    start_server()
    done = place.run("hosts", "pair", "7KQ2M-XW3RD")
    assert done.code == 2
    assert "approval view, http://127.0.0.1:" in done.err
    assert "`pair 7KQ2M-XW3RD` in the terminal of the server" in done.err


def test_host_is_listed_with_where_it_is_and_what_it_offers(place, paired):
    lines = place.run("hosts").out.splitlines()
    assert lines[0].split() == ["HOST", "STATE", "ADDRESS", "SINCE", "ANSWERS", "IN", "CALLS", "MODULES", "REMARK"]
    assert lines[1].split()[:3] == ["shed", "running", "127.0.0.1"]
    assert f"clock ({paired['modules'][0]['tools']})" in lines[1]


@pytest.mark.more
def test_host_is_drained_kept_out_let_in_again_and_forgotten(place, paired):
    assert place.run("hosts", "drain", "shed").out == "shed is drained.\n"
    assert place.run("hosts", "undrain", "shed", "--json").json["state"] == "running"
    assert place.run("hosts", "disconnect", "shed").out.startswith("shed is disconnected.\n")
    assert place.run("hosts", "connect", "shed").code == 0
    wait_for_host(place, "running")
    unsure = place.run("hosts", "forget", "shed")
    assert (unsure.code, "--yes" in unsure.err) == (2, True)
    assert place.run("hosts", "forget", "shed", "--yes").out == "shed is forgotten.\n"
    gone = place.run("hosts", "drain", "shed")
    assert (gone.code, "host_not_found" in gone.err) == (1, True)


def test_forgetting_is_asked_at_a_terminal(place, paired, on_terminal):
    asking = on_terminal("hosts", "forget", "shed")
    asking.expect("Its key is void then")
    asking.type("n\n")
    assert asking.end()[0] == 130
    assert [each["name"] for each in place.run("hosts", "--json").json["hosts"]] == ["shed"]


def test_host_that_app_json_names_and_nobody_has_let_in_says_what_to_start_there(place):
    place.write_app(modules=["clock"], hosts={"attic": {"kind": "remote"}})
    out = place.run("hosts").out
    assert "waiting" in out
    assert "agentcore host --server URL --name attic" in out


@pytest.mark.parametrize(("command", "notices"), [("host", 0), ("agent", 1)])
def test_former_name_dials_in_and_leaves_stdout_to_json(place, far, start_server, command, notices):
    start_server()
    address = read_server_info(place.state).addresses["page"]
    process = far.start(command, "--server", address, "--name", "shed", "--json")
    first_lines = list(takewhile(lambda line: '"agent.code"' not in line, process.stdout))
    process.terminate()
    rest, log = process.communicate(timeout=LIMIT_S)
    told = [json.loads(line) for line in [*first_lines, *rest.splitlines()]]
    assert told[0]["type"] == "agent.offers"
    assert log.splitlines().count("`agentcore agent` is now `agentcore host`") == notices
    assert process.returncode == 0

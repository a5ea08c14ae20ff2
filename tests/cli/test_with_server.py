"""The command line as the client of a running server."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request

import pytest


def wait_until_called(place, tool):
    """Wait until the server works on a call of a tool; its module counts it."""
    for _ in range(500):
        module = place.run("modules", "info", "clock", "--json").json
        if module["callsInFlight"]:
            return
    raise AssertionError(f"{tool} was never called")


@pytest.mark.spec("K4")
def test_call_goes_to_the_server(place, running_server):
    done = place.run("call", "clock_now", "zone=Bonn", "--json")
    assert done.json["data"]["zone"] == "Bonn"
    assert running_server.wait_for("call_finished")["call_id"] == done.json["callId"]


@pytest.mark.spec("K4")
def test_client_of_a_server_loads_no_host(place, running_server):
    code = (
        "import sys\nfrom agentcore.cli import main\ntry:\n    main(['call', 'clock_text', 'text=x'])\n"
        "except SystemExit:\n    print([name for name in ('aiohttp', 'aiosqlite', 'structlog') if name in sys.modules])"
    )
    done = subprocess.run(
        [place.python, "-c", code], cwd=place.folder, env=place.environ, capture_output=True, text=True, check=True
    )
    assert done.stdout == "x\n[]\n"


@pytest.mark.spec("M6")
def test_failed_call_ends_with_1_and_its_error(place, running_server):
    done = place.run("call", "clock_now", "zone=bad")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("zone_not_found: no zone <U+001B>[31m'bad'")


def test_tools_are_those_of_the_server(place, running_server):
    names = [tool["name"] for tool in place.run("tools", "--json").json["tools"]]
    assert names == ["clock_now", "clock_text", "clock_set", "clock_wait"]
    assert "function" in place.run("tools", "--format", "openai").json["tools"][0]


@pytest.mark.spec("M4")
def test_disable_and_enable_work_at_once_and_rewrite_app_json(place, running_server):
    assert place.run("modules", "disable", "clock").out.startswith("clock is stopped.")
    assert json.loads((place.folder / "app.json").read_text())["modules"] == []
    assert place.run("call", "clock_now").code == 1
    assert place.run("modules", "enable", "clock").out == "clock is ready.\n"
    assert place.run("call", "clock_now").code == 0


@pytest.mark.spec("M4")
def test_reload_takes_the_code_that_is_there_now(place, running_server):
    path = place.folder / "modules" / "clock.py"
    path.write_text(path.read_text().replace("def clock_text", "def clock_words"))
    assert place.run("modules", "reload", "clock").out == "clock is ready.\n"
    assert place.run("call", "clock_words", "text=x").out == "x\n"


@pytest.mark.spec("M4")
def test_module_that_does_not_get_ready_ends_with_1_and_its_reason(place, running_server):
    place.add_module("broken", "raise RuntimeError('no network')\n")
    done = place.run("modules", "enable", "broken")
    assert (done.code, done.out) == (1, "broken is failed. no network\n")


def test_unknown_module_is_an_error(place, running_server):
    done = place.run("modules", "info", "clok")
    assert done.code == 1
    assert "module_not_found" in done.err


@pytest.mark.spec("S2")
def test_client_cannot_approve(place, running_server, on_terminal):
    terminal = on_terminal("call", "clock_set", "zone=UTC", "--timeout", "1")
    shown = terminal.expect("waits for approval at the server's terminal")
    assert "Run it?" not in shown
    terminal.type("y\n")
    terminal.type("\x03")
    code, _ = terminal.end()
    assert code == 130


@pytest.mark.spec("R4")
def test_interrupt_cancels_the_call_on_the_server(place, running_server):
    calling = place.start("call", "clock_wait")
    wait_until_called(place, "clock_wait")
    calling.send_signal(signal.SIGINT)
    _, err = calling.communicate(timeout=60)
    assert calling.returncode == 130
    assert err.strip() == "interrupted"
    assert running_server.wait_for("call_finished")["outcome"] == "cancelled"


@pytest.mark.spec("M5")
def test_progress_is_shown_on_a_terminal(place, running_server, on_terminal):
    terminal = on_terminal("call", "clock_wait")
    terminal.expect("25% waiting")
    terminal.type("\x03")
    assert terminal.end()[0] == 130


@pytest.mark.spec("S7")
def test_stop_ends_what_runs_and_takes_no_more_calls(place, running_server):
    calling = place.start("call", "clock_wait")
    wait_until_called(place, "clock_wait")
    done = place.run("stop")
    assert (done.code, done.out.splitlines()[0]) == (0, "Stopped: 1 calls and 0 resources ended, 0 rejected.")
    _, err = calling.communicate(timeout=60)
    assert (calling.returncode, err.startswith("cancelled: everything was stopped")) == (1, True)
    assert place.run("call", "clock_now").err.startswith("stopped: ")


@pytest.mark.spec("S7")
def test_record_is_verified_while_the_server_writes(place, running_server):
    place.run("call", "clock_now")
    assert place.run("audit", "verify").out.startswith("intact: ")


@pytest.mark.spec("S1")
def test_open_gives_an_address_whose_code_logs_in_once(place, running_server):
    address = place.run("open", "--print").out.strip()
    base, _, code = address.partition("/#code=")
    body = json.dumps({"code": code}).encode()
    request = urllib.request.Request(f"{base}/api/session", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        assert "session" in json.load(response)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    refused.value.close()
    assert refused.value.code == 401


@pytest.mark.spec("S1")
def test_wrong_token_is_refused_and_the_remedy_named(place, running_server):
    done = place.run("call", "clock_now", environ={"AGENTCORE_TOKEN": "another"})
    assert done.code == 3
    assert "AGENTCORE_TOKEN" in done.err


@pytest.mark.spec("K4")
def test_server_for_another_app_json_is_named(place, running_server, tmp_path):
    done = place.run("tools", "--config", str(tmp_path / "other.json"))
    assert done.code == 3
    assert str(place.folder / "app.json") in done.err


@pytest.mark.spec("K4")
def test_second_server_is_refused_and_the_first_is_named(place, running_server):
    done = place.run("serve")
    assert done.code == 3
    assert running_server.address in done.err


@pytest.mark.spec("K4")
def test_server_that_was_killed_does_not_stand_in_the_way(place, running_server):
    os.kill(running_server.process.pid, signal.SIGKILL)
    running_server.process.wait()
    assert place.run("call", "clock_text", "text=x").out == "x\n"
    assert place.run("stop").code == 3


def test_doctor_names_the_server(place, running_server):
    assert f"at {running_server.address}" in place.run("doctor").out

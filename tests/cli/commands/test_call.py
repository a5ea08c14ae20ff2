"""`agentcore call` without a running server: a host in its own process."""

import json

import pytest

from agentcore.store.state.state_dir import StateDir


@pytest.mark.spec("M5")
def test_result_is_printed_for_people(place):
    done = place.run("call", "clock_text", "text=hello\tyou")
    assert (done.code, done.out, done.err) == (0, "hello\tyou\n", "")


def test_data_is_printed_as_json_over_several_lines(place):
    done = place.run("call", "clock_now", "zone=Berlin", "count=2", "tags=a", "tags=b")
    assert done.json == {"zone": "Berlin", "count": 2, "precision": "seconds", "tags": ["a", "b"]}
    assert done.out.startswith('{\n  "zone"')


@pytest.mark.spec("M6")
def test_json_prints_the_envelope_as_one_line(place):
    done = place.run("call", "clock_now", "--json")
    assert done.json["ok"] is True
    assert done.json["data"]["zone"] == "UTC"
    assert done.json["callId"].startswith("call_")
    assert done.out.count("\n") == 1


@pytest.mark.spec("M6")
def test_failed_call_ends_with_1_and_its_error(place):
    done = place.run("call", "clock_now", "zone=bad")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("zone_not_found: no zone ")


def test_control_characters_of_an_error_do_not_reach_the_terminal(place):
    done = place.run("call", "clock_now", "zone=bad")
    assert "\x1b" not in done.err
    assert "<U+001B>[31m" in done.err


def test_json_of_a_failed_call_is_the_error_object(place):
    done = place.run("call", "clock_now", "zone=bad", "--json")
    assert done.code == 1
    assert done.json["error"]["type"] == "zone_not_found"


@pytest.mark.spec("M6")
def test_unknown_tool_names_a_near_one(place):
    done = place.run("call", "clock_nwo")
    assert done.code == 1
    assert "unknown_tool" in done.err
    assert "'clock_now'" in done.err


def test_wrong_argument_is_named(place):
    done = place.run("call", "clock_now", "cuont=3")
    assert done.code == 1
    assert "did you mean 'count'?" in done.err


def test_argument_of_the_wrong_type_is_a_usage_error(place):
    done = place.run("call", "clock_now", "count=many")
    assert done.code == 2
    assert "a whole number" in done.err


def test_arguments_are_read_from_stdin(place):
    done = place.run("call", "clock_now", "--json-arguments", "-", stdin='{"zone": "Bonn"}')
    assert done.json["zone"] == "Bonn"


@pytest.mark.spec("M5")
def test_time_limit_ends_the_call(place):
    done = place.run("call", "clock_wait", "--timeout", "0.05", "--json")
    assert done.code == 1
    assert done.json["error"]["type"] == "timeout"


@pytest.mark.spec("M8")
def test_defect_shows_no_traceback_unless_it_is_asked_for(place):
    silent, verbose = place.run("call", "clock_now", "zone=defect"), place.run("-v", "call", "clock_now", "zone=defect")
    assert silent.code == verbose.code == 1
    assert "internal_error" in silent.err
    assert "Traceback" not in silent.err
    assert "ZeroDivisionError: a defect" in verbose.err


@pytest.mark.spec("S2")
def test_call_that_needs_approval_says_so_where_nobody_can_be_asked(place):
    done = place.run("call", "clock_set", "zone=UTC", stdin="y\n")
    assert done.code == 1
    assert "approval_required" in done.err


@pytest.mark.spec("M4")
def test_module_that_failed_is_named_and_the_others_serve(place, add_broken_module):
    add_broken_module()
    done = place.run("call", "clock_text", "text=x")
    assert (done.code, done.out) == (0, "x\n")
    assert "module broken is failed: no network" in done.err


@pytest.mark.spec("K4")
def test_state_folder_that_another_process_holds_ends_with_3(place):
    with StateDir.open(place.folder / "app.json", environ=place.environ):
        done = place.run("call", "clock_now")
    assert done.code == 3
    assert "is held by another agentcore process" in done.err


@pytest.mark.spec("S7")
def test_call_is_in_the_record(place):
    call_id = place.run("call", "clock_now", "--json").json["callId"]
    assert call_id.encode() in (place.state / "state.sqlite3").read_bytes()
    assert place.run("audit", "verify").out.startswith("intact: 1 rows")


def test_missing_app_json_is_said(empty_place):
    done = empty_place.run("call", "clock_now")
    assert done.code == 1
    assert "agentcore init" in done.err


def test_app_json_elsewhere_is_named_with_config(place, tmp_path):
    done = place.run("call", "clock_text", "text=x", "--config", str(place.folder / "app.json"))
    assert json.dumps(done.out) == json.dumps("x\n")

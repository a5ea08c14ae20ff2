"""`agentcore audit`."""

import json
import sqlite3

import pytest


@pytest.mark.spec("S7")
def test_record_that_nobody_changed_is_intact(place):
    place.run("call", "clock_now")
    report = place.run("audit", "verify", "--json").json
    assert report["is_intact"] is True
    assert report["rows"] == 1


@pytest.mark.spec("S7")
def test_changed_record_is_found_and_ends_with_1(place):
    place.run("call", "clock_now")
    with sqlite3.connect(place.state / "state.sqlite3") as database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {name}")
        database.execute("UPDATE record SET tool = 'other'")
    database.close()
    done = place.run("audit", "verify")
    assert done.code == 1
    assert "broken at row 1" in done.out


def test_record_that_is_not_there_is_an_error(place):
    done = place.run("audit", "verify")
    assert done.code == 2
    assert "state.sqlite3" in done.err


@pytest.mark.spec("S7")
def test_calls_are_listed_newest_first_with_filters_and_a_limit_while_a_server_runs(place, running_server):
    for word in ("first", "second", "third"):
        place.run("call", "clock_text", f"text={word}")
    place.run("call", "clock_nwo")
    newest = place.run("audit", "list", "-n", "2")
    header, *rows = newest.out.splitlines()
    assert header.split() == ["ROW", "TIME", "TOOL", "OUTCOME", "CALL", "ARGUMENTS"]
    assert rows[0].split()[3:5] == ["clock_nwo", "unknown_tool"]
    assert '{"text":"third"}' in rows[1]
    assert "--before 3" in newest.err
    older = place.run("audit", "list", "--before", "3", "--tool", "clock_text", "--json").json
    assert [row["arguments"] for row in older["calls"]] == ['{"text":"second"}', '{"text":"first"}']
    assert older["next"] is None
    assert len(place.run("audit", "list", "--outcome", "failed", "--json").json["calls"]) == 1
    assert len(place.run("audit", "list", "--text", "second", "--json").json["calls"]) == 1


@pytest.mark.spec("S7")
def test_one_call_is_shown_by_its_id_or_its_row_without_a_server(place):
    call_id = place.run("call", "clock_text", "text=noon", "--json").json["callId"]
    by_id, by_row = place.run("audit", "show", call_id), place.run("audit", "show", "1")
    assert by_id.out == by_row.out
    assert [line.split(None, 1) for line in by_id.out.splitlines() if line.split()[0] in ("call", "arguments")] == [
        ["call", call_id],
        ["arguments", '{"text":"noon"}'],
    ]
    assert place.run("audit", "show", call_id, "--json").json["calls"][0]["outcome"] == "ok"


def test_call_that_the_record_does_not_have_says_where_ids_are(place):
    place.run("call", "clock_now")
    for name in ("call_0", "77"):
        done = place.run("audit", "show", name)
        assert done.code == 1
        assert "agentcore audit list shows ids" in done.err


def test_record_in_which_nothing_matches_says_so(place):
    place.run("call", "clock_now")
    done = place.run("audit", "list", "--module", "nowhere")
    assert (done.code, done.out) == (0, "")
    assert "nothing of that" in done.err


@pytest.mark.spec("S7")
def test_whole_record_is_exported_as_json_lines_and_no_file_is_replaced(place):
    place.run("call", "clock_text", "text=first")
    place.run("call", "clock_text", "text=second")
    target = place.folder / "record.jsonl"
    done = place.run("audit", "export", str(target))
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert [row["arguments"] for row in rows] == ['{"text":"first"}', '{"text":"second"}']
    assert "2 rows" in done.err
    again = place.run("audit", "export", str(target))
    assert (again.code, "exists already" in again.err) == (2, True)

"""`agentcore audit`."""

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

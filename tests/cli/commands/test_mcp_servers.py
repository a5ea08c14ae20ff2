"""`agentcore mcp add`, `list` and `remove`: the servers of app.json."""

import json
import time

import pytest


def document(place):
    """What app.json says."""
    return json.loads((place.folder / "app.json").read_text())


def test_a_command_is_added_listed_and_removed(place):
    before = (place.folder / "app.json").read_text()
    added = place.run(
        "mcp", "add", "@me/Time", "--env", "ZONE=${secret:ZONE}", "--yes", "--", "uvx", "mcp-server-time", "-v"
    )
    assert added.code == 0, added.err
    block = {"command": "uvx", "args": ["mcp-server-time", "-v"], "env": {"ZONE": "${secret:ZONE}"}}
    assert document(place)["mcpServers"] == {"@me/Time": block}
    assert document(place)["modules"] == ["clock", "mcp_me_time"]
    (row,) = place.run("mcp", "list", "--json").json["servers"]
    assert row == {
        "name": "@me/Time",
        "module": "mcp_me_time",
        "isOn": True,
        "state": "",
        "runs": "uvx mcp-server-time -v",
    }
    assert place.run("mcp", "remove", "@me/Time", "--yes").code == 0
    assert document(place) == json.loads(before) | {"mcpServers": {}}


def test_an_address_is_added_with_its_headers(place):
    added = place.run("mcp", "add", "docs", "https://mcp.example.com/mcp", "--header", "X-Key=${secret:DOCS}", "--yes")
    assert added.code == 0, added.err
    assert document(place)["mcpServers"]["docs"] == {
        "url": "https://mcp.example.com/mcp",
        "headers": {"X-Key": "${secret:DOCS}"},
    }


def test_a_server_whose_hints_are_believed_is_added(place):
    assert place.run("mcp", "add", "time", "--trust", "--yes", "--", "uvx", "mcp-server-time").code == 0
    assert document(place)["mcpServers"]["time"]["agentcore"] == {"trust_annotations": True}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "docs", "https://example.com/mcp", "--env", "A=1", "--yes"), "takes --header"),
        (("add", "time", "--header", "A=1", "--yes", "--", "uvx"), "takes --env"),
        (("add", "time", "--env", "A", "--yes", "--", "uvx"), "is not NAME=VALUE"),
        (("add", "…", "--yes", "--", "uvx"), "makes no name of a module"),
        (("add", "time", "--", "uvx"), "--yes"),
        (("remove", "time", "--yes"), "there is no server 'time'"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(place, words, said):
    before = (place.folder / "app.json").read_text()
    done = place.run("mcp", *words)
    assert done.code == 2
    assert said in done.err
    assert (place.folder / "app.json").read_text() == before


def test_a_name_that_is_taken_is_said_to_be(place):
    place.run("mcp", "add", "time", "--yes", "--", "uvx", "one")
    again = place.run("mcp", "add", "time", "--yes", "--", "uvx", "two")
    assert again.code == 2
    assert "already" in again.err
    assert document(place)["mcpServers"]["time"]["args"] == ["one"]


@pytest.mark.more
def test_every_list_says_alike_what_a_server_waits_for(place):
    block = {"command": "no-such-program-here"}
    app = document(place)
    app["mcpServers"] = {"late": block}
    app["modules"] = ["mcp_late"]
    (place.folder / "app.json").write_text(json.dumps(app))
    served = place.start("serve")
    try:
        until = time.monotonic() + 120
        while not (place.state / "server.json").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        said = "waiting for its program"
        while (state := place.run("mcp", "list", "--json").json["servers"][0]["state"]) == "loading":
            assert time.monotonic() < until
        assert state == said
        assert said in place.run("mcp", "list").out
        assert said in place.run("modules", "list").out
        assert said in place.run("modules", "info", "mcp_late").out
        found = place.run("doctor").out
        assert f"{said}: there is no program 'no-such-program-here' on PATH" in found
        assert place.run("mcp", "test", "late").code == 1
    finally:
        served.kill()
        served.communicate()


def test_with_a_server_the_change_waits_for_a_person(place):
    served = place.start("serve")
    try:
        until = time.monotonic() + 120
        while not (place.state / "server.json").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        done = place.run("mcp", "add", "time", "--yes", "--", "uvx", "mcp-server-time")
        assert done.code == 1, done.err
        assert "approval view" in done.err
        assert "mcpServers" not in document(place)
    finally:
        served.kill()
        served.communicate()

"""`agentcore stop --all`: the end of the server and of hosts that would outlive it."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.spec("H2")


@pytest.fixture
def outliving(place):
    """A place whose one module runs in a host that outlives the server."""
    host = {"kind": "process", "modules": ["clock"], "survives_restart": True, "keep_minutes": 3}
    place.write_app(modules=["clock"], hosts={"lasting": host})
    yield place
    place.run("stop", "--all")


def _hosts(place) -> list[int]:
    """The processes of hosts that have their socket in the place's state folder."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if b"agentcore.hosts.worker" in command and str(place.state).encode() in command:
            found.append(int(folder.name))
    return found


def test_stop_all_ends_the_server_and_what_would_outlive_it(outliving, start_server):
    server = start_server()
    assert len(_hosts(outliving)) == 1
    done = outliving.run("stop", "--all")
    assert done.code == 0, done.err
    assert done.out.splitlines()[1] == "The server has ended."
    assert server.process.wait(60) == 0
    assert _hosts(outliving) == []


def test_stop_all_ends_hosts_that_a_killed_server_left(outliving, start_server):
    server = start_server()
    server.process.kill()
    server.process.wait()
    assert len(_hosts(outliving)) == 1
    done = outliving.run("stop", "--all", "--json")
    assert (done.code, done.json["server"], done.json["hosts"]) == (0, False, ["lasting"])
    assert _hosts(outliving) == []


def test_stop_all_with_nothing_there_says_so(outliving):
    done = outliving.run("stop", "--all")
    assert (done.code, done.out.splitlines()[1:]) == (0, ["No server was running."])

"""`agentcore mcp login` and `logout`: at a real server that lets nobody in without, in a process of its own."""

import json
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

SERVER = Path(__file__).parents[3] / "plugins" / "mcp_servers" / "tests" / "login_server.py"


@pytest.fixture(scope="module")
def notes():
    """The server, for all tests of the file: each is a client that it has not seen before; gives its base address."""
    pytest.importorskip("agentcore_mcp_servers")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-u", str(SERVER), str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any("Uvicorn running" in line for line in process.stderr)
        yield f"http://127.0.0.1:{port}"
        process.kill()


@pytest.fixture
def agentcore(place, notes, start_server):
    """The server of agentcore, with the other one mounted."""
    place.write_app(modules=["mcp_notes"], mcpServers={"Notes": {"url": f"{notes}/mcp"}})
    return start_server()


@pytest.fixture
def mounted(place, agentcore):
    """Where commands run while that is so."""
    return place


@pytest.fixture
def log_in(mounted):
    """Begin to log in; gives the command that waits, and the address that it says."""
    with ExitStack() as stack:

        def begin():
            command = mounted.start("mcp", "login", "Notes", "--no-browser")
            stack.callback(command.communicate)
            stack.callback(command.kill)
            return command, command.stdout.readline().strip()

        yield begin


def allow(address):
    """Be the person in front of the browser, who says yes; gives the page at which it ends."""
    with urllib.request.urlopen(address) as asked:
        form = urllib.request.Request(asked.url, data=b"answer=yes")
    with urllib.request.urlopen(form) as page:
        return page.read().decode()


class Landing(urllib.request.HTTPRedirectHandler):
    """A browser on another machine: it is led back, and reaches nothing there."""

    def redirect_request(self, request, file, code, message, headers, address):
        if "/callback" in address:
            file.close()
            raise ConnectionRefusedError(address)
        return super().redirect_request(request, file, code, message, headers, address)


@pytest.mark.more
def test_a_person_logs_in_by_the_address_that_the_command_says(mounted, log_in):
    command, address = log_in()
    assert address.startswith("http://127.0.0.1:")
    assert "Logged in" in allow(address)
    out, err = command.communicate(timeout=60)
    assert (command.returncode, out.startswith("Logged in at 127.0.0.1:")) == (0, True), err
    assert "look whether it is where you expect to be asked" in err
    assert (mounted.state / "module_secrets" / "mcp_notes.json").exists()
    assert mounted.run("mcp", "logout", "mcp_notes").out == "Logged out.\n"
    assert not (mounted.state / "module_secrets" / "mcp_notes.json").exists()


@pytest.mark.more
def test_a_browser_elsewhere_ends_it_by_the_address_at_which_it_ended(mounted, log_in):
    command, address = log_in()
    browser = urllib.request.build_opener(Landing)
    with browser.open(address) as asked:
        form = urllib.request.Request(asked.url, data=b"answer=yes")
    with pytest.raises(ConnectionRefusedError) as landed:
        browser.open(form)
    wrong = mounted.run("mcp", "login", "Notes", "--landed", "http://127.0.0.1:1/callback?code=1&state=2")
    assert (wrong.code, "the browser's address bar" in wrong.err) == (1, True)
    done = mounted.run("mcp", "login", "Notes", "--landed", str(landed.value))
    assert (done.code, done.out.startswith("Logged in at")) == (0, True), done.err
    assert command.wait(60) == 0


def test_a_person_who_says_no_is_told_so(mounted, log_in):
    command, address = log_in()
    redirect = urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)
    answer = {"error": "access_denied", "state": redirect["state"][0]}
    with pytest.raises(urllib.error.HTTPError, match="400") as page:
        urllib.request.urlopen(f"{redirect['redirect_uri'][0]}?{urllib.parse.urlencode(answer)}")
    page.value.close()
    _, err = command.communicate(timeout=60)
    assert (command.returncode, "access_denied" in err) == (1, True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("login", "Note"), 2, "there is no server 'Note'"),
        (("logout", "Note"), 2, "there is no server 'Note'"),
        (("login", "Notes"), 3, "agentcore serve"),
    ],
)
def test_what_cannot_be_is_said_to_be_so(place, words, code, said):
    pytest.importorskip("agentcore_mcp_servers")
    place.write_app(modules=["mcp_notes"], mcpServers={"Notes": {"url": "https://notes.example.com/mcp"}})
    done = place.run("mcp", *words)
    assert (done.code, said in done.err) == (code, True), done.err


@pytest.mark.more
def test_a_server_that_is_removed_leaves_no_tokens(mounted, agentcore, log_in):
    command, address = log_in()
    allow(address)
    assert command.wait(60) == 0
    kept = mounted.state / "module_secrets" / "mcp_notes.json"
    assert json.loads(kept.read_text())["access_token"]
    agentcore.stop()
    assert mounted.run("mcp", "remove", "Notes", "--yes").code == 0
    assert not kept.exists()


def test_a_trial_of_a_server_that_wants_a_log_in_says_so(place, notes):
    place.write_app(modules=[], mcpServers={"Notes": {"url": f"{notes}/mcp"}})
    done = place.run("mcp", "test", "Notes")
    assert "agentcore mcp login mcp_notes" in done.out + done.err

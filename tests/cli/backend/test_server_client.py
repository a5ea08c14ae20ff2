"""A server that is not there, not ours, or goes away."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from agentcore.cli.backend.server_client import path_of
from agentcore.store.state.state_dir import StateDir


class Stranger(BaseHTTPRequestHandler):
    """Answers everything with 200 and no JSON."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>")

    do_POST = do_GET  # noqa: N815 - the name that http.server looks for

    def log_message(self, *args):
        pass


@contextmanager
def pretending(place, address):
    """A process that holds the state folder and says that it serves at an address."""
    with StateDir.open(place.folder / "app.json", environ=place.environ) as state:
        state.write_server_info({"page": address} if address else {})
        yield


@contextmanager
def stranger():
    """A server that is not ours."""
    with HTTPServer(("127.0.0.1", 0), Stranger) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.spec("K4")
def test_server_that_does_not_answer_ends_with_3(place):
    with stranger() as address:
        pass
    with pretending(place, address):
        done = place.run("tools")
    assert done.code == 3
    assert f"{address} cannot be reached" in done.err


@pytest.mark.spec("K4")
def test_server_that_has_no_address_yet_ends_with_3(place):
    with pretending(place, None):
        done = place.run("tools")
    assert done.code == 3
    assert "is starting" in done.err


@pytest.mark.parametrize("command", [["tools"], ["stop"]])
def test_server_that_is_not_ours_ends_with_3(place, command):
    with stranger() as address, pretending(place, address):
        done = place.run(*command)
    assert done.code == 3
    assert "did not answer with JSON" in done.err


@pytest.mark.more
@pytest.mark.spec("K2")
def test_server_that_is_killed_during_a_call_leaves_its_outcome_open(place, running_server, on_terminal):
    calling = on_terminal("call", "clock_wait")
    calling.expect("25% waiting")
    running_server.process.kill()
    code, shown = calling.end()
    assert code == 3
    assert "ended the call's stream" in shown or "cannot be reached" in shown
    assert place.run("call", "clock_text", "text=x").code == 0


def test_segments_of_a_path_are_quoted():
    assert path_of("api", "tools", "a/../b?c#d", "call") == "/api/tools/a%2F..%2Fb%3Fc%23d/call"

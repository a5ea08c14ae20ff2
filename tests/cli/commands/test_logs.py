"""`agentcore logs`: the log of a server that runs, and of one that has ended."""

import json
import signal
import stat

import pytest

from tests.cli.conftest import LIMIT_S
from tests.support.waiting import wait_until_sync

pytestmark = pytest.mark.spec("M8")

TALKER = '''
import logging
import structlog
from agentcore.api import Module, tool


class Talker(Module):
    """Says things."""

    @tool(read_only=True)
    async def talker_say(self, text: str) -> str:
        """Say something into the log."""
        structlog.get_logger("talker").info("said", text=text, api_key="hunter2")
        logging.getLogger("talker.old").warning("said in the old way")
        return text

    @tool(read_only=True)
    def talker_fail(self) -> str:
        """Fail."""
        return self._deeper()

    def _deeper(self):
        raise ZeroDivisionError("never \\x1b[31mred")
'''


@pytest.fixture
def talker(place):
    """A place with a module that logs."""
    place.add_module("talker", TALKER)
    place.write_app(modules=["clock", "talker"], server={"port": 0})
    return place


def lines(place, *arguments):
    return [json.loads(line) for line in place.run("logs", "--json", *arguments).out.splitlines()]


def test_log_of_a_running_server_is_shown_by_module_call_and_level(talker, start_server):
    start_server()
    call_id = talker.run("call", "talker_say", "text=hello", "--json").json["callId"]
    talker.run("call", "clock_now")
    # the last lines are written up to 20 ms after the call
    expected = {"server_ready", "module_ready", "call_finished", "said"}
    wait_until_sync(lambda: expected <= {line["event"] for line in lines(talker)})
    everything = lines(talker)
    assert {line["module"] for line in lines(talker, "--module", "talker")} == {"talker"}
    of_call = lines(talker, "--call", call_id)
    assert [line["event"] for line in of_call] == ["said", "said in the old way", "call_finished"]
    assert {line["level"] for line in lines(talker, "--level", "warning")} == {"warning"}
    assert len(lines(talker, "-n", "2")) == 2
    assert "hunter2" not in json.dumps(everything)
    assert str((talker.state / "token").read_text().strip()) not in json.dumps(everything)


def test_log_of_a_server_that_was_killed_is_there_with_tracebacks_from_the_modules_code_on(talker, start_server):
    server = start_server()
    call_id = talker.run("call", "talker_fail", "--json").json["callId"]
    server.process.kill()
    server.process.wait(LIMIT_S)
    shown = talker.run("logs", "--call", call_id).out
    assert "error    call_failed" in shown
    assert "Traceback (most recent call last):\n  File " in shown
    assert "in talker_fail\n    return self._deeper()" in shown
    assert "ZeroDivisionError" in shown
    assert "agentcore/core/" not in shown
    for file in (talker.state / "logs").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_log_goes_on_over_restarts_and_follows_what_comes(talker, start_server):
    start_server().stop()
    start_server()
    following = talker.start("logs", "-f", "--json", "--module", "talker")
    try:
        begun = [json.loads(following.stdout.readline())["event"] for _ in range(3)]
        assert begun == ["module_ready", "module_stopped", "module_ready"]
        talker.run("call", "talker_say", "text=now")
        assert json.loads(following.stdout.readline())["text"] == "now"
        following.send_signal(signal.SIGINT)
        _, err = following.communicate(timeout=LIMIT_S)
        assert (following.returncode, err) == (0, "")
    finally:
        following.kill()
        following.communicate()


def test_verbose_server_shows_a_traceback_whole_on_its_terminal_and_in_the_log_file(talker, on_terminal):
    terminal = on_terminal("-v", "serve")
    terminal.expect_server()
    talker.run("call", "talker_fail")
    shown = terminal.expect("ZeroDivisionError: never <U+001B>[31mred").replace("\r\n", "\n")
    assert "in talker_fail\n    return self._deeper()\n" in shown
    assert "\\n" not in shown.partition("call_failed")[2]
    assert "call_failed" in {line["event"] for line in lines(talker)}


def test_where_no_server_has_run_it_says_so(place):
    done = place.run("logs")
    assert (done.code, done.out) == (0, "")
    assert "No server has written a log" in done.err

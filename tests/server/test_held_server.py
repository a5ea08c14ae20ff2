"""A server whose event loop a module holds: it is said who does, and it comes to an end."""

import json
import signal
import textwrap
import time
import urllib.request

import pytest

from tests.server.served import LIMIT_S, gone, is_alive

HOLDING = textwrap.dedent('''
    import asyncio, re, signal, subprocess, time
    from agentcore.api import Module, tool

    class Holding(Module):
        """Holds whatever can be held."""

        @tool(read_only=True)
        async def spin(self) -> None:
            """Hold the event loop for ever, without a processor's work."""
            while True:
                time.sleep(0.001)

        @tool(read_only=True)
        def match(self) -> bool:
            """Match for ever, in a thread that keeps the lock of the interpreter."""
            return bool(re.fullmatch(r"(a|aa)+", "a" * 200 + "b"))

        @tool(read_only=True)
        async def sleep(self, seconds: float) -> str:
            """Sleep in the event loop.

            Args:
                seconds: How long.
            """
            time.sleep(seconds)
            return "slept"

        @tool
        async def listen(self) -> None:
            """Handle a signal of its own."""
            signal.signal(signal.SIGUSR1, lambda *_: None)

        @tool
        async def child(self) -> int:
            """Start a program."""
            return subprocess.Popen(["sleep", "1000"]).pid
''')


LATE = textwrap.dedent("""
    import asyncio, logging
    from pathlib import Path
    from agentcore.api import Module

    class Late(Module):
        async def init(self, runtime):
            logging.getLogger("late").warning("late_begins")
            while not (Path(__file__).parents[1] / "go").exists():
                await asyncio.sleep(0.01)
""")


@pytest.mark.more
@pytest.mark.spec("S4", "S7")
@pytest.mark.parametrize("tool", ["spin", "match"])
def test_loop_that_stays_held_ends_the_server_which_says_why(start_server, tool):
    server = start_server({"holding": HOLDING}, loop_blocked_max=3)
    child = server.result("child")["data"]
    assert is_alive(child)
    started = server.children()
    server.call(tool)
    at_once = server.line("event_loop_blocked")
    assert (at_once["module"], at_once["tool"]) == ("holding", tool)
    assert f"in {tool}" in at_once["frames"][-1] or any(f" in {tool}" in frame for frame in at_once["frames"])
    ended = server.line("server_ended_by_loop_guard")
    assert (ended["module"], ended["tool"], ended["exit_code"]) == ("holding", tool, 24)
    assert any("holding.py" in frame for frame in ended["frames"])
    assert server.process.wait(LIMIT_S) == 24
    gone(started)
    report = json.loads((server.state / "loop_blocked.json").read_text())
    assert (report["module"], report["tool"], report["ended"]) == ("holding", tool, True)


@pytest.mark.more
@pytest.mark.spec("S4", "S7")
@pytest.mark.parametrize("tool", ["spin", "match"])
def test_signal_ends_a_held_server_within_the_grace(start_server, tool):
    server = start_server({"holding": HOLDING}, loop_blocked_max=3600, stop_grace=1)
    server.call(tool)
    server.line("event_loop_blocked")
    server.process.terminate()
    assert server.line("server_ended_by_loop_guard")["tool"] == tool
    assert server.process.wait(LIMIT_S) == 24


@pytest.mark.more
@pytest.mark.spec("S4")
@pytest.mark.parametrize("tool", ["spin", "match"])
def test_clients_are_told_who_holds_the_server_and_what_to_do(start_server, tool):
    server = start_server({"holding": HOLDING}, loop_blocked_max=3600)
    server.call(tool)
    server.line("event_loop_blocked")
    while not (server.state / "loop_blocked.json").exists():
        time.sleep(0.01)
    for command in (("modules", "info", "holding"), ("stop",)):
        done = server.command(*command)
        assert done.returncode == 3, done
        assert f"process {server.process.pid}, does not answer: code of module 'holding' has held it" in done.stderr
        assert f"in tool '{tool}'" in done.stderr
        assert f"kill {server.process.pid}" in done.stderr
    done = server.command("doctor")
    assert done.returncode == 1
    assert done.stdout.count("does not answer: code of module 'holding'") == 1
    server.process.terminate()
    assert server.process.wait(LIMIT_S) == 24
    assert "the last one was ended: code of module 'holding'" in server.command("doctor").stdout
    again = start_server({"holding": HOLDING})
    assert next(line for line in again.lines if line["event"] == "last_server_was_ended")["module"] == "holding"
    assert not (server.state / "loop_blocked.json").exists()


@pytest.mark.more
@pytest.mark.spec("S4")
def test_thread_that_keeps_the_lock_of_the_interpreter_is_named_afterwards_too(start_server):
    server = start_server({"holding": HOLDING}, loop_blocked_max=3600)
    slow = '"a" * 200'
    assert slow in HOLDING
    (server.folder / "modules" / "holding.py").write_text(HOLDING.replace(slow, '"a" * 37'))
    assert server.command("modules", "reload", "holding").returncode == 0
    server.result("match")
    while server.line("event_loop_was_blocked")["module"] != "holding":
        pass  # the machine may have been busy before
    while not (problems := json.loads(server.command("modules", "info", "holding", "--json").stdout)["problems"]):
        pass
    assert "held the whole server" in problems[0]
    assert "tool 'match'" in problems[0]


@pytest.mark.spec("S4")
def test_server_that_was_stopped_itself_is_not_ended(start_server):
    server = start_server({"holding": HOLDING}, loop_blocked_max=1)
    server.process.send_signal(signal.SIGSTOP)
    time.sleep(4)  # four times what would end it, if it counted
    server.process.send_signal(signal.SIGCONT)
    assert server.result("sleep", seconds=0)["ok"]
    server.process.terminate()
    assert server.process.wait(LIMIT_S) == 0
    assert not any(line["event"] == "server_ended_by_loop_guard" for line in server.rest())


@pytest.mark.spec("S4")
def test_signal_that_a_module_handles_does_not_end_the_server(start_server):
    server = start_server({"holding": HOLDING}, loop_blocked_max=3600, stop_grace=0.5)
    assert server.result("listen")["ok"]
    server.process.send_signal(signal.SIGUSR1)
    assert server.result("sleep", seconds=3)["ok"]
    server.process.terminate()
    server.process.wait(LIMIT_S)  # 0, or the guard's code where the machine is too busy for so short a grace


@pytest.mark.spec("S4")
def test_guard_ends_with_a_server_that_is_killed_and_leaves_nothing(start_server):
    server = start_server({"holding": HOLDING})
    children = server.children()
    assert children
    server.process.kill()
    gone(children)


@pytest.mark.spec("M4")
def test_health_says_starting_until_the_modules_have_started(start_server):
    server = start_server({"late": LATE}, waits=False)
    server.line("late_begins")
    address = json.loads((server.state / "server.json").read_text())["addresses"]["page"]

    def health() -> str:
        with urllib.request.urlopen(f"{address}/api/health", timeout=LIMIT_S) as response:
            assert response.status == 200
            return json.load(response)["status"]

    assert health() == "starting"
    doctor = server.command("doctor")
    assert "module late: it is starting" in doctor.stdout
    (server.folder / "go").touch()
    server.line("server_ready")
    assert health() == "ok"

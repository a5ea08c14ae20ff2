"""A server whose event loop a module holds: it is said who does, and it comes to an end."""

import json
import os
import queue
import signal
import subprocess
import sys
import textwrap
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentcore.supervision.descendants import below, send_to

LIMIT_S = 180
AGENTCORE = (sys.executable, "-m", "agentcore")

HOLDING = textwrap.dedent('''
    import asyncio, re, subprocess, time
    from agentcore.api import Module, tool

    class Holding(Module):
        """Holds whatever can be held."""

        @tool(read_only=True)
        async def spin(self) -> None:
            """Spin in the event loop."""
            while True:
                pass

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


class Server:
    """`agentcore serve` with the module, and what it logs."""

    def __init__(
        self, folder: Path, modules: Sequence[str] = ("holding",), *, waits: bool = True, **limits: float
    ) -> None:
        (folder / "modules").mkdir(exist_ok=True)
        (folder / "modules" / "holding.py").write_text(HOLDING)
        app = {"modules": list(modules), "limits": {"stop_grace": 2, **limits}}
        (folder / "app.json").write_text(json.dumps(app))
        self.folder, self.state = folder, folder / "state"
        self.environ = {**os.environ, "AGENTCORE_STATE_DIR": str(self.state)}
        self.process = subprocess.Popen(
            [*AGENTCORE, "serve", "--config", str(folder / "app.json"), "--port", "0"],
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[dict] = []
        self._queue: queue.Queue[dict | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if waits:
            self.address = self.line("server_ready")["address"]

    def _read(self) -> None:
        for text in self.process.stderr:
            self._queue.put(json.loads(text))
        self._queue.put(None)

    def line(self, event: str) -> dict:
        """The next log line of an event."""
        while (line := self._queue.get(timeout=LIMIT_S)) is not None:
            self.lines.append(line)
            if line["event"] == event:
                return line
        raise AssertionError(f"no line {event} among {self.lines}")

    def rest(self) -> list[dict]:
        """All lines to its end."""
        return list(iter(lambda: self._queue.get(timeout=LIMIT_S), None))

    def call(self, tool: str, **arguments: object) -> threading.Thread:
        """Call a tool, and do not wait."""
        thread = threading.Thread(target=self.result, args=(tool,), kwargs=arguments, daemon=True)
        thread.start()
        return thread

    def result(self, tool: str, **arguments: object) -> dict | None:
        """Call a tool; None: the server was gone before it answered."""
        token = (self.state / "token").read_text().strip()
        request = urllib.request.Request(
            f"{self.address}/api/tools/{tool}/call",
            json.dumps({"arguments": arguments}).encode(),
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=LIMIT_S) as response:
                return json.load(response)
        except OSError:
            return None

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the command line."""
        return subprocess.run(
            [*AGENTCORE, *arguments, "--config", str(self.folder / "app.json")],
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )

    def children(self) -> set[int]:
        """Its living children, and theirs."""
        return set(below(self.process.pid))

    def end(self) -> None:
        """End it in any case."""
        children = self.children()
        self.process.kill()
        self.process.wait()
        send_to(signal.SIGKILL, children)
        self._reader.join()
        self.process.stderr.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator:
    """Starts servers."""
    servers = []

    def begin(**options: Any) -> Server:
        servers.append(Server(tmp_path, **options))
        return servers[-1]

    yield begin
    for server in servers:
        server.end()


def gone(pids: set[int]) -> None:
    """Wait until none of these processes is left."""
    until = time.monotonic() + LIMIT_S
    while left := set(filter(is_alive, pids)):
        assert time.monotonic() < until, left
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.spec("S4", "S7")
@pytest.mark.parametrize("tool", ["spin", "match"])
def test_loop_that_stays_held_ends_the_server_which_says_why(start, tool):
    server = start(loop_blocked_max=3)
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


@pytest.mark.spec("S4", "S7")
@pytest.mark.parametrize("tool", ["spin", "match"])
def test_signal_ends_a_held_server_within_the_grace(start, tool):
    server = start(loop_blocked_max=3600, stop_grace=1)
    server.call(tool)
    server.line("event_loop_blocked")
    server.process.terminate()
    assert server.line("server_ended_by_loop_guard")["tool"] == tool
    assert server.process.wait(LIMIT_S) == 24


@pytest.mark.spec("S4")
@pytest.mark.parametrize("tool", ["spin", "match"])
def test_clients_are_told_who_holds_the_server_and_what_to_do(start, tool):
    server = start(loop_blocked_max=3600)
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
    again = start()
    assert next(line for line in again.lines if line["event"] == "last_server_was_ended")["module"] == "holding"
    assert not (server.state / "loop_blocked.json").exists()


@pytest.mark.spec("S4")
def test_thread_that_keeps_the_lock_of_the_interpreter_is_named_afterwards_too(start):
    server = start(loop_blocked_max=3600)
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
def test_server_that_was_stopped_itself_is_not_ended(start):
    server = start(loop_blocked_max=1)
    server.process.send_signal(signal.SIGSTOP)
    time.sleep(4)  # four times what would end it, if it counted
    server.process.send_signal(signal.SIGCONT)
    assert server.result("sleep", seconds=0)["ok"]
    server.process.terminate()
    assert server.process.wait(LIMIT_S) == 0
    assert not any(line["event"] == "server_ended_by_loop_guard" for line in server.rest())


@pytest.mark.spec("S4")
def test_guard_ends_with_a_server_that_is_killed_and_leaves_nothing(start):
    server = start()
    children = server.children()
    assert children
    server.process.kill()
    gone(children)


@pytest.mark.spec("M4")
def test_health_says_starting_until_the_modules_have_started(tmp_path, start):
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "late.py").write_text(LATE)
    server = start(modules=["late"], waits=False)
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

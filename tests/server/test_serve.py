"""The server as a process: what it says, how it begins, how it ends."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAM = textwrap.dedent("""
    import asyncio, os, sys
    from pathlib import Path
    from agentcore.core.discovery.families import load_config
    from agentcore.server.logging.log_setup import configure_logging
    from agentcore.server.serve import serve
    from agentcore.store.state.state_dir import StateDir

    configure_logging(is_terminal=False)
    config = load_config(Path(sys.argv[1]), os.environ)
    with StateDir.open(config.file) as state:
        asyncio.run(serve(config, state, port=0, stop_limit_s=0.5 if "hurried" in sys.argv else 60))
""")
SLOW = textwrap.dedent('''
    import asyncio, time
    from agentcore.api import Module, ToolContext, tool

    class Slow(Module):
        """Takes its time."""

        @tool(read_only=True)
        async def slow(self, ctx: ToolContext, seconds: float) -> str:
            """Wait.

            Args:
                seconds: How long.
            """
            print("called", flush=True)
            await asyncio.sleep(seconds)
            return "done"

        @tool(read_only=True)
        async def block(self, ctx: ToolContext) -> str:
            """Hold the event loop."""
            print("called", flush=True)
            time.sleep(60)
            return "done"

        async def shutdown(self) -> None:
            """Say so."""
            print("module stopped", flush=True)
''')


class Server:
    """A server process."""

    def __init__(self, folder: Path, *arguments: str, grace_s: float = 60) -> None:
        (folder / "modules").mkdir(exist_ok=True)
        (folder / "modules" / "slow.py").write_text(SLOW)
        (folder / "app.json").write_text(json.dumps({"modules": ["slow"], "limits": {"stop_grace": grace_s}}))
        self.state = folder / "state"
        environ = {**os.environ, "AGENTCORE_STATE_DIR": str(self.state)}
        command = [sys.executable, "-c", PROGRAM, str(folder / "app.json"), *arguments]
        self.process = subprocess.Popen(
            command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
        )

    def line(self, event: str) -> dict:
        """The next log line of an event."""
        for text in self.process.stderr:
            line = json.loads(text)
            if line["event"] == event:
                return line
        raise AssertionError(f"no line {event}")

    def request(self, address: str, tool: str, arguments: dict) -> subprocess.Popen:
        """A call in a process of its own, so that the test can go on."""
        token = (self.state / "token").read_text().strip()
        code = (
            "import sys, urllib.request as u; r = u.Request(sys.argv[1], sys.argv[2].encode(), "
            "{'Authorization': 'Bearer ' + sys.argv[3], 'Content-Type': 'application/json'}); "
            "print(u.urlopen(r, timeout=60).read().decode())"
        )
        body = json.dumps({"arguments": arguments})
        command = [sys.executable, "-c", code, f"{address}/api/tools/{tool}/call", body, token]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def end(self) -> None:
        """End it in any case."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def start(tmp_path: Path) -> Iterator:
    """Starts a server process."""
    servers = []

    def begin(*arguments: str, **options: float) -> Server:
        servers.append(Server(tmp_path, *arguments, **options))
        return servers[-1]

    yield begin
    for server in servers:
        server.end()


@pytest.mark.spec("S1")
def test_off_a_terminal_one_line_says_where_it_is_and_nothing_secret(start):
    server = start()
    ready = server.line("server_ready")
    with urllib.request.urlopen(f"{ready['address']}/api/health", timeout=60) as response:
        assert json.load(response) == {"status": "ok"}
    assert set(ready) == {"time", "level", "event", "address", "approval_address", "pid", "tools"}
    server.process.terminate()
    out, _ = server.process.communicate(timeout=60)
    assert "code" not in out


@pytest.mark.more
@pytest.mark.spec("K4")
def test_approval_view_keeps_its_port_where_it_can_and_its_browsers_only_then(start):
    first = start()
    before = first.line("server_ready")["approval_address"]
    first.process.terminate()
    assert first.process.wait(60) == 0
    second = start()
    assert second.line("server_ready")["approval_address"] == before
    second.process.terminate()
    assert second.process.wait(60) == 0
    with socket.create_server(("127.0.0.1", int(before.rpartition(":")[2]))):
        third = start()
        assert third.line("server_ready")["approval_address"] != before


@pytest.mark.more
@pytest.mark.spec("K4")
def test_views_of_tools_keep_their_port_so_that_open_pages_find_them(start):
    ports = []
    for _ in range(2):
        server = start()
        server.line("server_ready")
        ports.append(int((server.state / "apps_port").read_text()))
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://localhost:{ports[-1]}/views/document/0", timeout=60)
        server.process.terminate()
        assert server.process.wait(60) == 0
    assert ports[0] == ports[1]


@pytest.mark.more
@pytest.mark.spec("K4")
def test_server_json_tells_clients_and_is_gone_afterwards(start):
    server = start()
    ready = server.line("server_ready")
    info = json.loads((server.state / "server.json").read_text())
    assert info["pid"] == server.process.pid
    told = {"page": ready["address"], "approval": ready["approval_address"]}
    assert info["addresses"] == told | {"mcp": info["addresses"]["mcp"]}
    assert stat.S_ISSOCK(os.stat(info["addresses"]["mcp"]).st_mode)
    server.process.terminate()
    assert server.process.wait(60) == 0
    assert not (server.state / "server.json").exists()


@pytest.mark.more
@pytest.mark.spec("S7")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_end_lets_a_call_finish_and_stops_modules_after_it(start, number):
    server = start()
    address = server.line("server_ready")["address"]
    call = server.request(address, "slow", {"seconds": 1})
    assert server.process.stdout.readline() == "called\n"
    server.process.send_signal(number)
    assert json.loads(call.communicate(timeout=60)[0])["ok"]
    assert server.process.stdout.readline() == "module stopped\n"
    assert server.process.wait(60) == 0
    assert server.line("server_stopped")


@pytest.mark.more
@pytest.mark.spec("S7")
def test_call_that_outlasts_the_grace_is_told_why_it_ends(start):
    server = start(grace_s=0.5)
    address = server.line("server_ready")["address"]
    call = server.request(address, "slow", {"seconds": 3600})
    assert server.process.stdout.readline() == "called\n"
    server.process.terminate()
    assert json.loads(call.communicate(timeout=60)[0])["error"]["type"] == "module_stopping"
    assert server.process.wait(60) == 0


@pytest.mark.more
@pytest.mark.spec("S7")
def test_second_signal_ends_at_once(start):
    server = start()
    address = server.line("server_ready")["address"]
    call = server.request(address, "slow", {"seconds": 3600})
    assert server.process.stdout.readline() == "called\n"
    server.process.terminate()
    server.line("server_stopping")
    server.process.terminate()
    assert server.process.wait(60) == 128 + signal.SIGTERM
    call.communicate(timeout=60)


@pytest.mark.more
@pytest.mark.spec("S7")
def test_code_that_holds_the_event_loop_does_not_hold_the_end(start):
    server = start("hurried")
    address = server.line("server_ready")["address"]
    call = server.request(address, "block", {})
    assert server.process.stdout.readline() == "called\n"
    server.process.terminate()
    assert server.process.wait(60) == 1
    assert server.line("server_stop_timeout")
    call.communicate(timeout=60)

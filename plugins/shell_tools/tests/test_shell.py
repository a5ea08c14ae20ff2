"""The real server, started as people start it: what its commands see of it, and what is left when it is killed."""

import json
import os
import subprocess
import sys
import urllib.request
from contextlib import contextmanager

import pytest

from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.spec("S5"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc"),
]


@pytest.fixture
def serve(tmp_path, config):
    """Start `agentcore serve`, and give its process and a way to call tools."""

    @contextmanager
    def start(**environ):
        folder = tmp_path / "server"
        folder.mkdir()
        (folder / "app.json").write_text(json.dumps({"modules": ["shell_tools"], **config}))
        state = {"AGENTCORE_STATE_DIR": str(tmp_path / "state")}
        with (tmp_path / "log").open("w") as log:
            command = [sys.executable, "-m", "agentcore", "serve", "--port", "0"]
            server = subprocess.Popen(
                command, cwd=folder, env=os.environ | state | environ, stderr=log, stdin=subprocess.DEVNULL
            )
        try:
            yield server
        finally:
            server.kill()
            server.wait()

    async def ready():
        log = tmp_path / "log"
        await wait_until(lambda: '"server_ready"' in log.read_text() and '"module_ready"' in log.read_text())
        written = log.read_text()
        lines = [json.loads(line) for line in written[: written.rindex("\n")].splitlines()]  # the last may be half one
        address = next(line["address"] for line in lines if line["event"] == "server_ready")
        token = (tmp_path / "state" / "token").read_text().strip()

        def call(tool, **arguments):
            request = urllib.request.Request(
                f"{address}/api/tools/{tool}/call",
                json.dumps({"arguments": arguments}).encode(),
                {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=60) as response:
                envelope = json.load(response)
            assert envelope["ok"], envelope
            return envelope["data"]

        return call

    return start, ready


async def test_no_key_of_the_server_is_in_reach_of_a_command(serve):
    start, ready = serve
    with start(OPENAI_API_KEY="not-for-commands") as server:
        call = await ready()
        script = f"env; tr '\\0' '\\n' < /proc/{server.pid}/environ; cat /proc/$PPID/environ; echo end"
        said = call("bash", command=script)["output"]
    assert said.endswith("end\n")
    assert "not-for-commands" not in said


@pytest.mark.more
async def test_server_that_is_killed_takes_all_its_commands_along(serve, mark, living):
    start, ready = serve
    with start() as server:
        call = await ready()
        call("bash", command=f"exec -a {mark} sleep 600", background=True)
        detached = f"setsid -f bash -c 'trap \"\" TERM HUP; exec -a {mark} sleep 600'; exec -a {mark} sleep 600"
        call("bash", command=detached, background=True, terminal=True)
        await wait_until(lambda: living() == 3)
        server.kill()
        await wait_until(lambda: living() == 0)

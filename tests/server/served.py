"""`agentcore serve` as a process with local modules, what it logs, and what is left of it."""

import json
import os
import queue
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from agentcore.supervision.descendants import list_descendants, send_to
from tests.forking import Command, run

LIMIT_S = 180


class Server:
    """The process, with modules given as names and sources, and what it logs."""

    def __init__(self, folder: Path, files: Mapping[str, str], *, waits: bool = True, **limits: float) -> None:
        (folder / "modules").mkdir(exist_ok=True)
        for name, source in files.items():
            (folder / "modules" / f"{name}.py").write_text(source)
        app = {"modules": list(files), "server": {"port": 0}, "limits": {"stop_grace": 2, **limits}}
        (folder / "app.json").write_text(json.dumps(app))
        self.folder, self.state = folder, folder / "state"
        self.environ = {**os.environ, "AGENTCORE_STATE_DIR": str(self.state)}
        self.process = Command(
            *("serve", "--config", str(folder / "app.json")),
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
        return run(*arguments, "--config", str(self.folder / "app.json"), env=self.environ, limit_s=LIMIT_S)

    def children(self) -> set[int]:
        """Its living children, and theirs."""
        return set(list_descendants(self.process.pid))

    def end(self) -> None:
        """End it in any case."""
        children = self.children()
        self.process.kill()
        self.process.wait()
        send_to(signal.SIGKILL, children)
        self._reader.join()
        self.process.stderr.close()


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

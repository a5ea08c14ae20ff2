"""The programs of a pool, each a process as people start it, which can be killed and started again."""

import asyncio
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import servers

WAIT_SECONDS = 300.0
TOKEN = "benchmark-token-0123456789abcdef0123456789"


def nats_server() -> str | None:
    """The program of NATS."""
    return shutil.which("nats-server") or shutil.which("nats-server", path="/usr/sbin:/usr/local/sbin")


async def settle(look: Callable[[], Any], pause_s: float = 0.05) -> Any:
    """Wait until a look at something, which may have to be awaited, gives a value that is true; gives that.

    Raises:
        TimeoutError: It took five minutes, as it does on no machine that has anything to spare.
    """
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            found = look()
            if inspect.isawaitable(found):
                found = await found
            if found:
                return found
            await asyncio.sleep(pause_s)


class Program:
    """One program.

    Args:
        folder: In which it runs.
        log: Where what it prints goes.
    """

    def __init__(self, command: Sequence[str], folder: Path, environ: dict[str, str], log: Path) -> None:
        self._command, self._folder, self._environ, self._log = list(command), folder, environ, log
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def of_host(
        cls, folder: Path, name: str, modules: Sequence[str], *arguments: str, config: dict[str, Any] | None = None
    ) -> "Program":
        """`agentcore host`, over a folder in which `modules` may have local ones."""
        (folder / "workspace").mkdir(parents=True, exist_ok=True)
        app = {"modules": list(modules), "workspace": {"roots": ["workspace"]}, "config": config or {}}
        (folder / "app.json").write_text(json.dumps(app))
        command = [sys.executable, "-u", "-m", "agentcore", "host", "--name", name, *arguments]
        return cls(command, folder, _environ(folder), folder / "worker.log")

    @classmethod
    def of_server(cls, folder: Path, port: int, app: dict[str, Any]) -> "Program":
        """`agentcore serve`."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "app.json").write_text(json.dumps(app))
        command = [sys.executable, "-m", "agentcore", "serve", "--port", str(port)]
        return cls(command, folder, _environ(folder), folder / "server.log")

    @property
    def pid(self) -> int:
        """That of the process which was started last."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, or start it again."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, cwd=self._folder, env=self._environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def kill(self) -> None:
        """End it as a crash does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it in order, or after a while as a crash does."""
        try:
            self._end(signal.SIGTERM, 20)
        except subprocess.TimeoutExpired:
            self.kill()

    def _end(self, how: signal.Signals, wait_s: float | None = None) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(how)
            self._process.wait(wait_s)

    def said(self) -> str:
        """What it has printed."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    @contextmanager
    def running(self) -> Iterator[None]:
        """A block in which it runs; it may have been killed, and started again, at the end."""
        self.start()
        try:
            yield
        finally:
            self.stop()


class Nats(Program):
    """A NATS server with JetStream, always at the same port."""

    def __init__(self, folder: Path) -> None:
        self.port = servers.free_port()
        folder.mkdir(parents=True, exist_ok=True)
        words = ["-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(folder / "data")]
        super().__init__([nats_server() or "nats-server", *words], folder, dict(os.environ), folder / "nats.log")

    @property
    def address(self) -> str:
        """Where it is."""
        return f"nats://127.0.0.1:{self.port}"

    async def is_up(self) -> None:
        """Wait until it answers."""
        await settle(self._answers)

    async def _answers(self) -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        writer.close()
        return True


def stop_all(programs: Sequence[Program]) -> None:
    """End programs side by side."""
    for each in programs:
        if each._process is not None and each._process.poll() is None:
            each._process.terminate()
    until = time.monotonic() + 20
    for each in programs:
        while each._process is not None and each._process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        each.kill()


def _environ(folder: Path) -> dict[str, str]:
    state = folder.parent / f"{folder.name}-state"
    return os.environ | {"AGENTCORE_STATE_DIR": str(state), "AGENTCORE_TOKEN": TOKEN}

"""The two servers that are compared: agentcore as a person starts it, and the least that aiohttp can be."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.http_client import Connection, request_bytes

_HEALTH = "/api/health"
_BARE = """
import sys
from aiohttp import web

async def call(request):
    body = await request.json()
    content = [{"type": "text", "text": "ok"}]
    data = body["arguments"].get("data")
    return web.json_response({"ok": True, "callId": "call_0123456789abcdef0123", "content": content, "data": data})

async def health(request):
    return web.json_response({"ok": True})

LISTING = open(sys.argv[2], "rb").read() if len(sys.argv) > 2 else b""

async def listing(request):
    return web.Response(body=LISTING, content_type="application/json")

app = web.Application()
app.router.add_post("/call", call)
app.router.add_get("/api/health", health)
app.router.add_get("/listing", listing)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
"""


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers; the milliseconds to its first 200, and its memory (PSS) and CPU time at that moment."""

    pid: int
    port: int
    token: str
    ready_ms: float
    pss_mib: float
    ready_cpu_ms: float


def free_port() -> int:
    """A port that nobody listens on."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def bare(listing: Path | None = None) -> Iterator[Running]:
    """A bare aiohttp server."""
    port = free_port()
    command = [sys.executable, "-c", _BARE, str(port)]
    with _started([*command, str(listing)] if listing else command, port, "", None, None) as running:
        yield running


@contextmanager
def agentcore(
    folder: Path,
    modules: dict[str, str],
    app: dict[str, Any] | None = None,
    *,
    program: Sequence[str] = (sys.executable, "-m", "agentcore"),
    environ: Mapping[str, str] | None = None,
    first: str | Callable[[int, str], bytes] = _HEALTH,
) -> Iterator[Running]:
    """`agentcore serve` over local modules, given as name and source.

    Args:
        folder: An empty folder for app.json, its modules and its state.
        modules: Name to Python source.
        app: What else stands in app.json.
        program: What is started in place of `python -m agentcore`.
        environ: More of its environment.
        first: The path that is asked for until it answers 200, or what makes a whole request of the port and the
            token.
    """
    (folder / "modules").mkdir(parents=True, exist_ok=True)
    (folder / "workspace").mkdir(exist_ok=True)
    for name, source in modules.items():
        (folder / "modules" / f"{name}.py").write_text(source)
    (folder / "app.json").write_text(json.dumps({"modules": list(modules), **(app or {})}))
    port, token = free_port(), "benchmark-token-0123456789abcdef0123456789"
    variables = os.environ | {
        "AGENTCORE_TOKEN": token,
        "AGENTCORE_STATE_DIR": str(folder.parent / f"{folder.name}-state"),
        **(environ or {}),
    }
    command = [*program, "serve", "--config", str(folder / "app.json"), "--port", str(port)]
    with _started(command, port, token, variables, folder, first=first) as running:
        _wait_for_tools(running)
        yield running


@contextmanager
def _started(
    command: list[str],
    port: int,
    token: str,
    environ: dict[str, str] | None,
    folder: Path | None,
    *,
    first: str | Callable[[int, str], bytes] = _HEALTH,
) -> Iterator[Running]:
    began = time.perf_counter()
    process = subprocess.Popen(
        command, env=environ, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for_200(port, process, first if isinstance(first, str) else first(port, token))
        ready_ms, spent_ms = (time.perf_counter() - began) * 1000, cpu_ms(process.pid)
        yield Running(process.pid, port, token, ready_ms, pss_mib(process.pid), spent_ms)
    finally:
        process.terminate()
        process.wait(20)


def wait_for_200(port: int, process: subprocess.Popen[bytes], first: str | bytes = _HEALTH) -> None:
    """Return when `/api/health`, another path, or a whole request is answered with 200.

    Raises:
        RuntimeError: The server ended, or did not answer within 20 s.
    """
    ends = {"Connection": "close"}
    request = request_bytes("GET", first, port, headers=ends) if isinstance(first, str) else first
    for _ in range(20_000):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        try:
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(request)
                if b" 200 " in connection.recv(4096).split(b"\r\n", 1)[0]:
                    return
        except OSError:
            pass
        time.sleep(0.001)
    raise RuntimeError("the server did not answer within 20 s")


def _wait_for_tools(running: Running) -> None:
    """The server answers before its modules are ready; what is measured needs their tools."""
    listing = request_bytes("GET", "/api/tools", running.port, token=running.token)
    connection = Connection(running.port)
    while b'"name"' not in connection.send(listing):
        time.sleep(0.001)
    connection.close()


def cpu_ms(pid: int) -> float:
    """CPU time of the threads of a process in milliseconds (Linux)."""
    spent = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # the thread ended
            spent += int((task / "schedstat").read_text().split()[0])
    return spent / 1e6


def pss_mib(pid: int) -> float:
    """Proportional set size of a process in MiB (Linux)."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"no Pss of process {pid}")

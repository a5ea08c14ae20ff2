"""The command line as a process of its own, in a folder with an app.json and a local module."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agentcore.cli.terminal.typed_answer import can_be_pushed
from tests.forking import Command
from tests.support.certificates import one_certificate
from tests.support.command_line import run_command

__all__ = ["one_certificate"]

LIMIT_S = 180
"""For a process to do something; a first answer of a model needs seconds of imports on an idle machine."""

_QUESTION = re.compile(r"(?:Type |\[)(?:yes|y)(?: (\d{4}))?(?=[ ,/])")
"""How every decision is asked for; where another process may type, with a number."""

CLOCK = '''
import asyncio
from typing import Literal

from agentcore.api import CallPreview, Module, SecretStr, ToolContext, ToolError, tool


class Clock(Module):
    """The time, for agents that would otherwise guess it."""

    class Settings(Module.Settings):
        zone: str = "UTC"
        code: SecretStr = SecretStr("none")

    @tool(read_only=True)
    async def clock_now(
        self,
        zone: str = "UTC",
        count: int = 1,
        precision: Literal["seconds", "minutes"] = "seconds",
        tags: list[str] = [],
    ) -> dict:
        """Give the time in a zone.

        Args:
            zone: IANA name, such as UTC.
        """
        if zone == "bad":
            raise ToolError("zone_not_found", "no zone \\x1b[31m'bad'; use an IANA name")
        if zone == "defect":
            raise ZeroDivisionError("a defect")
        return {"zone": zone, "count": count, "precision": precision, "tags": tags}

    @tool(read_only=True)
    def clock_text(self, text: str) -> str:
        """Give the text back."""
        return text

    def look(self, ctx: ToolContext, arguments: dict) -> CallPreview:
        return CallPreview(paths=("app.json",), diff="--- old\\n+++ new\\n-{}\\n+{ }", is_protected=True)

    @tool(effects=["write"], preview=look)
    def clock_set(self, zone: str) -> str:
        """Set the zone."""
        return f"set to {zone}"

    @tool(read_only=True, timeout_s=30)
    async def clock_wait(self, ctx: ToolContext) -> str:
        """Wait until somebody ends it."""
        ctx.progress(0.25, "waiting")
        await asyncio.Event().wait()
        return "never"
'''


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)


@dataclass
class Place:
    """A folder in which commands run, with a state folder of its own.

    Attributes:
        folder: Where app.json is.
        environ: The environment of commands.
        python: Their interpreter.
    """

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)
    python: str = sys.executable

    @property
    def state(self) -> Path:
        """The state folder."""
        return Path(self.environ["AGENTCORE_STATE_DIR"])

    def options(self, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
        """What a `Command` takes to run here."""
        return {"python": self.python, "cwd": self.folder, "env": {**self.environ, **(environ or {})}}

    def start(self, *arguments: str, stdin: int = subprocess.PIPE) -> Command:
        """Start a command whose standard streams are pipes."""
        return Command(
            *arguments, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **self.options()
        )

    def run(self, *arguments: str, stdin: str = "", environ: Mapping[str, str] | None = None) -> Done:
        """Run a command to its end, without a terminal."""
        done = run_command(*arguments, typed=stdin, limit_s=LIMIT_S, **self.options(environ))
        return Done(done.returncode, done.stdout, done.stderr)

    def write_app(self, **document: Any) -> Path:
        """Write app.json, whose server takes any free port unless the document says otherwise."""
        path = self.folder / "app.json"
        path.write_text(json.dumps(document | {"server": document.get("server", {"port": 0})}, indent=2))
        return path

    def add_module(self, name: str, source: str) -> None:
        """Write a local module."""
        (self.folder / "modules").mkdir(exist_ok=True)
        (self.folder / "modules" / f"{name}.py").write_text(source)


def make_place(parent: Path) -> Place:
    """A folder without app.json, and a state folder, below another folder."""
    folder = parent / "home"
    folder.mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "VIRTUAL_ENV", "SSL_CERT_FILE") if name in os.environ}
    return Place(folder, {**kept, "HOME": str(parent), "AGENTCORE_STATE_DIR": str(parent / "state")})


@pytest.fixture
def empty_place(tmp_path: Path) -> Place:
    """A folder without app.json."""
    return make_place(tmp_path)


@pytest.fixture
def place(empty_place: Place) -> Place:
    """A folder whose app.json lists one local module, `clock`."""
    empty_place.add_module("clock", CLOCK)
    empty_place.write_app(modules=["clock"])
    return empty_place


@pytest.fixture
def add_broken_module(place: Place) -> Callable[[], None]:
    """Add a module that cannot be imported to app.json."""

    def add() -> None:
        place.add_module("broken", "raise RuntimeError('no network')\n")
        place.write_app(modules=["clock", "broken"])

    return add


def _ends_within(process: subprocess.Popen[Any], limit_s: float = LIMIT_S) -> threading.Timer:
    """Kill a process that goes on too long, so that who reads from it does not wait for ever."""
    timer = threading.Timer(limit_s, process.kill)
    timer.daemon = True
    timer.start()
    return timer


class Terminal:
    """A command on a terminal of its own, with a person who reads and types."""

    def __init__(self, place: Place, *arguments: str) -> None:
        self._master, slave = pty.openpty()
        self.name = os.ttyname(slave)
        self.seen = ""
        self.number = ""
        options = place.options({"TERM": "xterm", "COLUMNS": "100"})
        self.process = Command(*arguments, owns_terminal=True, stdin=slave, stdout=slave, stderr=slave, **options)
        os.close(slave)
        self._limit = _ends_within(self.process)

    def expect(self, text: str, timeout_s: float = LIMIT_S) -> str:
        """Read until a text was shown; gives what was shown since the last time, up to its end."""
        return self._until(re.compile(re.escape(text)), timeout_s)

    def expect_server(self) -> str:
        """Read until a server shows that it is ready; returns what was shown since the last time."""
        return self.expect("Ctrl-C stops the server. Log: agentcore logs")

    def type(self, text: str) -> None:
        """Type."""
        os.write(self._master, text.encode())

    def expect_question(self) -> str:
        """Read until a decision is asked for; gives what was shown since the last time."""
        return self._until(_QUESTION)

    def decide(self, words: str) -> None:
        """Type an answer to the question that was read, with its number after the first word if it takes one."""
        word, _, rest = words.partition(" ")
        if not word:
            self.type("\n")
            return
        self.type(" ".join(part for part in (word, self.number, rest) if part) + "\n")

    def confirm(self) -> None:
        """Say yes to what was just typed, where it is asked whether that was meant."""
        if can_be_pushed():
            self.expect_question()
            self.decide("yes")

    def end(self) -> tuple[int, str]:
        """Wait for the end; the exit code, and what was shown since the last time."""
        while ready := self._read():
            self.seen += ready
        code = self.process.wait(LIMIT_S)
        return code, self.seen

    def close(self) -> None:
        """End the command, whatever it does."""
        self._limit.cancel()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)

    def _until(self, pattern: re.Pattern[str], timeout_s: float = LIMIT_S) -> str:
        end = time.monotonic() + timeout_s
        while not (found := pattern.search(self.seen)):
            ready, _, _ = select.select([self._master], [], [], max(end - time.monotonic(), 0))
            read = self._read() if ready else ""
            assert read, f"{pattern.pattern!r} was not shown; shown was: {self.seen}"
            self.seen += read
        shown, self.seen = self.seen[: found.end()], self.seen[found.end() :]
        if pattern is _QUESTION:
            self.number = found[1] or ""
        return shown

    def _read(self) -> str:
        try:
            return os.read(self._master, 65536).decode("utf-8", "replace")
        except OSError:  # the other side is closed
            return ""


@pytest.fixture
def on_terminal(place: Place) -> Iterator[Callable[..., Terminal]]:
    """Start commands on terminals."""
    with ExitStack() as stack:

        def start(*arguments: str) -> Terminal:
            return stack.enter_context(closing(Terminal(place, *arguments)))

        yield start


class Server:
    """A server that runs as a process of its own, without a terminal."""

    def __init__(self, place: Place, *arguments: str) -> None:
        self.process = place.start("serve", *arguments, stdin=subprocess.DEVNULL)
        self.log: list[dict[str, Any]] = []
        self._limit = _ends_within(self.process)

    def wait_for(self, event: str) -> dict[str, Any]:
        """Read the log until an event stands there."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(json.loads(line))
            if self.log[-1]["event"] == event:
                return self.log[-1]
        raise AssertionError(f"the server ended without {event}: {self.log}")

    @property
    def address(self) -> str:
        """Its base URL."""
        return next(line["address"] for line in self.log if line["event"] == "server_ready")

    def stop(self) -> int:
        """Ask it to end; its exit code."""
        self.process.terminate()
        return self.process.wait(LIMIT_S)

    def close(self) -> None:
        """End it, whatever it does."""
        self._limit.cancel()
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@pytest.fixture
def start_server(place: Place) -> Iterator[Callable[..., Server]]:
    """Start servers for the place's app.json."""
    with ExitStack() as stack:

        def start(*arguments: str) -> Server:
            server = stack.enter_context(closing(Server(place, *arguments)))
            server.wait_for("server_ready")
            return server

        yield start


@pytest.fixture
def running_server(start_server: Callable[..., Server]) -> Server:
    """A running server, as a process of its own."""
    return start_server()


class Model(ThreadingHTTPServer):
    """A provider of models on loopback that speaks as OpenAI does, and says what a test wrote.

    Attributes:
        asked: The requests that came.
        gate: Where an answer that was told to `wait` goes on.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.asked: list[dict[str, Any]] = []
        self.gate = threading.Event()
        self._replies: list[tuple[list[dict[str, Any]], bool]] = []

    @property
    def base_url(self) -> str:
        """Its address, for `models` of app.json."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def say(self, text: str = "", call: tuple[str, dict[str, Any]] | None = None, *, waits: bool = False) -> None:
        """Add an answer: a text, which may wait in its middle, and a call of a tool."""
        deltas: list[dict[str, Any]] = [{"content": text[at : at + 4]} for at in range(0, len(text), 4)]
        if call is not None:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            deltas.append({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]})
        self._replies.append((deltas, waits))

    def next_reply(self) -> tuple[list[dict[str, Any]], bool]:
        """The next answer."""
        return self._replies.pop(0)


class _Answering(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        deltas, waits = self.server.next_reply()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for number, delta in enumerate(deltas):
            if waits and number == len(deltas) // 2:
                self.server.gate.wait(LIMIT_S)
            self._send({"index": 0, "delta": delta, "finish_reason": None})
        self._send({"index": 0, "delta": {}, "finish_reason": "tool_calls" if "tool_calls" in str(deltas) else "stop"})
        self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, choice: dict[str, Any]) -> None:
        usage = {"prompt_tokens": 4000, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 3900}}
        counted = {"usage": usage} if choice["finish_reason"] else {}
        chunk = {
            "id": "c1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [choice],
            **counted,
        }
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def model(place: Place) -> Iterator[Model]:
    """A model that the place's app.json names."""
    with Model() as model:
        threading.Thread(target=model.serve_forever, daemon=True).start()
        models = {"m": {"provider": "openai", "base_url": model.base_url, "max_retries": 0}}
        place.write_app(modules=["clock"], models=models)
        yield model
        model.gate.set()
        model.shutdown()

"""A host that says what a test wants: it speaks frames over its standard input, and runs no module at all.

Each is a new process, so this file and `lies.py` import nothing of agentcore: that takes six times as long as the rest.
"""

import json
import os
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROTOCOL = "agentcore.host.1"
TEXT = 1
BINARY = 2
TOOL: dict[str, Any] = {
    "name": "lie",
    "description": "Lies.",
    "input_schema": {"type": "object"},
    "output_schema": None,
    "timeout_s": 60.0,
    "limit_bytes": None,
    "checks_result": False,
    "rank": 5,
    "model_chars": None,
    "keep": "both",
    "artifact_call": None,
    "served_as": None,
    "in_views": None,
    "claim": None,
    "effects": ["read"],
    "annotations": {"read_only": None, "destructive": None, "idempotent": None, "open_world": None},
    "display": {},
    "icons": [],
    "reads": [],
    "resource": None,
    "view": None,
    "previews": False,
    "completes": False,
    "checks_arguments": False,
    "reads_arguments": False,
    "needs_chat": False,
    "parallel": False,
    "host_alias": None,
}
"""The definition of a tool, as a host sends it."""

ROOT = str(Path(__file__).parents[2])

Message = dict[str, Any]


def encode_frame(kind: int, payload: bytes) -> bytes:
    """Encode a payload as a frame of the stream."""
    return struct.pack("!IB", len(payload), kind) + payload


class FakeHost:
    """One connection; `serve` answers as a host has to, but for calls."""

    def __init__(self) -> None:
        self.socket = socket.socket(fileno=os.dup(0))
        self.tools: list[Any] = [TOOL]
        self.component: Any = None
        self.loaded: Message = {}
        self.module = 0
        self.blobs = 0

    def say(self, kind: str, /, **fields: Any) -> None:
        """Send a message."""
        self.send({"type": kind, **fields})

    def send(self, message: Any) -> None:
        """Send any JSON value as a message."""
        self.socket.sendall(encode_frame(TEXT, json.dumps(message).encode()))

    def blob(self, data: bytes, *, number: int | None = None, is_last: bool = True) -> int:
        """Send a piece of a blob."""
        self.blobs += 1
        number = self.blobs if number is None else number
        self.socket.sendall(encode_frame(BINARY, struct.pack("!QB", number, is_last) + data))
        return number

    def hello(self, **fields: Any) -> None:
        """Greet."""
        self.say("hello", **{"protocol": PROTOCOL, "name": "isolated", "pid": os.getpid(), **fields})

    def result(self, call: Message, text: str = "done", **fields: Any) -> None:
        """Give the result of a call."""
        result = {"content": [{"type": "text", "text": text}], "data": None}
        self.send({"type": "tool.result", "id": call["call"], "n": call["n"], "ok": True, "result": result} | fields)

    def reply(self, message: Message, result: Any) -> None:
        """Answer a request."""
        self.say("reply", id=message["id"], ok=True, result=result)

    def read(self) -> Message:
        """The next message of the server; blobs are left out. Ends with the server."""
        while True:
            length, kind = struct.unpack("!IB", self._exactly(5))
            payload = self._exactly(length)
            if kind == TEXT:
                message: Message = json.loads(payload)
                return message

    def ask(self, kind: str, /, **fields: Any) -> Message:
        """Ask the server, and wait for what it answers."""
        self.say(kind, id=4242, **fields)
        while (message := self.read()).get("id") != 4242 or message["type"] != "reply":
            self.answer(message)
        return message

    def answer(self, message: Message) -> None:
        """Answer what is no call as a host has to."""
        kind = message["type"]
        if kind == "ping":
            self.say("pong", n=message["n"])
        elif kind == "module.state" and message["state"] == "loaded":
            self.module = message["module"]
            attributes = {"name": message["name"]}
            told = {"attributes": attributes, "description": "Lies.", "settings": None, "config_key": None}
            self.reply(message, told | self.loaded)
        elif kind == "definitions":
            tools = {"tools": self.tools, "problems": []}
            self.reply(message, tools if message["what"] == "tools" else {"component": self.component})
        elif kind == "module.find":
            self.reply(message, {"found": []})
        elif kind == "settings.check":
            self.reply(message, [])
        elif "id" in message and kind not in ("tool.call", "reply"):
            self.reply(message, {})

    def serve(self, on_call: Callable[["FakeHost", Message], None]) -> None:
        """Greet, and answer until the server has gone."""
        self.hello()
        while True:
            message = self.read()
            self.answer(message)
            if message["type"] == "tool.call":
                on_call(self, message)

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            got = self.socket.recv(size - len(data))
            if not got:
                sys.exit(0)
            data += got
        return data


def write_fake(path: Path, of: Any) -> Path:
    """Write a program that stands in for an interpreter, and runs a function of a test's with a `FakeHost`."""
    path.write_text(
        f"#!{sys.executable} -IS\nimport sys\nsys.path.insert(0, {ROOT!r})\n"
        f"from {of.__module__} import {of.__qualname__} as lie\nfrom tests.hosts.fake_host import FakeHost\n"
        "lie(FakeHost())\n",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path

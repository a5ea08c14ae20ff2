"""A host that says what a test wants: it speaks frames over its standard input, and runs no module at all."""

import json
import os
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentcore.api.definition import ToolDefinition
from agentcore.hosts.wire.declarations import definition_to_wire
from agentcore.hosts.wire.frames import BINARY, PROTOCOL, TEXT, encode_chunk, encode_frame

TOOL = definition_to_wire(
    ToolDefinition("lie", "Lies.", {"type": "object"}, effects=frozenset(("read",))), checks_arguments=False
)

Message = dict[str, Any]


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
        self.socket.sendall(encode_frame(BINARY, encode_chunk(number, data, is_last=is_last)))
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
        f"#!{sys.executable}\nimport sys\nsys.path[:0] = {sys.path!r}\n"
        f"from {of.__module__} import {of.__qualname__} as lie\nfrom tests.hosts.fake_host import FakeHost\n"
        "lie(FakeHost())\n",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path

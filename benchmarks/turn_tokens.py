"""Tokens that a real model server evaluates in each turn of a chat. They are counts: other programs do not change them.

Needs `make llama`; without it there is no row.
"""

import json
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import servers
from benchmarks.measure import Row
from tests.support.llama import is_installed, running_llama

_MODULES = ["agent_tools", "fs_tools", "shell_tools", "web_tools"]
_MESSAGES = ("Hello.", "What can you do?", "Which day is it?", "Thanks.")
_CONTEXT_TOKENS = 8192
_ELEMENTS = 10


def run() -> list[Row]:
    """Measure, and give the rows."""
    if not is_installed():
        sys.stderr.write("no llama.cpp: make llama\n")
        return []
    with tempfile.TemporaryDirectory() as folder, running_llama(_CONTEXT_TOKENS) as address:
        # this model's chat template ignores tool definitions, so the prompt describes the tools
        model = {"provider": "openai", "base_url": f"{address}/v1", "timeout_s": 600, "tools": "prompted"}
        app = {"modules": _MODULES, "models": {"m": model}}
        with servers.agentcore(Path(folder, "app"), {}, app) as server:
            same = list(_evaluated(server, "same", has_pages=False))
            pages = list(_evaluated(server, "pages", has_pages=True))
    return [
        Row("first turn of a chat with four modules, evaluated", same[0], 0, None, "tokens"),
        Row("a later turn, evaluated", max(same[1:]), 0, 120, "tokens"),
        Row("a later turn with another page of the client, evaluated", max(pages[1:]), 0, 500, "tokens"),
    ]


def _evaluated(server: servers.Running, session: str, *, has_pages: bool) -> Iterator[int]:
    for number, message in enumerate(_MESSAGES):
        body: dict[str, Any] = {"message": message, "session_id": session, "agent_id": "default", "user_id": "u"}
        if has_pages:
            elements = [{"id": f"e{number}_{each}", "desc": f"button: {each}"} for each in range(_ELEMENTS)]
            body["current_page_info"] = {"url": f"https://shop.example/{number}", "elements": elements}
        headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
        address = f"http://127.0.0.1:{server.port}/api/v1/agent/chat"
        with urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), headers)) as answer:
            *_, last = (json.loads(line[6:]) for line in answer if line.startswith(b"data: "))
        yield last["usage"]["input_tokens"] - last["usage"].get("cached_tokens", 0)

"""Records what the real server answers to the page, as JSON files from which tests of the page are answered.

A scenario brings a server into a state, records the answers to GET requests in it, and records requests that lead from
one state to another. What differs from run to run (times, ports, folders, process ids) is replaced, so two recordings
of the same code are the same bytes.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp

NOW_MS = 1_790_000_000_000
"""The time of each recording, in milliseconds since 1970."""
_FIXED: dict[str, Any] = {
    "since": NOW_MS,
    "lastSeen": NOW_MS,
    "pairedAt": NOW_MS - 86_400_000,
    "pid": 4242,
    "memoryBytes": 48 * 2**20,
    "latencyMs": 12.4,
    "platform": "Linux x86_64",
    "python": "/usr/bin/python3",
    "version": "0.1.0",
}
"""Replaces a value by the name of its field, where there is a value."""
_PORT = re.compile(r"\b127\.0\.0\.1:\d+")


class Recorder:
    """What one scenario recorded.

    Args:
        client: Sends requests as the page does, with its session.
        names: Texts that differ from run to run, such as a folder, and what replaces them.
    """

    def __init__(self, client: aiohttp.ClientSession, names: Mapping[str, str]) -> None:
        self._client = client
        self._names = names
        self._state = ""
        self._states: dict[str, dict[str, Any]] = {}
        self._changes: list[dict[str, Any]] = []

    async def record_state(self, name: str, *paths: str) -> None:
        """Record the answers to GET requests; the requests that follow lead from this state to others."""
        if name not in self._states:
            self._states[name] = {path: await self._request("GET", path) for path in paths}
        self._state = name
        for change in self._changes:
            change["to"] = change["to"] or name

    async def record_change(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> None:
        """Send a request that changes the server, or is refused; the next recorded state is where it leads."""
        answer = await self._request(method, path, body)
        request = describe_request(method, path, body)
        self._changes.append({"from": self._state, "request": request, **answer, "to": ""})

    async def _request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        async with self._client.request(method, path, json=body) as response:
            return {"status": response.status, "body": self._normalise(await response.json())}

    def _normalise(self, value: Any, key: str = "") -> Any:
        if key in _FIXED and value:
            return _FIXED[key]
        if isinstance(value, dict):
            if value.get("memoryBytes") and "latencyMs" in value:
                # a host that has just started may not have been asked yet
                value = value | {"latencyMs": _FIXED["latencyMs"]}
            return {name: self._normalise(each, name) for name, each in value.items()}
        if isinstance(value, list):
            return [self._normalise(each) for each in value]
        if isinstance(value, str):
            for found, replacement in self._names.items():
                value = value.replace(found, replacement)
            return _PORT.sub("127.0.0.1:8765", value)
        return value

    def write(self, path: Path) -> None:
        """Write the recording."""
        recording = {"states": self._states, "changes": self._changes}
        path.write_text(json.dumps(recording, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def describe_request(method: str, path: str, body: Mapping[str, Any] | None = None) -> str:
    """The text by which a request is found in a recording: `POST /api/hosts/laptop/drain {"on":true}`."""
    text = "" if body is None else json.dumps(body, separators=(",", ":"))
    return f"{method} {path} {text}".strip()

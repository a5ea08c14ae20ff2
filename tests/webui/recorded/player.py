"""Answers the requests of a page from a recording of the real server: see `recorder.py`."""

import copy
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Page, Request, Route

from tests.webui.recorded.recorder import describe_request

ANSWERS = Path(__file__).parent / "answers"


def vary(recorded: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A recorded object with other values, for what cannot be recorded, such as twenty hosts.

    Raises:
        KeyError: The server sends no field of this name.
    """
    if unknown := fields.keys() - recorded.keys():
        raise KeyError(f"the recorded object has no {sorted(unknown)}")
    return copy.deepcopy(recorded) | fields


class Recording:
    """A file of `answers/`.

    Attributes:
        states: By name, the answers to GET requests: path to `{"status", "body"}`.
        changes: Requests that lead `from` one state `to` another, with their `status` and `body`.
    """

    def __init__(self, name: str) -> None:
        recording = json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))
        self.states: dict[str, dict[str, Any]] = recording["states"]
        self.changes: list[dict[str, Any]] = recording["changes"]

    def body(self, state: str, path: str) -> Any:
        """What the server answered to a GET request in a state."""
        return copy.deepcopy(self.states[state][path]["body"])

    def host(self, name: str, state: str) -> dict[str, Any]:
        """A host as `GET /api/hosts` shows it in a state of the recording."""
        return next(each for each in self.body(state, "/api/hosts")["hosts"] if each["name"] == name)

    def find_change(self, state: str, request: str) -> dict[str, Any] | None:
        """What a request does in a state; None: it was not recorded."""
        return next((each for each in self.changes if (each["from"], each["request"]) == (state, request)), None)


class Player:
    """Answers the requests of a page.

    Attributes:
        state: In which the recorded server is; a request that changes it leads to the next one.
        sent: The requests that were no GET, as `describe_request` writes them.
        refusal: The recorded change with whose answer all changes are refused; None: they are answered as recorded.
        unknown: Requests that were not recorded, which fail.
    """

    def __init__(self, recording: Recording, state: str, bodies: dict[str, Any] | None = None) -> None:
        self.recording = recording
        self.state = state
        self.sent: list[str] = []
        self.refusal: dict[str, Any] | None = None
        self.unknown: list[str] = []
        self._bodies = bodies or {}

    async def attach(self, page: Page) -> None:
        """Answer this page from now on; requests to paths that the recording does not have go to the server."""
        for path in self.recording.states[self.state]:
            await page.route(f"**{path}", self._answer)
            await page.route(f"**{path}/**", self._answer)

    async def _answer(self, route: Route) -> None:
        request = route.request
        found = self._find(request)
        if found is None:
            self.unknown.append(_describe(request))
            await route.abort()
            return
        await route.fulfill(status=found["status"], json=found["body"])

    def _find(self, request: Request) -> dict[str, Any] | None:
        if request.method == "GET":
            path = urlsplit(request.url).path
            if path in self._bodies:
                return {"status": 200, "body": self._bodies[path]}
            return self.recording.states[self.state].get(path)
        self.sent.append(_describe(request))
        if self.refusal is not None:
            return self.refusal
        change = self.recording.find_change(self.state, self.sent[-1])
        if change is not None:
            self.state = change["to"]
            self._bodies = {}
        return change


def _describe(request: Request) -> str:
    body = request.post_data
    return describe_request(request.method, urlsplit(request.url).path, json.loads(body) if body else None)

"""Hosts on other machines as the API gives them, kept in the test: what is done to one changes its state here."""

import copy
import json
from collections.abc import Iterable
from typing import Any

from playwright.async_api import Page, Request, Route

NOW_MS = 1_790_000_000_000
NEXT = {"drain": "drained", "undrain": "running", "disconnect": "disconnected", "connect": "away"}


def remote(name: str = "laptop", state: str = "running", **others: Any) -> dict[str, Any]:
    """One host, as `GET /api/hosts` has it."""
    is_known, is_up = state != "waiting", state in ("running", "draining", "drained")
    modules = [
        {
            "name": f"{name}/fs_tools",
            "title": "Files",
            "state": "ready",
            "isListed": True,
            "reason": "",
            "tools": 12,
            "waiting": 0,
        },
        {
            "name": f"{name}/shell_tools",
            "title": "Shell",
            "state": "ready",
            "isListed": True,
            "reason": "",
            "tools": 4,
            "waiting": 2,
        },
    ]
    host = {
        "name": name,
        "kind": "remote",
        "state": state,
        "reason": "",
        "lastWords": "",
        "since": NOW_MS,
        "pid": None,
        "python": "",
        "version": "0.1.0" if is_known else "",
        "memoryBytes": None,
        "memoryMaxBytes": None,
        "latencyMs": 12.4 if is_up else None,
        "endsInLastHour": 0,
        "callsInFlight": 0,
        "resources": [],
        "modules": modules if is_known else [],
        "address": "192.168.1.23" if is_known else "",
        "platform": "Linux x86_64" if is_known else "",
        "pairedAt": NOW_MS - 86_400_000 if is_known else None,
        "lastSeen": NOW_MS if is_known else None,
        "workspace": ["/home/ann/projects"] if is_known else [],
        "mayUseChats": False,
    }
    return host | others


class RecordedHosts:
    """Answers the routes of hosts in a page.

    Attributes:
        hosts: As they stand.
        asked: What was sent, as `POST /api/hosts/laptop/drain {"on": true}`.
        refusal: The error object with which whatever changes something is refused; None: nothing is.
    """

    def __init__(self, hosts: Iterable[dict[str, Any]]) -> None:
        self.hosts = list(hosts)
        self.asked: list[str] = []
        self.refusal: dict[str, Any] | None = None

    async def answer(self, page: Page) -> None:
        """From now on, in this page."""
        await page.route("**/api/hosts", self._list)
        await page.route("**/api/hosts/*", self._change)
        await page.route("**/api/hosts/*/*", self._change)

    async def _list(self, route: Route) -> None:
        await route.fulfill(json={"hosts": copy.deepcopy(self.hosts)})

    async def _change(self, route: Route) -> None:
        request: Request = route.request
        path = request.url.partition("/api/")[2].split("/")
        body = request.post_data or ""
        self.asked.append(f"{request.method} /api/{'/'.join(path)} {body}".strip())
        if self.refusal is not None:
            await route.fulfill(status=409, json={"error": self.refusal})
            return
        name = path[1]
        if request.method == "DELETE":
            self.hosts = [each for each in self.hosts if each["name"] != name]
            await route.fulfill(json={})
            return
        action = path[2] if path[2] != "drain" or json.loads(body)["on"] else "undrain"
        at = next(index for index, each in enumerate(self.hosts) if each["name"] == name)
        former, state = self.hosts[at], NEXT[action]
        self.hosts[at] = remote(name, state) if former["kind"] == "remote" else former | {"state": state}
        await route.fulfill(json=self.hosts[at])

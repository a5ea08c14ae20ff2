"""Pools as the API gives them, for the view of hosts."""

from typing import Any

from tests.webui.hosts.recorded import NOW_MS, remote

MODULES = {"browser": ("Browser", 14), "shell_tools": ("Shell", 4)}


def pool(state: str = "running", **others: Any) -> dict[str, Any]:
    """The pool `farm`, as `GET /api/hosts` has it."""
    modules = [_module(name) if state == "running" else _module(name, state="stopped", tools=0) for name in MODULES]
    known = {
        "kind": "nats",
        "address": "tls://nats-1.example.org:4222, tls://nats-2.example.org:4222",
        "version": "",
        "platform": "",
        "pairedAt": None,
        "lastSeen": None,
        "workspace": [],
        "latencyMs": None,
        "modules": modules,
        "capacity": None,
        "used": None,
        "labels": [],
    }
    return remote("farm", state) | known | others


def in_pool(name: str, state: str = "running", used: int = 12, capacity: int = 50, **others: Any) -> dict[str, Any]:
    """A host of it."""
    is_there = state != "away"
    known = {
        "kind": "member",
        "address": f"NATS ({name})",
        "reason": "" if is_there else f"host 'farm.{name}' gave no sign of life for 2.5 s",
        "since": NOW_MS,
        "modules": [_module(each) for each in MODULES] if is_there else [],
        "capacity": capacity,
        "used": used if is_there else None,
        "labels": [],
    }
    return remote(f"farm.{name}", state) | known | others


def twenty() -> list[dict[str, Any]]:
    """A pool with as many hosts, of which some are away, full, or take nothing new."""
    states = {3: "away", 7: "draining", 11: "away", 15: "drained", 16: "away"}
    failed = _module("browser", state="failed", reason="Chromium is not installed", tools=0)
    broken = {18: [failed, _module("shell_tools")], 19: [_module("shell_tools")]}
    made = []
    for number in range(1, 21):
        labels = ["gpu", "eu"] if number % 3 == 0 else ["eu"] if number % 2 else []
        used = 50 if number == 5 else number * 7 % 50
        others = {"modules": broken[number]} if number in broken else {}
        made.append(in_pool(f"box{number}", states.get(number, "running"), used, labels=labels, **others))
    return [pool(), *made]


def _module(name: str, state: str = "ready", reason: str = "", tools: int | None = None) -> dict[str, Any]:
    title, offered = MODULES[name]
    number = offered if tools is None else tools
    shown = {"name": name, "title": title, "state": state, "isListed": True, "reason": reason}
    return shown | {"tools": number, "waiting": 0}

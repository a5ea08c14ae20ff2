"""Pools that cannot be recorded, such as one of twenty hosts: recorded answers with other values."""

from typing import Any

from tests.webui.recorded.player import Recording, vary

SERVERS = "tls://nats-1.example.org:4222, tls://nats-2.example.org:4222"
_RECORDING = Recording("pool")
(_DESK,) = _RECORDING.host("farm.box1", "running")["modules"]
_SHELL = vary(_DESK, name="shell_tools", title="Shell", tools=4)


def pool(state: str = "running", **fields: Any) -> dict[str, Any]:
    """The pool `farm`, as `GET /api/hosts` shows it."""
    is_running = state == "running"
    recorded = _RECORDING.host("farm", "running" if is_running else "empty")
    modules = [_DESK, _SHELL] if is_running else [vary(each, state="stopped", tools=0) for each in (_DESK, _SHELL)]
    known: dict[str, Any] = {"state": state, "address": SERVERS, "labels": [], "modules": modules}
    return vary(recorded, **(known | fields))


def in_pool(name: str, state: str = "running", **fields: Any) -> dict[str, Any]:
    """A host of it, with some of its room in use."""
    is_away = state == "away"
    recorded = _RECORDING.host("farm.box2", "away") if is_away else _RECORDING.host("farm.box1", "running")
    known: dict[str, Any] = {"name": f"farm.{name}", "address": f"NATS ({name})", "state": state, "labels": []}
    if not is_away:
        known |= {"modules": [_DESK, _SHELL], "used": 12}
    return vary(recorded, **(known | fields))


def list_twenty() -> list[dict[str, Any]]:
    """A pool with twenty hosts, some of them away, full, draining, or without one of the modules."""
    states = {3: "away", 7: "draining", 11: "away", 15: "drained", 16: "away"}
    failed = vary(_DESK, state="failed", reason="Chromium is not installed", tools=0)
    broken = {18: [failed, _SHELL], 19: [_SHELL]}
    made = []
    for number in range(1, 21):
        fields: dict[str, Any] = {"labels": ["gpu", "eu"] if number % 3 == 0 else ["eu"] if number % 2 else []}
        if number not in states or states[number] != "away":
            fields["used"] = 50 if number == 5 else number * 7 % 50
        if number in broken:
            fields["modules"] = broken[number]
        made.append(in_pool(f"box{number}", states.get(number, "running"), **fields))
    return [pool(), *made]

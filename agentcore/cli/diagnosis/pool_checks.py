"""Checks of `agentcore doctor` for pools: whether they are reachable, and whether their hosts accept new work."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentcore.cli.diagnosis.finding import Finding
from agentcore.config.host_config import HostGroupConfig
from agentcore.config.loading import AppConfig

_Known = Mapping[str, Any]


def check_pools(states: Mapping[str, _Known], config: AppConfig) -> Iterator[Finding]:
    """Check each pool in app.json.

    Args:
        states: All hosts that the server knows, by name.
    """
    for name, pool in config.hosts.items():
        if isinstance(pool, HostGroupConfig):
            members = [each for each in states.values() if each["kind"] == "member" and _is_in(each, name)]
            yield from _check_pool(f"pool {name}", name, states.get(name), members)


def _is_in(member: _Known, pool: str) -> bool:
    return str(member["name"]).startswith(f"{pool}.")


def _check_pool(subject: str, name: str, known: _Known | None, members: Sequence[_Known]) -> Iterator[Finding]:
    if known is None:
        yield Finding("note", subject, "the running server does not know it yet", "restart the server")
    elif known["state"] == "failed":
        advice = "correct what it says, and restart the server"
        yield Finding("problem", subject, f"failed: {known['reason']}", advice)
    else:
        yield _pool_finding(subject, name, known, members)
        yield from _check_members(subject, members)
        for module in known["modules"] if known["state"] == "running" else ():
            if module["state"] == "stopped":
                said = f"none of its hosts has module {module['name']!r}, which app.json lists for it"
                yield Finding("note", subject, said, "list it in the app.json of a host, or take it out of this one")


def _pool_finding(subject: str, name: str, known: _Known, members: Sequence[_Known]) -> Finding:
    if known["state"] != "running":
        advice = "" if members else f"agentcore host --server {known['address']} --pool {name}, on another machine"
        return Finding("note", subject, f"{known['state']}: {known['reason']}", advice)
    there = [each for each in members if each["used"] is not None]
    used, capacity = (sum(each[key] for each in there) for key in ("used", "capacity"))
    said = f"{len(there)} of {len(members)} hosts are there, {used} of {capacity} in use"
    return Finding("note" if used >= capacity else "ok", subject, said)


def _check_members(subject: str, members: Sequence[_Known]) -> Iterator[Finding]:
    """Report problems of a pool's hosts, combined because many hosts often have the same one."""
    resting = [each["name"] for each in members if each["state"] in ("draining", "drained")]
    if resting:
        yield Finding("note", subject, f"takes nothing new: {', '.join(resting)}", "agentcore hosts undrain NAME")
    away = [each["name"] for each in members if each["state"] == "away"]
    if away:
        yield Finding("note", subject, f"away: {', '.join(away)}")
    waiting: dict[str, int] = {}
    for member in members:
        for module in member["modules"]:
            waiting[module["name"]] = max(waiting.get(module["name"], 0), module["waiting"])
            if module["state"] == "failed":
                said = f"module {module['name']!r} does not run there: {module['reason']}"
                yield Finding("problem", f"host {member['name']}", said)
    for name, number in waiting.items():
        if number:
            said = f"{number} tools of module {name!r} wait for you in the approval view"
            yield Finding("note", subject, said)

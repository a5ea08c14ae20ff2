"""Checks of `agentcore doctor` for hosts: whether their Python can run them, and whether they are running."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentcore import __version__
from agentcore.cli.backend.backend import Backend
from agentcore.cli.diagnosis.finding import Finding
from agentcore.config.host_config import HostGroupConfig, ProcessHostConfig
from agentcore.config.loading import AppConfig

_DISTRIBUTION = "agentcore-runtime"
_SECONDS = 30.0
_ASK = "import agentcore, agentcore.hosts.worker; print(agentcore.__version__)"


def check_hosts(backend: Backend, config: AppConfig) -> Iterator[Finding]:
    """Check the Python, the modules and the process of each host in app.json, and hosts on other machines."""
    states = {host["name"]: host for host in backend.list_hosts()}
    for name, host in config.hosts.items():
        subject = f"host {name}"
        if not isinstance(host, ProcessHostConfig):
            continue
        if host.python is not None and (fault := _check_interpreter(subject, host.find_interpreter(config.folder))):
            yield fault
            if fault.level == "problem":
                continue  # other problems would follow from this one
        for module in host.modules:
            if module not in config.modules:
                said = f"it is to run module {module!r}, which app.json does not list"
                yield Finding("note", subject, said, f"agentcore modules enable {module}")
        known = states.get(name)
        if known is None:
            yield Finding("note", subject, "the running server does not know it yet", "restart the server")
        elif known["state"] == "failed":
            yield Finding("problem", subject, f"failed: {known['reason']}", details=known["lastWords"])
        else:
            yield Finding("ok", subject, f"{known['state']}, with {', '.join(host.modules)}")
    yield from _check_remote_hosts(states)
    yield from check_pools(states, config)


def _check_remote_hosts(states: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    """Check for each host on another machine if it is connected, and which modules wait or do not run."""
    for name, known in states.items():
        subject = f"host {name}"
        if known["kind"] != "remote":
            continue
        if known["state"] == "waiting":
            advice = f"agentcore host --server … --name {name}, on that machine"
            yield Finding("note", subject, "it was not let in yet", advice)
        elif known["state"] in ("away", "disconnected"):
            yield Finding("note", subject, f"{known['state']}: {known['reason']}")
        else:
            modules = ", ".join(module["name"] for module in known["modules"])
            yield Finding("ok", subject, f"{known['state']} on {known['platform']}, with {modules or 'no modules'}")
        for module in known["modules"]:
            if module["state"] == "failed":
                yield Finding("problem", subject, f"module {module['name']!r} does not run there: {module['reason']}")
            if module["waiting"]:
                said = f"{module['waiting']} tools of module {module['name']!r} wait for you in the approval view"
                yield Finding("note", subject, said)


def _check_interpreter(subject: str, python: str) -> Finding | None:
    """Return a finding about a host's interpreter; None if it works."""
    if not Path(python).is_file():
        return Finding("problem", subject, f"its python {python} does not exist", 'correct "python" in app.json')
    try:
        asked = subprocess.run(
            [python, "-P", "-c", _ASK], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        return Finding("problem", subject, f"its python {python} cannot be run: {exc}")
    if asked.returncode:
        said = f"its python {python} has no {_DISTRIBUTION}, or none that can run hosts"
        return Finding("problem", subject, said, f"{python} -m pip install {_DISTRIBUTION}", asked.stderr.strip())
    if (version := asked.stdout.strip()) != __version__:
        said = f"its python {python} has {_DISTRIBUTION} {version}, and the server {__version__}"
        return Finding("note", subject, said, f"{python} -m pip install {_DISTRIBUTION}=={__version__}")
    return None


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

"""Prints hosts, in which modules run outside the server, for the command line."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from agentcore.cli.terminal.output import colour_text, print_table, print_text, size_text
from agentcore.cli.terminal.visible_text import terminal_safe

_COLOURS = {
    "running": "green",
    "starting": "yellow",
    "away": "yellow",
    "draining": "yellow",
    "failed": "red",
}
_HEADER = ("host", "state", "modules", "pid", "memory", "calls", "remark")
_REMOTE_HEADER = ("host", "state", "address", "since", "answers in", "calls", "modules", "remark")
_MEMBER_HEADER = ("host", "state", "in use", "answers in", "calls", "labels", "modules", "remark")


def print_hosts(hosts: Sequence[Mapping[str, Any]], server: str) -> None:
    """Print all hosts: those on this machine, those on other machines, then each pool with its hosts.

    Args:
        server: The server's address, shown for hosts that have yet to dial in. Empty: no server is running.
    """
    from agentcore.core.declarations.hosted_names import is_pool_kind

    local = [_process_row(host) for host in hosts if host["kind"] == "process"]
    remote = [_remote_row(host, server) for host in hosts if host["kind"] == "remote"]
    if local:
        print_table(_HEADER, local, [_COLOURS.get(row[1]) for row in local])
    if local and remote:
        click.echo()
    if remote:
        print_table(_REMOTE_HEADER, remote, [_COLOURS.get(row[1]) for row in remote])
        _print_problems(host for host in hosts if host["kind"] == "remote")
    is_first = not local and not remote
    for pool in (host for host in hosts if is_pool_kind(host["kind"])):
        if not is_first:
            click.echo()
        is_first = False
        prefix = f"{pool['name']}."
        _print_pool(pool, [host for host in hosts if host["kind"] == "member" and host["name"].startswith(prefix)])


def _print_pool(pool: Mapping[str, Any], members: Sequence[Mapping[str, Any]]) -> None:
    name = pool["name"]
    state = pool["state"]
    reason = f": {pool['reason']}" if pool["reason"] else ""
    click.echo(colour_text(f"pool {name} is {state}", _COLOURS.get(state, "yellow")) + terminal_safe(reason))
    requested = f", of hosts with {', '.join(pool['labels'])}" if pool["labels"] else ""
    print_text(f"  {pool['kind'].upper():<8} {pool['address']}")
    print_text(f"  modules  {', '.join(module['name'] for module in pool['modules'])}{requested}")
    if members:
        there = [member for member in members if member["used"] is not None]
        used, capacity = (sum(member[key] for member in there) for key in ("used", "capacity"))
        print_text(f"  hosts    {len(there)} of {len(members)} are there, {used} of {capacity} in use")
        rows = [_member_row(member) for member in members]
        print_table(_MEMBER_HEADER, rows, [_COLOURS.get(row[1]) for row in rows])
        _print_problems(members)
    elif state != "failed":
        labels = "".join(f" --label {label}" for label in pool["labels"])
        servers = pool["address"].replace(", ", ",")
        print_text(f"  hosts    none; to start one, there: agentcore host --server {servers} --pool {name}{labels}")


def _print_problems(hosts: Iterable[Mapping[str, Any]]) -> None:
    for host in hosts:
        for module in host["modules"]:
            for problem in module["problems"]:
                print_text(f"  {host['name']}/{module['name']}: {problem}")


def print_host(host: Mapping[str, Any]) -> None:
    """Print the state of a host, and of its modules that are not ready."""
    print_text(
        f"{host['name']} is {host['state']}." + (f" {_process_remark(host)}" if host["state"] == "failed" else "")
    )
    for module in host["modules"]:
        if module["state"] != "ready":
            print_text(f"  {module['name']} is {module['state']}{'' if module['isListed'] else ', and not on'}.")


def open_resources_text(host: Mapping[str, Any]) -> str:
    """Describe the resources that are open in a host, such as `2 terminal, 1 browser`; empty if there are none."""
    return ", ".join(f"{each['count']} {each['type']}" for each in host["resources"])


def _process_row(host: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        host["name"],
        host["state"],
        ", ".join(module["name"] for module in host["modules"]),
        str(host["pid"] or ""),
        _memory_of(host),
        str(host["callsInFlight"]),
        _process_remark(host),
    )


def _remote_row(host: Mapping[str, Any], server: str) -> tuple[str, ...]:
    latency = host["latencyMs"]
    return (
        host["name"],
        host["state"],
        host["address"],
        "" if host["state"] == "waiting" else _format_time(host["since"]),
        "" if latency is None else f"{latency:.0f} ms",
        str(host["callsInFlight"]),
        ", ".join(_module_of(module) for module in host["modules"]),
        _remote_remark(host, server),
    )


def _member_row(member: Mapping[str, Any]) -> tuple[str, ...]:
    latency = member["latencyMs"]
    used = member["used"]
    return (
        member["name"],
        member["state"],
        "" if used is None else f"{used} of {member['capacity']}",
        "" if latency is None else f"{latency:.0f} ms",
        str(member["callsInFlight"]),
        ", ".join(member["labels"]),
        ", ".join(_module_of(module) for module in member["modules"]),
        (f"since {_format_time(member['since'])}: " if member["state"] == "away" else "") + _remote_remark(member, ""),
    )


def _memory_of(host: Mapping[str, Any]) -> str:
    if host["memoryBytes"] is None:
        return ""
    bound = host["memoryMaxBytes"]
    return size_text(host["memoryBytes"]) + (f" of {size_text(bound)}" if bound else "")


def _module_of(module: Mapping[str, Any]) -> str:
    """Describe a module of another machine by its number of tools, such as `fs_tools (10, 2 wait)`."""
    if module["state"] != "ready":
        return f"{module['name']} ({module['state']})"
    waiting = f", {module['waiting']} wait" if module["waiting"] else ""
    return f"{module['name']} ({module['tools']}{waiting})"


def _process_remark(host: Mapping[str, Any]) -> str:
    words = host["lastWords"].strip().rpartition("\n")[2]
    if host["state"] == "failed":
        return f"{host['reason']}; it wrote: {words}" if words else str(host["reason"])
    if (ends := host["endsInLastHour"]) and host["reason"]:
        return f"ended {'once' if ends == 1 else f'{ends} times'} in the last hour: {host['reason']}"
    held = open_resources_text(host)
    return f"holds {held}" if held else ""


def _remote_remark(host: Mapping[str, Any], server: str) -> str:
    if host["state"] == "waiting":
        return f"to add it, there: agentcore host --server {server or 'URL'} --name {host['name']}"
    failed = next((module for module in host["modules"] if module["state"] == "failed"), None)
    if host["state"] == "away":
        return str(host["reason"])
    if failed is not None:
        return f"{failed['name']} does not run: {failed['reason']}"
    if any(module["waiting"] for module in host["modules"]):
        return "tools that wait are in the approval view"
    held = open_resources_text(host)
    return f"holds {held}" if held else str(host["platform"])


def _format_time(moment_ms: int) -> str:
    """Format a time, with the date if it is not today."""
    moment = time.localtime(moment_ms / 1000)
    today = time.localtime()
    return time.strftime("%H:%M" if moment[:3] == today[:3] else "%Y-%m-%d %H:%M", moment)

"""Formats and prints modules for the command line."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import click

from agentcore.cli.terminal.output import colour_text, print_text

COLOURS = {
    "ready": "green",
    "failed": "red",
    "missing": "red",
    "waits": "yellow",
    "loading": "yellow",
    "stopping": "yellow",
}
"""Colour of each module state."""


_WAITS_FOR = {
    "login": "needs log-in",
    "network": "waiting for the network",
    "program": "waiting for its program",
}


def display_state(module: Mapping[str, Any]) -> str:
    """Return a module's state in a word or two.

    `waits` if only the user's confirmation is missing; what it waits for if it is ready but cannot work.
    """
    if module["state"] == "ready" and (waiting := module.get("waiting")):
        return _WAITS_FOR.get(waiting["reason"]) or _describe_retry(waiting["retryAt"])
    return "waits" if module["state"] == "failed" and module["others"] else str(module["state"])


def _describe_retry(retry_at_ms: int | None) -> str:
    left_s = 0 if retry_at_ms is None else round(retry_at_ms / 1000 - time.time())
    return f"retrying in {left_s} s" if left_s > 0 else "retrying now"


def state_colour(module: Mapping[str, Any]) -> str:
    """Return the colour of a module's state."""
    return "yellow" if module.get("waiting") else COLOURS.get(display_state(module), "white")


def module_reason(module: Mapping[str, Any]) -> str:
    """Return why a module does not run, or cannot work although it does; empty if it works."""
    waiting = module.get("waiting")
    return str(waiting["said"] if waiting else module["reason"])


def describe_source(module: Mapping[str, Any]) -> str:
    """Return where a module comes from: its distribution and version, `local`, or empty."""
    if module["distribution"]:
        return f"{module['distribution']} {module['version']}".rstrip()
    return "local" if module["file"] else ""


def describe_disk_version(module: Mapping[str, Any]) -> str:
    """Describe how the module on disk differs from the running one; empty if it does not."""
    if module["state"] != "ready":
        return ""
    if module["versionOnDisk"] is None:
        return f"it is not installed any more; {_running_version(module)} until the next reload"
    if module["versionOnDisk"] != module["version"]:
        return f"{module['versionOnDisk']} on disk, {_running_version(module)}"
    if module["block"] and module["block"]["isChanged"]:
        return "its block in app.json is another than the one that runs"
    if module["isChangedOnDisk"]:
        return "its code on disk is another than the one that runs"
    return ""


def _running_version(module: Mapping[str, Any]) -> str:
    return f"{module['version'] or 'what was loaded'} runs"


def module_row(module: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    """Return a module's row for the list: name, state, number of tools, origin, remark."""
    return (
        module["name"],
        display_state(module),
        str(len(module["tools"])),
        _source_and_host(module),
        _module_remark(module),
    )


def print_outcome(module: Mapping[str, Any]) -> None:
    """Print the state of a module after a change, with the problems that it has although it runs."""
    problems = module["problems"]
    state = display_state(module)
    verb = {"waits": "waits for a person", "needs log-in": "needs log-in"}.get(state, f"is {state}")
    reason = module_reason(module)
    print_text(f"{module['name']} {verb}." + (f" {reason}" if reason else ""))
    if module["pageAdditions"]:
        print_text(f"It adds to the page: {'; '.join(module['pageAdditions'])}")
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        print_text(f"{count}; agentcore modules info {module['name']} shows more:")
        for problem in problems:
            print_text(f"  {problem}")


def print_module(module: Mapping[str, Any]) -> None:
    """Print everything that is known about a module."""
    state = display_state(module)
    click.echo(f"{colour_text(module['name'], 'cyan', bold=True)}  {colour_text(state, state_colour(module))}")
    rows = {
        "description": module["description"],
        "reason": module_reason(module),
        "listed": "yes" if module["listed"] else "no",
        "from": describe_source(module) + _version_before(module),
        "on disk": describe_disk_version(module),
        "file": module["file"],
        "needs": ", ".join(module["requires"]),
        "block": _block_location(module["block"]) if module["block"] else "",
        "runs in": f"host {module['host']}" if module["host"] else "",
        "settings": f"config.{module['settingsKey']}" if module["settingsKey"] else "",
        "element": module["component"]["tag"] if module["component"] else "",
        "adds to page": "; ".join(module["pageAdditions"]),
        "tools": ", ".join(module["tools"]),
    }
    for name, text in rows.items():
        if text:
            print_text(f"  {name:<13}{text}")
    for text in list_other_sources(module):
        print_text(f"  {'other':<13}{text}")
    for problem in module["problems"]:
        print_text(f"  {'problem':<13}{problem}")
    if module["block"]:
        print_text("".join(f"    {line}\n" for line in module["block"]["text"].splitlines()))
    if details := module["output"] or module["traceback"]:
        print_text("")
        print_text(details)


def list_other_sources(module: Mapping[str, Any]) -> Iterator[str]:
    """Describe each other source that provides a module of the same name."""
    for other in module["others"]:
        said = f"{other['source']} {other['version']}".rstrip()
        state = "was refused" if other["isRefused"] else "waits for a person"
        yield f"{said} ({other['file']}) has the name too, and {state}: {other['command']}"


def _source_and_host(module: Mapping[str, Any]) -> str:
    host = f"in host {module['host']}" if module["host"] else ""
    return ", ".join(filter(None, (describe_source(module), host)))


def _block_location(block: Mapping[str, Any]) -> str:
    place = f"{block['file']}:{block['line']}" if block["file"] else block["variable"]
    return f"{block['key']} of {block['family']} ({place})"


def _version_before(module: Mapping[str, Any]) -> str:
    if not module["versionBefore"]:
        return ""
    since = time.strftime("%Y-%m-%d", time.localtime(module["versionSince"] / 1000))
    return f"; before {since} it was {module['versionBefore']}"


def _module_remark(module: Mapping[str, Any]) -> str:
    if module["state"] == "stopped" and not module["listed"]:
        return f"to turn it on: agentcore modules enable {module['name']}"
    known = (
        module_reason(module),
        next(iter(module["problems"]), ""),
        describe_disk_version(module),
        *list_other_sources(module),
    )
    return next((text for text in known if text), str(module["description"]))

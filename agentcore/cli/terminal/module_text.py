"""Modules, as the command line shows them."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import click

from agentcore.cli.terminal.output import painted, print_text

COLOURS = {
    "ready": "green",
    "failed": "red",
    "missing": "red",
    "waits": "yellow",
    "loading": "yellow",
    "stopping": "yellow",
}
"""Colours of states."""


def state_of(module: Mapping[str, Any]) -> str:
    """A module's state in a word: `waits` where nothing but a person's word is missing."""
    return "waits" if module["state"] == "failed" and module["others"] else str(module["state"])


def source_of(module: Mapping[str, Any]) -> str:
    """Where a module comes from, in a few words."""
    if module["distribution"]:
        return f"{module['distribution']} {module['version']}".rstrip()
    return "local" if module["file"] else ""


def on_disk(module: Mapping[str, Any]) -> str:
    """What is on the disk in place of what runs, in a sentence; empty: the same."""
    if module["state"] != "ready":
        return ""
    if module["versionOnDisk"] is None:
        return f"it is not installed any more; {_running(module)} until the next reload"
    if module["versionOnDisk"] != module["version"]:
        return f"{module['versionOnDisk']} on disk, {_running(module)}"
    if module["block"] and module["block"]["isChanged"]:
        return "its block in app.json is another than the one that runs"
    if module["isChangedOnDisk"]:
        return "its code on disk is another than the one that runs"
    return ""


def _running(module: Mapping[str, Any]) -> str:
    return f"{module['version'] or 'what was loaded'} runs"


def module_row(module: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    """A module in the list: name, state, tools, origin, remark."""
    return module["name"], state_of(module), str(len(module["tools"])), _source_and_host(module), _remark(module)


def print_outcome(module: Mapping[str, Any]) -> None:
    """Print what became of a module that was changed, with what is wrong although it runs."""
    problems = module["problems"]
    verb = "waits for a person" if state_of(module) == "waits" else f"is {module['state']}"
    print_text(f"{module['name']} {verb}." + (f" {module['reason']}" if module["reason"] else ""))
    if module["pageAdditions"]:
        print_text(f"It adds to the page: {'; '.join(module['pageAdditions'])}")
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        print_text(f"{count}; agentcore modules info {module['name']} shows more:")
        for problem in problems:
            print_text(f"  {problem}")


def print_module(module: Mapping[str, Any]) -> None:
    """Print all that is known of a module."""
    state = state_of(module)
    click.echo(f"{painted(module['name'], 'cyan', bold=True)}  {painted(state, COLOURS.get(state, 'white'))}")
    rows = {
        "description": module["description"],
        "reason": module["reason"],
        "listed": "yes" if module["listed"] else "no",
        "from": source_of(module) + _version_before(module),
        "on disk": on_disk(module),
        "file": module["file"],
        "needs": ", ".join(module["requires"]),
        "block": _place_of(module["block"]) if module["block"] else "",
        "runs in": f"host {module['host']}" if module["host"] else "",
        "settings": f"config.{module['settingsKey']}" if module["settingsKey"] else "",
        "element": module["component"]["tag"] if module["component"] else "",
        "adds to page": "; ".join(module["pageAdditions"]),
        "tools": ", ".join(module["tools"]),
    }
    for name, text in rows.items():
        if text:
            print_text(f"  {name:<13}{text}")
    for text in others_of(module):
        print_text(f"  {'other':<13}{text}")
    for problem in module["problems"]:
        print_text(f"  {'problem':<13}{problem}")
    if module["block"]:
        print_text("".join(f"    {line}\n" for line in module["block"]["text"].splitlines()))
    if module["traceback"]:
        print_text("")
        print_text(module["traceback"])


def others_of(module: Mapping[str, Any]) -> Iterator[str]:
    """What else has the module's name, one text each."""
    for other in module["others"]:
        said = f"{other['source']} {other['version']}".rstrip()
        state = "was refused" if other["isRefused"] else "waits for a person"
        yield f"{said} ({other['file']}) has the name too, and {state}: {other['command']}"


def _source_and_host(module: Mapping[str, Any]) -> str:
    host = f"in host {module['host']}" if module["host"] else ""
    return ", ".join(filter(None, (source_of(module), host)))


def _place_of(block: Mapping[str, Any]) -> str:
    place = f"{block['file']}:{block['line']}" if block["file"] else block["variable"]
    return f"{block['key']} of {block['family']} ({place})"


def _version_before(module: Mapping[str, Any]) -> str:
    if not module["versionBefore"]:
        return ""
    since = time.strftime("%Y-%m-%d", time.localtime(module["versionSince"] / 1000))
    return f"; before {since} it was {module['versionBefore']}"


def _remark(module: Mapping[str, Any]) -> str:
    if module["state"] == "stopped" and not module["listed"]:
        return f"to turn it on: agentcore modules enable {module['name']}"
    known = (module["reason"], next(iter(module["problems"]), ""), on_disk(module), *others_of(module))
    return next((text for text in known if text), str(module["description"]))

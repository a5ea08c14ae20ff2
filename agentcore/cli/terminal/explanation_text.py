"""Why a call would run, be asked about or be refused, for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from agentcore.cli.terminal.output import painted
from agentcore.cli.terminal.visible_text import all_visible

COLOURS = {"allow": "green", "ask": "yellow", "deny": "red"}


def explanation_lines(found: Mapping[str, Any], stream: TextIO) -> Iterator[str]:
    """What `POST /api/approvals/explain` answers, line by line.

    Args:
        found: The answer.
        stream: Where it will be shown, for the colours.
    """
    yield f"{painted(found['decision'], COLOURS[found['decision']], stream, bold=True)}  by {found['by']}"
    yield f"  why      {all_visible(found['reason'])}"
    yield f"  mode     {found['mode']}"
    yield f"  effects  {', '.join(found['effects'])}"
    for kind in found["touches"]:
        yield from (f"  {kind['label']['en'].lower():<8} {all_visible(value)}" for value in kind["values"])
    for each in found["considered"]:
        says = "means it" if each["matches"] else all_visible(each["reason"])
        yield f"  {each['place']} ({each['decision']}): {says}"

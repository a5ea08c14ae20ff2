"""Prints lines of the server's log for users."""

import json
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import click

from agentcore.cli.terminal.output import colour_text, print_json_text, print_text

_COLOURS = {"debug": "bright_black", "info": "green", "warning": "yellow", "error": "red", "critical": "red"}
_BELOW = ("traceback", "exception")
_FIRST = ("time", "level", "event", *_BELOW)
_EVENT_COLUMNS = 24
_LEVEL_COLUMNS = 8


def print_line(line: Mapping[str, Any], *, as_json: bool) -> None:
    """Print one line of the log as JSON, or as text with its traceback below."""
    if as_json:
        print_json_text(json.dumps(line))
    else:
        level = str(line.get("level", ""))
        level = level if level in _COLOURS else ""
        shown = colour_text(f"{level:<{_LEVEL_COLUMNS}}", _COLOURS.get(level, "white"))
        click.echo(f"{_format_time(line.get('time'))} {shown} ", nl=False)
        print_text(_format_fields(line) + "".join(f"\n{line[key]}" for key in _BELOW if line.get(key)))
    sys.stdout.flush()


def _format_fields(line: Mapping[str, Any]) -> str:
    fields = " ".join(f"{key}={_format_value(value)}" for key, value in line.items() if key not in _FIRST)
    return f"{line.get('event', '')!s:<{_EVENT_COLUMNS}} {fields}".rstrip()


def _format_time(text: Any) -> str:
    """Return the local time, with the date if it is not today."""
    try:
        then = datetime.fromisoformat(str(text)).astimezone()
    except ValueError:
        return "--:--:--"
    is_today = then.date() == datetime.now().astimezone().date()
    return then.strftime("%H:%M:%S" if is_today else "%Y-%m-%d %H:%M:%S")


def _format_value(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    return value if value and not set(value) & set(' \t\n"=') else json.dumps(value, ensure_ascii=False)
